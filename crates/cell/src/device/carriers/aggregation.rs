//! When a device is given a further carrier, and when it loses one.

use sounding_units::HostInstant;

use super::DeviceCarriers;
use crate::config::AggregationConfig;
use crate::device::carrier::DeviceCarrier;
use crate::device::prb_window::Prbs;
use crate::event::Rrc;
use crate::ids::{DeviceCarrierId, SlotId};

impl DeviceCarriers {
    /// Processes a slot of a carrier's downlink: its resource blocks, and the number of blocks sent
    /// to all devices.
    pub(crate) fn handle_share(
        &mut self,
        carrier: DeviceCarrierId,
        slot: SlotId,
        (all, sent): (u16, u16),
        config: &AggregationConfig,
    ) {
        if config.load.is_none() || !self.may_use(&self[carrier], slot.at) {
            return;
        }
        let carrier = &mut self[carrier];
        let own = if carrier.sent.0 == slot.slot { carrier.sent.1 } else { 0 };
        let left = all.saturating_sub(sent.saturating_sub(own));
        let prbs = Prbs { own: own.into(), left: left.into() };
        carrier.prbs.handle_slot(slot.at, config.load_over, prbs);
    }

    /// Activates a further carrier while much waits in the downlink or while the device fills those
    /// that serve, and drops one that was not needed for long.
    pub(crate) fn aggregate(
        &mut self,
        now: HostInstant,
        backlog: u64,
        config: &AggregationConfig,
    ) -> Option<Rrc> {
        let waits = backlog > config.queue.count();
        self.crowded_since = waits.then(|| self.crowded_since.unwrap_or(now));
        let crowded = self.crowded_since.is_some_and(|since| now - since >= config.after);
        if (crowded || self.is_loaded(now, config))
            && let Some(at) = self.next_secondary()
        {
            let usable = now + config.activation;
            let carrier = &mut self[at];
            carrier.activate(usable);
            let carrier = carrier.id;
            // The next one waits until this one has shown that it is not enough.
            self.crowded_since = Some(usable);
            self.count_afresh(usable);
            return Some(Rrc::Activated { carrier, usable });
        }
        let at = self.last_secondary().filter(|_| !waits)?;
        let is_light = self.is_light_without(at, now, config);
        let carrier = &mut self[at];
        if !is_light || now - carrier.used < config.deactivation {
            return None;
        }
        carrier.usable = None;
        carrier.reset();
        let carrier = carrier.id;
        self.count_afresh(now);
        Some(Rrc::Deactivated { carrier })
    }

    /// Other carriers serve from `now` on, so the counts of the old ones are reset.
    pub(super) fn count_afresh(&mut self, now: HostInstant) {
        self.counted_since = now;
        self.light_since = None;
    }

    /// The carrier that is activated next.
    fn next_secondary(&self) -> Option<DeviceCarrierId> {
        let has_secondary = self.secondary_group.is_on();
        let may_come = |carrier: &DeviceCarrier| {
            // A secondary group begins with its first cell, by measurement.
            carrier.cell == self.serving
                && carrier.usable.is_none()
                && !carrier.is_first_of_secondary
                && (has_secondary || !carrier.in_secondary_group)
        };
        self.all.iter().position(may_come).map(|at| DeviceCarrierId(at as u8))
    }

    /// The carrier that is dropped first.
    fn last_secondary(&self) -> Option<DeviceCarrierId> {
        let may_go = |carrier: &DeviceCarrier| {
            !carrier.is_primary && !carrier.is_first_of_secondary && carrier.usable.is_some()
        };
        self.all.iter().rposition(may_go).map(|at| DeviceCarrierId(at as u8))
    }

    /// Whether the device used most of the blocks that other devices left, since all of its
    /// carriers serve.
    fn is_loaded(&self, now: HostInstant, config: &AggregationConfig) -> bool {
        let Some(load) = config.load else { return false };
        let counted = now.saturating_since(self.counted_since);
        if self.is_away(now) || counted < config.load_over {
            return false;
        }
        let serving = self.all.iter().filter(|carrier| carrier.is_usable(now));
        let of = |carrier: &DeviceCarrier| carrier.prbs.sum(now, config.load_over);
        let prbs = serving.map(of).fold(Prbs::default(), Prbs::plus);
        prbs.left > 0 && prbs.own as f64 >= load * prbs.left as f64
    }

    /// Whether the device would not have loaded its other carriers alone for long; always, where
    /// load does not count.
    fn is_light_without(
        &mut self,
        one: DeviceCarrierId,
        now: HostInstant,
        config: &AggregationConfig,
    ) -> bool {
        let Some(load) = config.load else { return true };
        let (mut own, mut left) = (0, 0);
        for (at, carrier) in self.all.iter().enumerate().filter(|(_, each)| each.is_usable(now)) {
            let prbs = carrier.prbs.sum(now, config.load_over);
            own += prbs.own;
            left += if at == usize::from(one.0) { 0 } else { prbs.left };
        }
        let is_light = (own as f64) < load * left as f64 || own == 0;
        self.light_since = is_light.then(|| self.light_since.unwrap_or(now));
        self.light_since.is_some_and(|since| now - since >= config.deactivation)
    }
}
