//! PBE-CC's monitor: a device's resource blocks, and its share of the idle ones (PBE-CC §4.2.1).
//!
//! C_p = Σ over cells of R_w · (P_a + P_idle / N), averaged over the last round trip, and from it
//! C_t by Equation 5. R_w and P_a are in the modem's own record of its grants. P_idle and N need a
//! sniffer's log of all control messages. Without one they are unknown. The rate is then what the
//! device was granted, which is a capacity only while the device was backlogged. The widest grants
//! so far bound the fair share from above.

use core::time::Duration;

use sounding_kpi::{Direction, Kpi, Layer};
use sounding_trace::dci::Heard;
use sounding_units::{HostInstant, ModemInstant, Rate};

use super::cqi::standard_bits;
use super::goodput::{bit_error_rate, bit_error_rate_of, transport};
use super::identity::IdentitySearch;
use super::slots::{Slot, Slots};
use super::sniffed::{OwnShare, Share, Sniffed};
use crate::blocks::{ACTIVE, Most};
use crate::{CellUse, Config};

/// Cells that are tracked separately: no device aggregates more than five of LTE and a few of NR.
const CELLS: usize = 8;

/// Losses are counted over this time: about as many blocks as a loss rate needs.
const LOSSES: Duration = Duration::from_secs(1);
const MIN_BLOCKS: u32 = 50;

/// What a sniffer reported longer ago than this says nothing about now: it reports every slot.
pub const HEARD_VALID: Duration = Duration::from_millis(100);

/// Who has the blocks is unknown this long after a sniffer fell silent. A background
/// flow has to know within [`HEARD_VALID`], and the way to its sender takes a part of that.
const USE_VALID: Duration = Duration::from_millis(50);

/// The last blocks of a burst are small, and most of their bits are headers: so many resource
/// blocks say what one carries (half a subframe of 20 MHz; interpretation 24). With fewer in a
/// round trip R_w is that of the last half second.
const ENOUGH_PRB: u32 = 50;

/// State of the cells that serve a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellView {
    /// C_t: the device's resource blocks and its share of the idle ones, as a rate.
    pub rate: Rate,
    /// C_f: what it would have if all users with data had the same; `None` without a sniffer.
    pub fair_share: Option<Rate>,
    /// The rate now of the most resource blocks that it ever had in 100 ms. Without a sniffer the
    /// share of the idle ones is unknown, and this is the only known upper bound.
    pub ceiling: Rate,
    /// Users with data on the primary cell, this one included; `None` without a sniffer.
    pub users: Option<u32>,
    /// Carriers that are switched on for this device.
    pub carriers: u32,
    /// Part of the resource blocks of all its cells that no user has, 0..=1; `None` without a
    /// sniffer.
    pub idle: Option<f64>,
    /// Host time since a sniffer of the primary cell was last received; `None` without one.
    pub heard: Option<Duration>,
    /// Who has the blocks of all its cells; `None` unless sniffers report all of them and show
    /// which user the device is.
    pub use_of: Option<CellUse>,
}

/// Cells as a device and, where there is one, a sniffer see them.
#[derive(Clone, Debug)]
pub(super) struct CellMonitor {
    direction: Direction,
    /// RTprop, over which users are counted and which rates are of unless another span is wanted.
    span: Duration,
    headers: f64,
    heard: [Option<Sniffed>; CELLS],
    /// When something of each cell was last received: each may have a sniffer of its own.
    heard_at: [Option<HostInstant>; CELLS],
    identities: [IdentitySearch; CELLS],
    most: [Most; CELLS],
    /// What the device last reported of each carrier's channel, as bits of a resource block.
    reported: [Option<f64>; CELLS],
    /// When a MAC control element switched which secondary carriers on, bit i that of index i.
    activation: Option<(ModemInstant, u8)>,
    sinr_db: Option<f32>,
}

impl CellMonitor {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            direction: config.direction,
            span: in_subframes(config.window),
            headers: 1.0 - f64::from(config.ip_share_permille) / 1000.0,
            heard: [const { None }; CELLS],
            heard_at: [None; CELLS],
            identities: [const { IdentitySearch::new() }; CELLS],
            most: [Most::default(); CELLS],
            reported: [None; CELLS],
            activation: None,
            sinr_db: None,
        }
    }

    pub(super) fn handle_kpi(&mut self, kpi: &Kpi) {
        match kpi {
            Kpi::Signal(signal) => self.sinr_db = signal.sinr_db.or(self.sinr_db),
            Kpi::Channel(channel) => {
                if let Some(bits) = self.reported.get_mut(usize::from(channel.carrier)) {
                    *bits = Some(standard_bits(channel));
                }
            }
            Kpi::Carriers(carriers) => self.activation = Some((carriers.at, carriers.active)),
            Kpi::Grant(grant) if grant.direction == self.direction => {
                let carrier = usize::from(grant.carrier);
                let (Some(slot), true) = (Slot::of(grant), carrier < CELLS) else { return };
                self.most[carrier].add(grant.at, slot.prb);
                if grant.layer == Layer::Phy {
                    self.identities[carrier].handle_grant(grant.at, slot.prb, &self.heard);
                }
            }
            _ => {}
        }
    }

    /// The device is in another cell: nothing of the last one is true of it (§4.2.1 is silent;
    /// interpretation 11).
    pub(super) fn handle_handover(&mut self) {
        self.heard = [const { None }; CELLS];
        self.heard_at = [None; CELLS];
        self.identities = [const { IdentitySearch::new() }; CELLS];
        self.most = [Most::default(); CELLS];
        (self.reported, self.activation) = ([None; CELLS], None);
    }

    /// The sniffer numbers cells as the modem does carriers, the primary is 0, until grants show
    /// another order.
    pub(super) fn handle_heard(&mut self, now: HostInstant, heard: &Heard) {
        let moment = match heard {
            Heard::Nothing(moment) => moment,
            Heard::Dci(dci) => &dci.moment,
        };
        let at = usize::from(moment.cell);
        let mut own = self.identities.iter().filter_map(IdentitySearch::found);
        let own = own.find(|own| own.cell == at).map(|own| own.rnti);
        let (Some(cell), Some(heard_at)) = (self.heard.get_mut(at), self.heard_at.get_mut(at))
        else {
            return;
        };
        *heard_at = Some(now);
        match heard {
            Heard::Dci(dci) if dci.direction == self.direction => {
                cell.get_or_insert_with(Sniffed::new).handle(dci, self.span, own);
            }
            _ => {
                if let Some(cell) = cell {
                    cell.reach(moment.time, self.span, own);
                }
            }
        }
    }

    /// Whether a sniffer is being received.
    pub(super) fn is_sniffed(&self, now: HostInstant) -> bool {
        (0..CELLS).any(|cell| self.heard(cell, now).is_some())
    }

    /// How long ago a cell was last received, if that says something about now.
    fn heard(&self, cell: usize, now: HostInstant) -> Option<Duration> {
        let age = self.heard_at[cell].map(|at| now - at)?;
        (age <= HEARD_VALID).then_some(age)
    }

    /// Which cell of the sniffer is this carrier.
    fn cell_of(&self, carrier: usize) -> usize {
        self.identities[carrier].found().map_or(carrier, |identity| identity.cell)
    }

    /// A cell that is not being received has no share: what was idle then may be in use now.
    fn share(&self, carrier: usize, now: HostInstant, span: Duration) -> Option<Share> {
        let rnti = self.identities[carrier].found().map(|identity| identity.rnti);
        let cell = self.cell_of(carrier);
        self.heard(cell, now)?;
        Some(self.heard[cell].as_ref()?.share(span, rnti))
    }

    /// Whether a carrier other than the primary is switched on: it was used before the timer that
    /// switches it off, and no control element did so since.
    fn is_active(
        &self,
        slots: &Slots,
        end: ModemInstant,
        carrier: u8,
        share: Option<Share>,
    ) -> bool {
        let of_carrier = |entry: &&(ModemInstant, Slot)| entry.1.carrier == carrier;
        let newest = slots.until(end).find(of_carrier).map(|(at, _)| *at);
        let used = newest.filter(|at| end - *at <= ACTIVE);
        let is_used_now =
            share.and_then(|share| share.own).is_some_and(|own| own.prb_per_sec > 0.0);
        match self.activation {
            Some((at, active)) if used.is_none_or(|used| used <= at) && end - at <= ACTIVE => {
                active & (1_u8.checked_shl(carrier.into()).unwrap_or(0)) != 0
            }
            _ => used.is_some() || is_used_now,
        }
    }

    pub(super) fn view(
        &self,
        now: HostInstant,
        slots: &Slots,
        end: ModemInstant,
        span: Duration,
    ) -> Option<CellView> {
        let span = in_subframes(span);
        let errors = Errors::of(slots, end, self.sinr_db);
        let (mut rate, mut fair, mut ceiling, mut idle, mut all) = (0.0, 0.0, 0.0, 0.0, 0.0);
        let mut whole = 0.0;
        let (mut users, mut carriers) = (None, 0);
        let mut blocks_of = BlocksOf::default();
        for carrier in 0..CELLS as u8 {
            let at = usize::from(carrier);
            let share = self.share(at, now, span);
            if carrier > 0 && !self.is_active(slots, end, carrier, share) {
                continue;
            }
            let of_carrier = |slot: &&Slot| slot.carrier == carrier;
            let modem = Own::of(slots, end, span, carrier);
            let sniffed = share.and_then(|share| share.own);
            let of_all = share.and_then(|share| share.bits_per_prb);
            // A modem knows the sizes of its blocks; a sniffer has to know which tables are
            // configured.
            let own_or_others = modem
                .bits_per_prb
                .or(sniffed.filter(|own| own.is_enough(span)).and_then(|own| own.bits_per_prb))
                .or_else(|| bits_per_prb(slots.within(end, Slots::KEPT).filter(of_carrier)))
                .or(self.reported[at])
                .or(of_all);
            let Some(bits) = own_or_others else { continue };
            carriers += 1;
            let is_new = self.heard(self.cell_of(at), now).is_some_and(|age| age <= USE_VALID);
            blocks_of.add(bits, share.filter(|_| is_new));
            let blocks_per_slot = blocks_per_slot(slots, end, carrier);
            // A device that pauses had few blocks. Its possible rate needs as many blocks as the
            // carrier's width implies.
            let blocks = |prb_per_sec: f64| {
                let in_slot = share.map(|share| share.in_slot).filter(|prb| *prb > 0.0);
                let needed = in_slot.map_or(0.0, |prb| prb_per_sec / prb * blocks_per_slot);
                modem.blocks_per_sec.max(needed)
            };
            let carries = |prb_per_sec| {
                errors.transport(bits * prb_per_sec, self.headers, blocks(prb_per_sec))
            };
            // Both terms by one clock: what the modem reports comes later, and would be counted
            // twice.
            let mut prb_per_sec = sniffed.map_or(modem.prb_per_sec, |own| own.prb_per_sec);
            if share.is_none() {
                // No less than what it has is its part of a carrier without a sniffer.
                fair += carries(prb_per_sec);
            }
            if let Some(share) = share {
                let n = share.others + 1;
                let left = share.idle.min(share.all - prb_per_sec.min(share.all));
                prb_per_sec += left / f64::from(n);
                fair += carries(share.all / f64::from(n));
                whole += carries(share.all);
                (idle, all) = (idle + share.idle, all + share.all);
                if carrier == 0 {
                    users = Some(n);
                }
            }
            rate += carries(prb_per_sec);
            ceiling += carries(self.most[at].per_sec());
        }
        let rate_of = |bits: f64| Rate::from_bits_per_sec(bits as u64);
        (carriers > 0).then(|| CellView {
            rate: rate_of(rate),
            fair_share: users.map(|_| rate_of(fair)),
            ceiling: rate_of(ceiling),
            users,
            carriers,
            idle: users.map(|_| if all > 0.0 { idle / all } else { 0.0 }),
            heard: users.and_then(|_| self.heard(self.cell_of(0), now)),
            use_of: blocks_of.whole(rate_of(whole)),
        })
    }
}

/// Blocks of several carriers, each as the bits that it would carry for the device.
#[derive(Clone, Copy, Debug, Default)]
struct BlocksOf {
    all: f64,
    own: f64,
    idle: f64,
    /// A carrier has no sniffer, or the device is not found in its log.
    is_partial: bool,
}

impl BlocksOf {
    fn add(&mut self, bits: f64, share: Option<Share>) {
        let Some((share, own)) = share.and_then(|share| Some((share, share.own?))) else {
            self.is_partial = true;
            return;
        };
        self.all += bits * share.all;
        self.own += bits * own.prb_per_sec;
        self.idle += bits * share.idle;
    }

    fn whole(&self, rate: Rate) -> Option<CellUse> {
        let is_known = !self.is_partial && self.all > 0.0;
        let part = |bits: f64| (bits / self.all * 1e3).clamp(0.0, 1e3) as u16;
        is_known.then(|| CellUse::new(rate, part(self.own), part(self.idle)))
    }
}

/// RTprop in subframes, no fewer than say anything and no more than say it late (interpretation 4).
fn in_subframes(span: Duration) -> Duration {
    span.clamp(Duration::from_millis(20), Duration::from_millis(200))
}

/// What a device had of one carrier, as its modem reports it.
#[derive(Clone, Copy, Debug)]
struct Own {
    /// R_w.
    bits_per_prb: Option<f64>,
    /// P_a.
    prb_per_sec: f64,
    blocks_per_sec: f64,
}

impl Own {
    fn of(slots: &Slots, end: ModemInstant, span: Duration, carrier: u8) -> Self {
        let of_carrier = |slot: &&Slot| slot.carrier == carrier;
        let (mut prb, mut blocks) = (0, 0);
        for slot in slots.within(end, span).filter(of_carrier) {
            prb += slot.prb;
            blocks += slot.first;
        }
        let secs = span.as_secs_f64();
        let enough = prb >= ENOUGH_PRB;
        let bits_per_prb = bits_per_prb(slots.within(end, span).filter(of_carrier));
        Self {
            bits_per_prb: bits_per_prb.filter(|_| enough),
            prb_per_sec: f64::from(prb) / secs,
            blocks_per_sec: f64::from(blocks) / secs,
        }
    }
}

impl OwnShare {
    fn is_enough(&self, span: Duration) -> bool {
        self.prb_per_sec * span.as_secs_f64() >= f64::from(ENOUGH_PRB)
    }
}

/// In LTE two blocks may share a subframe; one where nothing was granted in the last second.
fn blocks_per_slot(slots: &Slots, end: ModemInstant, carrier: u8) -> f64 {
    let (mut blocks, mut used) = (0, 0);
    let of_carrier = |slot: &&Slot| slot.carrier == carrier && slot.first > 0;
    for slot in slots.within(end, LOSSES).filter(of_carrier) {
        blocks += slot.first;
        used += 1;
    }
    if used > 0 { f64::from(blocks) / f64::from(used) } else { 1.0 }
}

fn bits_per_prb<'a>(slots: impl Iterator<Item = &'a Slot>) -> Option<f64> {
    let (mut bits, mut prb) = (0, 0);
    for slot in slots.filter(|slot| slot.bits_per_prb().is_some()) {
        bits += slot.first_bits;
        prb += slot.prb;
    }
    (prb > 0).then(|| bits as f64 / f64::from(prb))
}

/// How many bits are lost.
#[derive(Clone, Copy, Debug)]
struct Errors {
    p: f64,
    measured: bool,
}

impl Errors {
    /// From the repeats of the last second; where there were too few blocks, from the SINR.
    fn of(slots: &Slots, end: ModemInstant, sinr_db: Option<f32>) -> Self {
        let (mut first, mut again, mut bits) = (0, 0, 0);
        for slot in slots.within(end, LOSSES) {
            first += slot.first;
            again += slot.again;
            bits += slot.first_bits;
        }
        if first < MIN_BLOCKS {
            return Self { p: bit_error_rate(sinr_db), measured: false };
        }
        let first = f64::from(first);
        // Each repeat that has to be repeated again is one more: what is sent in all is C_t · (1 +
        // lost).
        let lost = f64::from(again) / first;
        Self { p: bit_error_rate_of(lost, bits as f64 / first), measured: true }
    }

    /// Equation 5, with as many blocks as there are now; a block a subframe where there is none.
    fn transport(&self, physical: f64, headers: f64, blocks_per_sec: f64) -> f64 {
        let blocks = if blocks_per_sec > 0.0 { blocks_per_sec } else { 1000.0 };
        transport(physical, headers, self.p, self.measured, |rate| rate / blocks)
    }
}
