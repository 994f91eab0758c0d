//! A device: its bearers, its carriers, its connection, and the network's state for it.

mod bearers;
mod carrier;
mod carriers;
mod connection;
mod handover;
mod harq_direction;
mod prb_window;
mod secondary_group;

use bearers::Bearers;
pub(crate) use carrier::DeviceCarrier;
use carriers::DeviceCarriers;
use connection::Connection;
use handover::{Handover, MEASURED_EVERY};

use alloc::vec::Vec;
use core::ops::{Index, IndexMut};
use core::time::Duration;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use sounding_kpi::Direction;
use sounding_units::{Bytes, HostInstant};

use crate::bearer::Status;
use crate::buffer_status::{BsrReporter, GnbBufferEstimate};
use crate::config::DeviceConfig;
use crate::event::{ChannelReport, Event, Rrc, Signal};
use crate::ids::{CarrierId, DeviceCarrierId, DeviceId, SlotId, User};
use crate::outputs::{EventLog, Outputs};
use crate::radio::Trajectory;
use crate::traffic::TrafficSource;
use crate::wake_schedule::NEVER;

/// All devices of a network.
#[derive(Debug)]
pub(crate) struct Devices<P>(Vec<Device<P>>);

impl<P> Devices<P> {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn push(&mut self, device: Device<P>) {
        self.0.push(device);
    }
}

impl<P> Index<DeviceId> for Devices<P> {
    type Output = Device<P>;

    #[inline]
    fn index(&self, id: DeviceId) -> &Device<P> {
        &self.0[usize::from(id.0)]
    }
}

impl<P> IndexMut<DeviceId> for Devices<P> {
    #[inline]
    fn index_mut(&mut self, id: DeviceId) -> &mut Device<P> {
        &mut self.0[usize::from(id.0)]
    }
}

/// A device and all that the network keeps of it.
#[derive(Debug)]
pub(crate) struct Device<P> {
    pub(crate) id: DeviceId,
    pub(crate) config: DeviceConfig,
    pub(crate) bearers: Bearers<P>,
    pub(crate) bsr: BsrReporter,
    pub(crate) gnb_estimate: GnbBufferEstimate,
    pub(crate) carriers: DeviceCarriers,
    pub(crate) connection: Connection,
    trajectory: Trajectory,
    handover: Handover,
    /// Handovers of the script that are done.
    scripted: usize,
    source: Option<TrafficSource>,
    rng: ChaCha8Rng,
    /// Whether its blocks, reports and signalling become events.
    pub(crate) watched: bool,
    /// Whether it is in its carriers' lists of active devices.
    active: bool,
    /// When neighbours are measured and the signal is reported next.
    next_measured: HostInstant,
}

/// The parts of a new device.
pub(crate) struct Parts {
    pub(crate) config: DeviceConfig,
    pub(crate) carriers: Vec<DeviceCarrier>,
    pub(crate) trajectory: Trajectory,
    pub(crate) source: Option<TrafficSource>,
    pub(crate) rng: ChaCha8Rng,
}

impl<P> Device<P> {
    /// A device that is connected on the first of its carriers.
    pub(crate) fn new(id: DeviceId, now: HostInstant, parts: Parts) -> Self {
        let Parts { config, carriers, trajectory, source, rng } = parts;
        Self {
            id,
            bearers: Bearers::new(config.downlink, config.uplink),
            bsr: BsrReporter::new(),
            gnb_estimate: GnbBufferEstimate::default(),
            carriers: DeviceCarriers::new(carriers, now),
            connection: Connection::new(now),
            trajectory,
            handover: Handover::default(),
            scripted: 0,
            source,
            rng,
            watched: false,
            active: true,
            next_measured: now,
            config,
        }
    }

    /// It as a user of each of its carriers.
    pub(crate) fn users(&self) -> impl Iterator<Item = (CarrierId, User)> + '_ {
        let user = |(carrier, id)| (id, User { device: self.id, carrier });
        self.carriers.ids().map(user)
    }

    /// Marks the device as active. Returns whether it was inactive before.
    #[inline]
    pub(crate) fn activate(&mut self) -> bool {
        !core::mem::replace(&mut self.active, true)
    }

    /// Whether anything is queued, in flight or due.
    pub(crate) fn is_busy(&self) -> bool {
        let scheduling = &self.config.scheduling;
        self.bearers.is_busy()
            || !self.gnb_estimate.is_empty(scheduling)
            || self.carriers.is_busy()
            || scheduling.proactive.is_some() && self.connection.is_connected()
    }

    /// Whether it may have an event in the next slot. A device on several carriers is checked on
    /// each.
    fn is_active(&self) -> bool {
        !self.carriers.is_one()
            || self.is_busy()
            || self.bearers.downlink.demand() > 0
            || self.bearers.uplink.demand() > 0
            || self.bsr.needs_grant()
    }

    /// Whether it receives assignments and grants.
    pub(crate) fn listens(&self, now: HostInstant) -> bool {
        self.connection.is_awake(now, &self.config.sleep)
    }

    /// Bytes that the network may grant in the slot at `now` for a block that is sent at `sent`.
    #[inline]
    pub(crate) fn grantable(&mut self, now: HostInstant, sent: HostInstant) -> u64 {
        let scheduling = &self.config.scheduling;
        match self.gnb_estimate.ready(now, sent, scheduling) {
            0 if scheduling.proactive.is_some() && self.listens(now) => {
                self.gnb_estimate.proactive(sent, scheduling)
            }
            ready => ready,
        }
    }

    /// A packet enters: in the downlink at the base station, in the uplink at the modem.
    pub(crate) fn handle_packet(
        &mut self,
        now: HostInstant,
        direction: Direction,
        size: Bytes,
        payload: Option<P>,
        outputs: &mut Outputs<P>,
    ) {
        self.connect(now, direction, &mut outputs.events);
        if direction == Direction::Uplink && self.bearers.uplink.demand() == 0 {
            self.bsr.handle_data();
        }
        self.bearers.of_mut(direction).handle_packet(now, size, payload);
        self.collect(outputs);
    }

    /// Moves the fates of its packets to the network's outputs.
    #[inline]
    pub(crate) fn collect(&mut self, outputs: &mut Outputs<P>) {
        if self.bearers.has_fates() {
            self.take_fates(outputs);
        }
    }

    #[inline(never)]
    fn take_fates(&mut self, outputs: &mut Outputs<P>) {
        for direction in [Direction::Downlink, Direction::Uplink] {
            for fate in self.bearers.of_mut(direction).drain_fates() {
                outputs.handle_fate((self.id, self.watched), direction, fate);
            }
        }
    }

    /// Updates the channel of one of its carriers, and reports its measurement. Returns the time of
    /// the next measurement.
    pub(crate) fn measure(
        &mut self,
        carrier: DeviceCarrierId,
        slot: SlotId,
        events: &mut EventLog,
    ) -> HostInstant {
        let alone = self.carriers.is_one();
        let carrier = &mut self.carriers[carrier];
        let due = carrier.due();
        if !carrier.is_usable(slot.at) || due > slot.at {
            // It may be used from any slot on, where there are others.
            return if alone { due } else { slot.at };
        }
        let report = carrier.advance(slot.at, self.trajectory.at(slot.at));
        if let Some(report) = report {
            events.record(self.watched, || {
                let report = ChannelReport { slot, cqi: report.wideband, rank: report.rank };
                Event::Channel(self.id, report)
            });
        }
        if alone { carrier.due() } else { slot.at }
    }

    /// Timers of an active device; whether it still is one.
    pub(crate) fn handle_timers(&mut self, now: HostInstant, outputs: &mut Outputs<P>) -> bool {
        let alone = self.carriers.is_one();
        if alone && !self.is_busy() {
            self.active = self.is_active();
            return self.active;
        }
        let waiting = self.bearers.uplink_demand(now);
        self.bsr.handle_time(now, waiting);
        let Bearers { downlink, uplink } = &mut self.bearers;
        let (down, up) = (downlink.is_due(now), uplink.is_due(now));
        if down {
            downlink.handle_timers(now);
        }
        if up {
            let had = uplink.demand() > 0;
            uplink.handle_timers(now);
            // Data that RLC has to repeat counts as newly available too (TS 36.321 §5.4.5, TS
            // 36.322 §4.5).
            if !had && uplink.demand() > 0 {
                self.bsr.handle_data();
            }
        }
        if !alone {
            let backlog = self.bearers.downlink.backlog();
            let change = self.carriers.aggregate(now, backlog, &self.config.aggregation);
            self.report_change(now, change, &mut outputs.events);
        }
        if down || up {
            self.collect(outputs);
        }
        true
    }

    pub(crate) fn report_status(
        &self,
        at: HostInstant,
        direction: Direction,
        status: &Status,
        events: &mut EventLog,
    ) {
        events.record(self.watched, || {
            let status = status.clone();
            Event::Status { device: self.id, at, direction, status }
        });
    }

    fn report_change(&self, at: HostInstant, change: Option<Rrc>, events: &mut EventLog) {
        if let Some(change) = change {
            events.record(self.watched, || Event::Rrc { device: self.id, at, change });
        }
    }
}

/// Traffic of a background user.
impl<P> Device<P> {
    /// The next piece of traffic that has come for it by `now`.
    pub(crate) fn poll_traffic(&mut self, now: HostInstant) -> Option<Bytes> {
        let backlog = self.bearers.downlink.backlog();
        self.source.as_mut()?.poll(now, backlog)
    }

    /// A piece of it enters at the base station.
    pub(crate) fn handle_traffic(
        &mut self,
        now: HostInstant,
        size: Bytes,
        outputs: &mut Outputs<P>,
    ) {
        self.bearers.downlink.handle_packet(now, size, None);
        self.connect(now, Direction::Downlink, &mut outputs.events);
        self.collect(outputs);
    }

    /// When its neighbours or its traffic are due next.
    pub(crate) fn wakeup(&self, now: HostInstant) -> HostInstant {
        if !self.carriers.is_one() {
            return now;
        }
        let fed = self.source.as_ref().map_or(NEVER, TrafficSource::wakeup);
        self.next_measured.min(fed)
    }
}

/// Its cell, and its connection.
impl<P> Device<P> {
    /// Data came: without a connection, one is set up.
    #[inline]
    fn connect(&mut self, now: HostInstant, direction: Direction, events: &mut EventLog) {
        if !self.connection.is_connected() {
            self.set_up(now, direction, events);
        }
    }

    fn set_up(&mut self, now: HostInstant, direction: Direction, events: &mut EventLog) {
        let there = self.connection.connect(now, direction, &self.config.sleep);
        self.carriers.cut_off(there);
        if direction == Direction::Uplink {
            self.gnb_estimate.handle_access(there, &self.config.scheduling);
        }
        self.report_change(there, Some(Rrc::Setup), events);
    }

    /// Measures its neighbours where that is due: its cell had this `load` lately, and the network
    /// began at `origin`.
    pub(crate) fn handle_measurements(
        &mut self,
        now: HostInstant,
        load: f32,
        origin: HostInstant,
        outputs: &mut Outputs<P>,
    ) {
        if self.next_measured > now {
            return;
        }
        self.next_measured = now + MEASURED_EVERY;
        self.report_signal(now, load, &mut outputs.events);
        self.roam(now, origin, outputs);
        self.steer_secondary(now, &mut outputs.events);
    }

    fn report_signal(&self, at: HostInstant, load: f32, events: &mut EventLog) {
        events.record(self.watched, || {
            let DeviceCarrier { id, channel, .. } = &self.carriers[self.carriers.primary()];
            // An empty cell still sends its reference signals, two resource elements of twelve.
            let load = load.max(1.0 / 6.0);
            let signal = Signal {
                at,
                carrier: *id,
                rsrp_dbm: channel.rsrp_dbm(),
                rsrq_db: channel.rsrq_db(load),
                sinr_db: channel.wideband_sinr_db(),
            };
            Event::Signal(self.id, signal)
        });
    }

    /// Goes to a better cell, and lets an idle connection go.
    fn roam(&mut self, now: HostInstant, origin: HostInstant, outputs: &mut Outputs<P>) {
        if self.connection.is_released(now, &self.config.sleep) && !self.is_busy() {
            self.connection.release();
            self.carriers.forget_secondary();
            self.report_change(now, Some(Rrc::Released), &mut outputs.events);
            return;
        }
        let cells = self.config.cells.len();
        if cells < 2 || self.carriers.is_away(now) {
            return;
        }
        let best = self.carriers.measure_neighbours(now, self.trajectory.at(now));
        self.handover.handle_measurement(now, best, &self.config.handover);
        let scripted = self.config.handover.at.get(self.scripted).copied();
        let to = if scripted.is_some_and(|at| origin + at <= now) {
            self.scripted += 1;
            Some(self.carriers.next_cell(cells))
        } else {
            self.handover.command(now)
        };
        if let Some(cell) = to {
            self.hand_over(now, cell, outputs);
        }
    }

    fn hand_over(&mut self, now: HostInstant, cell: usize, outputs: &mut Outputs<P>) {
        let resumes = now + between(self.config.handover.interruption, &mut self.rng);
        let Some((from, to)) = self.carriers.hand_over(cell, resumes) else { return };
        self.bsr.reset();
        self.gnb_estimate.reset();
        self.bearers.downlink.reestablish(now, self.config.handover.forward);
        // The device keeps unconfirmed data (TS 36.323 §5.2.1.1).
        self.bearers.uplink.reestablish(now, true);
        // Random access in the new cell comes with a grant.
        self.gnb_estimate.handle_access(resumes, &self.config.scheduling);
        self.bsr.handle_data();
        self.report_change(now, Some(Rrc::Handover { from, to, resumes }), &mut outputs.events);
        self.collect(outputs);
    }

    /// Measures the first cell of the secondary group, adds the group and lets it go.
    fn steer_secondary(&mut self, now: HostInstant, events: &mut EventLog) {
        if !self.connection.is_connected() || !self.carriers.has_secondary(now) {
            return;
        }
        let motion = self.trajectory.at(now);
        let change = self.carriers.steer_secondary(now, motion, &self.config.dual);
        self.report_change(now, change, events);
        if !matches!(change, Some(Rrc::SecondaryFailed { .. })) {
            return;
        }
        let Some(carrier) = self.carriers.release_secondary(&mut self.bearers) else { return };
        // Grants of the old cell are lost: the device requests again, through the master.
        self.gnb_estimate.reset();
        if self.bearers.uplink_demand(now) > 0 {
            self.bsr.handle_data();
        }
        self.report_change(now, Some(Rrc::SecondaryReleased { carrier }), events);
    }
}

fn between([least, most]: [Duration; 2], rng: &mut ChaCha8Rng) -> Duration {
    let part: f64 = rng.random();
    least + most.saturating_sub(least).mul_f64(part)
}
