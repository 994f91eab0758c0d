//! PBE-CC's monitor: a device's resource blocks, and its share of the idle ones (PBE-CC §4.2.1).
//!
//! C_p = Σ over cells of R_w · (P_a + P_idle / N), averaged over the last round trip, and from it C_t by Equation 5.
//! R_w and P_a are in the modem's own record of its grants. P_idle and N need a sniffer's log of all control messages.
//! Without one they are unknown. The rate is then what the device was granted, which is a capacity only while the
//! device was backlogged. The widest grants so far bound the fair share from above.

use core::time::Duration;

use sounding_kpi::{Direction, Kpi};
use sounding_trace::dci::Heard;
use sounding_units::{HostInstant, ModemInstant, Rate};

use super::goodput::{bit_error_rate, bit_error_rate_of, transport};
use super::slots::{Slot, Slots};
use super::sniffed::{Share, Sniffed, is_user};
use crate::Config;

/// Cells that are tracked separately: no device aggregates more than five of LTE and a few of NR.
const CELLS: usize = 8;

/// A carrier without a grant for so long is not active for this device.
const ACTIVE: Duration = Duration::from_secs(1);

/// Losses are counted over this time: about as many blocks as a loss rate needs.
const LOSSES: Duration = Duration::from_secs(1);
const MIN_BLOCKS: u32 = 50;

/// A sniffer's messages older than this are outdated.
const HEARD_VALID: Duration = Duration::from_millis(200);

/// The most that a cell ever granted is counted in spans of this.
const SPAN_OF_MOST: Duration = Duration::from_millis(100);

/// State of the cells that serve a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellView {
    /// C_t: the device's resource blocks and its share of the idle ones, as a rate.
    pub rate: Rate,
    /// C_f: what it would have if all users with data had the same; `None` without a sniffer.
    pub fair_share: Option<Rate>,
    /// The rate now of the most resource blocks that it ever had in 100 ms. Without a sniffer the share of the idle
    /// ones is unknown, and this is the only known upper bound.
    pub ceiling: Rate,
    /// Users with data on the primary cell, this one included; `None` without a sniffer.
    pub users: Option<u32>,
    /// Idle part of the resource blocks of all its cells, 0..=1; `None` without a sniffer.
    pub idle: Option<f64>,
}

/// Resource blocks that one carrier granted, by spans of [`SPAN_OF_MOST`].
#[derive(Clone, Copy, Debug, Default)]
struct Most {
    span: u64,
    sum: u64,
    most: u64,
    last: ModemInstant,
}

impl Most {
    fn add(&mut self, at: ModemInstant, prb: u32) {
        // Two blocks in one subframe share their resource blocks.
        if core::mem::replace(&mut self.last, at) == at {
            return;
        }
        let span = at.as_nanos() / SPAN_OF_MOST.as_nanos() as u64;
        // A late block belongs to an earlier span and is missing there.
        if span > self.span {
            *self = Self { span, sum: 0, ..*self };
        }
        if span == self.span {
            self.sum = self.sum.saturating_add(prb.into());
            self.most = self.most.max(self.sum);
        }
    }

    fn per_sec(&self) -> f64 {
        self.most as f64 / SPAN_OF_MOST.as_secs_f64()
    }
}

/// Cells as a device and, where there is one, a sniffer see them.
#[derive(Clone, Debug)]
pub(super) struct CellMonitor {
    direction: Direction,
    /// RTprop.
    span: Duration,
    headers: f64,
    heard: [Option<Sniffed>; CELLS],
    heard_at: Option<HostInstant>,
    most: [Most; CELLS],
    sinr_db: Option<f32>,
}

impl CellMonitor {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            direction: config.direction,
            span: config.window,
            headers: 1.0 - f64::from(config.ip_share_permille) / 1000.0,
            heard: [const { None }; CELLS],
            heard_at: None,
            most: [Most::default(); CELLS],
            sinr_db: None,
        }
    }

    pub(super) fn handle_kpi(&mut self, kpi: &Kpi) {
        match kpi {
            Kpi::Signal(signal) => self.sinr_db = signal.sinr_db.or(self.sinr_db),
            Kpi::Grant(grant) if grant.direction == self.direction => {
                let most = self.most.get_mut(usize::from(grant.carrier));
                if let (Some(slot), Some(most)) = (Slot::of(grant), most) {
                    most.add(grant.at, slot.prb);
                }
            }
            _ => {}
        }
    }

    /// The sniffer numbers cells as the modem does carriers: the primary is 0.
    pub(super) fn handle_heard(&mut self, now: HostInstant, heard: &Heard) {
        self.heard_at = Some(now);
        match heard {
            Heard::Nothing(moment) => {
                if let Some(Some(cell)) = self.heard.get_mut(usize::from(moment.cell)) {
                    cell.handle_silence(moment.time);
                }
            }
            Heard::Dci(dci) => {
                let cell = self.heard.get_mut(usize::from(dci.moment.cell));
                if let (true, Some(cell)) = (dci.direction == self.direction, cell) {
                    cell.get_or_insert_with(|| Sniffed::new(self.span)).handle(dci);
                }
            }
        }
    }

    pub(super) fn view(
        &self,
        now: HostInstant,
        slots: &Slots,
        end: ModemInstant,
    ) -> Option<CellView> {
        let fresh = self.heard_at.is_some_and(|at| now - at <= HEARD_VALID);
        let errors = Errors::of(slots, end, self.sinr_db);
        let (mut rate, mut fair, mut ceiling, mut idle, mut all) = (0.0, 0.0, 0.0, 0.0, 0.0);
        let mut users = None;
        let mut known = false;
        for carrier in 0..CELLS as u8 {
            let mut recent = slots.within(end, ACTIVE).filter(|slot| slot.carrier == carrier);
            if carrier > 0 && recent.next().is_none() {
                continue;
            }
            let own = Own::of(slots, end, carrier);
            let heard = &self.heard[usize::from(carrier)];
            let share: Option<Share> = heard.as_ref().filter(|_| fresh).map(Sniffed::share);
            let of_all = share.and_then(|share| share.bits_per_prb);
            let Some(bits_per_prb) = own.bits_per_prb.or(of_all) else { continue };
            known = true;
            let carries = |prb_per_sec| {
                errors.transport(bits_per_prb * prb_per_sec, self.headers, own.blocks_per_sec)
            };
            let mut prb_per_sec = own.prb_per_sec;
            if let Some(share) = share {
                // A sniffer sees this device too, unless it is idle.
                let n = share.users.max(1) + u32::from(!own.is_user && share.users > 0);
                prb_per_sec += share.idle / f64::from(n);
                fair += carries(share.all / f64::from(n));
                (idle, all) = (idle + share.idle, all + share.all);
                if carrier == 0 {
                    users = Some(n);
                }
            }
            rate += carries(prb_per_sec);
            ceiling += carries(self.most[usize::from(carrier)].per_sec());
        }
        let rate_of = |bits: f64| Rate::from_bits_per_sec(bits as u64);
        known.then(|| CellView {
            rate: rate_of(rate),
            fair_share: users.map(|_| rate_of(fair)),
            ceiling: rate_of(ceiling),
            users,
            idle: users.map(|_| if all > 0.0 { idle / all } else { 0.0 }),
        })
    }
}

/// A device's use of one carrier.
#[derive(Clone, Copy, Debug)]
struct Own {
    /// R_w, of the window or else of what is still known before it.
    bits_per_prb: Option<f64>,
    /// P_a.
    prb_per_sec: f64,
    blocks_per_sec: f64,
    /// Whether a sniffer counts it among the users with data.
    is_user: bool,
}

impl Own {
    fn of(slots: &Slots, end: ModemInstant, carrier: u8) -> Self {
        let of_carrier = |slot: &&Slot| slot.carrier == carrier;
        let (mut prb, mut count, mut blocks) = (0, 0_u32, 0);
        for slot in slots.window(end).filter(of_carrier) {
            prb += slot.prb;
            count += 1;
            blocks += slot.first;
        }
        let secs = slots.span.as_secs_f64();
        let window = bits_per_prb(slots.window(end).filter(of_carrier));
        let before = || bits_per_prb(slots.within(end, Slots::KEPT).filter(of_carrier));
        Self {
            bits_per_prb: window.or_else(before),
            prb_per_sec: f64::from(prb) / secs,
            blocks_per_sec: f64::from(blocks) / secs,
            is_user: is_user(count, prb),
        }
    }
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
        // Each repeat that has to be repeated again is one more: what is sent in all is C_t · (1 + lost).
        let lost = f64::from(again) / first;
        Self { p: bit_error_rate_of(lost, bits as f64 / first), measured: true }
    }

    /// Equation 5, with as many blocks as there are now; a block a subframe where there is none.
    fn transport(&self, physical: f64, headers: f64, blocks_per_sec: f64) -> f64 {
        let blocks = if blocks_per_sec > 0.0 { blocks_per_sec } else { 1000.0 };
        transport(physical, headers, self.p, self.measured, |rate| rate / blocks)
    }
}
