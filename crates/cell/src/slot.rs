//! What happens in a slot, in this order: measurements, feedback, grants and assignments, transmissions, requests,
//! timers.

use sounding_units::HostInstant;

use crate::bearer::Status;
use crate::carrier::Carrier;
use crate::device::Device;
use crate::dual::Secondary;
use crate::event::{ChannelReport, DeviceId, Direction, Event, Rrc, Signal, SlotId};
use crate::leg::Leg;
use crate::mobility::MEASURED_EVERY;
use crate::ran::Ran;
use crate::rota::NEVER;
use crate::traffic::Source;

impl<P> Device<P> {
    /// Whether a leg can carry data at `now`.
    pub(crate) fn may_use(&self, leg: &Leg, now: HostInstant) -> bool {
        self.away_until <= now && leg.usable.is_some_and(|from| from <= now)
    }

    /// Whether it hears what it is assigned or granted.
    pub(crate) fn listens(&self, now: HostInstant) -> bool {
        self.attention.is_awake(now, &self.config.sleep)
    }
}

impl<P> Ran<P> {
    /// Works through the next slot of a carrier.
    pub(crate) fn slot(&mut self, index: usize) {
        let slot = self.carriers[index].advance();
        let kind = self.carriers[index].frame.kind(slot.slot);
        self.measure(index, slot);
        self.hear_feedback(index, slot);
        if kind.has_downlink() {
            let granted = self.grant_uplink(index, slot);
            let dcis = self.carriers[index].config.pdcch.saturating_sub(granted);
            self.send_downlink(index, slot, dcis);
        }
        if kind.has_uplink() {
            self.send_uplink(index, slot);
            self.request(index, slot);
        }
        self.keep_time(index, slot);
    }

    /// Channels move on; devices report what they measure.
    fn measure(&mut self, index: usize, slot: SlotId) {
        let Self { carriers, devices, events, .. } = self;
        let Carrier { attached, measuring, .. } = &mut carriers[index];
        measuring.turn(slot.at, |at| {
            let (device, leg) = attached[at];
            let state = &mut devices[usize::from(device)];
            let alone = state.legs.len() == 1;
            let place = &mut state.legs[usize::from(leg)];
            let due = place.due();
            if place.usable.is_none_or(|from| from > slot.at) || due > slot.at {
                // It may be used from any slot on, where there are others.
                return if alone { due } else { slot.at };
            }
            let report = place.advance(slot.at, state.place.at(slot.at));
            if let (Some(report), true, Some(events)) = (report, state.watched, events.as_mut()) {
                let report = ChannelReport { slot, cqi: report.wideband, rank: report.rank };
                events.push(Event::Channel(DeviceId(device), report));
            }
            if alone { place.due() } else { slot.at }
        });
    }

    /// Timers of the devices whose primary carrier this is.
    fn keep_time(&mut self, index: usize, slot: SlotId) {
        let now = slot.at;
        let mut keeping = core::mem::take(&mut self.carriers[index].keeping);
        keeping.turn(now, |at| {
            let (device, leg) = self.carriers[index].attached[at];
            self.keep(device, leg, now)
        });
        self.carriers[index].keeping = keeping;
        let mut active = self.carriers[index].take_active();
        active.retain(|&(device, leg)| self.tend(device, leg, now));
        self.carriers[index].set_active(active);
    }

    /// Measures a device's neighbours and feeds its traffic; when to do so next.
    fn keep(&mut self, device: u16, leg: u8, now: HostInstant) -> HostInstant {
        let state = &mut self.devices[usize::from(device)];
        if usize::from(leg) != state.primary {
            return now;
        }
        if state.next_measured <= now {
            state.next_measured = now + MEASURED_EVERY;
            self.tell_signal(device, now);
            self.roam(device, now);
            self.steer_secondary(device, now);
        }
        self.feed(device, now);
        let state = &self.devices[usize::from(device)];
        if state.legs.len() > 1 {
            return now;
        }
        let fed = state.source.as_ref().map_or(NEVER, Source::wakeup);
        state.next_measured.min(fed)
    }

    /// Timers of an active device; whether it still is one.
    fn tend(&mut self, device: u16, leg: u8, now: HostInstant) -> bool {
        let state = &mut self.devices[usize::from(device)];
        if usize::from(leg) != state.primary {
            return true;
        }
        if !state.is_busy() && state.legs.len() == 1 {
            state.active = state.is_active();
            return state.active;
        }
        let waiting = state.uplink_demand(now);
        state.asking.handle_time(now, waiting);
        let (down, up) = (state.downlink.is_due(now), state.uplink.is_due(now));
        if down {
            state.downlink.handle_timers(now);
        }
        if up {
            let had = state.uplink.demand() > 0;
            state.uplink.handle_timers(now);
            // What RLC is to repeat is data that has become available too (TS 36.321 §5.4.5, TS 36.322 §4.5).
            if !had && state.uplink.demand() > 0 {
                state.asking.handle_data();
            }
        }
        if state.legs.len() > 1 {
            self.aggregate(device, now);
        }
        if down || up {
            self.collect(device);
        }
        true
    }

    /// What comes for a background user.
    fn feed(&mut self, device: u16, now: HostInstant) {
        loop {
            let state = &mut self.devices[usize::from(device)];
            let Some(source) = &mut state.source else { return };
            let Some(size) = source.poll(now, state.downlink.backlog()) else { return };
            state.downlink.handle_packet(now, size, None);
            self.rouse(device);
            self.wake(now, device, Direction::Downlink);
            self.collect(device);
        }
    }

    fn tell_signal(&mut self, device: u16, at: HostInstant) {
        let state = &self.devices[usize::from(device)];
        let leg = &state.legs[state.primary];
        // An empty cell still sends its reference signals, two resource elements of twelve.
        let load = self.carriers[usize::from(leg.carrier.0)].load().max(1.0 / 6.0);
        if let (true, Some(events)) = (state.watched, &mut self.events) {
            let signal = Signal {
                at,
                carrier: leg.carrier,
                rsrp_dbm: leg.channel.rsrp_dbm(),
                rsrq_db: leg.channel.rsrq_db(load),
                sinr_db: leg.channel.wideband_sinr_db(),
            };
            events.push(Event::Signal(DeviceId(device), signal));
        }
    }

    /// Adds and drops secondary carriers.
    fn aggregate(&mut self, device: u16, now: HostInstant) {
        let state = &mut self.devices[usize::from(device)];
        let (config, serving) = (state.config.aggregation, state.serving);
        let on = matches!(state.secondary, Secondary::On | Secondary::Failing { .. });
        let waits = state.downlink.backlog() > config.queue.count();
        let since = state.aggregation.crowded_since;
        state.aggregation.crowded_since = waits.then(|| since.unwrap_or(now));
        let mut change = None;
        if let Some(since) = state.aggregation.crowded_since
            && now - since >= config.after
            && let Some(leg) = state.legs.iter_mut().find(|leg| {
                // A secondary group begins with its first cell, by measurement.
                leg.cell == serving
                    && leg.usable.is_none()
                    && !leg.secondary
                    && (on || !leg.in_secondary_group)
            })
        {
            let usable = now + config.activation;
            leg.usable = Some(usable);
            leg.used = usable;
            // The next one waits until this one has shown that it is not enough.
            state.aggregation.crowded_since = Some(usable);
            change = Some(Rrc::Activated { carrier: leg.carrier, usable });
        } else if !waits
            && let Some(leg) = state
                .legs
                .iter_mut()
                .rev()
                .find(|leg| !leg.primary && !leg.secondary && leg.usable.is_some())
            && now - leg.used >= config.deactivation
        {
            leg.usable = None;
            leg.down.processes.reset();
            leg.up.processes.reset();
            change = Some(Rrc::Deactivated { carrier: leg.carrier });
        }
        if let Some(change) = change {
            self.tell(device, now, change);
        }
    }

    pub(crate) fn tell_status(
        &mut self,
        device: u16,
        at: HostInstant,
        direction: Direction,
        status: &Status,
    ) {
        if let (true, Some(events)) = (self.devices[usize::from(device)].watched, &mut self.events)
        {
            let status = status.clone();
            events.push(Event::Status { device: DeviceId(device), at, direction, status });
        }
    }
}
