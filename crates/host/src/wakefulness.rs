use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

/// Where the kernel accepts the request (Linux, Documentation/power/pm_qos_interface.rst). It holds while the file is
/// open, so the end of the process ends it too.
const PLACE: &str = "/dev/cpu_dma_latency";

/// No processor sleeps so deep that waking takes longer than was asked, until this is dropped.
///
/// A modem's reader is woken a thousand times a second and waits for the processor each time. A processor that never
/// sleeps deeply removes that wait and costs power, on the whole machine.
#[derive(Debug)]
pub struct Wakefulness {
    _held: File,
}

impl Wakefulness {
    /// At most `latency`, in whole microseconds; zero lets idle processors spin. Only root may ask, unless the machine
    /// says otherwise.
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
