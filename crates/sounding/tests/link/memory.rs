//! Memory that does not grow with time.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::compose::{BEGIN, Capture, OTHER};
use crate::{lines, number};

/// Data that the program may have, in bytes: heap, stacks and whatever else it can write to.
const LIMIT: u64 = 100_000_000;

/// Whether `sounding link` reads a capture to its end within the limit.
fn is_enough_for(capture: &Path) -> bool {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
    command.arg("link").arg(capture).args(["--bin", "1ms"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // A file that is no capture is refused with 1; a program without memory is ended by a signal.
    limited(&mut command).status().unwrap().code().is_some_and(|code| code < 2)
}

/// The same command within the limit.
pub(crate) fn limited(command: &mut Command) -> &mut Command {
    // SAFETY: setrlimit is async-signal-safe and its argument outlives the call.
    unsafe {
        command.pre_exec(|| {
            let limit = libc::rlimit { rlim_cur: LIMIT, rlim_max: LIMIT };
            match libc::setrlimit(libc::RLIMIT_DATA, &raw const limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
    command
}

#[test]
fn bins_of_a_millisecond_take_little_memory_over_captures() {
    // Captures of hours have tens of millions of such bins.
    const SHORT: u64 = 150_000;
    for capture in sounding_testdata::shared_files("captures") {
        if std::fs::metadata(&capture).unwrap().len() < SHORT {
            assert!(is_enough_for(&capture), "{}", capture.display());
        }
    }
}

mod long {
    use super::*;

    #[test]
    #[ignore = "takes minutes; `make test-long`"]
    fn bins_of_a_millisecond_take_little_memory_over_every_capture() {
        for capture in sounding_testdata::shared_files("captures") {
            assert!(is_enough_for(&capture), "{}", capture.display());
        }
    }
}

#[test]
fn records_that_are_hours_apart_take_little_memory_and_a_row_each() {
    const HOURS: Duration = Duration::from_secs(5 * 3600);
    let mut capture = Capture::new();
    for record in 0..50 {
        let at = BEGIN + record * HOURS;
        capture.record(at, OTHER, &[]);
        capture.mac_uplink(at, &[(Duration::ZERO, 100)]);
    }
    let path = capture.file();
    assert!(is_enough_for(&path));
    let lines = lines(&path, &["--bin", "1s", "--direction", "uplink"]);
    let long: Vec<_> = lines.iter().filter(|row| number(row, "span_s") > 1.0).collect();
    assert_eq!(long.len(), 49);
    for row in long {
        assert_eq!(
            (number(row, "span_s"), &row["state"]),
            (HOURS.as_secs_f64() - 10.0, &"stale".into())
        );
    }
    let spans: f64 = lines.iter().map(|row| number(row, "span_s")).sum();
    assert!((spans - 49.0 * HOURS.as_secs_f64()).abs() < 0.001, "{spans}");
}

#[test]
fn pauses_of_some_seconds_are_streamed() {
    let mut capture = Capture::new();
    for record in 0..100 {
        capture.record(BEGIN + record * Duration::from_secs(9), OTHER, &[]);
    }
    assert!(is_enough_for(&capture.file()));
}
