//! All carriers that a device can use, in whichever cell, and which of them it uses.

mod aggregation;

use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

use sounding_units::HostInstant;

use super::bearers::Bearers;
use super::carrier::DeviceCarrier;
use super::secondary_group::{Change, SecondaryGroup};
use crate::config::{DualConfig, PrimaryPath};
use crate::event::Rrc;
use crate::ids::{CarrierId, DeviceCarrierId};
use crate::radio::Motion;

/// The carriers of a device.
#[derive(Debug)]
pub(crate) struct DeviceCarriers {
    all: Vec<DeviceCarrier>,
    /// The cell it is on, and its primary carrier there.
    serving: usize,
    primary: DeviceCarrierId,
    secondary_group: SecondaryGroup,
    /// More than carrier aggregation's threshold has waited since.
    crowded_since: Option<HostInstant>,
    /// Since then its carriers serve, and its share of them counts.
    counted_since: HostInstant,
    /// Since then so little is sent that the last secondary carrier is not needed.
    light_since: Option<HostInstant>,
    /// Cut off by a handover or a connection's setup until then.
    away_until: HostInstant,
}

impl Index<DeviceCarrierId> for DeviceCarriers {
    type Output = DeviceCarrier;

    #[inline]
    fn index(&self, id: DeviceCarrierId) -> &DeviceCarrier {
        &self.all[usize::from(id.0)]
    }
}

impl IndexMut<DeviceCarrierId> for DeviceCarriers {
    #[inline]
    fn index_mut(&mut self, id: DeviceCarrierId) -> &mut DeviceCarrier {
        &mut self.all[usize::from(id.0)]
    }
}

impl DeviceCarriers {
    /// The first of `all` is used from `now` on.
    pub(crate) fn new(all: Vec<DeviceCarrier>, now: HostInstant) -> Self {
        Self {
            all,
            serving: 0,
            primary: DeviceCarrierId(0),
            secondary_group: SecondaryGroup::default(),
            crowded_since: None,
            counted_since: now,
            light_since: None,
            away_until: now,
        }
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = (DeviceCarrierId, CarrierId)> + '_ {
        (0..).map(DeviceCarrierId).zip(self.all.iter().map(|carrier| carrier.id))
    }

    /// Whether there is no other carrier to go to.
    #[inline]
    pub(crate) fn is_one(&self) -> bool {
        self.all.len() == 1
    }

    /// Whether a block is in flight on any of them.
    pub(crate) fn is_busy(&self) -> bool {
        self.all.iter().any(DeviceCarrier::is_busy)
    }

    /// The primary carrier of the cell that serves.
    #[inline]
    pub(crate) fn primary(&self) -> DeviceCarrierId {
        self.primary
    }

    #[inline]
    pub(crate) fn is_away(&self, now: HostInstant) -> bool {
        self.away_until > now
    }

    /// No carrier is used before `until`.
    pub(crate) fn cut_off(&mut self, until: HostInstant) {
        self.away_until = self.away_until.max(until);
    }

    /// Whether a carrier can carry data at `now`.
    #[inline]
    pub(crate) fn may_use(&self, carrier: &DeviceCarrier, now: HostInstant) -> bool {
        !self.is_away(now) && carrier.is_usable(now)
    }

    /// The first carrier of the secondary group in the cell that serves.
    fn first_of_secondary(&self) -> Option<DeviceCarrierId> {
        let is_it =
            |carrier: &DeviceCarrier| carrier.cell == self.serving && carrier.is_first_of_secondary;
        self.all.iter().position(is_it).map(|at| DeviceCarrierId(at as u8))
    }

    /// The first carrier of the secondary group, if the group carries data.
    fn usable_secondary(&self, now: HostInstant) -> Option<DeviceCarrierId> {
        let first = self.first_of_secondary()?;
        self.may_use(&self[first], now).then_some(first)
    }

    /// The carrier that the downlink fills first: NR's, where there is one.
    pub(crate) fn main(&self, now: HostInstant) -> DeviceCarrierId {
        self.usable_secondary(now).unwrap_or(self.primary)
    }

    /// The carrier of the uplink's primary path, where requests go.
    pub(crate) fn path(&self, now: HostInstant, config: &DualConfig) -> DeviceCarrierId {
        match config.primary_path {
            PrimaryPath::Secondary => self.main(now),
            PrimaryPath::Master => self.primary,
        }
    }

    /// Whether the uplink may use a carrier. With a split bearer the second path carries data only
    /// when more than the threshold waits (ul-DataSplitThreshold, TS 38.323 §5.2.1).
    pub(crate) fn may_send_on(
        &self,
        carrier: &DeviceCarrier,
        now: HostInstant,
        backlog: u64,
        config: &DualConfig,
    ) -> bool {
        if self.usable_secondary(now).is_none() {
            return true;
        }
        let path_is_nr = self[self.path(now, config)].is_nr;
        carrier.is_nr == path_is_nr || backlog >= config.split_threshold.count()
    }
}

/// The network's decisions.
impl DeviceCarriers {
    /// The neighbour that is received best, and how many dB better than the cell that serves.
    pub(crate) fn measure_neighbours(
        &mut self,
        now: HostInstant,
        motion: Motion,
    ) -> Option<(usize, f32)> {
        let mut best: Option<(usize, f32)> = None;
        let mut here = f32::MIN;
        for carrier in self.all.iter_mut().filter(|carrier| carrier.is_primary) {
            if carrier.cell != self.serving {
                carrier.channel.advance(now, motion);
            }
            let rsrp = carrier.channel.rsrp_dbm();
            if carrier.cell == self.serving {
                here = rsrp;
            } else if best.is_none_or(|(_, found)| rsrp > found) {
                best = Some((carrier.cell, rsrp));
            }
        }
        best.map(|(cell, rsrp)| (cell, rsrp - here))
    }

    /// The next cell after the serving one, among this many cells.
    pub(crate) fn next_cell(&self, cells: usize) -> usize {
        (self.serving + 1) % cells
    }

    /// Goes to another cell, which serves from `resumes` on; the primary carriers of both.
    pub(crate) fn hand_over(
        &mut self,
        cell: usize,
        resumes: HostInstant,
    ) -> Option<(CarrierId, CarrierId)> {
        let from = self[self.primary].id;
        for carrier in &mut self.all {
            carrier.usable = None;
            carrier.reset();
        }
        self.serving = cell;
        self.secondary_group = SecondaryGroup::Off;
        let primary =
            self.all.iter().position(|carrier| carrier.cell == cell && carrier.is_primary)?;
        self.primary = DeviceCarrierId(primary as u8);
        self.away_until = resumes;
        self.count_afresh(resumes);
        let primary = &mut self.all[primary];
        primary.usable = Some(resumes);
        Some((from, primary.id))
    }

    /// Whether the first cell of a secondary group can be measured.
    pub(crate) fn has_secondary(&self, now: HostInstant) -> bool {
        !self.is_away(now) && self.first_of_secondary().is_some()
    }

    /// Measures the first cell of the secondary group. Returns the resulting change of the group.
    pub(crate) fn steer_secondary(
        &mut self,
        now: HostInstant,
        motion: Motion,
        config: &DualConfig,
    ) -> Option<Rrc> {
        let first = self.first_of_secondary()?;
        let first = &mut self.all[usize::from(first.0)];
        if first.usable.is_none() {
            first.channel.advance(now, motion);
        }
        let measured = (first.channel.rsrp_dbm(), first.channel.wideband_sinr_db());
        let carrier = first.id;
        Some(match self.secondary_group.handle_measurement(now, measured, config)? {
            Change::Add => {
                let usable = now + config.access;
                first.activate(usable);
                self.count_afresh(usable);
                Rrc::SecondaryAdded { carrier, usable }
            }
            Change::Fail => Rrc::SecondaryFailed { carrier },
        })
    }

    /// Releases the secondary group, if there is one: its data in transmission goes over the master
    /// group (data recovery, TS 38.323 §5.5). Returns the group's first carrier.
    pub(crate) fn release_secondary<P>(&mut self, bearers: &mut Bearers<P>) -> Option<CarrierId> {
        let mut released = None;
        let serving = self.serving;
        let of_group =
            |carrier: &&mut DeviceCarrier| carrier.cell == serving && carrier.in_secondary_group;
        for carrier in self.all.iter_mut().filter(of_group) {
            if carrier.usable.take().is_none() {
                continue;
            }
            released = released.or(carrier.is_first_of_secondary.then_some(carrier.id));
            carrier.downlink.processes.pdus().for_each(|pdu| bearers.downlink.recover(pdu));
            carrier.uplink.processes.pdus().for_each(|pdu| bearers.uplink.recover(pdu));
            carrier.reset();
        }
        if released.is_some() {
            self.secondary_group = SecondaryGroup::Off;
        }
        released
    }

    /// The connection is released, and the secondary group with it. No data is in transmission.
    pub(crate) fn forget_secondary(&mut self) {
        self.secondary_group = SecondaryGroup::Off;
        for carrier in self.all.iter_mut().filter(|carrier| carrier.in_secondary_group) {
            carrier.usable = None;
        }
    }
}
