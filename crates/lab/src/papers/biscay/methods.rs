//! Correlation of the rates by both of BISCAY's methods, and by raw KPIs, with goodput (BISCAY
//! §5.2, Fig. 5): [`estimators`] over the links of the paper's figure.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sounding_cell::quantity as time;
use sounding_experiment::provenance::Begun;

use super::item::{Item, Report};
use crate::estimates::estimators::{self, Row, Scenario, TRIALS, Trial};
use crate::experiment::Failed;
use crate::paper::Ours;

/// The data of the rows.
#[derive(Clone, Debug, Serialize)]
pub struct OfMethods {
    /// One for each method.
    pub methods: Vec<Row>,
}

/// The item's plan: a file of `papers/biscay`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Methods {
    /// For people.
    pub about: String,
    /// Links whose name contains this, as `sounding lab run estimators` calls them.
    pub links: String,
    /// Runs over each, at other places and in other company.
    pub seeds: u64,
    /// Duration of each run; the raw KPIs learn from the first 22 s.
    #[serde(deserialize_with = "time::duration")]
    pub duration: Duration,
}

/// The item over these links, on `jobs` threads; `progress` is called for each run.
pub fn methods(
    plan: &Methods,
    jobs: usize,
    progress: impl Fn(&str),
) -> Result<Report<OfMethods>, Failed> {
    let begun = Begun::now();
    let mut scenarios = Scenario::all();
    scenarios.retain(|scenario| scenario.name().contains(&plan.links));
    if scenarios.is_empty() {
        let names: Vec<String> = Scenario::all().iter().map(Scenario::name).collect();
        let (links, names) = (&plan.links, names.join(", "));
        return Err(format!("no link is called {links:?}; there are {names}").into());
    }
    let links: Vec<String> = scenarios.iter().map(Scenario::name).collect();
    let (seeds, duration) = (plan.seeds, plan.duration);
    let runs = estimators::Plan { scenarios, seeds, duration, jobs };
    let comparison = estimators::run(&runs, progress)?;
    let trials: Vec<&Trial> = TRIALS.iter().filter(|trial| is_in_figure(trial)).collect();
    let rows = trials.iter().map(|trial| {
        let r = |link: &String| comparison.score(link, trial)?.pearson_r;
        let cells = links.iter().map(|link| r(link).map_or("-".into(), |r| format!("{r:.3}")));
        (trial.name(), cells.collect())
    });
    let ours = Ours::new(links.clone(), rows);
    let names: Vec<String> = trials.iter().map(|trial| trial.name()).collect();
    let measured: Vec<Row> =
        comparison.rows.into_iter().filter(|row| names.contains(&row.method)).collect();
    let expected = Item::Fig5.files().expected()?;
    Ok(Report::new(
        &plan.about,
        expected,
        ours,
        OfMethods { methods: measured }.into(),
        begun.end(),
    ))
}

/// Whether the paper has it in its figure: both its methods, and raw KPIs.
fn is_in_figure(trial: &Trial) -> bool {
    use sounding_link::Method::{Formula, Grants, Mcs, Prb, Rsrp};
    matches!(trial.method, Grants | Formula | Prb | Mcs | Rsrp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_methods_go_with_goodput_and_better_than_every_raw_kpi() {
        let plan: Methods = Item::Fig5.files().plan().expect("a plan");
        let plan = Methods {
            links: "lte.uplink.drive".into(),
            seeds: 1,
            duration: Duration::from_secs(32),
            ..plan
        };
        let report = methods(&plan, 1, |_| {}).expect("it runs");
        let r = |at: usize| report.rows[at].1[0].parse::<f64>().expect("a correlation");
        assert_eq!(report.rows.len(), 5);
        assert!(r(0) > 0.95 && r(1) > 0.95, "{report}");
        assert!((2..5).all(|raw| r(raw) < r(0).min(r(1))), "{report}");
        let unknown = Methods { links: "5g".into(), ..plan };
        assert!(methods(&unknown, 1, |_| {}).is_err());
    }
}
