//! A log that is read while it grows, as `tail -F` does.
//!
//! Only what is written from now on counts, but for the line that says which columns there are. A
//! log that is replaced or cut is read from its beginning, and so is a FIFO whose next writer came.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use sounding_trace::dci::LiveReader;

use super::source::SnifferLog;
use super::{Batch, Outlet};

/// How often a log is looked at. Estimates come every 10 ms.
const EVERY: Duration = Duration::from_millis(2);
/// How often it is looked for, and whether it is still the same.
const LOOKS: Duration = Duration::from_millis(50);

const CHUNK: usize = 1 << 16;

/// A log that is open.
struct Open {
    file: File,
    identity: (u64, u64),
    position: u64,
    /// A FIFO. Whether its writer has written anything.
    written: Option<bool>,
}

/// Reads until nothing is wanted any more.
pub(super) fn run(mut reader: LiveReader, log: SnifferLog, path: &Path, outlet: &Outlet) {
    let mut buffer = vec![0; CHUNK];
    let mut batch = Batch::default();
    let mut open = None;
    // The content of the first one is old.
    let mut from_end = true;
    let mut looked = Instant::now();
    loop {
        let outcome = match &mut open {
            None => start(&mut reader, log, path, from_end, &mut buffer).map(|opened| {
                (open, from_end) = (Some(opened), false);
                0
            }),
            Some(log) => log.read(&mut reader, &mut buffer, &mut batch),
        };
        batch.works = outcome.is_ok();
        let wanted = match outcome {
            Ok(0) => outlet.pass(&mut batch),
            // There may be more.
            Ok(_) if outlet.pass(&mut batch) => continue,
            Ok(_) => false,
            Err(error) => {
                // One that comes later is read from its beginning.
                open = None;
                from_end &= error.kind() != io::ErrorKind::NotFound;
                thread::sleep(LOOKS);
                outlet.fail(error)
            }
        };
        if !wanted {
            return;
        }
        thread::sleep(EVERY);
        if looked.elapsed() >= LOOKS {
            looked = Instant::now();
            if open.as_ref().is_some_and(|open| open.is_over(path)) {
                open = None;
            }
        }
    }
}

fn start(
    reader: &mut LiveReader,
    log: SnifferLog,
    path: &Path,
    from_end: bool,
    buffer: &mut [u8],
) -> io::Result<Open> {
    let is_log = |metadata: &Metadata| {
        let kind = metadata.file_type();
        if kind.is_file() || kind.is_fifo() {
            Ok(kind.is_fifo())
        } else {
            Err(io::Error::other("neither a file nor a FIFO"))
        }
    };
    // Opening a device may do something to it.
    is_log(&fs::metadata(path)?)?;
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC)
        .open(path)?;
    let metadata = file.metadata()?;
    let is_fifo = is_log(&metadata)?;
    reader.handle_restart();
    let mut position = 0;
    if from_end && !is_fifo {
        if log.has_header() {
            let count = file.read(buffer)?;
            if let Some(end) = buffer[..count].iter().position(|&byte| byte == b'\n') {
                reader.handle_bytes(&buffer[..=end], |_| {});
                position = end as u64 + 1;
            }
        }
        // The last line may be half written, and then its rest is skipped; so its last byte is read
        // again.
        let last = metadata.len().saturating_sub(1);
        if last >= position && metadata.len() > 0 && (position > 0 || !log.has_header()) {
            position = last;
            reader.handle_gap();
        }
        file.seek(SeekFrom::Start(position))?;
    }
    let written = is_fifo.then_some(false);
    Ok(Open { file, identity: (metadata.dev(), metadata.ino()), position, written })
}

impl Open {
    /// Reads what is there; zero if there is nothing.
    fn read(
        &mut self,
        reader: &mut LiveReader,
        buffer: &mut [u8],
        batch: &mut Batch,
    ) -> io::Result<usize> {
        let count = match self.file.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(0),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(0),
            outcome => outcome?,
        };
        if let Some(written) = &mut self.written {
            // The writer closed it; the next one begins a log.
            if count == 0 && std::mem::take(written) {
                reader.handle_restart();
            }
            *written |= count > 0;
        }
        self.position += count as u64;
        reader.handle_bytes(&buffer[..count], |line| match line {
            Ok(heard) => batch.heard.push(heard),
            Err(bad) => batch.bad = Some(bad.to_string()),
        });
        batch.counts = reader.counts();
        Ok(count)
    }

    /// Whether the log of this name is another one, or was cut. One that has no name any more may
    /// still grow.
    fn is_over(&self, path: &Path) -> bool {
        let Ok(metadata) = fs::metadata(path) else { return false };
        let is_other = (metadata.dev(), metadata.ino()) != self.identity;
        is_other || (self.written.is_none() && metadata.len() < self.position)
    }
}
