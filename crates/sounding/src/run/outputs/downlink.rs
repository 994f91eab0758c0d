//! The downlink's rate, told to those who send to this machine: by receive windows, or by a TCP
//! option.

use std::io;

use miette::{IntoDiagnostic, Result};
use sounding_bpf::{Downlink, DownlinkConfig, SubordinateMap, Walked};
use sounding_kpi::Direction;
use sounding_link::{Config as Link, DelayUpdate, Lately, RadioDelay};
use sounding_units::HostInstant;

use crate::guard::Guard;
use crate::run::devices::Radio;
use crate::run::events::Events;
use crate::run::output::{Estimates, Needs, Output, Section};
use crate::run::peers::failed;

/// `[downlink]` with a `signal`.
#[derive(Clone, Debug)]
pub(in crate::run) struct DownlinkSection {
    pub(in crate::run) config: DownlinkConfig,
    /// How its estimates are made.
    pub(in crate::run) link: Link,
}

impl Section for DownlinkSection {
    fn name(&self) -> String {
        "downlink".into()
    }

    fn needs(&self) -> Needs {
        let granted = sounding_kpi::codes(Direction::Downlink).iter();
        let codes = granted.chain(self.link.method.channel_codes());
        let codes = codes.chain(sounding_kpi::rlc_codes()).copied().collect();
        Needs { estimates: vec![self.link], delays: true, codes }
    }

    fn start(&self) -> Result<Box<dyn Output>> {
        let downlink = Downlink::load(&self.config).map_err(failed)?;
        let mut guard = Guard::start().into_diagnostic()?;
        if let Some(name) = &self.config.pin {
            guard.keep_pins(name).into_diagnostic()?;
        }
        guard.close().into_diagnostic()?;
        let adopted = downlink.adopt().map_err(failed)?;
        Ok(Box::new(DownlinkOutput {
            downlink,
            _guard: guard,
            section: self.clone(),
            adopted,
            lately: Lately::default(),
            told: HostInstant::default(),
        }))
    }
}

struct DownlinkOutput {
    downlink: Downlink,
    _guard: Guard,
    section: DownlinkSection,
    /// Connections that were open at the start.
    adopted: Walked,
    /// What the radio itself adds to packets.
    lately: Lately,
    /// When the newest record of that came.
    told: HostInstant,
}

impl Output for DownlinkOutput {
    fn begin(&mut self, events: &mut Events) {
        events.downlink(self.section.config.signal, self.adopted);
    }

    fn subordinates(&self) -> io::Result<Option<SubordinateMap>> {
        self.downlink.subordinates().map(Some)
    }

    fn handle_delays(&mut self, update: &DelayUpdate) -> Result<()> {
        self.told = update.heard_at;
        let delay = self.lately.handle_update(update);
        self.downlink.feed().publish_delay(delay, self.told);
        Ok(())
    }

    fn publish(&mut self, now: HostInstant, estimates: &Estimates) {
        if let Some(estimate) = estimates.of(&self.section.link) {
            self.downlink.feed().publish_link(estimate, now);
        }
    }

    fn attend(&mut self, now: HostInstant, _events: &mut Events) -> Result<()> {
        self.downlink.feed().heartbeat(now);
        Ok(())
    }

    fn follow(&mut self, radios: &[Radio], moved: bool, _events: &mut Events) {
        if let [radio] = radios
            && moved
        {
            let numbers = radio.numbers();
            // At most as many as fit. Open connections are taken on where the kernel allows that.
            let _ = self.downlink.follow(&numbers);
            let _ = self.downlink.adopt();
        }
    }

    fn forget(&mut self) {
        self.downlink.feed().invalidate();
        self.lately.forget();
        self.downlink.feed().publish_delay(RadioDelay::default(), self.told);
    }
}
