//! Rates while an emulation runs: in the terminal's title, or as JSON lines.

use std::fmt;
use std::fs::File;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use miette::{Context as _, IntoDiagnostic as _};
use serde_json::{Value as Json, json};
use sounding_emu::{Counts, Direction, Emulation};
use sounding_host::files;
use sounding_units::Bytes;

use crate::screen;

/// Each line is about this time: a change is seen, and a title can be read.
const EVERY: Duration = Duration::from_millis(500);

/// Saves the title of the terminal's window, and restores it (XTWINOPS 22 and 23 of xterm).
const SAVE: &str = "\x1b[22;0t";
const RESTORE: &str = "\x1b[23;0t";

/// Shows rates and queueing.
#[derive(Debug)]
pub(super) struct Meter {
    to: To,
    begun: Instant,
    last: Instant,
    before: [Counts; 2],
}

#[derive(Debug)]
enum To {
    Nothing,
    Title,
    Lines(File, PathBuf),
}

/// The time since the last line.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Part {
    rate_bits_per_sec: f64,
    /// Mean of the packets that were delivered; `None` if there was none.
    queueing: Option<Duration>,
    dropped: u64,
}

impl Meter {
    /// `Some(None)` is the terminal's title, and `Some(Some(file))` lines.
    pub(super) fn open(wanted: Option<&Option<PathBuf>>) -> miette::Result<Self> {
        let to = match wanted {
            None => To::Nothing,
            Some(None) if std::io::stderr().is_terminal() => {
                write_title(SAVE);
                To::Title
            }
            Some(None) => {
                eprintln!(
                    "sounding: the meter shows nothing, because standard error is no terminal; `--meter FILE` writes lines"
                );
                To::Nothing
            }
            Some(Some(path)) => {
                let place =
                    if path == Path::new("-") { Path::new("/dev/stdout") } else { path.as_path() };
                let file = files::grow(place).into_diagnostic();
                let file =
                    file.wrap_err_with(|| format!("--meter: cannot write {}", screen::path(path)))?;
                To::Lines(file, path.clone())
            }
        };
        let now = Instant::now();
        Ok(Self { to, begun: now, last: now, before: [Counts::default(); 2] })
    }

    /// Shows what has passed, if it is time.
    pub(super) fn look(&mut self, emulation: &Emulation) {
        if self.last.elapsed() >= EVERY {
            self.show(emulation);
        }
    }

    /// Shows the rest.
    pub(super) fn finish(&mut self, emulation: &Emulation) {
        self.show(emulation);
    }

    fn show(&mut self, emulation: &Emulation) {
        if matches!(self.to, To::Nothing) {
            return;
        }
        let now = Instant::now();
        let counts = [Direction::Uplink, Direction::Downlink].map(|way| emulation.counts(way));
        let span = now - self.last;
        let [up, down] = [0, 1].map(|way| Part::of(self.before[way], counts[way], span));
        (self.last, self.before) = (now, counts);
        match &mut self.to {
            To::Nothing => {}
            To::Title => write_title(&format!("\x1b]0;up {up}, down {down}\x07")),
            To::Lines(file, path) => {
                let time_s = (now - self.begun).as_secs_f64();
                let line = json!({ "time_s": time_s, "up": up.as_json(), "down": down.as_json() });
                if let Err(error) = writeln!(file, "{line}") {
                    eprintln!(
                        "sounding: the meter ends: cannot write {}: {error}",
                        screen::path(path)
                    );
                    self.to = To::Nothing;
                }
            }
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if matches!(self.to, To::Title) {
            write_title(RESTORE);
        }
    }
}

/// One write, so that no other program's output comes between. A terminal that is gone shows none.
fn write_title(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

impl Part {
    fn of(before: Counts, now: Counts, span: Duration) -> Self {
        let bytes = now.delivered_bytes.saturating_sub(before.delivered_bytes);
        let packets = now.delivered.saturating_sub(before.delivered);
        let packets = u32::try_from(packets).unwrap_or(u32::MAX);
        let queueing = now.queueing.saturating_sub(before.queueing);
        Self {
            rate_bits_per_sec: rate(bytes, span),
            queueing: queueing.checked_div(packets),
            dropped: now.dropped.saturating_sub(before.dropped),
        }
    }

    fn as_json(self) -> Json {
        json!({
            "rate_bits_per_sec": self.rate_bits_per_sec.round(),
            "queueing_ms": self.queueing.map(|time| time.as_secs_f64() * 1e3),
            "dropped_packets": self.dropped,
        })
    }
}

fn rate(bytes: Bytes, span: Duration) -> f64 {
    8.0 * bytes.count() as f64 / span.as_secs_f64().max(1e-9)
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} Mbit/s", self.rate_bits_per_sec / 1e6)?;
        match self.queueing {
            Some(time) => write!(f, " {:.0} ms", time.as_secs_f64() * 1e3),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_the_difference_of_two_counts() {
        let millis = Duration::from_millis;
        let before = Counts {
            delivered: 10,
            dropped: 1,
            delivered_bytes: Bytes::new(15_000),
            queueing: millis(40),
            ..Counts::default()
        };
        let now = Counts {
            delivered: 30,
            dropped: 4,
            delivered_bytes: Bytes::new(45_000),
            queueing: millis(240),
            ..before
        };
        let part = Part::of(before, now, millis(500));
        let wanted = Part { rate_bits_per_sec: 480_000.0, queueing: Some(millis(10)), dropped: 3 };
        assert_eq!(part, wanted);
        assert_eq!(part.to_string(), "0.48 Mbit/s 10 ms");
    }

    #[test]
    fn the_queueing_of_no_packet_is_unknown() {
        let part = Part::of(Counts::default(), Counts::default(), EVERY);
        assert_eq!(part.as_json()["queueing_ms"], Json::Null);
        assert_eq!(part.to_string(), "0.00 Mbit/s");
    }
}
