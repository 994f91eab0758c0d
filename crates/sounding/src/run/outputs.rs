//! A list of outputs: how each starts, fails, is tried again and ends. The main thread has one of
//! congestion controls, and the thread of each modem one of what reads it.

#[cfg(feature = "kernel")]
pub(super) mod arrivals;
#[cfg(feature = "kernel")]
pub(super) mod background;
pub(super) mod board;
pub(super) mod calls;
#[cfg(feature = "kernel")]
pub(super) mod copa;
#[cfg(feature = "kernel")]
pub(super) mod downlink;
pub(super) mod feed;
#[cfg(feature = "kernel")]
pub(super) mod law;
pub(super) mod serve;
pub(super) mod shape;
mod start;

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use miette::Report;
use sounding_bpf::SubordinateMap;
use sounding_diag::LogRecord;
use sounding_link::DelayUpdate;
use sounding_units::HostInstant;

use super::devices::Radio;
use super::events::{Events, LastWords};
use super::loader::{Door, Loader};
use super::output::{Estimates, Output, Section};
pub(super) use start::{Begun, start};

/// A failed output is first tried again after this, and then after twice the time before.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(32);

/// Every output of a list, whether it runs or not. The last one ends first.
pub(super) struct Outputs {
    slots: Vec<Slot>,
    /// This thread's parts of congestion controls, by their numbers.
    parts: Vec<(u64, Box<dyn Output>)>,
    maps: Sender<SubordinateMap>,
    /// The way to the loader, if there is something to start again, or may be.
    door: Option<Door>,
    /// Whether there always may be.
    keeps_door: bool,
    last: LastWords,
    next: u64,
}

struct Slot {
    number: u64,
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
    /// The places of modems whose threads have a part of it.
    shared: Vec<usize>,
}

/// A part of a congestion control for the thread of a modem.
pub(super) struct Part {
    pub(super) place: usize,
    pub(super) number: u64,
    pub(super) output: Box<dyn Output>,
}

impl Outputs {
    /// A list without outputs, beside this one.
    pub(super) fn empty(&self, loader: Option<&Loader>) -> Self {
        Self {
            slots: Vec::new(),
            parts: Vec::new(),
            maps: self.maps.clone(),
            door: loader.and_then(Loader::door),
            keeps_door: self.keeps_door,
            last: LastWords::default(),
            next: 0,
        }
    }

    fn running(&mut self) -> impl Iterator<Item = &mut (dyn Output + 'static)> {
        let parts = self.parts.iter_mut().map(|(_, part)| &mut **part);
        parts.chain(self.slots.iter_mut().filter_map(|slot| slot.output.as_deref_mut()))
    }

    /// The sections that ask for them.
    pub(super) fn sections(&self) -> impl Iterator<Item = &Arc<dyn Section>> {
        self.slots.iter().map(|slot| &slot.section)
    }

    /// Adds outputs that are not started yet: the loader starts them.
    pub(super) fn add(&mut self, sections: Vec<Arc<dyn Section>>) {
        for section in sections {
            self.slots.push(Slot::new(self.next, section));
            self.next += 1;
        }
    }

    /// Ends the outputs of these sections. Returns their numbers.
    pub(super) fn remove(&mut self, is_gone: impl Fn(&dyn Section) -> bool) -> Vec<u64> {
        let mut gone = Vec::new();
        for slot in self.slots.iter_mut().rev().filter(|slot| is_gone(&*slot.section)) {
            gone.push(slot.number);
            let Some(mut output) = slot.output.take() else { continue };
            output.last_words(&mut self.last);
            match &self.door {
                Some(door) => door.drop_output(output),
                None => drop(output),
            }
        }
        self.slots.retain(|slot| !gone.contains(&slot.number));
        gone
    }

    /// Parts that the modems at these places do not have yet.
    pub(super) fn parts_for(&mut self, places: &[usize]) -> Vec<Part> {
        let mut parts = Vec::new();
        for slot in &mut self.slots {
            let Some(output) = &mut slot.output else { continue };
            slot.shared.retain(|place| places.contains(place));
            for &place in places {
                if slot.shared.contains(&place) {
                    continue;
                }
                match output.part(place) {
                    Ok(Some(output)) => parts.push(Part { place, number: slot.number, output }),
                    Ok(None) => {}
                    Err(error) => slot.failure = Some(Report::from_err(error)),
                }
                slot.shared.push(place);
            }
        }
        parts
    }

    /// Takes this thread's part of a congestion control.
    pub(super) fn add_part(&mut self, part: Part) {
        self.remove_part(part.number);
        self.parts.push((part.number, part.output));
    }

    /// Ends it.
    pub(super) fn remove_part(&mut self, number: u64) {
        self.parts.retain(|(of, _)| *of != number);
    }

    pub(super) fn handle_record(&mut self, now: HostInstant, record: &LogRecord<'_>) {
        self.running().for_each(|output| output.handle_record(now, record));
    }

    /// A read is over, and may have shown delays of the radio.
    pub(super) fn handle_read(&mut self, delays: Option<&DelayUpdate>) {
        for (_, part) in &mut self.parts {
            // A part is a page in memory.
            let _ = delays.map(|update| part.handle_delays(update));
        }
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
        for (_, part) in &mut self.parts {
            let _ = part.attend(now, events);
        }
        for slot in &mut self.slots {
            let Some(output) = &mut slot.output else { continue };
            if let Err(failure) = output.attend(now, events) {
                slot.failure = Some(failure);
            }
        }
        self.end_failed(now, events);
        self.start_due(now, events);
    }

    /// Whether an output does not know its modems' network devices yet.
    pub(super) fn has_new(&self) -> bool {
        self.slots.iter().any(|slot| slot.is_new && slot.output.is_some())
    }

    /// The network devices of its modems: see [`Output::follow`].
    pub(super) fn follow(&mut self, radios: &[Radio], moved: bool, events: &mut Events) {
        for slot in &mut self.slots {
            let Some(output) = &mut slot.output else { continue };
            output.follow(radios, moved || slot.is_new, events);
            slot.is_new = false;
        }
    }

    fn end_failed(&mut self, now: HostInstant, events: &mut Events) {
        for slot in &mut self.slots {
            let Some(failure) = slot.failure.take() else { continue };
            slot.shared.clear();
            if let (Some(output), Some(door)) = (slot.output.take(), &self.door) {
                door.drop_output(output);
            }
            slot.fail(now, &failure, events);
        }
    }

    fn start_due(&mut self, now: HostInstant, events: &mut Events) {
        let Some(door) = &self.door else { return };
        while let Some((number, started)) = door.poll() {
            let slot = self.slots.iter_mut().find(|slot| slot.number == number);
            let Some(slot) = slot else {
                // It was removed meanwhile.
                started.into_iter().for_each(|output| door.drop_output(output));
                continue;
            };
            slot.is_starting = false;
            match started {
                Ok(output) => {
                    if let Some(map) = slot.begin(output, events) {
                        let _ = self.maps.send(map);
                    }
                    (slot.started, slot.told) = (Some(now), None);
                    events.output_started(&slot.section.name());
                }
                Err(failure) => slot.fail(now, &failure, events),
            }
        }
        for slot in &mut self.slots {
            if slot.output.is_none() && !slot.is_starting && now >= slot.due {
                slot.is_starting = true;
                door.start_output(slot.number, &slot.section);
            }
        }
        let is_done = |slot: &Slot| slot.output.is_some() && !slot.section.may_fail();
        if !self.keeps_door && self.slots.iter().all(is_done) {
            // The loader's rights go with the last door.
            self.door = None;
        }
    }

    /// Restores what every output changed.
    pub(super) fn end(mut self) -> LastWords {
        self.parts.clear();
        for mut output in self.slots.iter_mut().rev().filter_map(|slot| slot.output.take()) {
            output.last_words(&mut self.last);
            match &self.door {
                // It has the rights to detach programs on older kernels.
                Some(door) => door.drop_output(output),
                None => drop(output),
            }
        }
        self.last
    }
}

impl Slot {
    fn new(number: u64, section: Arc<dyn Section>) -> Self {
        Self {
            number,
            section,
            output: None,
            failure: None,
            wait: FIRST_WAIT,
            due: HostInstant::default(),
            started: None,
            is_starting: false,
            told: None,
            is_new: true,
            shared: Vec::new(),
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
