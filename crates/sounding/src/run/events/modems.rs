//! Which modem an event is about, where there are several.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;
use sounding_modem::Source;
use sounding_modem::beside::ServeError;
use sounding_units::HostInstant;

use super::{Events, Late, Untold};
use crate::run::event_queue::Outbox;
use crate::run::flows::Flows;
use crate::skipped::counted;

/// What the threads' events have in common.
#[derive(Debug, Default)]
pub(super) struct Common {
    names: Mutex<Names>,
    /// Late heartbeats of modems whose threads have ended.
    late: AtomicU64,
    /// The flows of the laws.
    pub(super) flows: Arc<Flows>,
    /// Whether the line of each minute is left out.
    pub(super) is_quiet: AtomicBool,
}

#[derive(Debug, Default)]
struct Names {
    /// The modems, by their places.
    modems: Vec<(usize, String)>,
    /// What flows go on as without their modem, if there are flows.
    fallback: String,
}

impl Common {
    fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The place of a modem.
    pub(super) fn place_of(&self, modem: &str) -> Option<usize> {
        let names = self.names();
        names.modems.iter().find(|(_, name)| name == modem).map(|(place, _)| *place)
    }

    pub(super) fn are_several(&self) -> bool {
        self.names().modems.len() > 1
    }

    pub(super) fn modem_at(&self, place: usize) -> Option<String> {
        let names = self.names();
        let found = names.modems.iter().find(|(at, _)| *at == place);
        found.map(|(_, name)| name.clone())
    }

    pub(super) fn fallback(&self) -> String {
        self.names().fallback.clone()
    }
}

impl Events {
    /// Those of a modem's thread. An event names the modem while there are several.
    pub(in crate::run) fn of_modem(&self, name: &str) -> Self {
        Self {
            form: self.form,
            common: Arc::clone(&self.common),
            modem: Some(name.to_owned()),
            outbox: Outbox::clone(&self.outbox),
            late: Late::default(),
            overstated: Untold::default(),
            disbelieved: Untold::default(),
            beside: Untold::default(),
            said: self.said.clone(),
        }
    }

    /// Whether there are several modems.
    pub(in crate::run) fn are_of_several(&self) -> bool {
        self.common.are_several()
    }

    /// What follows is about this modem.
    pub(in crate::run) fn about(&mut self, modem: Option<&str>) {
        self.modem = modem.map(str::to_owned);
    }

    /// These are the modems, by their places.
    pub(in crate::run) fn name_modems(&self, modems: Vec<(usize, String)>) {
        self.common.names().modems = modems;
    }

    /// Names what flows go on as while their modem is not heard.
    pub(in crate::run) fn fall_back_to(&self, stocks: impl Iterator<Item = &'static str>) {
        let mut names: Vec<&str> = stocks.collect();
        names.dedup();
        self.common.names().fallback = names.join(" or ");
    }

    /// A modem's thread ends: its late heartbeats count on.
    pub(in crate::run) fn end_of_modem(self) {
        self.common.late.fetch_add(self.late.count, Ordering::Relaxed);
    }

    pub(super) fn all_late(&self) -> u64 {
        self.late.count + self.common.late.load(Ordering::Relaxed)
    }

    /// A modem's port is not there, and is waited for.
    pub(in crate::run) fn absent(&mut self, device: &Source, why: &str) {
        let device = device.to_string();
        let event = json!({ "event": "absent", "device": device, "reason": why });
        let stock = self.stock();
        self.say(&event, || {
            Some(format!("{device} is waited for: {why}: {stock} until it is there"))
        });
    }

    /// So many other commands read the modem beside this daemon from now on.
    pub(in crate::run) fn beside(&mut self, now: HostInstant, readers: usize) {
        // They come and go as they like, and may not fill a log.
        let due = self.beside.add(now).is_some();
        self.say(&json!({ "event": "beside", "readers": readers }), || {
            let count = counted(readers as u64, "other command reads", "other commands read");
            due.then(|| format!("{count} the modem beside this daemon"))
        });
    }

    /// Other commands cannot read the modem beside this daemon.
    pub(in crate::run) fn not_beside(&mut self, why: &ServeError) {
        self.say(&json!({ "event": "not_beside", "reason": why.to_string() }), || {
            Some(format!("no other command can read the modem beside this daemon: {why}"))
        });
    }
}
