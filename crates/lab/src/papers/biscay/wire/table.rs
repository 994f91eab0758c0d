use sounding_experiment::metrics::{nearest_rank, sorted};

use super::Crossing;
use crate::paper::Ours;
use crate::papers::biscay::tables::mean;

/// Over several cells the median and, in brackets, the worst.
pub(super) fn table(crossings: &[Crossing]) -> Ours {
    let of_one = |a: &Crossing, b: &Crossing| {
        a.controller == b.controller
            && a.ground == b.ground
            && a.wire_mbit_per_sec == b.wire_mbit_per_sec
    };
    let mut rows: Vec<(String, Vec<&Crossing>)> = Vec::new();
    for one in crossings {
        match rows.iter_mut().find(|(_, ones)| of_one(ones[0], one)) {
            Some((_, ones)) => ones.push(one),
            None => {
                let (wire, ground) = (one.wire_mbit_per_sec, one.ground.name());
                rows.push((format!("{} {wire:.0} Mbit/s, {ground}", one.controller), vec![one]));
            }
        }
    }
    let rows = rows.into_iter().map(|(name, ones)| {
        let found = ones.iter().any(|one| one.found_ms.is_some() && one.widens);
        let cells = vec![
            spread(&ones, |one| one.found_ms),
            if found { spread(&ones, |one| one.back_ms) } else { "-".into() },
            spread(&ones, |one| Some(one.changes as f64)),
            format!("{:.0}", mean(ones.iter().copied(), |one| one.used * 100.0)),
            spread(&ones, |one| Some(one.queueing_p95_ms)),
        ];
        (name, cells)
    });
    Ours::new(["found ms", "back ms", "changes", "used %", "p95 ms"], rows)
}

/// The median, and the worst where that is another; what never came is the worst of all.
fn spread(ones: &[&Crossing], value: impl Fn(&Crossing) -> Option<f64>) -> String {
    let values = sorted(ones.iter().map(|one| value(one).unwrap_or(f64::INFINITY)));
    let shown = |value: f64| match value {
        value if value.is_finite() => format!("{value:.0}"),
        _ => "never".into(),
    };
    let Some(worst) = values.last().map(|worst| shown(*worst)) else { return String::new() };
    let median = shown(nearest_rank(&values, 0.5));
    if median == worst { median } else { format!("{median} ({worst})") }
}
