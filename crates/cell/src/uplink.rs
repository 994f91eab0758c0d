//! One slot of the uplink: grants, requests, and what devices send.

use alloc::boxed::Box;
use core::time::Duration;

use rand::RngExt;

use crate::block::{Block, State};
use crate::buffer_status::{REPORT_SIZE, Told};
use crate::carrier::Grant;
use crate::config::Rat;
use crate::downlink::{BLOCK_HEADER, Room};
use crate::event::{Dci, DeviceId, Direction, Event, SlotId, Transmission};
use crate::leg::Attempt;
use crate::radio::Choice;
use crate::ran::{Ran, processing};
use crate::rnti::rnti;

/// From a scheduling request to the network's answer. With the grant's own four subframes the first data go 8 to 10 ms
/// after the request; srsRAN answers after 6 in the median.
const REQUEST_ANSWERED_AFTER: Duration = Duration::from_millis(5);

impl<P> Ran<P> {
    /// Grants what a grant in this slot can give; the DCIs used.
    pub(crate) fn grant_uplink(&mut self, index: usize, slot: SlotId) -> u8 {
        let carrier = &self.carriers[index];
        if !carrier.config.uplink {
            return 0;
        }
        // Half of the PDCCH at most, so that neither direction starves the other.
        let dcis = carrier.config.pdcch.div_ceil(2);
        let slots: arrayvec::ArrayVec<u64, 4> = carrier.frame.grants(slot.slot).take(4).collect();
        let mut used = 0;
        for data_slot in slots {
            let mut room = Room::of(&self.carriers[index], dcis - used);
            self.repeat_uplink(index, slot, data_slot, &mut room);
            self.grant_new(index, slot, data_slot, &mut room);
            used = dcis - room.dcis;
        }
        used
    }

    fn repeat_uplink(&mut self, index: usize, slot: SlotId, data_slot: u64, room: &mut Room) {
        for at in 0..self.carriers[index].active().len() {
            let (device, leg) = self.carriers[index].active()[at];
            let way = &self.devices[usize::from(device)].legs[usize::from(leg)].up;
            let Some(harq) = way.processes.again_in(slot.slot, data_slot) else { continue };
            let block = &way.processes.get(harq).block;
            let Some((bands, first_prb)) = room.take(block.prb) else { continue };
            let (mcs, prb, size) = (block.mcs, block.prb, block.size);
            let way = &mut self.devices[usize::from(device)].legs[usize::from(leg)].up;
            way.processes.repeat(harq);
            way.last = Some(data_slot);
            let again = true;
            let grant = Grant { device, leg, harq, again, mcs, prb, first_prb, bands, size };
            self.grant(index, slot, data_slot, grant);
        }
    }

    fn grant_new(&mut self, index: usize, slot: SlotId, data_slot: u64, room: &mut Room) {
        while room.dcis > 0 {
            let Some((device, leg)) = self.neediest(index, slot, data_slot) else { return };
            let carrier = &self.carriers[index];
            let sent = carrier.begin(data_slot);
            let state = &mut self.devices[usize::from(device)];
            let place = &mut state.legs[usize::from(leg)];
            let free: u16 = room.bands.iter().sum();
            let Some(harq) = place.up.processes.idle().filter(|_| free > 0) else { return };
            place.up.last = Some(data_slot);
            let need = state.belief.ready(slot.at, sent, &state.config.scheduling)
                + BLOCK_HEADER
                + REPORT_SIZE;
            let Some((prb, mcs)) = place.plan_uplink(slot.at, &carrier.up, need, free) else {
                continue;
            };
            let prb = dft_size(prb, free);
            let size = carrier.up.size(1, mcs, prb);
            let Some((bands, first_prb)) = room.take(prb) else { return };
            state.belief.handle_grant(sent, u64::from(size), &state.config.scheduling);
            state.attention.handle_data(slot.at);
            place.up.share.serve(carrier.config.policy, slot.slot, size);
            place.up.processes.reserve(harq);
            place.used = slot.at;
            let again = false;
            let grant = Grant { device, leg, harq, again, mcs, prb, first_prb, bands, size };
            self.grant(index, slot, data_slot, grant);
        }
    }

    /// The user to be granted next.
    fn neediest(&mut self, index: usize, slot: SlotId, data_slot: u64) -> Option<(u16, u8)> {
        let carrier = &self.carriers[index];
        let sent = carrier.begin(data_slot);
        let mut best: Option<(f32, (u16, u8))> = None;
        for &(device, leg) in carrier.active() {
            let state = &mut self.devices[usize::from(device)];
            if state.belief.ready(slot.at, sent, &state.config.scheduling) == 0 {
                continue;
            }
            let background = state.config.background;
            let place = &state.legs[usize::from(leg)];
            if place.up.last == Some(data_slot) {
                continue;
            }
            let idle = place.up.processes.idle().is_some();
            if !idle || !state.may_use(place, slot.at) || !state.may_send_on(place, slot.at) {
                continue;
            }
            let place = &mut state.legs[usize::from(leg)];
            let rank = place.up.share.rank(carrier.config.policy, slot.slot, background);
            let rate = place.up.first_rate(slot.at, &carrier.up);
            if rate <= 0.0 {
                continue;
            }
            let preference = rank.at(rate);
            if best.is_none_or(|(found, _)| preference > found) {
                best = Some((preference, (device, leg)));
            }
        }
        best.map(|(_, who)| who)
    }

    fn grant(&mut self, index: usize, slot: SlotId, data_slot: u64, grant: Grant) {
        let watched = self.devices[usize::from(grant.device)].watched;
        let way = &self.devices[usize::from(grant.device)].legs[usize::from(grant.leg)].up;
        let process = way.processes.get(grant.harq);
        if let (true, Some(events)) = (watched || self.sniffed, &mut self.events) {
            events.push(Event::Dci(Dci {
                sent_in: slot,
                data_slot,
                rnti: rnti(grant.device),
                direction: Direction::Uplink,
                harq: grant.harq,
                mcs: grant.mcs,
                rv: if grant.again { process.rv() } else { 0 },
                ndi: process.ndi != grant.again,
                again: grant.again,
                prb: grant.prb,
                first_prb: grant.first_prb,
                layers: 1,
                size: grant.size,
            }));
        }
        self.carriers[index].due(data_slot).grants.push(grant);
    }

    /// Devices send what they were granted in this slot.
    pub(crate) fn send_uplink(&mut self, index: usize, slot: SlotId) {
        let mut grants = core::mem::take(&mut self.carriers[index].due(slot.slot).grants);
        for grant in grants.drain(..) {
            // A handover came between the grant and its slot.
            let way = &self.devices[usize::from(grant.device)].legs[usize::from(grant.leg)].up;
            if way.processes.get(grant.harq).state != State::Sent {
                continue;
            }
            if !grant.again {
                self.build(index, slot, &grant);
            }
            self.transmit_uplink(index, slot, &grant);
        }
        self.carriers[index].due(slot.slot).grants = grants;
    }

    /// The device fills a block: report, then status, then data (TS 36.321 §5.4.3.1).
    fn build(&mut self, index: usize, slot: SlotId, grant: &Grant) {
        let rat = self.carriers[index].config.rat;
        let state = &mut self.devices[usize::from(grant.device)];
        let mut left = u64::from(grant.size).saturating_sub(BLOCK_HEADER);
        let mut block = Block {
            size: grant.size,
            mcs: grant.mcs,
            prb: grant.prb,
            first_prb: grant.first_prb,
            layers: 1,
            bands: grant.bands,
            ..Block::default()
        };
        if state.asking.reports(slot.at) {
            left = left.saturating_sub(REPORT_SIZE);
        }
        if state.downlink.owes_status(slot.at) {
            let status = state.downlink.take_status(slot.at);
            left = left.saturating_sub(status.size());
            block.status = Some(Box::new(status));
        }
        while let Some(pdu) =
            (!block.pdus.is_full()).then(|| state.uplink.cut(left, slot.at)).flatten()
        {
            left -= pdu.span.len();
            block.pdus.push(pdu);
        }
        let waiting = state.uplink_demand(slot.at);
        block.report = state.asking.report(slot.at, waiting, left, rat, &state.config.scheduling);
        block.padding = left as u32;
        state.legs[usize::from(grant.leg)].up.processes.fill(grant.harq, block);
    }

    fn transmit_uplink(&mut self, index: usize, slot: SlotId, grant: &Grant) {
        let carrier = &mut self.carriers[index];
        let state = &mut self.devices[usize::from(grant.device)];
        let most = state.config.harq.transmissions;
        let place = &mut state.legs[usize::from(grant.leg)];
        let sinr = place.uplink_sinr_db(grant.prb);
        let Attempt { rv, number, arrived, sinr_db } =
            place.up.transmit(grant.harq, &sinr, &mut carrier.rng);
        if number == 0 {
            place.up.handle_feedback(Choice { mcs: grant.mcs, layers: 1 }, arrived);
        }
        if let (true, Some(events)) = (state.watched, &mut self.events) {
            let process = place.up.processes.get(grant.harq);
            let power_dbm = place.power_dbm(grant.prb);
            let data = Dci {
                sent_in: slot,
                data_slot: slot.slot,
                rnti: rnti(grant.device),
                direction: Direction::Uplink,
                harq: grant.harq,
                mcs: grant.mcs,
                rv,
                ndi: process.ndi,
                again: grant.again,
                prb: grant.prb,
                first_prb: grant.first_prb,
                layers: 1,
                size: grant.size,
            };
            let sent = Transmission::of(&data, process, number, arrived, sinr_db, power_dbm);
            events.push(Event::Transmission(DeviceId(grant.device), sent));
        }
        if !arrived {
            // Only LTE answers: NR grants the repeat.
            let misheard = carrier.config.rat == Rat::Lte
                && carrier.rng.random::<f64>() < state.config.harq.misheard;
            if misheard || number + 1 >= most {
                place.up.processes.finish(grant.harq);
            } else {
                let from = carrier.frame.uplink_again(slot.slot);
                let sent = carrier.frame.uplink_repeat(slot.slot);
                place.up.processes.refuse(grant.harq, from, sent);
            }
            return;
        }
        let at = slot.at + carrier.frame.slot() + processing(&carrier.config);
        let block = core::mem::take(&mut place.up.processes.sent(grant.harq).block);
        place.up.processes.finish(grant.harq);
        for pdu in &block.pdus {
            state.uplink.handle_pdu(at, pdu, number);
        }
        if let Some(report) = &block.report {
            let twice = carrier.rng.random::<f64>() < state.config.scheduling.double_grant;
            let rat = carrier.config.rat;
            state.belief.handle_report(Told::new(rat, report, slot.at, at, twice));
        }
        if let Some(status) = &block.status {
            state.downlink.handle_status(at, status);
            self.tell_status(grant.device, at, Direction::Downlink, status);
        }
        self.collect(grant.device);
    }

    /// Devices that have data and no grant ask for one.
    pub(crate) fn request(&mut self, index: usize, slot: SlotId) {
        let Self { carriers, devices, events, .. } = self;
        let carrier = &carriers[index];
        for &(device, leg) in carrier.active() {
            let state = &mut devices[usize::from(device)];
            if usize::from(leg) != state.path_leg(slot.at) {
                continue;
            }
            if state.downlink.owes_status(slot.at) {
                state.asking.handle_data();
            }
            if !state.asking.requests() || state.away_until > slot.at {
                continue;
            }
            // A device that asks listens for the answer.
            state.attention.handle_data(slot.at);
            if state.legs[usize::from(leg)].up.processes.is_busy() || !state.belief.is_empty() {
                continue;
            }
            // Occasions come every period, each device at its own offset; one that falls between two uplink slots is
            // in the later.
            let period = state.config.scheduling.sr_period.as_nanos().max(1) as u64;
            let length = carrier.frame.slot().as_nanos() as u64;
            let occasion = |slot: u64| (slot * length + u64::from(device) * 1_700_000) / period;
            let before = carrier.frame.uplink_before(slot.slot);
            if before.is_some_and(|before| occasion(before) == occasion(slot.slot)) {
                continue;
            }
            state.belief.handle_request(slot.at + REQUEST_ANSWERED_AFTER, &state.config.scheduling);
            if let (true, Some(events)) = (state.watched, events.as_mut()) {
                events.push(Event::SchedulingRequest { device: DeviceId(device), slot });
            }
        }
    }
}

/// A number of resource blocks that SC-FDMA allows, 2^a 3^b 5^c (TS 36.211 §5.3.3): the next from `prb` on, or the largest of
/// `most`.
fn dft_size(prb: u16, most: u16) -> u16 {
    let fits = |prb: &u16| {
        let rest = [2, 3, 5].iter().fold(*prb, |mut rest, factor| {
            while rest % factor == 0 {
                rest /= factor;
            }
            rest
        });
        rest == 1
    };
    (prb..=most).find(fits).or_else(|| (1..=most).rev().find(fits)).unwrap_or(1)
}
