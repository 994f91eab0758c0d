//! A law in the kernel: the estimates of each modem that feed its flows, and the peers that it
//! hears.

use std::io;

use miette::{IntoDiagnostic, Result, WrapErr, miette};
use sounding_bpf::{Counting, Feed, Instance, LawConfig, PeersConfig, Sharing, SubordinateMap};
use sounding_laws::{Fallback, Law};
use sounding_link::Config as Link;
use sounding_units::HostInstant;

use crate::cli_types;
use crate::guard::Guard;
use crate::run::devices::{Device, Radio};
use crate::run::events::{Events, LastWords};
use crate::run::flows::Followed;
use crate::run::new_flows::NewFlows;
use crate::run::output::{Estimates, Needs, Output, Section};
use crate::run::peers::Hearing;

/// `[cc]` with a law.
#[derive(Clone, Debug)]
pub(in crate::run) struct LawSection {
    pub(in crate::run) law: Law,
    pub(in crate::run) name: String,
    pub(in crate::run) fallback: Fallback,
    pub(in crate::run) settings: LawConfig,
    pub(in crate::run) sharing: Sharing,
    pub(in crate::run) new_flows: NewFlows,
    /// How estimates are made, if there is a modem.
    pub(in crate::run) link: Option<Link>,
    /// Whose reports its flows obey, if they obey any.
    pub(in crate::run) peers: Option<PeersConfig>,
}

impl Section for LawSection {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn is_algorithm(&self) -> bool {
        true
    }

    fn stock(&self) -> Option<&'static str> {
        Some(cli_types::fallback(self.fallback))
    }

    fn needs(&self) -> Needs {
        let codes = self.link.iter().flat_map(|link| {
            let granted = sounding_kpi::codes(link.direction);
            granted.iter().chain(link.method.channel_codes()).copied()
        });
        Needs {
            estimates: self.link.into_iter().collect(),
            codes: codes.collect(),
            ..Needs::default()
        }
    }

    fn start(&self) -> Result<Box<dyn Output>> {
        let config = sounding_bpf::Config {
            name: self.name.clone(),
            law: self.law,
            fallback: self.fallback,
            settings: self.settings,
            sharing: self.sharing.clone(),
        };
        let mut instance = Instance::load(&config).map_err(|error| {
            let cure = error.cure();
            miette!(help = cure, "{error}")
        })?;
        let mut guard = Guard::start().into_diagnostic()?;
        guard.keep_name(instance.name(), instance.outlasting()).into_diagnostic()?;
        // Steps that may be refused come before those that change the machine.
        let mut hearing = None;
        if let Some(peers) = &self.peers {
            // A container's flows could fill the queue of reports.
            instance.report_own_namespace();
            hearing = Some(Hearing::start(&instance, peers).wrap_err("peers are not heard")?);
        }
        self.new_flows.take(&self.name, &mut guard)?;
        let counted = Vec::new();
        let (flows, link) = (None, self.link);
        Ok(Box::new(LawOutput { hearing, counted, flows, instance, _guard: guard, link }))
    }
}

/// The programs come first, and then what points to them by name.
struct LawOutput {
    hearing: Option<Hearing>,
    counted: Vec<Counted>,
    flows: Option<Followed>,
    instance: Instance,
    _guard: Guard,
    link: Option<Link>,
}

/// A network device whose flows of other algorithms are counted, or are not.
struct Counted {
    device: Device,
    by: Option<Counting>,
}

impl Output for LawOutput {
    fn begin(&mut self, events: &mut Events) {
        self.flows = Some(events.follow_flows(self.instance.name()));
        if let Some(hearing) = &self.hearing {
            events.peers(hearing.adopted());
        }
    }

    fn subordinates(&self) -> io::Result<Option<SubordinateMap>> {
        self.instance.subordinates().map(Some)
    }

    fn part(&mut self, place: usize) -> io::Result<Option<Box<dyn Output>>> {
        let feed = self.link.zip(self.instance.feed_of(place));
        Ok(feed.map(|(link, feed)| {
            let part: Box<dyn Output> = Box::new(LawPart { feed: feed.clone(), link });
            part
        }))
    }

    fn attend(&mut self, now: HostInstant, events: &mut Events) -> Result<()> {
        while let Some(transition) = self.instance.poll_transition() {
            events.transition(&transition);
        }
        if let Some(hearing) = &mut self.hearing {
            hearing.attend(now, events);
        }
        Ok(())
    }

    fn follow(&mut self, radios: &[Radio], moved: bool, events: &mut Events) {
        if moved && let Ok(table) = Radio::table(radios) {
            // Without a way to distinguish namespaces (Linux before 5.14), all flows are the only
            // modem's as before.
            let _ = self.instance.set_radios(&table);
        }
        let devices = || radios.iter().flat_map(|radio| &radio.devices);
        self.counted.retain(|counted| devices().any(|device| device.name == counted.device.name));
        for device in devices() {
            self.count_on(device, events);
        }
    }

    fn last_words(&mut self, last: &mut LastWords) {
        if let Some(hearing) = &self.hearing {
            last.disbelieve(hearing.counts());
        }
    }
}

/// The page of one modem.
struct LawPart {
    feed: Feed,
    link: Link,
}

impl Output for LawPart {
    fn publish(&mut self, now: HostInstant, estimates: &Estimates) {
        if let Some(estimate) = estimates.of(&self.link) {
            self.feed.publish_link(estimate, now);
        }
    }

    fn attend(&mut self, now: HostInstant, _events: &mut Events) -> Result<()> {
        self.feed.heartbeat(now);
        Ok(())
    }

    fn forget(&mut self) {
        self.feed.invalidate();
    }
}

impl Drop for LawPart {
    fn drop(&mut self) {
        // The instance has the page still.
        self.feed.invalidate();
    }
}

impl LawOutput {
    /// Counts what else leaves by this device, if it is not counted yet. A reason why not is
    /// reported once.
    fn count_on(&mut self, device: &Device, events: &mut Events) {
        let known = self.counted.iter().position(|counted| counted.device.name == device.name);
        let is_told = known.is_some_and(|at| self.counted[at].by.is_none());
        if let Some(at) = known {
            let Counted { device: before, by } = &self.counted[at];
            if by.is_some() && before.number == device.number {
                return;
            }
            self.counted.remove(at);
        }
        let by = match device.number {
            0 => Err(io::Error::other("there is no such device")),
            number => self.instance.count_on(number),
        };
        match &by {
            Ok(_) => events.counting(&device.name, None),
            Err(why) if !is_told => events.counting(&device.name, Some(why)),
            Err(_) => {}
        }
        self.counted.push(Counted { device: device.clone(), by: by.ok() });
    }
}
