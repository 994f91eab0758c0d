//! Dual connectivity of LTE and NR (EN-DC, TS 37.340 §4.1.2, §7, §10): an LTE cell is the master, and a secondary group of NR
//! is added while its first cell is good enough. The bearer is split: its packets go over both, and come out in order.

use core::time::Duration;

use sounding_units::HostInstant;

use crate::config::{DualConfig, Path};
use crate::device::Device;
use crate::event::{DeviceId, Event, Rrc};
use crate::leg::Leg;
use crate::ran::Ran;

/// The secondary group.
///
/// ```text
/// Off ──event B1: good enough──▶ Better ──for time-to-trigger──▶ Prepared ──command──▶ On ◀──heard again──┐
///  ▲                              │                                                     └─not heard──▶ Failing
///  ├──────── not any more ────────┘                                                                     │
///  └──────────────────────────── T310: the device says so, the group is released ─────────────────────────┘
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Secondary {
    #[default]
    Off,
    /// Good enough since then.
    Better {
        since: HostInstant,
    },
    /// It is added then.
    Prepared {
        at: HostInstant,
    },
    On,
    /// Not heard since then.
    Failing {
        since: HostInstant,
    },
}

/// What becomes of the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Add,
    Fail,
}

impl Secondary {
    /// Its first cell was measured.
    pub(crate) fn handle_measurement(
        &mut self,
        now: HostInstant,
        (rsrp_dbm, sinr_db): (f32, f32),
        config: &DualConfig,
    ) -> Option<Change> {
        let good = rsrp_dbm >= config.b1_dbm && sinr_db >= config.lost_db;
        let heard = sinr_db >= config.lost_db;
        let (next, change) = match *self {
            Self::Off if good => (Self::Better { since: now }, None),
            Self::Better { .. } | Self::Off if !good => (Self::Off, None),
            Self::Better { since } if now - since >= config.time_to_trigger => {
                (Self::Prepared { at: now + config.preparation }, None)
            }
            Self::Prepared { at } if at <= now => (Self::On, Some(Change::Add)),
            Self::On if !heard => (Self::Failing { since: now }, None),
            Self::Failing { .. } if heard => (Self::On, None),
            Self::Failing { since } if now - since >= config.t310 => {
                (Self::Off, Some(Change::Fail))
            }
            same => (same, None),
        };
        *self = next;
        change
    }
}

impl<P> Device<P> {
    /// The first leg of the secondary group in the cell that serves.
    fn secondary_leg(&self) -> Option<usize> {
        self.legs.iter().position(|leg| leg.cell == self.serving && leg.secondary)
    }

    /// Whether a secondary group carries data.
    fn has_secondary(&self, now: HostInstant) -> Option<usize> {
        let leg = self.secondary_leg()?;
        self.may_use(&self.legs[leg], now).then_some(leg)
    }

    /// The connection is released, and the secondary group with it: nothing is under way.
    pub(crate) fn forget_secondary(&mut self) {
        self.secondary = Secondary::Off;
        for leg in self.legs.iter_mut().filter(|leg| leg.in_secondary_group) {
            leg.usable = None;
        }
    }

    /// The leg that the downlink fills first: NR's, where there is one.
    pub(crate) fn main_leg(&self, now: HostInstant) -> usize {
        self.has_secondary(now).unwrap_or(self.primary)
    }

    /// The leg of the uplink's primary path, where requests go.
    pub(crate) fn path_leg(&self, now: HostInstant) -> usize {
        match self.config.dual.primary_path {
            Path::Secondary => self.main_leg(now),
            Path::Master => self.primary,
        }
    }

    /// Whether the uplink may use a leg: with a split bearer the other path is told of data only once more than the threshold
    /// waits (ul-DataSplitThreshold, TS 38.323 §5.2.1).
    pub(crate) fn may_send_on(&self, leg: &Leg, now: HostInstant) -> bool {
        if self.has_secondary(now).is_none() {
            return true;
        }
        let path_is_nr = self.legs[self.path_leg(now)].group_is_nr;
        leg.group_is_nr == path_is_nr
            || self.uplink.backlog() >= self.config.dual.split_threshold.count()
    }
}

impl<P> Ran<P> {
    /// Measures the first cell of the secondary group, adds the group and lets it go.
    pub(crate) fn steer_secondary(&mut self, device: u16, now: HostInstant) {
        let state = &mut self.devices[usize::from(device)];
        let Some(at) = state.secondary_leg() else { return };
        if state.away_until > now || !state.attention.connected {
            return;
        }
        let motion = state.place.at(now);
        let leg = &mut state.legs[at];
        if leg.usable.is_none() {
            leg.channel.advance(now, motion);
        }
        let measured = (leg.channel.rsrp_dbm(), leg.channel.wideband_sinr_db());
        let carrier = leg.carrier;
        match state.secondary.handle_measurement(now, measured, &state.config.dual) {
            Some(Change::Add) => {
                let usable = now + state.config.dual.access;
                leg.usable = Some(usable);
                leg.used = usable;
                self.tell(device, now, Rrc::SecondaryAdded { carrier, usable });
            }
            Some(Change::Fail) => {
                self.tell(device, now, Rrc::SecondaryFailed { carrier });
                self.release_secondary(device, now);
            }
            None => {}
        }
    }

    /// The secondary group is released: what was under way there goes over the master group (data recovery, TS 38.323
    /// §5.5).
    pub(crate) fn release_secondary(&mut self, device: u16, now: HostInstant) {
        let state = &mut self.devices[usize::from(device)];
        let serving = state.serving;
        let mut released = None;
        let Device { legs, downlink, uplink, .. } = state;
        for leg in legs.iter_mut().filter(|leg| leg.cell == serving && leg.in_secondary_group) {
            if leg.usable.take().is_none() {
                continue;
            }
            released = released.or(leg.secondary.then_some(leg.carrier));
            leg.down.processes.pdus().for_each(|pdu| downlink.recover(pdu));
            leg.up.processes.pdus().for_each(|pdu| uplink.recover(pdu));
            leg.down.processes.reset();
            leg.up.processes.reset();
        }
        let Some(carrier) = released else { return };
        state.secondary = Secondary::Off;
        // Whatever was granted there is not sent: the device asks anew, through the master.
        state.belief.reset();
        if state.uplink_demand(now) > 0 {
            state.asking.handle_data();
        }
        let watched = state.watched;
        if let (true, Some(events)) = (watched, &mut self.events) {
            let change = Rrc::SecondaryReleased { carrier };
            events.push(Event::Rrc { device: DeviceId(device), at: now, change });
        }
    }
}

impl Default for DualConfig {
    fn default() -> Self {
        Self {
            b1_dbm: -110.0,
            time_to_trigger: Duration::from_millis(160),
            preparation: Duration::from_millis(80),
            access: Duration::from_millis(20),
            lost_db: -8.0,
            t310: Duration::from_secs(1),
            primary_path: Path::Secondary,
            split_threshold: sounding_units::Bytes::new(102_400),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_group_is_added_after_its_time_and_released_after_t310() {
        let config = DualConfig::default();
        let mut group = Secondary::default();
        let (good, deaf) = ((-100.0, 10.0), (-100.0, -12.0));
        let mut changes = std::vec::Vec::new();
        for ms in (0..4_000).step_by(40) {
            let measured = if (1_000..2_500).contains(&ms) { deaf } else { good };
            let change = group.handle_measurement(at(ms), measured, &config);
            changes.extend(change.map(|change| (ms, change)));
        }
        // 160 ms to trigger, 80 to prepare, measured every 40; then a second of silence from 1000 on.
        assert_eq!(changes, [(240, Change::Add), (2_000, Change::Fail), (2_760, Change::Add)]);
    }

    #[test]
    fn a_weak_cell_is_not_added_and_a_short_silence_is_forgiven() {
        let config = DualConfig::default();
        let mut group = Secondary::default();
        assert_eq!(group.handle_measurement(at(0), (-115.0, 20.0), &config), None);
        assert_eq!(group, Secondary::Off);
        group = Secondary::On;
        group.handle_measurement(at(0), (-100.0, -20.0), &config);
        group.handle_measurement(at(900), (-100.0, 0.0), &config);
        assert_eq!(group, Secondary::On);
    }
}
