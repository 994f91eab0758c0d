//! One slot of the downlink: which users are sent what.

use alloc::boxed::Box;
use alloc::vec::Vec;

use rand::RngExt;
use sounding_kpi::Direction;

use crate::carrier::{Carrier, HarqFeedback};
use crate::config::SUB_BANDS;
use crate::device::{Device, Devices};
use crate::event::{Dci, Event, SlotUse, UserShare};
use crate::free_prbs::FreePrbs;
use crate::harq::{BLOCK_HEADER, TransportBlock};
use crate::ids::{DeviceCarrierId, SlotId, User};
use crate::outputs::Outputs;
use crate::radio::Choice;
use crate::rnti::rnti;

/// Maximum number of users served in one slot, regardless of the PDCCH.
const MOST: usize = 16;

/// A user with data to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    user: User,
    /// Bytes it still needs, as far as resource blocks have been found for it.
    left: f32,
    need: u64,
    prb: u16,
    first_prb: u16,
    bands: u32,
    rate: [f32; SUB_BANDS],
    preference: [f32; SUB_BANDS],
}

/// One slot of a carrier's downlink.
pub(crate) struct DownlinkSlot<'a, P> {
    pub(crate) slot: SlotId,
    pub(crate) carrier: &'a mut Carrier,
    pub(crate) outputs: &'a mut Outputs<P>,
}

impl<P> DownlinkSlot<'_, P> {
    /// Feedback for downlink blocks that were sent before.
    pub(crate) fn handle_feedback(&mut self, devices: &mut Devices<P>) {
        let Self { slot, carrier, outputs } = self;
        let mut feedback = core::mem::take(&mut carrier.due(slot.slot).feedback);
        for HarqFeedback { user, harq, arrived } in feedback.drain(..) {
            let device = &mut devices[user.device];
            let config = device.config.harq;
            // A random number is drawn only for a NACK, so a link without any does not use the
            // stream.
            let misheard = !arrived && carrier.rng.random::<f64>() < config.downlink_misheard;
            let downlink = &mut device.carriers[user.carrier].downlink;
            let sent = downlink.processes.get(harq).sent;
            if sent == 1 {
                let TransportBlock { mcs, layers, .. } = downlink.processes.get(harq).block;
                downlink.handle_feedback(Choice { mcs, layers }, arrived);
            }
            if arrived || misheard || sent >= config.transmissions {
                downlink.processes.finish(harq);
            } else {
                let from = carrier.frame.downlink_again(slot.slot);
                downlink.processes.refuse(harq, from, from);
            }
            let event = || Event::Feedback { device: device.id, slot: *slot, harq, ack: arrived };
            outputs.events.record(device.watched, event);
        }
        carrier.due(slot.slot).feedback = feedback;
    }

    /// Assigns the slot's resource blocks and sends. `candidates` is empty before and after.
    pub(crate) fn send(
        &mut self,
        devices: &mut Devices<P>,
        dcis: u8,
        candidates: &mut Vec<Candidate>,
    ) {
        self.carrier.sent = 0;
        let mut free = FreePrbs::new(self.carrier.bands, dcis);
        self.send_control(&mut free);
        let control_prb = self.carrier.sent;
        self.repeat(devices, &mut free);
        self.gather(devices, candidates);
        share_out(candidates, &mut free, self.carrier.rbg());
        for candidate in candidates.drain(..).filter(|candidate| candidate.prb > 0) {
            self.send_new(&mut devices[candidate.user.device], &candidate);
        }
        self.carrier.handle_use(self.carrier.config.prb - free.count());
        if self.carrier.counts_shares {
            self.count_shares(devices);
        }
        if self.outputs.events.shows_use() {
            self.show_use(devices, control_prb);
        }
    }

    /// Counts each device's resource blocks of the slot, and those that others left to it.
    fn count_shares(&self, devices: &mut Devices<P>) {
        let all = (self.carrier.config.prb, self.carrier.sent);
        for user in self.carrier.active() {
            let Device { carriers, config, .. } = &mut devices[user.device];
            carriers.handle_share(user.carrier, self.slot, all, &config.aggregation);
        }
    }

    fn show_use(&mut self, devices: &Devices<P>, control_prb: u16) {
        let Self { slot, carrier, outputs } = self;
        let prb = carrier.config.prb;
        let mut record = |slot, control_prb, users| {
            let event = SlotUse { slot, prb, control_prb, users };
            outputs.events.record(true, || Event::Use(event));
        };
        carrier.unused_before(slot.slot).for_each(|slot| record(slot, 0, Vec::new()));
        let users = carrier.active().iter().filter_map(|user| {
            let device = &devices[user.device];
            let here = &device.carriers[user.carrier];
            let (sent_in, sent) = here.sent;
            let share = UserShare {
                device: user.device,
                prb: if sent_in == slot.slot { sent } else { 0 },
                waits: here.waited_in == Some(slot.slot),
            };
            (share.prb > 0 || device.carriers.may_use(here, slot.at)).then_some(share)
        });
        let users = users.collect();
        record(*slot, control_prb, users);
    }

    /// The many users that only receive parameters (PBE-CC §4.2.1). One that finds no room waits
    /// for the next slot.
    fn send_control(&mut self, free: &mut FreePrbs) {
        const MCS: u8 = 4;
        let Self { slot, carrier, outputs } = self;
        carrier.control_users.handle_time(slot.at, &mut carrier.rng);
        let mut users = core::mem::take(&mut carrier.control_users.active);
        for user in &mut users {
            let Some((_, first_prb)) = free.take(user.prb) else { break };
            user.slots -= 1;
            carrier.sent += user.prb;
            outputs.events.record_dci(false, || Dci {
                sent_in: *slot,
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
            });
        }
        users.retain(|user| user.slots > 0);
        carrier.control_users.active = users;
    }

    fn repeat(&mut self, devices: &mut Devices<P>, free: &mut FreePrbs) {
        for at in 0..self.carrier.active().len() {
            let user = self.carrier.active()[at];
            let device = &mut devices[user.device];
            if device.carriers.is_away(self.slot.at) {
                continue;
            }
            let processes = &mut device.carriers[user.carrier].downlink.processes;
            let Some(harq) = processes.again(self.slot.slot) else { continue };
            let Some((bands, first_prb)) = free.take(processes.get(harq).block.prb) else {
                continue;
            };
            let process = processes.repeat(harq);
            process.block.bands = bands;
            process.block.first_prb = first_prb;
            self.transmit(device, user.carrier, harq);
        }
    }

    /// Collects users with data to send on the carrier, with the rate of each.
    fn gather(&mut self, devices: &mut Devices<P>, found: &mut Vec<Candidate>) {
        let (slot, carrier) = (self.slot, &*self.carrier);
        for &user in carrier.active() {
            let device = &mut devices[user.device];
            let mut need = device.bearers.downlink_demand(slot.at);
            if need == 0 || !device.listens(slot.at) {
                continue;
            }
            if !device.carriers.may_use(&device.carriers[user.carrier], slot.at) {
                continue;
            }
            let here = &mut device.carriers[user.carrier];
            here.waited_in = Some(slot.slot);
            if here.downlink.processes.idle().is_none() {
                continue;
            }
            let main = device.carriers.main(slot.at);
            if user.carrier != main {
                // Other carriers send the data that the main one cannot send in this slot.
                let main = &device.carriers[main];
                let slots = carrier.frame.slot().as_secs_f32() / main.slot.as_secs_f32();
                let carries = main.downlink.last_rate() * f32::from(main.prb) * slots;
                need = need.saturating_sub(carries as u64);
                if need == 0 {
                    continue;
                }
            }
            let background = device.config.background;
            let downlink = &mut device.carriers[user.carrier].downlink;
            let rates = downlink.rates(slot.at, carrier.down(slot.slot));
            let rank = downlink.history.preference(carrier.config.policy, slot.slot, background);
            let need = need + BLOCK_HEADER;
            found.push(Candidate {
                user,
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

    fn send_new(&mut self, device: &mut Device<P>, candidate: &Candidate) {
        let (slot, carrier, at) = (self.slot, &*self.carrier, candidate.user.carrier);
        let here = &mut device.carriers[at];
        let Some(Choice { mcs, layers }) = here.downlink.choose(slot.at, candidate.bands) else {
            return;
        };
        let sizes = carrier.down(slot.slot);
        let prb = sizes.prb_for(layers, mcs, candidate.need, candidate.prb);
        let size = sizes.size(layers, mcs, prb);
        let idle = here.downlink.processes.idle();
        let Some(harq) = idle.filter(|_| u64::from(size) > BLOCK_HEADER) else { return };
        here.downlink.history.serve(carrier.config.policy, slot.slot, size);
        here.used = slot.at;
        let mut block = TransportBlock {
            size,
            mcs,
            prb,
            first_prb: candidate.first_prb,
            layers,
            bands: candidate.bands,
            ..TransportBlock::default()
        };
        let mut left = u64::from(size) - BLOCK_HEADER;
        if device.bearers.uplink.owes_status(slot.at) {
            let status = device.bearers.uplink.take_status(slot.at);
            left = left.saturating_sub(status.size());
            block.status = Some(Box::new(status));
        }
        while let Some(pdu) =
            (!block.pdus.is_full()).then(|| device.bearers.downlink.cut(left, slot.at)).flatten()
        {
            left -= pdu.span.len();
            block.pdus.push(pdu);
        }
        block.padding = left as u32;
        here.downlink.processes.begin(harq, block);
        device.connection.handle_data(slot.at);
        self.transmit(device, at, harq);
    }

    /// Sends a process's block, for the first time or again.
    fn transmit(&mut self, device: &mut Device<P>, at: DeviceCarrierId, harq: u8) {
        let Self { slot, carrier, outputs } = self;
        let here = &mut device.carriers[at];
        let attempt = here.downlink.transmit(harq, here.channel.sinr_db(), &mut carrier.rng);
        let process = here.downlink.processes.get(harq);
        let prb = process.block.prb;
        carrier.sent += prb;
        // A block may be repeated and another begun in the same slot.
        let before = if here.sent.0 == slot.slot { here.sent.1 } else { 0 };
        here.sent = (slot.slot, before + prb);
        let dci = Dci {
            sent_in: *slot,
            data_slot: slot.slot,
            rnti: rnti(device.id),
            direction: Direction::Downlink,
            harq,
            mcs: process.block.mcs,
            rv: attempt.rv,
            ndi: process.ndi,
            again: attempt.number > 0,
            prb: process.block.prb,
            first_prb: process.block.first_prb,
            layers: process.block.layers,
            size: process.block.size,
        };
        outputs.events.record_dci(device.watched, || dci);
        outputs.events.record(device.watched, || {
            Event::Transmission(device.id, process.transmission(&dci, attempt, 0.0))
        });
        let feedback = carrier.frame.feedback(slot.slot);
        let user = User { device: device.id, carrier: at };
        let arrived = attempt.arrived;
        carrier.due(feedback).feedback.push(HarqFeedback { user, harq, arrived });
        if !arrived {
            return;
        }
        let decoded = carrier.decoded_at(slot.at);
        let block = core::mem::take(&mut here.downlink.processes.sent(harq).block);
        for pdu in &block.pdus {
            device.bearers.downlink.handle_pdu(decoded, pdu, attempt.number);
        }
        if let Some(status) = &block.status {
            device.bearers.uplink.handle_status(decoded, status);
            device.report_status(decoded, Direction::Uplink, status, &mut outputs.events);
        }
        device.collect(outputs);
    }
}

/// Gives each sub-band to the users that are to be preferred there, as far as they need it.
fn share_out(candidates: &mut [Candidate], free: &mut FreePrbs, rbg: u16) {
    let mut dcis = usize::from(free.dcis).min(MOST);
    for band in 0..SUB_BANDS {
        while free.bands[band] > 0 {
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
            // Headers and the steps of the coding rate need a little more than the rate implies.
            let wants = libm::ceilf(best.left * 1.05 / best.rate[band]) as u16;
            let groups = wants.clamp(1, free.bands[band]).div_ceil(rbg);
            let take = (groups * rbg).min(free.bands[band]);
            best.prb += take;
            best.bands |= 1 << band;
            best.first_prb = best.first_prb.min(free.first[band]);
            best.left -= f32::from(take) * best.rate[band];
            free.bands[band] -= take;
            free.first[band] += take;
        }
    }
}
