//! The log of a link as a file.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::time::SystemTime;

use sounding_host::files::grow;
use sounding_sim::QueueLimit;
use sounding_units::HostInstant;

use super::{Header, LinkLog};
use crate::{Config, Direction, StartError};

/// Makes the log of a direction, if there is to be one.
pub(crate) fn open(
    config: &Config,
    direction: Direction,
) -> Result<Option<LinkLog<BufWriter<File>>>, StartError> {
    let logs = &config.logs;
    let (path, trace, name) = match direction {
        Direction::Uplink => (&logs.up, &logs.up_name, "Uplink"),
        Direction::Downlink => (&logs.down, &logs.down_name, "Downlink"),
    };
    let (Some(path), Some(link)) = (path, config.between.link(direction)) else { return Ok(None) };
    let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let header = Header {
        direction: name,
        trace,
        file: &path.display().to_string(),
        command_line: &logs.command_line,
        queue: &queue_name(link.queue),
        unix_millis: unix.map_or(0, |since| since.as_millis()),
        delay: link.delay,
    };
    let create = |path: &Path| -> io::Result<LinkLog<BufWriter<File>>> {
        let origin = HostInstant::default();
        LinkLog::new(BufWriter::new(grow(path)?), &header, Some(&link.schedule), origin)
    };
    create(path).map(Some).map_err(|source| StartError::Log { path: path.clone(), source })
}

/// The queue as mm-link names it: `droptail [packets=7]`.
fn queue_name(limit: QueueLimit) -> String {
    let text = limit.to_string();
    match text.split_once(':') {
        Some((kind, values)) => format!("{kind} [{}]", values.replace(',', ", ")),
        None => text,
    }
}
