//! A link's capacity over time, from a plan: a rate, steps, or a file.

use std::path::Path;
use std::time::Duration;

use sounding_host::{MAX_TRACE, read_at_most};
use sounding_kpi::Direction;
use sounding_link::Captured;
use sounding_trace::{Schedule, Series, Steps, Trace, mahimahi};
use sounding_units::without_mark;

use super::Wrong;

/// A link's capacity in a plan.
pub(super) enum Capacity {
    /// A rate, or a rate over time.
    Steps(Steps),
    /// Moments at which packets may leave.
    Trace(Trace),
    /// A rate that was sampled.
    Series(Series),
}

impl Capacity {
    /// Reads the value of a key; files are relative to `folder`. A capture and a log of G-NetTrack
    /// have both directions.
    pub(super) fn read(
        key: &str,
        text: &str,
        folder: &Path,
        direction: Direction,
    ) -> Result<Self, Wrong> {
        let steps = match text.parse::<Steps>() {
            Ok(steps) => return Ok(Self::Steps(steps)),
            Err(error) => error,
        };
        let path = folder.join(text);
        if !path.is_file() {
            let message = format!(
                "{text:?} is neither a file, looked for as {}, nor a rate or steps: {steps}",
                path.display()
            );
            return Err(Wrong::new(key, message));
        }
        let bytes = read_at_most(&path, MAX_TRACE)
            .map_err(|error| Wrong::new(key, format!("cannot read {}: {error}", path.display())))?;
        let wrong = |what: &str, error: String| {
            Wrong::new(key, format!("{} is not {what}: {error}", path.display()))
        };
        if !is_text(&bytes) {
            return Captured::of(&bytes, direction).map(|(trace, _)| Self::Trace(trace)).map_err(
                |error| wrong(&format!("a capture of the {direction}"), error.to_string()),
            );
        }
        if Series::is_gnettrack(&bytes) {
            let column = match direction {
                Direction::Uplink => "UL_bitrate",
                Direction::Downlink => "DL_bitrate",
            };
            let series = Series::gnettrack(&bytes, column);
            return series
                .map(Self::Series)
                .map_err(|error| wrong("a log of G-NetTrack", error.to_string()));
        }
        if has_pairs(&bytes) {
            let series = Series::parse(&bytes);
            return series
                .map(Self::Series)
                .map_err(|error| wrong("a series of rates", error.to_string()));
        }
        mahimahi::parse(&bytes)
            .map(Self::Trace)
            .map_err(|error| wrong("a mahimahi trace", error.to_string()))
    }

    /// When it begins again, if it does.
    pub(super) fn lasts(&self) -> Option<Duration> {
        match self {
            Self::Steps(_) => None,
            Self::Trace(trace) => Some(Duration::from_millis(trace.period_millis().into())),
            Self::Series(series) => Some(series.lasts()),
        }
    }

    /// The link of a run of so long that begins `from` after the beginning of the file. Steps have
    /// no other beginning than their own.
    pub(super) fn schedule(self, from: Duration, lasts: Duration) -> Result<Schedule, String> {
        Ok(match self {
            Self::Steps(steps) => steps.into(),
            Self::Trace(trace) if from.is_zero() => trace.into(),
            Self::Trace(trace) => trace.beginning_at(from).into(),
            Self::Series(series) => {
                let part = series.part(from, lasts);
                part.map_err(|error| format!("a run of {lasts:?}: {error}"))?.into()
            }
        })
    }
}

/// Whether the file begins as a text. The header of a log record is none.
fn is_text(bytes: &[u8]) -> bool {
    let begin = &bytes[..bytes.len().min(512)];
    begin.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace() || *byte >= 0x80)
}

/// Whether the first line has two words. Mahimahi's lines never have.
fn has_pairs(bytes: &[u8]) -> bool {
    let line = without_mark(bytes).split(|&byte| byte == b'\n').next().unwrap_or_default();
    let words = line.split(|byte| b" \t,\r".contains(byte)).filter(|word| !word.is_empty());
    words.count() == 2
}
