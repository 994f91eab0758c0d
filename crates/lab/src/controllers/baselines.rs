//! Published properties of the baseline controllers, from theory, a specification or a paper,
//! compared with this project's implementations: in virtual time, on a link of fixed rate.
//!
//! A property is one line of a table, which the test and the verb `lab run baselines` both use.

pub(crate) mod experiment;
mod lossy;
mod properties;
mod rig;
mod table;

use serde::Serialize;
use sounding_experiment::provenance::{Begun, Provenance};
use sounding_host::jobs;

use crate::experiment::Failed;
use properties::PROPERTIES;
use rig::Rig;

/// The measurement.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Only controllers with these names; all if the list is empty.
    pub controllers: Vec<String>,
    /// Controllers at once.
    pub jobs: usize,
}

/// A published property of a controller, and how it is measured.
pub(crate) struct Property {
    controller: &'static str,
    what: &'static str,
    source: &'static str,
    unit: &'static str,
    within: [f64; 2],
    /// What a reader needs to know for the row, and why it misses, if it does.
    note: &'static str,
    /// One value for each case. Every value has to be within.
    measure: fn(&mut Rig) -> Vec<f64>,
}

/// A property of `controller`, `what`, from `source`: within `within` in `unit`.
const fn says(
    controller: &'static str,
    what: &'static str,
    source: &'static str,
    within: [f64; 2],
    unit: &'static str,
    measure: fn(&mut Rig) -> Vec<f64>,
) -> Property {
    Property { controller, what, source, unit, within, note: "", measure }
}

impl Property {
    /// With a note.
    const fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }
}

/// A property and its measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name in the registry.
    pub controller: &'static str,
    /// The property.
    pub property: &'static str,
    /// The source of the property.
    pub source: &'static str,
    /// From here to here.
    pub expected: [f64; 2],
    /// The unit of both.
    pub unit: &'static str,
    /// Minimum and maximum over all cases; `None` if the event did not occur.
    pub measured: Option<[f64; 2]>,
    /// Cases.
    pub cases: usize,
    /// Every case is as expected.
    pub pass: bool,
    /// What a reader needs to know for the row, and why it misses, if it does.
    pub note: &'static str,
}

/// All that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Baselines {
    /// In the order of the registry.
    pub rows: Vec<Row>,
    /// Origin of the figures.
    pub provenance: Provenance,
}

impl Baselines {
    /// Number of properties that are met.
    pub fn passed(&self) -> usize {
        self.rows.iter().filter(|row| row.pass).count()
    }
}

/// Controllers with a property, in order.
pub fn controllers() -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for property in properties() {
        if !names.contains(&property.controller) {
            names.push(property.controller);
        }
    }
    names
}

fn properties() -> impl Iterator<Item = &'static Property> {
    PROPERTIES.iter().copied().flatten()
}

/// Measures every property; `progress` is called for each controller that is done.
pub fn run(plan: &Plan, progress: impl Fn(&str)) -> Result<Baselines, Failed> {
    let begun = Begun::now();
    let known = controllers();
    if let Some(name) = plan.controllers.iter().find(|name| !known.contains(&name.as_str())) {
        let known = known.join(", ");
        return Err(format!(
            "no property is known of a controller called {name:?}; there are some of {known}"
        )
        .into());
    }
    let wanted = |name: &&str| {
        plan.controllers.is_empty() || plan.controllers.iter().any(|wanted| wanted == name)
    };
    let names: Vec<&'static str> = known.into_iter().filter(wanted).collect();
    let measured = jobs::each(
        &names,
        plan.jobs,
        |name| Ok::<_, Failed>(measure(name)),
        |name, _| progress(name),
    )?;
    Ok(Baselines { rows: measured.into_iter().flatten().collect(), provenance: begun.end() })
}

fn measure(controller: &str) -> Vec<Row> {
    // Properties of one controller share their runs.
    let mut rig = Rig::default();
    let its = properties().filter(|property| property.controller == controller);
    its.map(|property| row(property, (property.measure)(&mut rig))).collect()
}

fn row(property: &Property, values: Vec<f64>) -> Row {
    let [least, most] = property.within;
    let finite = values.iter().all(|value| value.is_finite());
    let measured = (finite && !values.is_empty()).then(|| {
        values.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], &value| {
            [low.min(value), high.max(value)]
        })
    });
    Row {
        controller: property.controller,
        property: property.what,
        source: property.source,
        expected: property.within,
        unit: property.unit,
        measured,
        cases: values.len(),
        pass: measured.is_some_and(|[low, high]| low >= least && high <= most),
        note: property.note,
    }
}

#[cfg(test)]
mod tests {
    use sounding_laws::RadioController;

    use super::*;

    fn judged(values: &[f64]) -> Row {
        row(&says("reno", "", "", [0.5, 1.0], "", |_| Vec::new()), values.to_vec())
    }

    #[test]
    fn a_property_holds_if_each_of_its_cases_is_within() {
        assert!(judged(&[0.5, 0.7, 1.0]).pass);
        assert!(!judged(&[0.7, 1.1]).pass && !judged(&[0.4, 0.7]).pass);
    }

    #[test]
    fn nothing_measured_is_no_proof() {
        assert!(!judged(&[]).pass && !judged(&[0.7, f64::NAN]).pass);
    }

    #[test]
    fn every_baseline_of_the_registry_has_properties() {
        // On a link without a modem a law does not control the flow, and no delay is known to be
        // the radio's. Variants that Gandalf's evaluation compares with are judged there.
        let variants = ["copa-smoothed", "vivace-smoothed", "gcc-smoothed", "vivace-published"];
        let baselines = sounding_baselines::names().filter(|name| {
            let works_alone = sounding_baselines::needs(name)
                .is_none_or(|needs| needs.optional || !needs.remote && !needs.delays);
            RadioController::by_name(name).is_none() && works_alone && !variants.contains(name)
        });
        assert_eq!(baselines.collect::<Vec<_>>(), controllers());
    }

    #[test]
    fn an_unknown_controller_is_named_in_the_error() {
        let plan = Plan { controllers: vec!["tahoe".into()], jobs: 1 };
        let error = run(&plan, |_| {}).unwrap_err().to_string();
        assert!(error.contains("tahoe") && error.contains("reno"), "{error}");
    }
}
