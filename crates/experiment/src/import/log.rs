//! A log from its lines to its packets.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};
use std::path::Path;
use std::time::Duration;

use sounding_trace::log::{About, LONGEST, Line, Problem, parse_line};
use sounding_units::Bytes;

use super::ImportError;

/// Maximum number of packets and opportunities of a log: 1.5 GB of memory, and seven minutes of a
/// gigabit.
pub const MAX_EVENTS: usize = 50_000_000;

/// The contents of a log.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Its first line is mm-link's.
    pub is_mm_link: bool,
    /// The trace of its link.
    pub trace: Option<String>,
    /// Whether it is the uplink, if the log has that.
    pub up: Option<bool>,
    /// One-way delay of the stages around the link, if the log has it.
    pub delay: Option<Duration>,
    /// When the trace began.
    pub base: Duration,
    /// Its flows by their numbers.
    pub flows: BTreeMap<u32, Packets>,
    /// The time of a drop, and the number of packets.
    pub dropped: Vec<(Duration, u64)>,
    /// The time of an opportunity, and its bytes.
    pub opportunities: Vec<(Duration, Bytes)>,
    /// Unparsable lines, by reason.
    pub bad: BTreeMap<Problem, u64>,
}

/// The packets of a flow, sizes as the log has them.
#[derive(Clone, Debug, Default)]
pub struct Packets {
    /// When each came, and its size.
    pub arrived: Vec<(Duration, Bytes)>,
    /// When each left, its size, and how long after it came.
    pub departed: Vec<(Duration, Bytes, Duration)>,
}

/// Reads a log; unusable lines are counted.
pub(super) fn read(mut input: impl BufRead, path: &Path) -> Result<Recorded, ImportError> {
    let mut recorded = Recorded::default();
    let (mut line, mut first, mut events) = (Vec::new(), None, 0_usize);
    let failed = |source| ImportError::Read { path: path.into(), source };
    while next_line(&mut input, &mut line).map_err(failed)? {
        match parse_line(&line) {
            Ok(None) => {}
            Ok(Some(Line::About(about))) => recorded.learn(about),
            Ok(Some(event)) => {
                events += 1;
                if events > MAX_EVENTS {
                    return Err(ImportError::Large { path: path.into() });
                }
                recorded.handle_event(event);
            }
            Err(bad) => {
                *recorded.bad.entry(bad.problem).or_default() += 1;
                first.get_or_insert_with(|| bad.to_string());
            }
        }
    }
    if recorded.flows.values().all(|flow| flow.departed.is_empty()) {
        return Err(ImportError::Nothing { path: path.into(), first });
    }
    Ok(recorded)
}

/// The next line, or the beginning of one that is too long; false at the end.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let mut rest = Vec::new();
    let most = LONGEST as u64 + 2;
    input.by_ref().take(most).read_until(b'\n', line)?;
    let mut ended = line.ends_with(b"\n") || (line.len() as u64) < most;
    while !ended {
        rest.clear();
        input.by_ref().take(most).read_until(b'\n', &mut rest)?;
        ended = rest.ends_with(b"\n") || rest.is_empty();
    }
    Ok(!line.is_empty())
}

impl Recorded {
    fn learn(&mut self, about: About) {
        match about {
            About::Link { trace, up } => {
                self.is_mm_link = true;
                (self.trace, self.up) = (Some(trace), Some(up));
            }
            About::Base(base) => self.base = base,
            About::Delay(delay) => self.delay = Some(delay),
            About::Other => {}
        }
    }

    fn handle_event(&mut self, event: Line) {
        match event {
            Line::Arrived { at, size, flow } => {
                self.flow(flow).arrived.push((at, size));
            }
            Line::Departed { at, size, delay, flow } => {
                self.flow(flow).departed.push((at, size, delay));
            }
            Line::Dropped { at, packets, .. } => self.dropped.push((at, packets)),
            Line::Opportunity { at, size } => self.opportunities.push((at, size)),
            Line::About(_) => {}
        }
    }

    /// Pantheon counts flows from 1; number 0 is a flow without a number.
    fn flow(&mut self, number: Option<u32>) -> &mut Packets {
        self.flows.entry(number.unwrap_or(0)).or_default()
    }
}
