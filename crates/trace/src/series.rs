//! A rate that was sampled again and again, in the two forms that public traces of cellular links
//! are kept in: lines of a time and a rate (`12.0 3.42`, seconds and Mbit/s, as Pensieve's traces
//! are), and the logs of G-NetTrack (CSV, a line a second, columns by name).

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_units::{Rate, without_mark};

use crate::steps::{MAX_STEPS, Step};
use crate::{ParseStepsError, Steps};

/// A rate over a span of time, after which it begins again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// Start times with rates. The first start is zero.
    steps: Steps,
    /// When it begins again; after the last step.
    lasts: Duration,
}

/// Why a file is no series. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseSeriesError {
    /// It is no text.
    #[error("it is no text in UTF-8")]
    NotText,
    /// A line has a wrong form.
    #[error(
        "line {line}: {text:?} is not a time in seconds and a rate in Mbit/s, as in `12.0 3.42`"
    )]
    Shape {
        /// Number of the line.
        line: usize,
        /// Its beginning.
        text: String,
    },
    /// A line has a time before that of the one in front of it.
    #[error("line {line}: its time is before that of the line in front of it")]
    Back {
        /// Number of the line.
        line: usize,
    },
    /// A log lacks a column.
    #[error("its first line names no column {0:?}")]
    Column(&'static str),
    /// A cell of a log is no rate.
    #[error("line {line}: {text:?} is no rate in kbit/s")]
    Cell {
        /// Number of the line.
        line: usize,
        /// The found text.
        text: String,
    },
    /// There are not two samples.
    #[error("fewer than two samples")]
    Short,
    /// There are more than a series may have.
    #[error("more than {MAX_STEPS} samples")]
    TooMany,
}

/// Bytes of a line that an error repeats.
const QUOTED: usize = 40;

fn quote(text: &str) -> String {
    text.chars().take(QUOTED).collect()
}

/// The largest time and rate of a line. A larger number means another kind of file.
const MOST: f64 = 1e6;

impl Series {
    /// Reads lines of a time and a rate. Each rate applies from the time of the previous line, as
    /// Pensieve plays them. So the first line only gives the start of the series.
    ///
    /// # Errors
    ///
    /// [`ParseSeriesError`] if the bytes are no text, a line is no time and rate, a time goes back,
    /// or there is no step.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseSeriesError> {
        let text =
            core::str::from_utf8(without_mark(bytes)).map_err(|_| ParseSeriesError::NotText)?;
        let mut steps = Vec::new();
        let mut begins = None;
        let mut before = Duration::ZERO;
        for (index, line) in text.lines().enumerate() {
            let wrong = || ParseSeriesError::Shape { line: index + 1, text: quote(line) };
            let mut numbers = line.split([' ', '\t', ',']).filter(|part| !part.is_empty());
            let mut number = || {
                let number = numbers.next()?.parse::<f64>().ok()?;
                (0.0..=MOST).contains(&number).then_some(number)
            };
            let (Some(at), Some(mbit)) = (number(), number()) else { return Err(wrong()) };
            if numbers.next().is_some() {
                return Err(wrong());
            }
            let at = Duration::from_secs_f64(at);
            let Some(begins) = begins else {
                begins = Some(at);
                continue;
            };
            let at = at.checked_sub(begins).filter(|at| *at >= before);
            let at = at.ok_or(ParseSeriesError::Back { line: index + 1 })?;
            if at == before {
                // Times in whole seconds name one twice now and then: this rate held for no time.
                continue;
            }
            // The rate of this line held until it.
            let rate = Rate::from_bits_per_sec((mbit * 1e6) as u64);
            steps.push(Step { at: before, rate });
            before = at;
        }
        Self::new(steps, before)
    }

    /// Reads a log of G-NetTrack: one line each second. `column` is the rate in kbit/s
    /// (`DL_bitrate`, `UL_bitrate`).
    ///
    /// # Errors
    ///
    /// [`ParseSeriesError`] if the bytes are no text, the column is missing, a cell of it is no
    /// rate, or there is no line.
    pub fn gnettrack(bytes: &[u8], column: &'static str) -> Result<Self, ParseSeriesError> {
        let text =
            core::str::from_utf8(without_mark(bytes)).map_err(|_| ParseSeriesError::NotText)?;
        let mut lines = text.lines();
        let names = lines.next().unwrap_or_default();
        let place = names.split(',').position(|name| name == column);
        let place = place.ok_or(ParseSeriesError::Column(column))?;
        let mut steps = Vec::new();
        let mut at = Duration::ZERO;
        for (index, line) in lines.enumerate() {
            let cell = line.split(',').nth(place).unwrap_or_default();
            let kbit = cell.parse::<f64>().ok().filter(|kbit| (0.0..=MOST * 1e3).contains(kbit));
            let kbit =
                kbit.ok_or_else(|| ParseSeriesError::Cell { line: index + 2, text: quote(cell) })?;
            steps.push(Step { at, rate: Rate::from_bits_per_sec((kbit * 1e3) as u64) });
            at += Duration::from_secs(1);
        }
        Self::new(steps, at)
    }

    /// Whether the first line of a file is that of G-NetTrack's logs.
    pub fn is_gnettrack(bytes: &[u8]) -> bool {
        without_mark(bytes).starts_with(b"Timestamp,Longitude,Latitude,")
    }

    fn new(steps: Vec<Step>, lasts: Duration) -> Result<Self, ParseSeriesError> {
        let steps = Steps::new(steps).map_err(|error| match error {
            ParseStepsError::TooMany => ParseSeriesError::TooMany,
            _ => ParseSeriesError::Short,
        })?;
        Ok(Self { steps, lasts })
    }

    /// When it begins again.
    pub fn lasts(&self) -> Duration {
        self.lasts
    }

    /// The stretch of `lasts` that begins at `from`, as often around as it takes; after it the last
    /// rate holds.
    ///
    /// # Errors
    ///
    /// [`ParseStepsError`] if the stretch has more steps than [`Steps`] may have.
    pub fn part(&self, from: Duration, lasts: Duration) -> Result<Steps, ParseStepsError> {
        let from = Duration::from_nanos((from.as_nanos() % self.lasts.as_nanos()) as u64);
        let mut steps = Vec::new();
        steps.push(Step { at: Duration::ZERO, rate: self.steps.rate_at(from) });
        let mut lap = Duration::ZERO;
        while lap < from + lasts && steps.len() <= MAX_STEPS {
            for step in self.steps.steps() {
                let at = lap + step.at;
                if at > from && at < from + lasts {
                    steps.push(Step { at: at - from, rate: step.rate });
                }
            }
            lap += self.lasts;
        }
        Steps::new(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    fn text(steps: &Steps) -> String {
        steps.to_string()
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_rate_held_until_the_time_of_its_line() {
        let series = Series::parse(b"10.0 9.9\n11.0\t2\n11.0 7\n13.0 , 4.5\n").unwrap();
        assert_eq!(series.lasts(), seconds(3));
        let part = series.part(Duration::ZERO, seconds(3)).unwrap();
        assert_eq!(text(&part), "0us 2000000bit, 1000000us 4500000bit");
    }

    #[test]
    fn a_part_goes_around_as_often_as_it_takes() {
        let series = Series::parse(b"0 0\n1 1\n2 2\n").unwrap();
        let part = series.part(Duration::from_millis(1_500), seconds(3)).unwrap();
        assert_eq!(
            text(&part),
            "0us 2000000bit, 500000us 1000000bit, 1500000us 2000000bit, 2500000us 1000000bit"
        );
        assert_eq!(series.part(seconds(2), seconds(1)), series.part(Duration::ZERO, seconds(1)));
    }

    #[test]
    fn a_log_is_read_by_the_name_of_its_column() {
        let log = b"Timestamp,Longitude,Latitude,DL_bitrate,UL_bitrate\nx,1,2,72,20\nx,1,2,0,5\n";
        assert!(Series::is_gnettrack(log));
        let down = Series::gnettrack(log, "DL_bitrate").unwrap();
        assert_eq!(
            text(&down.part(Duration::ZERO, seconds(2)).unwrap()),
            "0us 72000bit, 1000000us 0bit"
        );
        assert_eq!(Series::gnettrack(log, "NR"), Err(ParseSeriesError::Column("NR")));
    }

    #[test]
    fn every_fault_is_named_with_its_line() {
        let shape = |line, text: &str| ParseSeriesError::Shape { line, text: text.into() };
        for (bytes, error) in [
            (&b"1 2 3\n"[..], shape(1, "1 2 3")),
            (b"1 2\nx 3\n", shape(2, "x 3")),
            (b"1 2\n2 -3\n", shape(2, "2 -3")),
            (b"1 2\n2 NaN\n", shape(2, "2 NaN")),
            (b"2 2\n3 4\n2 3\n", ParseSeriesError::Back { line: 3 }),
            (b"1 2\n1 3\n", ParseSeriesError::Short),
            (b"1 2\n", ParseSeriesError::Short),
            (b"", ParseSeriesError::Short),
            (b"\xff", ParseSeriesError::NotText),
        ] {
            assert_eq!(Series::parse(bytes), Err(error));
        }
    }

    #[test]
    fn every_public_series_is_read() {
        for folder in [
            "traces/norway-hsdpa/cooked_3gp",
            "traces/sigcomm21-5g/Video-Streaming/Network-Traces/Lumous5G",
        ] {
            for path in sounding_testdata::shared_files(folder) {
                let bytes = std::fs::read(&path).unwrap();
                let series = Series::parse(&bytes);
                let series = series.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                assert!(series.lasts() > seconds(60), "{}", path.display());
            }
        }
    }
}
