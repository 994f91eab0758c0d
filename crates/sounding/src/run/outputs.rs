//! The list of outputs: how each starts, fails, is tried again and ends.

pub(super) mod arrivals;
pub(super) mod background;
pub(super) mod board;
pub(super) mod calls;
pub(super) mod copa;
pub(super) mod downlink;
pub(super) mod law;
pub(super) mod shape;

use std::sync::Arc;
use std::time::Duration;

use miette::{IntoDiagnostic, Report, Result, miette};
use sounding_bpf::SubordinateMap;
use sounding_diag::LogRecord;
use sounding_link::DelayUpdate;
use sounding_units::HostInstant;

use super::devices::Device;
use super::events::{Events, LastWords};
use super::loader::Loader;
use super::output::{Estimates, Output, Section};
use super::subordinates::Followed;

/// A failed output is first tried again after this, and then after twice the time before.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(32);

/// Every output of the configuration, whether it runs or not. The last one ends first.
pub(super) struct Outputs {
    slots: Vec<Slot>,
    subordinates: Followed,
    /// Its thread exists only if there is something to start again, or may be.
    loader: Option<Loader>,
    last: LastWords,
}

struct Slot {
    section: Arc<dyn Section>,
    output: Option<Box<dyn Output>>,
    /// Why it is to end.
    failure: Option<Report>,
    wait: Duration,
    due: HostInstant,
    /// When it started, while it runs.
    started: Option<HostInstant>,
    is_starting: bool,
    /// The last reason that was reported.
    told: Option<String>,
    is_new: bool,
}

impl Outputs {
    /// Starts each section's output. An output that fails is reported, and tried again later; it is
    /// an error if all fail.
    pub(super) fn start(
        sections: Vec<Arc<dyn Section>>,
        now: HostInstant,
        events: &mut Events,
    ) -> Result<Self> {
        let mut slots: Vec<_> = sections.into_iter().map(Slot::new).collect();
        let mut maps = Vec::new();
        for slot in &mut slots {
            match slot.section.start() {
                Ok(output) => {
                    slot.started = Some(now);
                    maps.extend(slot.begin(output, events));
                }
                Err(failure) => slot.failure = Some(failure),
            }
        }
        if slots.iter().all(|slot| slot.output.is_none()) {
            let failure = slots.into_iter().find_map(|slot| slot.failure);
            return failure.map_or_else(|| Err(miette!("nothing is asked for")), Err);
        }
        let may_fail = |slot: &Slot| slot.failure.is_some() || slot.section.may_fail();
        let loader = slots.iter().any(may_fail).then(Loader::start).transpose();
        let loader = loader.into_diagnostic()?;
        let subordinates = Followed::start(maps, events).into_diagnostic()?;
        let mut outputs = Self { slots, subordinates, loader, last: LastWords::default() };
        outputs.end_failed(now, events);
        Ok(outputs)
    }

    /// Names of the outputs that run.
    pub(super) fn names(&self) -> Vec<String> {
        self.slots
            .iter()
            .filter(|slot| slot.output.is_some())
            .map(|slot| slot.section.name())
            .collect()
    }

    fn running(&mut self) -> impl Iterator<Item = &mut (dyn Output + 'static)> {
        self.slots.iter_mut().filter_map(|slot| slot.output.as_deref_mut())
    }

    pub(super) fn handle_record(&mut self, now: HostInstant, record: &LogRecord<'_>) {
        self.running().for_each(|output| output.handle_record(now, record));
    }

    /// A read is over, and may have shown delays of the radio.
    pub(super) fn handle_read(&mut self, delays: Option<&DelayUpdate>) {
        for slot in &mut self.slots {
            let Some(output) = &mut slot.output else { continue };
            output.handle_read();
            if let Some(Err(failure)) = delays.map(|update| output.handle_delays(update)) {
                slot.failure = Some(failure);
            }
        }
    }

    pub(super) fn publish(&mut self, now: HostInstant, estimates: &Estimates) {
        self.running().for_each(|output| output.publish(now, estimates));
    }

    pub(super) fn forget(&mut self) {
        for output in self.running() {
            output.forget();
        }
    }

    /// What is due for each output. One that fails ends, and one that is due is started again.
    pub(super) fn attend(&mut self, now: HostInstant, events: &mut Events) {
        for slot in &mut self.slots {
            let Some(output) = &mut slot.output else { continue };
            if let Err(failure) = output.attend(now, events) {
                slot.failure = Some(failure);
            }
        }
        self.end_failed(now, events);
        self.start_due(now, events);
        self.subordinates.attend(events);
    }

    /// The modem's network devices: see [`Output::follow`].
    pub(super) fn follow(&mut self, devices: &[Device], moved: bool, events: &mut Events) {
        for slot in &mut self.slots {
            let Some(output) = &mut slot.output else { continue };
            output.follow(devices, moved || slot.is_new, events);
            slot.is_new = false;
        }
    }

    fn end_failed(&mut self, now: HostInstant, events: &mut Events) {
        for slot in &mut self.slots {
            let Some(failure) = slot.failure.take() else { continue };
            if let (Some(output), Some(loader)) = (slot.output.take(), &self.loader) {
                loader.drop_output(output);
            }
            slot.fail(now, &failure, events);
        }
    }

    fn start_due(&mut self, now: HostInstant, events: &mut Events) {
        let Some(loader) = &self.loader else { return };
        while let Some((place, started)) = loader.poll() {
            let Some(slot) = self.slots.get_mut(place) else { continue };
            slot.is_starting = false;
            match started {
                Ok(output) => {
                    if let Some(map) = slot.begin(output, events) {
                        self.subordinates.add(map);
                    }
                    (slot.started, slot.told) = (Some(now), None);
                    events.output_started(&slot.section.name());
                }
                Err(failure) => slot.fail(now, &failure, events),
            }
        }
        for (place, slot) in self.slots.iter_mut().enumerate() {
            if slot.output.is_none() && !slot.is_starting && now >= slot.due {
                slot.is_starting = true;
                loader.start_output(place, &slot.section);
            }
        }
        let is_done = |slot: &Slot| slot.output.is_some() && !slot.section.may_fail();
        if self.slots.iter().all(is_done) {
            // Its rights go with it.
            self.loader = None;
        }
    }

    /// Restores what every output changed.
    pub(super) fn end(mut self) -> LastWords {
        for mut output in self.slots.iter_mut().rev().filter_map(|slot| slot.output.take()) {
            output.last_words(&mut self.last);
            match &self.loader {
                // It has the rights to detach programs on older kernels.
                Some(loader) => loader.drop_output(output),
                None => drop(output),
            }
        }
        drop(self.loader.take());
        self.last
    }
}

impl Slot {
    fn new(section: Arc<dyn Section>) -> Self {
        Self {
            section,
            output: None,
            failure: None,
            wait: FIRST_WAIT,
            due: HostInstant::default(),
            started: None,
            is_starting: false,
            told: None,
            is_new: true,
        }
    }

    /// Its output started. Gives the map that is to follow `/etc/subuid`.
    fn begin(
        &mut self,
        mut output: Box<dyn Output>,
        events: &mut Events,
    ) -> Option<SubordinateMap> {
        output.begin(events);
        let map = output.subordinates().unwrap_or_else(|error| {
            self.failure = Some(Report::from_err(error));
            None
        });
        self.output = Some(output);
        self.is_new = true;
        map
    }

    fn fail(&mut self, now: HostInstant, failure: &Report, events: &mut Events) {
        // One that fails soon after each start is tried again more and more seldom.
        if self.started.take().is_some_and(|started| now - started > LONGEST_WAIT) {
            self.wait = FIRST_WAIT;
        }
        let reason = failure.to_string();
        if self.told.as_ref() != Some(&reason) {
            events.output_failed(&self.section.name(), failure, self.wait);
            self.told = Some(reason);
        }
        self.due = now + self.wait;
        self.wait = (self.wait * 2).min(LONGEST_WAIT);
    }
}
