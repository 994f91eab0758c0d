//! The code of the fuzz target. The test `corpus` runs it with the seeds.

use core::time::Duration;

use sounding_trace::link_trace::Form;
use sounding_trace::log::{LONGEST, parse_line};
use sounding_trace::{LinkTrace, Schedule, Series, Steps, csv, mahimahi};

/// The input is a kind in one byte, and a file of packet-delivery opportunities, a text of steps, a
/// table, a series in one of its two forms, or a link's log. The input is refused, or it is
/// written, read back, and used as a link whose capacity can be computed.
pub(crate) fn trace(data: &[u8]) -> Option<Schedule> {
    let (&kind, bytes) = data.split_first()?;
    let schedule = match kind % 6 {
        0 => opportunities(bytes)?,
        1 => steps(bytes)?,
        2 => table(bytes)?,
        3 => {
            log(bytes);
            return None;
        }
        4 => series(Series::parse(bytes).ok()?)?,
        _ => series(Series::gnettrack(bytes, "DL_bitrate").ok()?)?,
    };
    let hour = Duration::from_secs(3600);
    let moments: Vec<_> = schedule.opportunities().take(100).collect();
    assert!(moments.is_sorted());
    let (first, second) =
        (schedule.capacity(Duration::ZERO, hour), schedule.capacity(hour, hour * 2));
    let both = schedule.capacity(Duration::ZERO, hour * 2);
    let sum = first + second;
    // Each of two parts is rounded down to bytes, once for each step.
    assert!(sum <= both && both.count() - sum.count() <= bytes.len() as u64, "{sum} of {both}");
    Some(schedule)
}

fn opportunities(bytes: &[u8]) -> Option<Schedule> {
    let trace = match mahimahi::parse(bytes) {
        Ok(trace) => trace,
        Err(error) => {
            // Forty characters. Each may be escaped.
            assert!(error.to_string().len() < 600, "{error}");
            return None;
        }
    };
    let mut written = String::new();
    mahimahi::write(&trace, &mut written).expect("a string takes everything");
    assert_eq!(mahimahi::parse(written.as_bytes()).as_ref(), Ok(&trace));
    Some(trace.into())
}

fn steps(bytes: &[u8]) -> Option<Schedule> {
    let text = str::from_utf8(bytes).ok()?;
    let steps: Steps = match text.parse() {
        Ok(steps) => steps,
        Err(error) => {
            assert!(error.to_string().len() < 600, "{error}");
            return None;
        }
    };
    assert_eq!(steps.to_string().parse().as_ref(), Ok(&steps), "{steps}");
    Some(steps.into())
}

fn table(bytes: &[u8]) -> Option<Schedule> {
    let course = match csv::parse(bytes) {
        Ok(course) => course,
        Err(error) => {
            assert!(error.to_string().len() < 2_000, "{error}");
            return None;
        }
    };
    let mut written = String::new();
    csv::write(&course, &mut written).expect("a string takes everything");
    assert_eq!(csv::parse(written.as_bytes()).as_ref(), Ok(&course));
    match &course {
        LinkTrace::Opportunities(trace) => Some(trace.clone().into()),
        LinkTrace::Rates(rates) => {
            assert_eq!(course.form(), Form::Rates);
            Some(rates.steps().0.clone().into())
        }
    }
}

/// Any line of a log either parses or gives a short error.
fn log(bytes: &[u8]) {
    for line in bytes.split(|&byte| byte == b'\n') {
        match parse_line(line) {
            Ok(Some(said)) => assert!(said.at().is_none() || line.len() <= LONGEST, "{said:?}"),
            Ok(None) => {}
            Err(bad) => assert!(bad.to_string().len() < 800, "{bad}"),
        }
    }
}

fn series(series: Series) -> Option<Schedule> {
    let lasts = series.lasts();
    let whole = series.part(Duration::ZERO, lasts).expect("no more steps than lines");
    // After one period it is the same link.
    assert_eq!(series.part(lasts, lasts).as_ref(), Ok(&whole));
    let part = series.part(lasts / 3, lasts).ok()?;
    let carried = |steps: Steps| Schedule::from(steps).capacity(Duration::ZERO, lasts);
    let (around, straight) = (carried(part.clone()), carried(whole.clone()));
    // Each step is rounded down to bytes, and one of them is split.
    let steps = whole.steps().len() as u64 + 2;
    assert!(around.count().abs_diff(straight.count()) <= steps, "{around} of {straight}");
    Some(part.into())
}
