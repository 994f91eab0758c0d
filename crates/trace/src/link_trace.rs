//! A link over time as a table of whole numbers: what CSV and Parquet hold.

use alloc::vec::Vec;
use core::time::Duration;

use sounding_units::{Bytes, Rate};

use crate::{
    InvalidTrace, MAX_MILLIS, MAX_OPPORTUNITIES, OPPORTUNITY_PAYLOAD, ParseStepsError, Schedule,
    Step, Steps, Trace,
};

/// A link from its beginning to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkTrace {
    /// When it could have carried a packet each, as mahimahi has it.
    Opportunities(Trace),
    /// The possible rate for packets of any size.
    Rates(Rates),
}

/// Rates from the beginning of a link to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rates {
    steps: Steps,
    ends: Duration,
}

impl Rates {
    /// Steps, and when the last of them ends.
    pub fn steps(&self) -> (&Steps, Duration) {
        (&self.steps, self.ends)
    }
}

/// The form of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A row for each millisecond in which packets could leave.
    Opportunities,
    /// A row for each span of one rate.
    Rates,
}

impl Form {
    /// The names of its columns.
    pub const fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Opportunities => &["time_ms", "packets"],
            Self::Rates => &["from_ns", "until_ns", "rate_bits_per_sec"],
        }
    }

    /// The table with these columns, in any order, and the position of each of its columns.
    pub fn of(columns: &[impl AsRef<str>]) -> Option<(Self, Vec<usize>)> {
        [Self::Opportunities, Self::Rates].into_iter().find_map(|form| {
            let own = form.columns().iter();
            let places: Option<Vec<usize>> =
                own.map(|own| columns.iter().position(|column| column.as_ref() == *own)).collect();
            places.filter(|places| places.len() == columns.len()).map(|places| (form, places))
        })
    }
}

/// Why rows are no link. Rows count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkTraceError {
    /// There is no row.
    #[error("no row: a link lasts some time")]
    Empty,
    /// A row is not after the one before.
    #[error("row {row} is at {at}, not after the row before at {before}")]
    NotRising {
        /// Number of the row.
        row: usize,
        /// Its place.
        at: u64,
        /// The time of the previous row.
        before: u64,
    },
    /// A span does not begin where the one before ended, or at 0.
    #[error(
        "row {row} begins at {from} ns, and what is before ends at {ended} ns: spans have no gaps"
    )]
    Gap {
        /// Number of the row.
        row: usize,
        /// The start of the row.
        from: u64,
        /// The end of the previous row, where it should begin.
        ended: u64,
    },
    /// A span that lasts no time.
    #[error("row {row} ends at {until} ns, not after it begins")]
    NoTime {
        /// Number of the row.
        row: usize,
        /// The end of the row.
        until: u64,
    },
    /// A row without opportunities.
    #[error("row {row} has 0 packets: leave out milliseconds in which nothing could leave")]
    NoPackets {
        /// Number of the row.
        row: usize,
    },
    /// More than a link may have.
    #[error("row {row}: {what}")]
    TooMuch {
        /// Number of the row.
        row: usize,
        /// The invalid trace.
        what: InvalidTrace,
    },
    /// More steps than a link may have.
    #[error(transparent)]
    Steps(#[from] ParseStepsError),
    /// It lasts no time.
    #[error("every packet is at 0 ms: a link that lasts no time cannot be repeated")]
    NoDuration,
}

/// Makes a link of rows.
#[derive(Clone, Debug)]
pub struct Builder {
    form: Form,
    rows: usize,
    millis: Vec<u32>,
    steps: Vec<Step>,
    /// The time or end of the last row.
    reached: u64,
}

impl Builder {
    /// A link of no row yet.
    pub fn new(form: Form) -> Self {
        Self { form, rows: 0, millis: Vec::new(), steps: Vec::new(), reached: 0 }
    }

    /// Adds a row: a number for each of [`Form::columns`].
    ///
    /// # Errors
    ///
    /// [`LinkTraceError`] if the row does not follow the one before, or lasts no time.
    pub fn push(&mut self, row: &[u64]) -> Result<(), LinkTraceError> {
        self.rows += 1;
        match (self.form, row) {
            (Form::Opportunities, &[at, packets]) => self.push_opportunities(at, packets),
            (Form::Rates, &[from, until, rate]) => self.push_rate(from, until, rate),
            // A caller that reads a table has a number for each column.
            _ => Err(LinkTraceError::Empty),
        }
    }

    fn push_opportunities(&mut self, at: u64, packets: u64) -> Result<(), LinkTraceError> {
        let row = self.rows;
        if row > 1 && at <= self.reached {
            return Err(LinkTraceError::NotRising { row, at, before: self.reached });
        }
        if packets == 0 {
            return Err(LinkTraceError::NoPackets { row });
        }
        let millis = u32::try_from(at).unwrap_or(u32::MAX);
        if millis > MAX_MILLIS {
            let what = InvalidTrace::TooLate { index: self.millis.len(), millis };
            return Err(LinkTraceError::TooMuch { row, what });
        }
        let room = MAX_OPPORTUNITIES - self.millis.len();
        let packets = usize::try_from(packets).ok().filter(|&packets| packets <= room);
        let packets =
            packets.ok_or(LinkTraceError::TooMuch { row, what: InvalidTrace::TooMany })?;
        self.millis.extend(core::iter::repeat_n(millis, packets));
        self.reached = at;
        Ok(())
    }

    fn push_rate(&mut self, from: u64, until: u64, rate: u64) -> Result<(), LinkTraceError> {
        let row = self.rows;
        if from != self.reached {
            return Err(LinkTraceError::Gap { row, from, ended: self.reached });
        }
        if until <= from {
            return Err(LinkTraceError::NoTime { row, until });
        }
        if self.steps.len() == crate::steps::MAX_STEPS {
            return Err(ParseStepsError::TooMany.into());
        }
        let rate = Rate::from_bits_per_sec(rate);
        self.steps.push(Step { at: Duration::from_nanos(from), rate });
        self.reached = until;
        Ok(())
    }

    /// The link, if it is one.
    ///
    /// # Errors
    ///
    /// [`LinkTraceError::Empty`] without a row; another [`LinkTraceError`] if the rows last no time
    /// or are too many.
    pub fn finish(self) -> Result<LinkTrace, LinkTraceError> {
        if self.rows == 0 {
            return Err(LinkTraceError::Empty);
        }
        match self.form {
            Form::Opportunities => Trace::from_millis(self.millis)
                .map(LinkTrace::Opportunities)
                .map_err(|_| LinkTraceError::NoDuration),
            Form::Rates => {
                let steps = Steps::new(self.steps)?;
                Ok(LinkTrace::Rates(Rates { steps, ends: Duration::from_nanos(self.reached) }))
            }
        }
    }
}

impl LinkTrace {
    /// The form of its table.
    pub fn form(&self) -> Form {
        match self {
            Self::Opportunities(_) => Form::Opportunities,
            Self::Rates(_) => Form::Rates,
        }
    }

    /// Calls `each` with every row, in order, until it fails.
    ///
    /// # Errors
    ///
    /// The first one of `each`: the rest is not called.
    pub fn for_each_row<E>(&self, mut each: impl FnMut(&[u64]) -> Result<(), E>) -> Result<(), E> {
        match self {
            Self::Opportunities(trace) => trace
                .millis()
                .chunk_by(|one, next| one == next)
                .try_for_each(|same| each(&[same[0].into(), same.len() as u64])),
            Self::Rates(Rates { steps, ends }) => {
                let steps = steps.steps();
                let until = steps.iter().skip(1).map(|step| step.at).chain([*ends]);
                let nanos = |at: Duration| u64::try_from(at.as_nanos()).unwrap_or(u64::MAX);
                steps.iter().zip(until).try_for_each(|(step, until)| {
                    each(&[nanos(step.at), nanos(until), step.rate.bits_per_sec()])
                })
            }
        }
    }

    /// The link as a mahimahi trace, and the information that this format loses.
    ///
    /// # Errors
    ///
    /// [`InvalidTrace`] if the link carries no packet, or more packets or for longer than a trace
    /// can say.
    pub fn to_trace(&self) -> Result<(Trace, Lost), InvalidTrace> {
        match self {
            Self::Opportunities(trace) => Ok((trace.clone(), Lost::default())),
            Self::Rates(Rates { steps, ends }) => {
                let schedule = Schedule::from(steps.clone());
                let trace = schedule.to_trace(*ends)?;
                let carried = schedule.capacity(Duration::ZERO, *ends);
                let held = OPPORTUNITY_PAYLOAD.count() * trace.millis().len() as u64;
                let period = Duration::from_millis(trace.period_millis().into());
                let rates = true;
                let bytes = carried.saturating_sub(Bytes::new(held));
                Ok((trace, Lost { rates, bytes, end: ends.saturating_sub(period) }))
            }
        }
    }
}

/// The information about a link that a packet-delivery trace cannot hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Whether there were rates, and where between whole milliseconds packets of 1500 bytes became
    /// whole.
    pub rates: bool,
    /// The bytes after the last whole packet.
    pub bytes: Bytes,
    /// The time after the last whole packet: a trace ends with it.
    pub end: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    fn course(form: Form, rows: &[&[u64]]) -> Result<LinkTrace, LinkTraceError> {
        let mut builder = Builder::new(form);
        rows.iter().try_for_each(|row| builder.push(row))?;
        builder.finish()
    }

    fn rows(course: &LinkTrace) -> Vec<Vec<u64>> {
        let mut rows = Vec::new();
        let all: Result<(), ()> = course.for_each_row(|row| {
            rows.push(row.to_vec());
            Ok(())
        });
        all.map(|()| rows).unwrap()
    }

    #[test]
    fn packets_of_a_millisecond_are_a_row() {
        let trace = Trace::from_millis(vec![0, 0, 3, 3, 3, 9]).unwrap();
        let course = LinkTrace::Opportunities(trace);
        assert_eq!(rows(&course), [[0, 2], [3, 3], [9, 1]]);
        let again = self::course(Form::Opportunities, &[&[0, 2], &[3, 3], &[9, 1]]);
        assert_eq!(again, Ok(course));
    }

    #[test]
    fn spans_are_rows_to_the_nanosecond() {
        let spans: [&[u64]; 2] =
            [&[0, 1_500_000_001, 12_000_000], &[1_500_000_001, 2_000_000_000, 0]];
        assert_eq!(rows(&course(Form::Rates, &spans).unwrap()), spans);
    }

    #[test]
    fn columns_may_stand_in_any_order_and_no_other_may_stand_there() {
        assert_eq!(Form::of(&["packets", "time_ms"]), Some((Form::Opportunities, vec![1, 0])));
        assert_eq!(Form::of(&["time_ms"]), None);
        assert_eq!(Form::of(&["time_ms", "packets", "rsrp"]), None);
    }

    #[test]
    fn every_fault_is_named_with_its_row() {
        let fault = |form, rows: &[&[u64]]| course(form, rows).unwrap_err();
        let packets = Form::Opportunities;
        assert_eq!(fault(packets, &[]), LinkTraceError::Empty);
        assert_eq!(
            fault(packets, &[&[5, 1], &[5, 1]]),
            LinkTraceError::NotRising { row: 2, at: 5, before: 5 }
        );
        assert_eq!(fault(packets, &[&[5, 0]]), LinkTraceError::NoPackets { row: 1 });
        assert_eq!(fault(packets, &[&[0, 7]]), LinkTraceError::NoDuration);
        let too_many = LinkTraceError::TooMuch { row: 2, what: InvalidTrace::TooMany };
        assert_eq!(fault(packets, &[&[1, 1], &[2, u64::MAX]]), too_many);
        assert!(matches!(
            fault(packets, &[&[u64::MAX, 1]]),
            LinkTraceError::TooMuch { row: 1, what: InvalidTrace::TooLate { .. } }
        ));
        assert_eq!(
            fault(Form::Rates, &[&[0, 5, 1], &[6, 7, 1]]),
            LinkTraceError::Gap { row: 2, from: 6, ended: 5 }
        );
        assert_eq!(fault(Form::Rates, &[&[0, 0, 1]]), LinkTraceError::NoTime { row: 1, until: 0 });
    }

    #[test]
    fn what_mahimahi_cannot_hold_of_rates_is_counted() {
        // The link carries 2.5 packets in 2.5 ms, then nothing.
        let spans: [&[u64]; 2] = [&[0, 2_500_000, 12_000_000], &[2_500_000, 10_000_000, 0]];
        let (trace, lost) = course(Form::Rates, &spans).unwrap().to_trace().unwrap();
        assert_eq!(trace.millis(), [1, 2]);
        let expected = Lost { rates: true, bytes: Bytes::new(750), end: Duration::from_millis(8) };
        assert_eq!(lost, expected);
    }

    #[test]
    fn a_trace_loses_nothing() {
        let trace = Trace::from_millis(vec![0, 4, 4]).unwrap();
        let course = LinkTrace::Opportunities(trace.clone());
        assert_eq!(course.to_trace(), Ok((trace, Lost::default())));
    }
}
