//! The rows of each item.

use std::collections::BTreeMap;

use sounding_experiment::metrics::{nearest_rank, sorted};

use super::given_link::is_truthful;
use super::{Figures, Plan};
use crate::paper::{Expected, Gains, Ours};
use sounding_testbed::radio::Scenario;

pub(super) fn mean<'a, T: 'a>(ones: impl Iterator<Item = &'a T>, of: impl Fn(&T) -> f64) -> f64 {
    let values: Vec<f64> = ones.map(of).collect();
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The gain of `ours` over `theirs`, from the means over all links.
fn gains_of(figures: &[Figures], ours: &str, theirs: &str) -> Gains {
    let of = |name: &str, value: fn(&Figures) -> f64| {
        mean(figures.iter().filter(|figures| figures.controller == name), value)
    };
    let saved = |value: fn(&Figures) -> f64| 100.0 * (1.0 - of(ours, value) / of(theirs, value));
    let throughput: fn(&Figures) -> f64 = |figures| figures.throughput_mbit_per_sec;
    Gains {
        throughput: of(ours, throughput) / of(theirs, throughput),
        mean: saved(|figures| figures.mean_ms),
        tail: saved(|figures| figures.p95_ms),
    }
}

/// The median over links of the gain of `ours` over `theirs`.
fn median_gains(figures: &[Figures], ours: &str, theirs: &str) -> Gains {
    let links: BTreeMap<&str, Vec<Figures>> =
        figures.iter().fold(BTreeMap::new(), |mut links, one| {
            links.entry(one.link.as_str()).or_default().push(one.clone());
            links
        });
    let all: Vec<Gains> = links.values().map(|link| gains_of(link, ours, theirs)).collect();
    let median = |value: fn(&Gains) -> f64| {
        let values = sorted(all.iter().map(value).filter(|v| v.is_finite()));
        if values.is_empty() { f64::NAN } else { nearest_rank(&values, 0.5) }
    };
    Gains {
        throughput: median(|gains| gains.throughput),
        mean: median(|gains| gains.mean),
        tail: median(|gains| gains.tail),
    }
}

pub(super) fn gains(figures: &[Figures], plan: &Plan, expected: &Expected) -> Ours {
    let is_other = |name: &&String| *name != "biscay" && !is_truthful(name);
    let others = plan.controllers.iter().filter(is_other);
    let mut misses = Vec::new();
    let rows = others.map(|name| {
        let biscay = gains_of(figures, "biscay", name);
        let ours = match name.as_str() {
            "sounding" => "-".into(),
            _ => gains_of(figures, "sounding", name).to_string(),
        };
        let verdict = match expected.gains.get(name).map(|paper| biscay.short_of(*paper)) {
            None => "-".into(),
            Some(short) if short.is_empty() => "holds".into(),
            Some(short) => {
                misses.push(expected.miss(name, &short));
                format!("MISS: {}", short.join(", "))
            }
        };
        let by_link = median_gains(figures, "biscay", name).to_string();
        (name.clone(), vec![biscay.to_string(), verdict, by_link, ours])
    });
    let ours = Ours::new(["biscay", "", "median link", "sounding"], rows);
    Ours { misses, ..ours }
}

pub(super) fn sampling(figures: &[Figures]) -> Ours {
    let mut rows: BTreeMap<(String, u64), Vec<&Figures>> = BTreeMap::new();
    for one in figures {
        let every = one.every_ms.map_or(0, |every| every as u64);
        rows.entry((one.controller.clone(), every)).or_default().push(one);
    }
    let rows = rows.into_iter().map(|((controller, every), those)| {
        let name = match every {
            0 => controller,
            every => format!("{controller} {every} ms"),
        };
        let of = |value: fn(&Figures) -> f64| mean(those.iter().copied(), value);
        let cells = vec![
            format!("{:.2}", of(|figures| figures.throughput_mbit_per_sec)),
            format!("{:.0}", of(|figures| figures.mean_ms)),
            format!("{:.0}", of(|figures| figures.p95_ms)),
        ];
        (name, cells)
    });
    Ours::new(["Mbit/s", "mean ms", "p95 ms"], rows)
}

pub(super) fn scenarios(figures: &[Figures], plan: &Plan) -> Ours {
    let kind_of = |one: &Figures| one.group(one.scenario.name()).to_owned();
    let mut kinds: Vec<(Scenario, String)> =
        figures.iter().map(|one| (one.scenario, kind_of(one))).collect();
    kinds.sort();
    kinds.dedup();
    let mut rows = Vec::new();
    for (_, kind) in kinds {
        for name in &plan.controllers {
            let those =
                figures.iter().filter(|one| kind_of(one) == kind && one.controller == *name);
            let those: Vec<&Figures> = those.collect();
            let spread = |value: fn(&Figures) -> f64, digits: usize| {
                let values = sorted(those.iter().map(|one| value(one)));
                if values.is_empty() {
                    return "-".to_owned();
                }
                let at = |quantile| nearest_rank(&values, quantile);
                format!("{:.digits$} ({:.digits$}-{:.digits$})", at(0.5), at(0.25), at(0.75))
            };
            let cells = vec![
                spread(|one| one.throughput_mbit_per_sec, 1),
                spread(|one| one.utilisation * 100.0, 0),
                spread(|one| one.mean_ms, 0),
                spread(|one| one.p95_ms, 0),
            ];
            rows.push((format!("{kind} {name}"), cells));
        }
    }
    Ours::new(["Mbit/s (quartiles)", "used %", "mean ms", "p95 ms"], rows)
}

pub(super) fn several(figures: &[Figures]) -> Ours {
    let mut rows: BTreeMap<(usize, &str, String), Vec<&Figures>> = BTreeMap::new();
    for one in figures {
        let key = (one.flows, one.group(one.scenario.mobility()), one.controller.clone());
        rows.entry(key).or_default().push(one);
    }
    let p95 = |those: &[&Figures]| mean(those.iter().copied(), |one| one.p95_ms);
    let rows = rows.iter().map(|((flows, links, controller), those)| {
        let (flows, links) = (*flows, *links);
        let of = |value: fn(&Figures) -> f64| mean(those.iter().copied(), value);
        let alone = rows.get(&(1, links, controller.clone()));
        let more = alone.map(|alone| format!("{:+.1}", p95(those) - p95(alone)));
        let each = of(|one| one.throughput_mbit_per_sec) / flows as f64;
        let cells = vec![
            format!("{each:.2}"),
            format!("{:.1}", of(|one| one.mean_ms)),
            format!("{:.1}", of(|one| one.p95_ms)),
            more.unwrap_or_else(|| "-".into()),
            format!("{:.3}", of(|one| one.jain_short)),
            format!("{:.3}", of(|one| one.jain_short_most)),
        ];
        (format!("{flows} {links} {controller}"), cells)
    });
    let names = ["Mbit/s each", "mean ms", "p95 ms", "beyond one flow's", "Jain 500 ms", "at most"];
    Ours::new(names, rows)
}

pub(super) fn fairness(figures: &[Figures], plan: &Plan) -> Ours {
    let rows = plan.controllers.iter().map(|name| {
        let of = |value: fn(&Figures) -> f64| {
            mean(figures.iter().filter(|one| one.controller == *name), value)
        };
        let cells = [
            of(|one| one.jain),
            of(|one| one.jain_short),
            of(|one| one.jain_short_most),
            of(|one| one.jain_short_p10),
        ];
        (name.clone(), cells.map(|index| format!("{index:.3}")).to_vec())
    });
    Ours::new(["over the run", "500 ms, mean", "at most", "500 ms, lowest tenth"], rows)
}
