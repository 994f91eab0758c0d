//! One slot of the downlink: who is sent what.

use alloc::boxed::Box;
use alloc::vec::Vec;

use rand::RngExt;
use sounding_units::HostInstant;

use crate::block::Block;
use crate::carrier::{Answer, Carrier};
use crate::device::Device;
use crate::event::{Dci, DeviceId, Direction, Event, SlotId, Transmission};
use crate::leg::{Attempt, SUB_BANDS};
use crate::radio::Choice;
use crate::ran::{Ran, processing};
use crate::rnti::rnti;

/// What MAC and RLC put around the PDUs of a block: subheaders and fixed headers.
pub(crate) const BLOCK_HEADER: u64 = 5;

/// Users that are served in one slot at most, whatever the PDCCH has room for.
const MOST: usize = 16;

/// A user with something to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    device: u16,
    leg: u8,
    /// Bytes it still needs, as far as resource blocks have been found for it.
    left: f32,
    need: u64,
    prb: u16,
    first_prb: u16,
    bands: u32,
    rate: [f32; SUB_BANDS],
    preference: [f32; SUB_BANDS],
}

/// What is free in a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) bands: [u16; SUB_BANDS],
    /// The first free resource block of each sub-band.
    pub(crate) first: [u16; SUB_BANDS],
    pub(crate) dcis: u8,
}

impl Room {
    pub(crate) fn of(carrier: &Carrier, dcis: u8) -> Self {
        let mut first = [0; SUB_BANDS];
        for band in 1..SUB_BANDS {
            first[band] = first[band - 1] + carrier.bands[band - 1];
        }
        Self { bands: carrier.bands, first, dcis }
    }

    /// Takes `prb` resource blocks from the lowest sub-bands that have some; the sub-bands and the first block.
    pub(crate) fn take(&mut self, prb: u16) -> Option<(u32, u16)> {
        if self.bands.iter().sum::<u16>() < prb || self.dcis == 0 {
            return None;
        }
        self.dcis -= 1;
        let (mut left, mut bands, mut from) = (prb, 0, None);
        for band in 0..SUB_BANDS {
            let take = self.bands[band].min(left);
            if take > 0 {
                from.get_or_insert(self.first[band]);
                self.bands[band] -= take;
                self.first[band] += take;
                bands |= 1 << band;
                left -= take;
            }
        }
        Some((bands, from.unwrap_or(0)))
    }
}

impl<P> Ran<P> {
    /// Feedback for downlink blocks that were sent before.
    pub(crate) fn hear_feedback(&mut self, index: usize, slot: SlotId) {
        let carrier = &mut self.carriers[index];
        let mut answers = core::mem::take(&mut carrier.due(slot.slot).feedback);
        for Answer { device, leg, harq, arrived } in answers.drain(..) {
            let state = &mut self.devices[usize::from(device)];
            let most = state.config.harq.transmissions;
            // Drawn only for a refusal: a link without any draws nothing.
            let misheard = !arrived && carrier.rng.random::<f64>() < state.config.harq.misheard;
            let way = &mut state.legs[usize::from(leg)].down;
            let sent = way.processes.get(harq).sent;
            if sent == 1 {
                let Block { mcs, layers, .. } = way.processes.get(harq).block;
                way.handle_feedback(Choice { mcs, layers }, arrived);
            }
            if arrived || misheard || sent >= most {
                way.processes.finish(harq);
            } else {
                let from = carrier.frame.downlink_again(slot.slot);
                way.processes.refuse(harq, from, from);
            }
            if let (true, Some(events)) = (state.watched, &mut self.events) {
                let device = DeviceId(device);
                events.push(Event::Feedback { device, slot, harq, ack: arrived });
            }
        }
        carrier.due(slot.slot).feedback = answers;
    }

    /// Assigns the slot's resource blocks and sends.
    pub(crate) fn send_downlink(&mut self, index: usize, slot: SlotId, dcis: u8) {
        let mut room = Room::of(&self.carriers[index], dcis);
        self.send_control(index, slot, &mut room);
        self.repeat_downlink(index, slot, &mut room);
        let mut candidates = core::mem::take(&mut self.candidates);
        self.gather(index, slot, &mut candidates);
        share_out(&mut candidates, &mut room, self.carriers[index].rbg());
        for candidate in candidates.drain(..).filter(|candidate| candidate.prb > 0) {
            self.send_new(index, slot, &candidate);
        }
        self.candidates = candidates;
        let free: u16 = room.bands.iter().sum();
        let carrier = &mut self.carriers[index];
        carrier.handle_use(carrier.config.prb - free);
    }

    /// The many users that are only told parameters (PBE-CC §4.2.1). One that finds no room waits for the next slot.
    fn send_control(&mut self, index: usize, slot: SlotId, room: &mut Room) {
        const MCS: u8 = 4;
        let carrier = &mut self.carriers[index];
        carrier.control.handle_time(slot.at, &mut carrier.rng);
        let mut users = core::mem::take(&mut carrier.control.active);
        for user in &mut users {
            let Some((_, first_prb)) = room.take(user.prb) else { break };
            user.slots -= 1;
            if let (true, Some(events)) = (self.sniffed, &mut self.events) {
                events.push(Event::Dci(Dci {
                    sent_in: slot,
                    data_slot: slot.slot,
                    rnti: user.rnti,
                    direction: Direction::Downlink,
                    harq: 0,
                    mcs: MCS,
                    rv: 0,
                    ndi: true,
                    again: false,
                    prb: user.prb,
                    first_prb,
                    layers: 1,
                    size: carrier.down(slot.slot).size(1, MCS, user.prb),
                }));
            }
        }
        users.retain(|user| user.slots > 0);
        carrier.control.active = users;
    }

    fn repeat_downlink(&mut self, index: usize, slot: SlotId, room: &mut Room) {
        for at in 0..self.carriers[index].active().len() {
            let (device, leg) = self.carriers[index].active()[at];
            let state = &self.devices[usize::from(device)];
            let processes = &state.legs[usize::from(leg)].down.processes;
            if state.away_until > slot.at {
                continue;
            }
            let Some(harq) = processes.again(slot.slot) else { continue };
            let Some((bands, first_prb)) = room.take(processes.get(harq).block.prb) else {
                continue;
            };
            let way = &mut self.devices[usize::from(device)].legs[usize::from(leg)].down;
            let process = way.processes.repeat(harq);
            process.block.bands = bands;
            process.block.first_prb = first_prb;
            self.transmit(index, slot, (device, leg, harq));
        }
    }

    /// Users with something to be sent on a carrier, and what they could be sent.
    fn gather(&mut self, index: usize, slot: SlotId, found: &mut Vec<Candidate>) {
        let Self { carriers, devices, .. } = self;
        let carrier = &carriers[index];
        for &(device, leg) in carrier.active() {
            let state = &mut devices[usize::from(device)];
            let mut need = state.downlink_demand(slot.at);
            if need == 0 || !state.listens(slot.at) {
                continue;
            }
            let place = &state.legs[usize::from(leg)];
            if !state.may_use(place, slot.at) || place.down.processes.idle().is_none() {
                continue;
            }
            let main = state.main_leg(slot.at);
            if usize::from(leg) != main {
                // Other carriers carry what the main one cannot in this slot.
                let main = &state.legs[main];
                let base = &carriers[usize::from(main.carrier.0)];
                let slots = carrier.frame.slot().as_secs_f32() / base.frame.slot().as_secs_f32();
                let carries = main.down.last_rate() * f32::from(base.config.prb) * slots;
                need = need.saturating_sub(carries as u64);
                if need == 0 {
                    continue;
                }
            }
            let background = state.config.background;
            let way = &mut state.legs[usize::from(leg)].down;
            let rates = way.rates(slot.at, carrier.down(slot.slot));
            let rank = way.share.rank(carrier.config.policy, slot.slot, background);
            let need = need + BLOCK_HEADER;
            found.push(Candidate {
                device,
                leg,
                left: need as f32,
                need,
                prb: 0,
                first_prb: u16::MAX,
                bands: 0,
                rate: rates.bytes,
                preference: rates.bytes.map(|rate| rank.at(rate)),
            });
        }
    }

    fn send_new(&mut self, index: usize, slot: SlotId, candidate: &Candidate) {
        let carrier = &self.carriers[index];
        let state = &mut self.devices[usize::from(candidate.device)];
        let way = &mut state.legs[usize::from(candidate.leg)].down;
        let Some(Choice { mcs, layers }) = way.choose(slot.at, candidate.bands) else { return };
        let prb = carrier.down(slot.slot).prb_for(layers, mcs, candidate.need, candidate.prb);
        let size = carrier.down(slot.slot).size(layers, mcs, prb);
        let Some(harq) = way.processes.idle().filter(|_| u64::from(size) > BLOCK_HEADER) else {
            return;
        };
        way.share.serve(carrier.config.policy, slot.slot, size);
        let mut block = Block {
            size,
            mcs,
            prb,
            first_prb: candidate.first_prb,
            layers,
            bands: candidate.bands,
            ..Block::default()
        };
        let mut left = u64::from(size) - BLOCK_HEADER;
        if state.uplink.owes_status(slot.at) {
            let status = state.uplink.take_status(slot.at);
            left = left.saturating_sub(status.size());
            block.status = Some(Box::new(status));
        }
        while let Some(pdu) =
            (!block.pdus.is_full()).then(|| state.downlink.cut(left, slot.at)).flatten()
        {
            left -= pdu.span.len();
            block.pdus.push(pdu);
        }
        block.padding = left as u32;
        state.attention.handle_data(slot.at);
        let place = &mut state.legs[usize::from(candidate.leg)];
        place.used = slot.at;
        place.down.processes.begin(harq, block);
        self.transmit(index, slot, (candidate.device, candidate.leg, harq));
    }

    /// Sends a process's block, for the first time or again.
    fn transmit(&mut self, index: usize, slot: SlotId, (device, leg, harq): (u16, u8, u8)) {
        let carrier = &mut self.carriers[index];
        let state: &mut Device<P> = &mut self.devices[usize::from(device)];
        let place = &mut state.legs[usize::from(leg)];
        let Attempt { rv, number, arrived, sinr_db } =
            place.down.transmit(harq, place.channel.sinr_db(), &mut carrier.rng);
        let process = place.down.processes.get(harq);
        let data = Dci {
            sent_in: slot,
            data_slot: slot.slot,
            rnti: rnti(device),
            direction: Direction::Downlink,
            harq,
            mcs: process.block.mcs,
            rv,
            ndi: process.ndi,
            again: number > 0,
            prb: process.block.prb,
            first_prb: process.block.first_prb,
            layers: process.block.layers,
            size: process.block.size,
        };
        if let (true, Some(events)) = (state.watched || self.sniffed, &mut self.events) {
            events.push(Event::Dci(data));
        }
        if let (true, Some(events)) = (state.watched, &mut self.events) {
            let transmission = Transmission::of(&data, process, number, arrived, sinr_db, 0.0);
            events.push(Event::Transmission(DeviceId(device), transmission));
        }
        let feedback = carrier.frame.feedback(slot.slot);
        carrier.due(feedback).feedback.push(Answer { device, leg, harq, arrived });
        if arrived {
            let at: HostInstant = slot.at + carrier.frame.slot() + processing(&carrier.config);
            let block = core::mem::take(&mut place.down.processes.sent(harq).block);
            for pdu in &block.pdus {
                state.downlink.handle_pdu(at, pdu, number);
            }
            if let Some(status) = &block.status {
                state.uplink.handle_status(at, status);
                self.tell_status(device, at, Direction::Uplink, status);
            }
            self.collect(device);
        }
    }
}

/// Gives each sub-band to the users that are to be preferred there, as far as they need it.
fn share_out(candidates: &mut [Candidate], room: &mut Room, rbg: u16) {
    let mut dcis = usize::from(room.dcis).min(MOST);
    for band in 0..SUB_BANDS {
        while room.bands[band] > 0 {
            let open = |candidate: &Candidate| {
                candidate.left > 0.0
                    && candidate.rate[band] > 0.0
                    && (candidate.prb > 0 || dcis > 0)
            };
            let best = candidates
                .iter_mut()
                .filter(|candidate| open(candidate))
                .max_by(|a, b| a.preference[band].total_cmp(&b.preference[band]));
            let Some(best) = best else { break };
            if best.prb == 0 {
                dcis -= 1;
            }
            // Headers and the coding's steps take a little more than the rate says.
            let wants = libm::ceilf(best.left * 1.05 / best.rate[band]) as u16;
            let groups = wants.clamp(1, room.bands[band]).div_ceil(rbg);
            let take = (groups * rbg).min(room.bands[band]);
            best.prb += take;
            best.bands |= 1 << band;
            best.first_prb = best.first_prb.min(room.first[band]);
            best.left -= f32::from(take) * best.rate[band];
            room.bands[band] -= take;
            room.first[band] += take;
        }
    }
}
