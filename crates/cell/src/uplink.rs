//! One slot of the uplink: grants, requests, and what devices send.

use alloc::boxed::Box;

use rand::RngExt;
use sounding_kpi::Direction;

use crate::buffer_status::{PendingReport, REPORT_SIZE};
use crate::carrier::{Carrier, UplinkGrant};
use crate::config::{NetworkKind, Rat};
use crate::device::{Device, Devices};
use crate::event::{Dci, Event};
use crate::free_prbs::FreePrbs;
use crate::harq::{Attempt, BLOCK_HEADER, HarqState, TransportBlock};
use crate::ids::{SlotId, User};
use crate::outputs::Outputs;
use crate::radio::Choice;
use crate::rnti::rnti;

/// One slot of a carrier's uplink.
pub(crate) struct UplinkSlot<'a, P> {
    pub(crate) slot: SlotId,
    pub(crate) carrier: &'a mut Carrier,
    pub(crate) outputs: &'a mut Outputs<P>,
}

impl<P> UplinkSlot<'_, P> {
    /// Makes the grants of this slot. Returns the number of used DCIs.
    pub(crate) fn grant(&mut self, devices: &mut Devices<P>) -> u8 {
        let carrier = &*self.carrier;
        if !carrier.config.uplink {
            return 0;
        }
        // Half of the PDCCH at most, so that neither direction starves the other.
        let dcis = carrier.config.pdcch.div_ceil(2);
        let slots: arrayvec::ArrayVec<u64, 4> =
            carrier.frame.grants(self.slot.slot).take(4).collect();
        let mut used = 0;
        for data_slot in slots {
            let mut free = FreePrbs::new(self.carrier.bands, dcis - used);
            self.grant_again(devices, data_slot, &mut free);
            self.grant_new(devices, data_slot, &mut free);
            used = dcis - free.dcis;
        }
        used
    }

    fn grant_again(&mut self, devices: &mut Devices<P>, data_slot: u64, free: &mut FreePrbs) {
        for at in 0..self.carrier.active().len() {
            let user = self.carrier.active()[at];
            let device = &mut devices[user.device];
            let uplink = &mut device.carriers[user.carrier].uplink;
            let again = uplink.processes.again_in(self.slot.slot, data_slot);
            let Some(harq) = again else { continue };
            let &TransportBlock { mcs, prb, size, .. } = &uplink.processes.get(harq).block;
            let Some((bands, first_prb)) = free.take(prb) else { continue };
            uplink.processes.repeat(harq);
            uplink.last = Some(data_slot);
            let sent = self.carrier.begin(data_slot);
            device.gnb_estimate.handle_repeat(sent, u64::from(size), &device.config.scheduling);
            let again = true;
            let grant = UplinkGrant { user, harq, again, mcs, prb, first_prb, bands, size };
            self.send_grant(device, data_slot, grant);
        }
    }

    fn grant_new(&mut self, devices: &mut Devices<P>, data_slot: u64, free: &mut FreePrbs) {
        let slot = self.slot;
        while free.dcis > 0 {
            let Some(user) = self.neediest(devices, data_slot) else { return };
            let device = &mut devices[user.device];
            let carrier = &*self.carrier;
            let sent = carrier.begin(data_slot);
            let grantable = device.grantable(slot.at, sent);
            let scheduling = &device.config.scheduling;
            let here = &mut device.carriers[user.carrier];
            let left = free.count();
            let Some(harq) = here.uplink.processes.idle().filter(|_| left > 0) else { return };
            here.uplink.last = Some(data_slot);
            let need = grantable + BLOCK_HEADER + REPORT_SIZE;
            let Some((prb, mcs)) = here.plan_uplink(slot.at, &carrier.up, need, left) else {
                continue;
            };
            let prb = dft_size(prb, left);
            let size = carrier.up.size(1, mcs, prb);
            let Some((bands, first_prb)) = free.take(prb) else { return };
            device.gnb_estimate.handle_grant(sent, u64::from(size), scheduling);
            here.uplink.history.serve(carrier.config.policy, slot.slot, size);
            here.uplink.processes.reserve(harq);
            here.used = slot.at;
            device.connection.handle_data(slot.at);
            let again = false;
            let grant = UplinkGrant { user, harq, again, mcs, prb, first_prb, bands, size };
            self.send_grant(device, data_slot, grant);
            if fills_early(device) {
                self.build(device, &grant);
            }
        }
    }

    /// The user to be granted next.
    fn neediest(&self, devices: &mut Devices<P>, data_slot: u64) -> Option<User> {
        let (slot, carrier) = (self.slot, &*self.carrier);
        let sent = carrier.begin(data_slot);
        let mut best: Option<(f32, User)> = None;
        for &user in carrier.active() {
            let device = &mut devices[user.device];
            if device.grantable(slot.at, sent) == 0 {
                continue;
            }
            let here = &device.carriers[user.carrier];
            if here.uplink.last == Some(data_slot) || here.uplink.processes.idle().is_none() {
                continue;
            }
            let backlog = device.bearers.uplink.backlog();
            let dual = &device.config.dual;
            if !device.carriers.may_use(here, slot.at)
                || !device.carriers.may_send_on(here, slot.at, backlog, dual)
            {
                continue;
            }
            let uplink = &mut device.carriers[user.carrier].uplink;
            let background = device.config.background;
            let rank = uplink.history.preference(carrier.config.policy, slot.slot, background);
            let rate = uplink.first_rate(slot.at, &carrier.up);
            if rate <= 0.0 {
                continue;
            }
            let preference = rank.at(rate);
            if best.is_none_or(|(found, _)| preference > found) {
                best = Some((preference, user));
            }
        }
        best.map(|(_, user)| user)
    }

    fn send_grant(&mut self, device: &Device<P>, data_slot: u64, grant: UplinkGrant) {
        let process = device.carriers[grant.user.carrier].uplink.processes.get(grant.harq);
        self.outputs.events.record_dci(device.watched, || Dci {
            sent_in: self.slot,
            data_slot,
            rnti: rnti(device.id),
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
        });
        self.carrier.due(data_slot).grants.push(grant);
    }

    /// Devices send the blocks that they were granted for this slot.
    pub(crate) fn send(&mut self, devices: &mut Devices<P>) {
        let mut grants = core::mem::take(&mut self.carrier.due(self.slot.slot).grants);
        for grant in grants.drain(..) {
            let device = &mut devices[grant.user.device];
            // A handover came between the grant and its slot.
            let processes = &device.carriers[grant.user.carrier].uplink.processes;
            if processes.get(grant.harq).state != HarqState::Sent {
                continue;
            }
            if !grant.again && !fills_early(device) {
                self.build(device, &grant);
            }
            self.transmit(device, &grant);
        }
        self.carrier.due(self.slot.slot).grants = grants;
    }

    /// The device fills a block: report, then status, then data (TS 36.321 §5.4.3.1).
    fn build(&self, device: &mut Device<P>, grant: &UplinkGrant) {
        let (now, rat) = (self.slot.at, self.carrier.config.rat);
        let mut left = u64::from(grant.size).saturating_sub(BLOCK_HEADER);
        let mut block = TransportBlock {
            size: grant.size,
            mcs: grant.mcs,
            prb: grant.prb,
            first_prb: grant.first_prb,
            layers: 1,
            bands: grant.bands,
            ..TransportBlock::default()
        };
        if device.bsr.is_report_due(now) {
            left = left.saturating_sub(REPORT_SIZE);
        }
        if device.bearers.downlink.owes_status(now) {
            let status = device.bearers.downlink.take_status(now);
            left = left.saturating_sub(status.size());
            block.status = Some(Box::new(status));
        }
        while let Some(pdu) =
            (!block.pdus.is_full()).then(|| device.bearers.uplink.cut(left, now)).flatten()
        {
            left -= pdu.span.len();
            block.pdus.push(pdu);
        }
        let waiting = device.bearers.uplink_demand(now);
        block.report = device.bsr.poll_report(now, waiting, left, rat, &device.config.scheduling);
        block.padding = left as u32;
        device.carriers[grant.user.carrier].uplink.processes.fill(grant.harq, block);
    }

    fn transmit(&mut self, device: &mut Device<P>, grant: &UplinkGrant) {
        let Self { slot, carrier, outputs } = self;
        let here = &mut device.carriers[grant.user.carrier];
        let sinr = here.uplink_sinr_db(grant.prb);
        let attempt = here.uplink.transmit(grant.harq, &sinr, &mut carrier.rng);
        let Attempt { rv, number, arrived, .. } = attempt;
        if number == 0 {
            here.uplink.handle_feedback(Choice { mcs: grant.mcs, layers: 1 }, arrived);
        }
        outputs.events.record(device.watched, || {
            let process = here.uplink.processes.get(grant.harq);
            let dci = Dci {
                sent_in: *slot,
                data_slot: slot.slot,
                rnti: rnti(device.id),
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
            let sent = process.transmission(&dci, attempt, here.power_dbm(grant.prb));
            Event::Transmission(device.id, sent)
        });
        if !arrived {
            let config = device.config.harq;
            // Only LTE answers: NR grants the repeat.
            let misheard =
                carrier.config.rat == Rat::Lte && carrier.rng.random::<f64>() < config.misheard;
            if misheard || number + 1 >= config.transmissions {
                here.uplink.processes.finish(grant.harq);
            } else {
                let from = carrier.frame.uplink_again(slot.slot);
                let sent = carrier.frame.uplink_repeat(slot.slot);
                here.uplink.processes.refuse(grant.harq, from, sent);
            }
            return;
        }
        let decoded = carrier.decoded_at(slot.at);
        let block = core::mem::take(&mut here.uplink.processes.sent(grant.harq).block);
        here.uplink.processes.finish(grant.harq);
        for pdu in &block.pdus {
            device.bearers.uplink.handle_pdu(decoded, pdu, number);
        }
        if let Some(report) = &block.report {
            let twice = carrier.rng.random::<f64>() < device.config.scheduling.double_grant;
            let report = PendingReport::new(carrier.config.rat, report, slot.at, decoded, twice);
            device.gnb_estimate.handle_report(report, &device.config.scheduling);
        } else if !block.pdus.is_empty() {
            let scheduling = &device.config.scheduling;
            device.gnb_estimate.handle_unreported(slot.at, decoded, scheduling);
        }
        if let Some(status) = &block.status {
            device.bearers.downlink.handle_status(decoded, status);
            device.report_status(decoded, Direction::Downlink, status, &mut outputs.events);
        }
        device.collect(outputs);
    }

    /// Devices that have data and no grant request one.
    pub(crate) fn request(&mut self, devices: &mut Devices<P>) {
        let Self { slot, carrier, outputs } = self;
        for &user in carrier.active() {
            let device = &mut devices[user.device];
            if user.carrier != device.carriers.path(slot.at, &device.config.dual) {
                continue;
            }
            if device.bearers.downlink.owes_status(slot.at) {
                device.bsr.handle_data();
            }
            if !device.bsr.needs_grant() || device.carriers.is_away(slot.at) {
                continue;
            }
            // A device that requests listens for the answer.
            device.connection.handle_data(slot.at);
            let here = &device.carriers[user.carrier];
            let scheduling = &device.config.scheduling;
            let expects =
                here.uplink.processes.is_busy() && scheduling.network != NetworkKind::Srsran;
            if expects || !device.gnb_estimate.leaves_requests(slot.at, scheduling) {
                continue;
            }
            // Occasions come every period, each device at its own offset; one that falls between
            // two uplink slots is in the later.
            let period = scheduling.sr_period.as_nanos().max(1) as u64;
            let length = carrier.frame.slot().as_nanos() as u64;
            let offset = u64::from(device.id.0) * 1_700_000;
            let occasion = |slot: u64| (slot * length + offset) / period;
            let before = carrier.frame.uplink_before(slot.slot);
            if before.is_some_and(|before| occasion(before) == occasion(slot.slot)) {
                continue;
            }
            device.gnb_estimate.handle_request(slot.at, scheduling);
            let event = || Event::SchedulingRequest { device: device.id, slot: *slot };
            outputs.events.record(device.watched, event);
        }
    }
}

/// Whether a device fills a block when its grant comes, as srsRAN's does, and not when it is sent.
fn fills_early<P>(device: &Device<P>) -> bool {
    device.config.scheduling.network == NetworkKind::Srsran
}

/// A number of resource blocks that SC-FDMA allows, 2^a 3^b 5^c (TS 36.211 §5.3.3): the next from
/// `prb` on, or the largest of `most`.
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
