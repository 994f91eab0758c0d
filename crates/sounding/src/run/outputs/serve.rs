//! What the daemon knows, over HTTP: its server has a thread of its own. The threads of modems give
//! it news, and never wait for it.

mod radio;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{io, mem};

use miette::{IntoDiagnostic, Result, miette};
use serde_json::Value as Json;
use sounding_host::monotonic_now;
use sounding_serve::{Event, Feeder, Modem, News, Server, Settings};
use sounding_units::HostInstant;

use super::feed::LATEST;
use super::shape::state_folder::state_folder;
use crate::run::devices::Radio;
use crate::run::events::Events;
use crate::run::output::{Needs, Output, Section};
use radio::RadioPart;

/// `[serve]` with an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::run) struct ServePlan {
    pub(in crate::run) address: SocketAddr,
    /// The file of the token, where it is named.
    pub(in crate::run) token: Option<PathBuf>,
    /// Whether no token is asked for.
    pub(in crate::run) open: bool,
    pub(in crate::run) hosts: Vec<String>,
}

/// The server. It reads all modems.
#[derive(Clone, Debug)]
pub(in crate::run) struct ServeSection {
    pub(in crate::run) plan: ServePlan,
}

/// The ways to this process's servers, and how many there are.
static OPEN: Mutex<Vec<(usize, Feeder)>> = Mutex::new(Vec::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// It is held for as long as news is given to a queue.
fn open() -> MutexGuard<'static, Vec<(usize, Feeder)>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether there is a server that takes news.
pub(in crate::run) fn is_open() -> bool {
    COUNT.load(Ordering::Relaxed) > 0
}

/// Gives news to the server, if there is one. This never waits.
pub(in crate::run) fn tell(news: impl FnOnce() -> News) {
    if !is_open() {
        return;
    }
    let news = news();
    open().iter().for_each(|(_, feeder)| feeder.give(news.clone()));
}

/// Events that are shown. Others are too many, or name flows and peers.
const SHOWN: &[&str] = &[
    "absent",
    "base_not_kept",
    "bypass",
    "closed",
    "interfaces",
    "late",
    "modem_failed",
    "mute",
    "no_priority",
    "not_awake",
    "not_reloaded",
    "output_failed",
    "output_started",
    "rates_not_kept",
    "ready",
    "reloaded",
    "reopened",
    "shaper",
    "shaping",
    "slept",
];

/// Gives an event to the server, if it is one to show.
pub(in crate::run) fn tell_event(modem: Option<&str>, event: &Json) {
    let kind = event["event"].as_str().unwrap_or_default();
    if !is_open() || !SHOWN.contains(&kind) {
        return;
    }
    let modem = modem.map(str::to_owned);
    let (kind, text) = (kind.to_owned(), event.to_string());
    tell(|| News::Event(Event { kind, at: monotonic_now(), modem, text }));
}

impl ServePlan {
    fn token(&self) -> Result<Option<PathBuf>> {
        if self.open {
            return Ok(None);
        }
        let default = || Some(state_folder()?.join("serve.token"));
        let token = self.token.clone().or_else(default);
        token.map(Some).ok_or_else(|| {
            miette!(
                help = "name a file: token = PATH in [serve]",
                "there is no folder for the token"
            )
        })
    }
}

impl Section for ServeSection {
    fn name(&self) -> String {
        format!("serve {}", self.plan.address)
    }

    fn needs(&self) -> Needs {
        Needs { codes: radio::codes(), ..Needs::default() }
    }

    fn start(&self) -> Result<Box<dyn Output>> {
        let ServePlan { address, hosts, .. } = self.plan.clone();
        let token = self.plan.token()?;
        let settings = Settings { address, hosts, token: token.clone(), longest_gap: LATEST };
        let server = Server::start(&settings).into_diagnostic()?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut all = open();
        all.push((number, server.feeder().clone()));
        COUNT.store(all.len(), Ordering::Relaxed);
        drop(all);
        Ok(Box::new(ServeOutput { number, server, token }))
    }
}

struct ServeOutput {
    number: usize,
    server: Server,
    token: Option<PathBuf>,
}

impl Output for ServeOutput {
    fn begin(&mut self, events: &mut Events) {
        events.serving(self.server.address(), self.token.as_deref());
    }

    fn part(&mut self, place: usize) -> io::Result<Option<Box<dyn Output>>> {
        Ok(Some(Box::new(RadioPart::new(place, self.server.feeder().clone()))))
    }

    fn attend(&mut self, _now: HostInstant, _events: &mut Events) -> Result<()> {
        Ok(())
    }

    fn follow(&mut self, radios: &[Radio], _moved: bool, _events: &mut Events) {
        let modem = |radio: &Radio| Modem {
            place: radio.place,
            name: radio.name.clone(),
            devices: radio.devices.iter().map(|device| device.name.clone()).collect(),
        };
        self.server.feeder().give(News::Modems(radios.iter().map(modem).collect()));
    }
}

impl Drop for ServeOutput {
    fn drop(&mut self) {
        let mut all = open();
        let kept = mem::take(&mut *all).into_iter().filter(|(number, _)| *number != self.number);
        *all = kept.collect();
        COUNT.store(all.len(), Ordering::Relaxed);
    }
}
