//! The code of the fuzz target. The test `corpus` runs it with the seeds.

use std::path::{Path, PathBuf};

use sounding_experiment::plan::{Actors, PlanError, Run, Text, network};

/// Larger networks are skipped. They need more time and memory, as the plan demands.
const MAX_DEVICES: u16 = 16;
const MAX_CARRIERS: usize = 4;

/// The text of a plan, and behind each zero byte a key that is set in it. It is refused, with a
/// place in the text, or yields runs, whose networks are built or refused. Returns the number of
/// runs.
pub(crate) fn plan(data: &[u8]) -> Option<usize> {
    let mut parts = str::from_utf8(data).ok()?.split('\0');
    let mut text = Text::new("plan.toml", parts.next()?, PathBuf::from("nowhere"));
    for set in parts {
        if let Err(error) = text.set(set) {
            check(&error);
            return None;
        }
    }
    let runs = match text.runs() {
        Ok(runs) => runs,
        Err(error) => {
            check(&error);
            return None;
        }
    };
    for run in [runs.first(), runs.last()].into_iter().flatten() {
        build(&text, run);
    }
    Some(runs.len())
}

/// Builds the network of a run.
fn build(text: &Text, run: &Run) {
    let groups = Actors::new(&run.plan).expect("it was checked").groups;
    let carriers = run.plan.cell.as_ref().map_or(0, |cell| cell.carriers.len());
    let links = run.plan.links.iter().flat_map(|link| [&link.up, &link.down]);
    let wires = run.plan.wire.iter().flat_map(|wire| [&wire.up, &wire.down]);
    // The fuzzer must not read files of this machine.
    let is_outside = links.chain(wires).any(|link| link.contains(['/', '\\', '.']));
    let devices = groups.last().map_or(0, |group| group.devices.end);
    if devices > MAX_DEVICES || carriers > MAX_CARRIERS || is_outside {
        return;
    }
    if let Err(wrong) = network::<()>(&run.plan, Path::new("nowhere"), run.seed) {
        check(&text.locate(run, wrong));
    }
}

/// An error describes the fault, and a place in the text if it names one.
fn check(error: &PlanError) {
    assert!(!error.message.is_empty(), "{error:?}");
    if let Some(span) = &error.span {
        assert!(span.start <= span.end && span.end <= error.text.len(), "{error:?}");
        assert!(error.position().is_some(), "{error:?}");
    }
    assert!(!error.to_string().is_empty());
}
