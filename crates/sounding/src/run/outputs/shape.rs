//! A router's shaper: its rate follows the modem.
//!
//! This process decides. Another one, the keeper, has the right to set rates, and takes only those
//! within the limits.

mod carried;
mod remembered;
pub(super) mod state_folder;

use std::path::Path;
use std::time::Duration;

use miette::{IntoDiagnostic, Result, miette};
use sounding_kpi::Direction;
use sounding_link::{Config as Link, LinkEstimate};
use sounding_qdisc::{Error, Tc};
use sounding_shape::{Decision, Limits, Queue, Reason, ShaperLaw, Tuning};
use sounding_units::{HostInstant, Rate};

use crate::offload::{self, Bypass};
use crate::run::events::{Events, ShapeNews};
use crate::run::output::{Estimates, Needs, Output, Section};
use crate::shapers::{Keeper, KeeperEvent, Standing, Wanted, Way};
use remembered::Remembered;

/// A direction of `[shape]`.
#[derive(Clone, Debug)]
pub(in crate::run) struct ShapeSection {
    /// The modem's name, where the section has it.
    pub(in crate::run) modem: Option<String>,
    pub(in crate::run) direction: Direction,
    /// The WAN's network device, if it is known.
    pub(in crate::run) interface: Option<String>,
    /// The device at whose root the shaper stands, if it is named.
    pub(in crate::run) device: Option<String>,
    pub(in crate::run) limits: ShapeLimits,
    pub(in crate::run) manage: bool,
    pub(in crate::run) observe: bool,
}

/// The limits that are given; none is required.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::run) struct ShapeLimits {
    pub(in crate::run) min: Option<Rate>,
    pub(in crate::run) base: Option<Rate>,
    pub(in crate::run) max: Option<Rate>,
}

/// Without a limit: 200 kbit/s, which a call fits in, and more than any radio carries. Chosen.
const MIN: Rate = Rate::from_bits_per_sec(200_000);
const MAX: Rate = Rate::from_bits_per_sec(10_000_000_000);
/// The base of a new shaper whose link is unknown. Chosen.
const BASE: Rate = Rate::from_bits_per_sec(10_000_000);

impl ShapeLimits {
    /// With this rate as the base that is not given.
    fn around(self, carried: Option<Rate>) -> Result<Limits> {
        let max = self.max.unwrap_or(MAX);
        let base = self.base.or(carried).unwrap_or(BASE).min(max);
        let base = base.max(self.min.unwrap_or(base));
        let min = self.min.unwrap_or(MIN.min(base));
        Limits::new(min, base, max).into_diagnostic()
    }
}

impl ShapeSection {
    fn link(&self) -> Link {
        Link::new(self.direction).over(Some(Tuning::of(self.direction).span))
    }

    /// The device at whose root the shaper is, or is to be.
    fn device(&self) -> Result<String> {
        let interface = || {
            self.interface.clone().ok_or_else(|| {
                miette!(
                    help = "name the WAN's network device: --interface wwan0, or `interface` in [shape]",
                    "no network device of the modem is known"
                )
            })
        };
        match (&self.device, self.direction) {
            // A managed downlink names the device whose arriving packets go to its own IFB.
            (Some(device), Direction::Uplink) => Ok(device.clone()),
            (Some(device), Direction::Downlink) if !self.manage => Ok(device.clone()),
            (_, Direction::Downlink) if !self.manage => {
                let mut name = format!("ifb4{}", interface()?);
                name.truncate(15);
                if !Path::new("/sys/class/net").join(&name).exists() {
                    return Err(miette!(
                        help = "--manage makes one; --downlink-device names one; --only uplink does without",
                        "the downlink has no shaper: there is no device {name}"
                    ));
                }
                Ok(name)
            }
            _ => interface(),
        }
    }

    /// The fast paths past a shaper, by the WAN's device if it is known. To observe, none counts.
    fn bypasses(&self) -> Option<(String, std::result::Result<Vec<Bypass>, Error>)> {
        let device = self.interface.clone().or_else(|| self.device.clone());
        let device = device.filter(|_| !self.observe)?;
        let found = offload::bypasses(&device);
        Some((device, found))
    }

    fn keep(&self, device: String, carried: Option<Rate>) -> Result<(Keeper, Standing)> {
        let ShapeLimits { min, max, .. } = self.limits;
        let way = if self.manage {
            let start = self.limits.around(carried)?.base();
            Way::Manage { kind: None, start_bits_per_sec: start.bits_per_sec() }
        } else {
            Way::Adopt
        };
        let wanted = Wanted {
            direction: self.direction.into(),
            device,
            way,
            min_bits_per_sec: min.unwrap_or(Limits::LEAST).bits_per_sec(),
            max_bits_per_sec: max.unwrap_or(MAX).bits_per_sec(),
        };
        let (keeper, standing) = Keeper::start(&[wanted]).into_diagnostic()?;
        let standing = standing.into_iter().next();
        let standing = standing.ok_or_else(|| miette!("the keeper of shapers names none"))?;
        Ok((keeper, standing))
    }
}

impl Section for ShapeSection {
    fn name(&self) -> String {
        match &self.modem {
            None => format!("shape {}", self.direction),
            Some(modem) => format!("shape {modem} {}", self.direction),
        }
    }

    fn needs(&self) -> Needs {
        let codes = sounding_kpi::codes(self.direction).to_vec();
        Needs { estimates: vec![self.link()], codes, ..Needs::default() }
    }

    fn start(&self) -> Result<Box<dyn Output>> {
        let device = self.device();
        // A base that is given needs no memory.
        let remembered = self.limits.base.is_none().then(|| {
            let device = device.as_deref().ok();
            Remembered::read(self.direction, device, !self.observe)
        });
        let carried = remembered.as_ref().and_then(Remembered::rate);
        // To observe, no shaper has to stand there.
        let (keeper, place, rate) = if self.observe {
            (None, device.ok(), None)
        } else {
            let (keeper, standing) = self.keep(device?, carried)?;
            let rate = standing.rate_bits_per_sec.map(Rate::from_bits_per_sec);
            (Some((keeper, standing.clone())), Some(standing.place), rate)
        };
        let limits = self.limits.around(carried.or(rate.filter(|_| !self.manage)))?;
        let (keeper, standing) = keeper.unzip();
        Ok(Box::new(ShapeOutput {
            direction: self.direction,
            link: self.link(),
            law: ShaperLaw::new(self.direction, limits),
            limits,
            remembered,
            keeper,
            standing,
            place,
            bypasses: self.bypasses(),
            tc: Tc::open().into_diagnostic()?,
            is_left_alone: false,
            news: None,
            told: None,
            failed: None,
        }))
    }

    fn may_fail(&self) -> bool {
        true
    }
}

struct ShapeOutput {
    direction: Direction,
    link: Link,
    law: ShaperLaw,
    limits: Limits,
    /// `None` while it only observes.
    keeper: Option<Keeper>,
    standing: Option<Standing>,
    /// The device at whose root the queue is read.
    place: Option<String>,
    /// Fast paths past the shaper, as they were at the start; `None` where nothing was looked at.
    bypasses: Option<(String, std::result::Result<Vec<Bypass>, Error>)>,
    tc: Tc,
    /// Another program has changed the shaper.
    is_left_alone: bool,
    /// A decision that no event has reported.
    news: Option<(HostInstant, Decision, LinkEstimate, Option<Queue>)>,
    /// The last decision that a sentence reported, and when.
    told: Option<(HostInstant, Reason)>,
    failed: Option<miette::Report>,
    /// What the link carries, where no base is given. It is written once the machine is restored.
    remembered: Option<Remembered>,
}

/// Where rates are only observed, a sentence at most this often.
const OBSERVED_EVERY: Duration = Duration::from_secs(1);

impl ShapeOutput {
    fn queue(&self) -> Option<Queue> {
        let found = self.tc.queue(self.place.as_ref()?).ok()?;
        let packets = found.packets.into();
        Some(Queue { packets, waiting: found.waiting, sent: found.sent })
    }

    fn tell_wrong(&mut self, events: &mut Events) {
        if let Some(wrong) = self.remembered.as_mut().and_then(Remembered::poll_wrong) {
            events.base_not_kept(self.direction, &wrong);
        }
    }

    fn set(&mut self, rate: Rate) {
        if self.is_left_alone {
            return;
        }
        if let Some(Err(error)) =
            self.keeper.as_mut().map(|keeper| keeper.set(self.direction, rate))
        {
            self.failed.get_or_insert(miette!("{error}"));
        }
    }

    fn handle_event(&mut self, event: KeeperEvent, events: &mut Events) {
        let (direction, interface) = (self.direction, self.place.clone().unwrap_or_default());
        let tell = |events: &mut Events, what, why: &str| {
            events.shaper(direction, &interface, what, why);
        };
        match event {
            KeeperEvent::Changed { why, .. } => {
                self.is_left_alone = true;
                tell(events, ShapeNews::LeftAlone, &why);
            }
            KeeperEvent::Gone { why, .. } => tell(events, ShapeNews::Gone, &why),
            KeeperEvent::Failed { why, .. } | KeeperEvent::Refused { why } => {
                tell(events, ShapeNews::Failed, &why);
            }
            KeeperEvent::Back(standing) => {
                self.law.handle_replaced();
                self.place = Some(standing.place.clone());
                tell(events, ShapeNews::Back, &standing.shaper);
                self.standing = Some(standing);
            }
            KeeperEvent::Ended => {
                self.failed = Some(miette!("the keeper of shapers has ended"));
            }
        }
    }
}

impl Output for ShapeOutput {
    fn begin(&mut self, events: &mut Events) {
        self.tell_wrong(events);
        let limits = [self.limits.min(), self.limits.base(), self.limits.max()];
        let shaper = self.standing.as_ref().map(|standing| &standing.shaper[..]);
        events.shaping(self.direction, self.place.as_deref(), shaper, limits);
        match self.bypasses.take() {
            Some((device, Ok(found))) => {
                found.iter().for_each(|bypass| events.bypass(&device, bypass));
            }
            Some((device, Err(error))) => events.bypasses_unknown(&device, &error),
            None => {}
        }
    }

    fn publish(&mut self, now: HostInstant, estimates: &Estimates) {
        let Some(estimate) = estimates.of(&self.link) else { return };
        let queue = self.queue();
        if let Some(queue) = queue {
            self.law.handle_queue(now, queue);
        }
        self.law.handle_estimate(now, estimate);
        if let Some(remembered) = &mut self.remembered {
            remembered.handle(self.law.decision());
        }
        if let Some(decision) = self.law.poll() {
            self.set(decision.rate);
            self.news = Some((now, decision, *estimate, queue));
        }
    }

    fn attend(&mut self, now: HostInstant, events: &mut Events) -> Result<()> {
        if let Some(remembered) = &mut self.remembered {
            remembered.attend(now);
        }
        self.tell_wrong(events);
        while let Some(event) = self.keeper.as_mut().and_then(Keeper::poll) {
            self.handle_event(event, events);
        }
        if let Some((at, decision, estimate, queue)) = self.news.take() {
            // People read when it falls back and returns, and each second what would be set.
            let is_base = |reason| reason == Reason::Base;
            let tell = match self.told {
                None => true,
                Some((_, before)) if is_base(before) != is_base(decision.reason) => true,
                Some((told, _)) => self.keeper.is_none() && now - told >= OBSERVED_EVERY,
            };
            if tell {
                self.told = Some((now, decision.reason));
            }
            events.shaped(at, self.direction, decision, &estimate, queue, tell);
        }
        self.failed.take().map_or(Ok(()), Err)
    }

    fn forget(&mut self) {
        // The next estimates, 10 ms later, report its decision and set its rate.
        self.law.handle_disconnect();
    }
}
