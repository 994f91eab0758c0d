//! A law for tests, and an example of how to add one: it paces at exactly the estimated rate, with a window of two round trips.
//!
//! [`Law`] runs in the kernel too, as `steady.h` of `sounding-bpf`; [`Steady`] combines it with the stock algorithm.

use core::time::Duration;

use sounding_estimate::LinkEstimate;
use sounding_units::{Bytes, HostInstant, Rate};

use crate::biscay::Config;
use crate::limits;
use crate::parameter::Values;
use crate::sharing::Part;
use crate::stock::{Fallback, Stock};
use crate::{Ack, Controller, Departure, Loss, Phase, Start};

/// Bounds of the products below, as in `arith.h`.
const MAX_SEGMENTS: u64 = 1 << 20;
const MAX_MSS: u64 = 65_535;
const HEADERS: u64 = 52;
/// The minimum window, and the minimum pacing rate in bytes/s.
const FLOOR_CWND: u32 = 2;
const MIN_PACING: u64 = 125_000;

/// Settings of a flow: a window in segments, and a rate of payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Window, at least 2.
    pub cwnd: u32,
    /// Pacing rate.
    pub pacing: Rate,
}

/// One flow under the law.
#[derive(Clone, Copy, Debug, Default)]
pub struct Law {
    controls: bool,
    transitions: u32,
}

impl Law {
    /// The phase: where the bottleneck seems to be.
    pub fn phase(&self) -> Phase {
        if self.controls { Phase::RadioLimited } else { Phase::NoEstimate }
    }

    /// Number of changes of the phase.
    pub fn transitions(&self) -> u32 {
        self.transitions
    }

    /// The settings while this flow's part of the link is `share`, IP; `None` without a usable estimate. `stock` has the settings of
    /// the stock algorithm.
    pub fn step(
        &mut self,
        share: Option<Rate>,
        rtt_min: Option<Duration>,
        mss: u32,
        stock: Command,
    ) -> Command {
        let rtt_us = rtt_min.map_or(0, limits::micros);
        let share = share.filter(|_| rtt_us > 0);
        if self.controls != share.is_some() {
            self.controls = !self.controls;
            self.transitions += 1;
        }
        let Some(share) = share.map(Rate::bytes_per_sec) else {
            return Command { cwnd: stock.cwnd.max(FLOOR_CWND), ..stock };
        };
        let mss = u64::from(mss).clamp(1, MAX_MSS);
        let segments = (2 * share * rtt_us / 1_000_000).div_ceil(mss + HEADERS);
        let pacing = (share * mss / (mss + HEADERS)).max(MIN_PACING);
        Command {
            cwnd: (segments.min(MAX_SEGMENTS) as u32).max(FLOOR_CWND),
            pacing: Rate::from_bytes_per_sec(pacing),
        }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Steady {
    law: Law,
    shadow: Stock,
    command: Command,
    mss: Bytes,
    part: Part,
    rate: Option<Rate>,
    rtt_min: Option<Duration>,
    updated_at: HostInstant,
    silence: Duration,
}

impl Steady {
    /// A flow without any estimate, which receives one only so often.
    pub fn falling_back_to(fallback: Fallback, start: &Start, every: Duration) -> Self {
        Self::tuned(fallback, start, every, &Values::default())
    }

    pub(crate) fn tuned(fallback: Fallback, start: &Start, every: Duration, _: &Values) -> Self {
        let mut steady = Self {
            law: Law::default(),
            shadow: Stock::new(start, fallback),
            command: Command { cwnd: FLOOR_CWND, pacing: Rate::ZERO },
            mss: start.mss,
            part: Part::default(),
            rate: None,
            rtt_min: start.rtt,
            updated_at: start.now,
            silence: Config::default().max_silence + every,
        };
        steady.step(start.now);
        steady
    }

    fn step(&mut self, now: HostInstant) {
        self.rate = self.rate.filter(|_| now - self.updated_at <= self.silence);
        let mss = self.mss.count();
        let stock = Command {
            cwnd: u32::try_from(self.shadow.cwnd().count() / mss.max(1)).unwrap_or(u32::MAX),
            pacing: self.shadow.pacing_rate().unwrap_or_default(),
        };
        let share = self.rate.map(|rate| self.part.of(rate));
        let segment = u32::try_from(mss).unwrap_or(u32::MAX);
        self.command = self.law.step(share, self.rtt_min, segment, stock);
        let controls = self.law.phase().law_controls();
        self.shadow.handle_verdict(now, controls, self.cwnd(), None);
    }
}

impl Controller for Steady {
    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        self.shadow.handle_sent(sent, size);
        self.step(sent.at);
    }

    fn handle_ack(&mut self, ack: &Ack) {
        self.shadow.handle_ack(ack);
        self.rtt_min = self.rtt_min.into_iter().chain(ack.rtt).min();
        self.step(ack.now);
    }

    fn handle_loss(&mut self, loss: &Loss) {
        self.shadow.handle_loss(loss);
    }

    fn handle_timeout(&mut self, now: HostInstant) {
        self.shadow.handle_timeout(now);
        self.step(now);
    }

    fn handle_spurious_timeout(&mut self, now: HostInstant) {
        self.shadow.handle_spurious_timeout(now);
        self.step(now);
    }

    fn handle_part(&mut self, _now: HostInstant, part: Part) {
        self.part = part;
    }

    fn handle_estimate(&mut self, now: HostInstant, estimate: &LinkEstimate, _flows: u32) {
        self.updated_at = now;
        let is_usable = estimate.is_usable() && estimate.rate <= sounding_estimate::MAX_RATE;
        self.rate = is_usable.then_some(estimate.rate);
        self.step(now);
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.shadow.handle_time(now);
        self.step(now);
    }

    fn wakeup(&self) -> Option<HostInstant> {
        self.shadow.wakeup()
    }

    fn cwnd(&self) -> Bytes {
        Bytes::new(u64::from(self.command.cwnd).saturating_mul(self.mss.count()))
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.command.pacing)
    }

    fn state(&self) -> &'static str {
        self.law.phase().name()
    }
}
