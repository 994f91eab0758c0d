//! What the daemon knows, over HTTP: its server has a thread of its own. The threads of modems give
//! it news, and never wait for it.

mod radio;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use miette::{IntoDiagnostic, Result, miette};
use sounding_serve::{Modem, News, Server, Settings};
use sounding_units::HostInstant;

use super::feed::LATEST;
use super::shape::state_folder::state_folder;
use crate::run::devices::Radio;
use crate::run::events::Events;
use crate::run::news;
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
        let way = news::lead_to(server.feeder().clone());
        Ok(Box::new(ServeOutput { _way: way, server, token }))
    }
}

struct ServeOutput {
    /// The events and lines of all threads reach the server by it.
    _way: news::Way,
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
