//! A law for tests, and an example of how to add one: it paces at exactly the estimated rate, with
//! a window of two round trips.
//!
//! [`Law`] runs in the kernel too, as `steady.h` of `sounding-bpf`; [`Steady`] has it over the
//! stock algorithm.

use core::time::Duration;

use sounding_cc::Start;
use sounding_cc::parameter::Values;
use sounding_units::{Bytes, HostInstant, Rate};

use crate::biscay::Config;
use crate::limits;
use crate::radio_law::{Ack, Beside, FeedUpdate, RadioLaw};
use crate::{over_stock::OverStock, phase::Phase, stock::Fallback};

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
    /// Window in segments, at least 2.
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

    /// The settings while this flow's part of the link is `share`, IP; `None` without a usable
    /// estimate. `stock` has the settings of the stock algorithm.
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
pub type Steady = OverStock<Flow>;

/// The law, and what it goes by.
#[derive(Clone, Debug)]
pub struct Flow {
    law: Law,
    command: Command,
    mss: Bytes,
    rate: Option<Rate>,
    rtt_min: Option<Duration>,
}

impl Steady {
    pub(crate) fn tuned(fallback: Fallback, start: &Start, every: Duration, _: &Values) -> Self {
        let flow = Flow {
            law: Law::default(),
            command: Command { cwnd: FLOOR_CWND, pacing: Rate::ZERO },
            mss: start.mss,
            rate: None,
            rtt_min: start.rtt,
        };
        Self::over(flow, fallback, start, Some(Config::default().max_silence + every))
    }
}

impl Flow {
    fn segments(&self, bytes: Bytes) -> u32 {
        u32::try_from(bytes.count() / self.mss.count().max(1)).unwrap_or(u32::MAX)
    }

    fn bytes(&self, segments: u32) -> Bytes {
        Bytes::new(u64::from(segments).saturating_mul(self.mss.count()))
    }

    fn step(&mut self, beside: &Beside<'_>) {
        let pacing = beside.pacing().unwrap_or_default();
        let stock = Command { cwnd: self.segments(beside.cwnd()), pacing };
        let share = self.rate.map(|rate| beside.part.of(rate));
        let segment = u32::try_from(self.mss.count()).unwrap_or(u32::MAX);
        self.command = self.law.step(share, self.rtt_min, segment, stock);
    }
}

impl RadioLaw for Flow {
    fn handle_feed(&mut self, _: HostInstant, update: FeedUpdate, beside: &Beside<'_>) -> bool {
        self.rate = match update {
            FeedUpdate::Carries(report) => Some(report.rate),
            FeedUpdate::Idle(_) | FeedUpdate::Handover | FeedUpdate::Nothing => None,
        };
        self.step(beside);
        true
    }

    fn handle_ack(&mut self, ack: &Ack, beside: &Beside<'_>) -> Option<Rate> {
        self.rtt_min = self.rtt_min.into_iter().chain(ack.rtt).min();
        self.step(beside);
        None
    }

    fn handle_timeout(&mut self, _: HostInstant, beside: &Beside<'_>) {
        self.step(beside);
    }

    fn phase(&self) -> Phase {
        self.law.phase()
    }

    fn cwnd(&self) -> Bytes {
        self.bytes(self.command.cwnd)
    }

    fn pacing(&self) -> Option<Rate> {
        Some(self.command.pacing)
    }

    fn stock_cwnd(&self, cwnd: Bytes) -> Bytes {
        self.bytes(self.segments(cwnd))
    }
}
