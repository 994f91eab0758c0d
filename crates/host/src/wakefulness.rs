use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

/// The file that accepts the request (Linux, Documentation/power/pm_qos_interface.rst). The request
/// holds while the file is open, so it also ends with the process.
const PLACE: &str = "/dev/cpu_dma_latency";

/// While this exists, no processor enters a sleep state from which waking takes longer than
/// requested.
///
/// A modem's reader wakes a thousand times a second, and each time waits until the processor is
/// awake. A processor that never sleeps deeply removes this wait, but costs power on the whole
/// machine.
#[derive(Debug)]
pub struct Wakefulness {
    _held: File,
}

impl Wakefulness {
    /// Limits the wake-up time to `latency`, in whole microseconds. With zero, idle processors
    /// spin. By default only root may ask.
    ///
    /// # Errors
    ///
    /// The kernel's error, if it has no such limit or this user may not ask.
    pub fn hold(latency: Duration) -> io::Result<Self> {
        Self::hold_at(Path::new(PLACE), latency)
    }

    fn hold_at(place: &Path, latency: Duration) -> io::Result<Self> {
        let micros = i32::try_from(latency.as_micros()).unwrap_or(i32::MAX);
        let mut held = OpenOptions::new().write(true).open(place)?;
        held.write_all(&micros.to_ne_bytes())?;
        Ok(Self { _held: held })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wish_is_four_bytes_of_microseconds() {
        let place = std::env::temp_dir().join(format!("sounding-latency-{}", std::process::id()));
        File::create(&place).expect("a file");
        let held = Wakefulness::hold_at(&place, Duration::from_nanos(20_900));
        assert!(held.is_ok());
        assert_eq!(std::fs::read(&place).expect("it is there"), 20_i32.to_ne_bytes());
        let _ = std::fs::remove_file(&place);
    }

    #[test]
    fn a_kernel_without_that_file_is_an_error() {
        let refused = Wakefulness::hold_at(Path::new("/nowhere/latency"), Duration::ZERO);
        assert_eq!(refused.map(drop).map_err(|error| error.kind()), Err(io::ErrorKind::NotFound));
    }
}
