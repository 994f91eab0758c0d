//! Which time stamps of a whole capture are right.

use std::time::Duration;

use sounding_diag::LogRecord;
use sounding_units::{Axis, Earlier, ModemInstant, Placing};

/// The stamp of a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    at: ModemInstant,
    /// Whether an estimator reads the record. Those stamps are the modem's clock if a capture has
    /// any.
    is_read: bool,
}

impl Stamp {
    /// `None` if the modem stamped no time.
    pub(crate) fn of(record: &LogRecord<'_>) -> Option<Self> {
        let is_read = sounding_kpi::is_read(record.code);
        record.time().map(|at| Self { at, is_read })
    }
}

/// Other records that come before the first one that is read, or after the last, are at most so far
/// from it.
const BESIDE: Duration = Duration::from_secs(60);

/// The believed time of each record, in their order; `None` if none is believed. A record that is
/// not read is believed if it fits between those that are.
pub(crate) fn believed(stamps: &[Option<Stamp>]) -> Vec<Option<ModemInstant>> {
    let has_read = stamps.iter().flatten().any(|stamp| stamp.is_read);
    let mut times = vec![None; stamps.len()];
    let mut axis = Axis::default();
    let mut waiting = Vec::new();
    let settle = |times: &mut Vec<_>, what, waiting: &mut Vec<(usize, ModemInstant)>| match what {
        Earlier::Wait => {}
        Earlier::Believed => waiting.drain(..).for_each(|(place, at)| times[place] = Some(at)),
        Earlier::Misdated => waiting.clear(),
    };
    for (place, stamp) in stamps.iter().enumerate() {
        let Some(Stamp { at, .. }) = stamp.filter(|stamp| stamp.is_read || !has_read) else {
            continue;
        };
        let placed = axis.handle_stamp(at, Duration::ZERO);
        settle(&mut times, placed.waiting, &mut waiting);
        match placed.this {
            Placing::Believed => times[place] = Some(at),
            Placing::Waits => waiting.push((place, at)),
        }
    }
    settle(&mut times, axis.handle_end(), &mut waiting);
    fill_between(stamps, &mut times);
    times
}

/// Adds the times of records that fit between those that are believed.
fn fill_between(stamps: &[Option<Stamp>], times: &mut [Option<ModemInstant>]) {
    let mut after = vec![None; stamps.len()];
    let mut next = None;
    for (place, time) in times.iter().enumerate().rev() {
        after[place] = next;
        next = time.or(next);
    }
    let mut before: Option<ModemInstant> = None;
    for ((stamp, time), after) in stamps.iter().zip(times).zip(after) {
        if time.is_some() {
            before = *time;
            continue;
        }
        let Some(Stamp { at, .. }) = stamp.filter(|stamp| !stamp.is_read) else { continue };
        let least = match (before, after) {
            (Some(before), _) => before.saturating_before(Axis::OVERTAKEN),
            (None, Some(after)) => after.saturating_before(BESIDE),
            (None, None) => continue,
        };
        let most = after.or(before.map(|before| before + BESIDE)).unwrap_or(at);
        if (least..=most).contains(&at) {
            *time = Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: i64 = 1_000_000_000_000;

    /// Whether each record is believed: those that are read, and with a plus others, in
    /// milliseconds.
    fn are_believed(text: &str) -> Vec<bool> {
        let stamp = |word: &str| {
            let (is_read, ms) = match word.strip_prefix('+') {
                Some(rest) => (false, rest),
                None => (true, word),
            };
            let nanos = ms.parse().ok().map(|ms: i64| (BEGIN + ms) as u64 * 1_000_000)?;
            Some(Stamp { at: ModemInstant::from_nanos(nanos), is_read })
        };
        let stamps: Vec<_> = text.split(' ').map(stamp).collect();
        believed(&stamps).iter().map(Option::is_some).collect()
    }

    #[test]
    fn other_records_fit_between_those_that_are_read_or_have_no_time() {
        for (stamps, expected) in [
            ("0 +5 10 +203000 20", [true, true, true, false, true]),
            ("0 +-203000 10 +15 20", [true, false, true, true, true]),
            ("+-61000 +-59000 0 10 +60010", [false, true, true, true, true]),
            ("0 - 10 +60011 +70", [true, false, true, false, true]),
            ("0 -5000 10 3600000 20", [true, false, true, false, true]),
        ] {
            assert_eq!(are_believed(stamps), expected, "{stamps}");
        }
    }

    #[test]
    fn records_that_nothing_reads_have_times_among_themselves() {
        assert_eq!(are_believed("+0 +10 +99999999 +20"), [true, true, false, true]);
    }

    #[test]
    fn many_late_records_that_are_not_read_move_nothing() {
        let late = "+-203000 ".repeat(50);
        let times = are_believed(&format!("0 10 {late}20 30"));
        assert_eq!(times.iter().filter(|is_believed| **is_believed).count(), 4);
    }
}
