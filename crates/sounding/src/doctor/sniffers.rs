//! Whether sniffers can be read, and what they send.

use std::time::Duration;

use sounding_host::monotonic_now;
use sounding_kpi::Direction;
use sounding_modem::{Sniffer, SnifferSource, SnifferStatus};
use sounding_trace::dci::Heard;

use super::{Check, check};

/// A service that was silent is asked once a second.
const LISTENS: Duration = Duration::from_secs(2);

/// Enough to know that it is one.
const ENOUGH: u64 = 20;

const SERVICE: &str = "start NG-Scope with its remote service on, built to send whole cells, and name its address and port";
const LOG: &str =
    "start the sniffer; name its log with its format, and the file that it writes now";

pub(super) fn checks(sniffers: &[SnifferSource]) -> Vec<Check> {
    (0..).zip(sniffers).map(|(cell, sniffer)| of(sniffer, cell)).collect()
}

fn of(source: &SnifferSource, cell: u8) -> Check {
    let cure = match source {
        SnifferSource::Udp { .. } => SERVICE,
        SnifferSource::Log { .. } => LOG,
    };
    let found =
        Sniffer::start(source, cell, Direction::Downlink).map_err(|error| error.to_string());
    check("sniffer", &source.to_string(), found.and_then(listen), cure)
}

fn listen(mut sniffer: Sniffer) -> Result<String, String> {
    let began = monotonic_now();
    let mut widest = None;
    while monotonic_now() - began < LISTENS && sniffer.status().counts.messages < ENOUGH {
        while let Some((_, heard)) = sniffer.poll() {
            if let Heard::Dci(dci) = heard {
                widest = widest.max(dci.cell_prb);
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let SnifferStatus { counts, bad, foreign, of_one_user, problem, .. } = sniffer.status();
    if counts.messages > 0 {
        let width =
            widest.map(|prb| format!(", a cell of {prb} resource blocks")).unwrap_or_default();
        return Ok(format!("{} messages, {} bad{width}", counts.messages, counts.bad));
    }
    if *foreign > 0 {
        let why = problem.as_deref().unwrap_or("another user has its port");
        return Err(format!("{foreign} datagrams, none of them believed: {why}"));
    }
    Err(match (problem, bad) {
        (Some(problem), _) => problem.clone(),
        (None, Some(bad)) => format!("nothing that can be read: {bad}"),
        (None, None) if *of_one_user > 0 => {
            "only messages about one user, without resource blocks".into()
        }
        (None, None) if counts.silent > 0 => "subframes without any message".into(),
        (None, None) => "silent".into(),
    })
}
