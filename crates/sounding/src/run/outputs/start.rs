//! The start of all outputs, while the daemon has its rights.

use miette::{IntoDiagnostic, Result, miette};
use sounding_units::HostInstant;

use super::{Outputs, Slot};
use crate::run::events::{Events, LastWords};
use crate::run::loader::Loader;
use crate::run::output::Asked;
use crate::run::subordinates::Followed;

/// The outputs that were started, in their lists.
pub(in crate::run) struct Begun {
    /// Names of those that run, in their order.
    pub(in crate::run) names: Vec<String>,
    /// The congestion controls.
    pub(in crate::run) algorithms: Outputs,
    /// The outputs that read one modem, by its name.
    pub(in crate::run) of_modems: Vec<(String, Outputs)>,
    pub(in crate::run) subordinates: Followed,
    /// Its thread exists only if there is something to start again, or may be.
    pub(in crate::run) loader: Option<Loader>,
}

/// Starts each section's output. An output that fails is reported, and tried again later; it is an
/// error if all fail. `keeps_loader` says that others may be asked for later.
pub(in crate::run) fn start(
    asked: Vec<Asked>,
    modems: &[String],
    keeps_loader: bool,
    now: HostInstant,
    events: &mut Events,
) -> Result<Begun> {
    let mut slots: Vec<(Option<String>, Slot)> = Vec::new();
    let mut maps = Vec::new();
    for (number, Asked { section, modem }) in (0..).zip(asked) {
        let mut slot = Slot::new(number, section);
        match slot.section.start() {
            Ok(output) => {
                slot.started = Some(now);
                events.about(modem.as_deref());
                maps.extend(slot.begin(output, events));
            }
            Err(failure) => slot.failure = Some(failure),
        }
        slots.push((modem, slot));
    }
    events.about(None);
    if slots.iter().all(|(_, slot)| slot.output.is_none()) {
        let failure = slots.into_iter().find_map(|(_, slot)| slot.failure);
        return failure.map_or_else(|| Err(miette!("nothing is asked for")), Err);
    }
    let may_fail = |slot: &Slot| slot.failure.is_some() || slot.section.may_fail();
    let has_loader = keeps_loader || slots.iter().any(|(_, slot)| may_fail(slot));
    let mut loader = has_loader.then(Loader::start).transpose().into_diagnostic()?;
    let subordinates = Followed::start(maps, events).into_diagnostic()?;
    let runs = |(_, slot): &&(_, Slot)| slot.output.is_some();
    let names = slots.iter().filter(runs).map(|(_, slot)| slot.section.name()).collect();
    let next = slots.len() as u64;
    let list = |slots| Outputs {
        slots,
        parts: Vec::new(),
        maps: subordinates.maps(),
        door: loader.as_ref().and_then(Loader::door),
        keeps_door: keeps_loader,
        last: LastWords::default(),
        next,
    };
    let mut take = |of: Option<&str>| {
        let own = slots.extract_if(.., |(modem, _)| modem.as_deref() == of);
        list(own.map(|(_, slot)| slot).collect())
    };
    let mut algorithms = take(None);
    let of_modems = modems.iter().map(|modem| (modem.clone(), take(Some(modem))));
    let mut of_modems: Vec<_> = of_modems.collect();
    algorithms.end_failed(now, events);
    for (modem, outputs) in &mut of_modems {
        events.about(Some(modem));
        outputs.end_failed(now, events);
    }
    events.about(None);
    if let Some(loader) = loader.as_mut().filter(|_| !keeps_loader) {
        loader.release();
    }
    Ok(Begun { names, algorithms, of_modems, subordinates, loader })
}
