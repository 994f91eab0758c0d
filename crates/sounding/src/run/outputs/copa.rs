//! Copa in the kernel, and for each modem the page of its radio's own delays that it reads.

use std::io;

use miette::{IntoDiagnostic, Result, WrapErr, miette};
use sounding_bpf::{CopaInstance, DelayFeed, PeersConfig};
use sounding_kpi::Direction;
use sounding_link::DelayUpdate;
use sounding_units::HostInstant;

use super::calls::delay_codes;
use crate::guard::Guard;
use crate::run::devices::Radio;
use crate::run::events::{Events, LastWords};
use crate::run::new_flows::NewFlows;
use crate::run::output::{Needs, Output, Section};
use crate::run::peers::Hearing;

/// `[cc]` with `law = "copa"`.
#[derive(Clone, Debug)]
pub(in crate::run) struct CopaSection {
    pub(in crate::run) name: String,
    pub(in crate::run) new_flows: NewFlows,
    /// Whose reports of what their radio adds are used, if any are.
    pub(in crate::run) peers: Option<PeersConfig>,
}

impl Section for CopaSection {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn is_algorithm(&self) -> bool {
        true
    }

    fn stock(&self) -> Option<&'static str> {
        Some("plain Copa")
    }

    fn needs(&self) -> Needs {
        Needs { delays: true, codes: delay_codes(Direction::Uplink), ..Needs::default() }
    }

    fn start(&self) -> Result<Box<dyn Output>> {
        let mut instance = CopaInstance::load(&self.name).map_err(|error| {
            let cure = error.cure();
            miette!(help = cure, "{error}")
        })?;
        if self.peers.is_some() {
            instance.count_own_namespace();
        }
        let mut guard = Guard::start().into_diagnostic()?;
        guard.keep_name(instance.name(), instance.outlasting()).into_diagnostic()?;
        // Steps that may be refused come before those that change the machine.
        let hearing = self.peers.as_ref().map(|peers| Hearing::start(&instance, peers));
        let hearing = hearing.transpose().wrap_err("peers are not heard")?;
        self.new_flows.take(&self.name, &mut guard)?;
        Ok(Box::new(CopaOutput { hearing, instance, _guard: guard }))
    }
}

struct CopaOutput {
    hearing: Option<Hearing>,
    instance: CopaInstance,
    _guard: Guard,
}

impl Output for CopaOutput {
    fn begin(&mut self, events: &mut Events) {
        if let Some(hearing) = &self.hearing {
            events.peers(hearing.adopted());
        }
    }

    fn part(&mut self, place: usize) -> io::Result<Option<Box<dyn Output>>> {
        Ok(Some(Box::new(CopaPart(self.instance.delays_of(place)?))))
    }

    fn attend(&mut self, now: HostInstant, events: &mut Events) -> Result<()> {
        if let Some(hearing) = &mut self.hearing {
            hearing.attend(now, events);
        }
        Ok(())
    }

    fn follow(&mut self, radios: &[Radio], moved: bool, _events: &mut Events) {
        if moved && let Ok(table) = Radio::table(radios) {
            // Without a way to distinguish namespaces (Linux before 5.14), all flows are the only
            // modem's as before.
            let _ = self.instance.set_radios(&table);
        }
    }

    fn last_words(&mut self, last: &mut LastWords) {
        last.say(Events::connections(self.instance.begun()));
        if let Some(hearing) = &self.hearing {
            last.disbelieve(hearing.counts());
        }
    }
}

/// The page of one modem. It is empty once this is dropped.
struct CopaPart(DelayFeed);

impl Output for CopaPart {
    fn handle_delays(&mut self, update: &DelayUpdate) -> Result<()> {
        self.0.handle_update(update.clone());
        Ok(())
    }

    fn attend(&mut self, _now: HostInstant, _events: &mut Events) -> Result<()> {
        Ok(())
    }

    fn forget(&mut self) {
        self.0.forget();
    }
}
