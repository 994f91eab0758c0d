use alloc::boxed::Box;
use core::time::Duration;

use sounding_cc::part::{Round, Windowed};
use sounding_cc::{Ack, Controller, Departure, Start, forward};
use sounding_estimate::LinkEstimate;
use sounding_units::{Bytes, HostInstant, Rate};

use super::{Input, Trust};
use crate::limits::micros;

/// The kernel's least RTT is one of five minutes (Linux `tcp_min_rtt_wlen`), and BBR's bandwidth
/// the most of ten rounds.
const RTT_MIN_LASTS: u64 = 300_000_000_000;
const BANDWIDTH_ROUNDS: u64 = 10;
/// The time that a claim's window has room for besides: the laws' default.
const QUEUE: Duration = Duration::from_millis(15);
/// The oldest report that is looked at again, as in the kernel.
const MAX_AGE: Duration = Duration::from_millis(200);
/// The oldest one whose blocks of the cell are handed on again.
const CELL_AGE: Duration = Duration::from_millis(50);
/// Nothing was in flight for so long: the path may be another.
const IDLE: Duration = Duration::from_secs(1);

/// A controller that receives the believed part of the reports from the device at the other end.
#[derive(Debug)]
pub struct Trusting {
    inner: Box<dyn Controller>,
    trust: Trust,
    mss: Bytes,
    said: Option<(HostInstant, LinkEstimate, u32)>,
    rtt_min: Option<Windowed<Duration>>,
    round: Round,
    bandwidth: Windowed<Rate>,
    lost: Bytes,
    delivered: Bytes,
    active_at: HostInstant,
}

impl Trusting {
    /// A controller of a flow that begins.
    pub fn new(start: &Start, inner: Box<dyn Controller>) -> Self {
        Self {
            inner,
            trust: Trust::default(),
            mss: start.mss,
            said: None,
            rtt_min: start.rtt.map(|rtt| Windowed::min(RTT_MIN_LASTS, start.now.as_nanos(), rtt)),
            round: Round::default(),
            bandwidth: Windowed::max(BANDWIDTH_ROUNDS, 0, Rate::ZERO),
            lost: Bytes::ZERO,
            delivered: Bytes::ZERO,
            active_at: start.now,
        }
    }

    fn segments(&self, bytes: Bytes) -> u32 {
        // Counters wrap, as the kernel's do.
        (bytes.count() / self.mss.count().max(1)) as u32
    }

    fn measure(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            let now = ack.now.as_nanos();
            match &mut self.rtt_min {
                Some(filter) => filter.update(now, rtt),
                None => self.rtt_min = Some(Windowed::min(RTT_MIN_LASTS, now, rtt)),
            }
        }
        self.round.handle_ack(ack);
        let rate = ack.rate.filter(|&rate| !ack.sent.app_limited || rate > self.bandwidth.best());
        if let Some(rate) = rate {
            self.bandwidth.update(self.round.count(), rate);
        }
        (self.lost, self.delivered, self.active_at) = (ack.lost, ack.delivered, ack.now);
    }

    /// Hands on what is believed of the last report.
    fn believe(&mut self, now: HostInstant, ack: Option<&Ack>) {
        let Some((heard_at, said, flows)) = self.said else { return };
        if now - heard_at > MAX_AGE {
            return;
        }
        let short = |span: Duration| u32::try_from(micros(span)).unwrap_or(u32::MAX);
        let mut input = Input {
            rate: said.rate.bytes_per_sec(),
            delivered_rate: self.bandwidth.best().bytes_per_sec(),
            now_ns: now.as_nanos(),
            delivered: self.segments(self.delivered),
            lost: self.segments(self.lost),
            mss: u32::try_from(self.mss.count()).unwrap_or(u32::MAX),
            rtt_us: self.rtt_min.map_or(0, |filter| short(filter.best())),
            queue_us: short(QUEUE),
            window: self.segments(self.inner.cwnd()),
            ..Input::default()
        };
        if let Some(ack) = ack {
            input.prior_delivered = self.segments(ack.sent.delivered);
            input.inflight = self.segments(ack.prior_in_flight);
            input.limited = ack.sent.app_limited;
            input.acked = true;
        }
        let rate = Rate::from_bytes_per_sec(self.trust.step(&input));
        let within =
            |rate: Rate| Rate::from_bytes_per_sec(self.trust.within(&input, rate.bytes_per_sec()));
        // Blocks change within a round trip, and a rate holds for some.
        let cell = said.cell.filter(|_| now - heard_at <= CELL_AGE);
        let believed = said
            .with_rate(rate)
            .with_fair(said.fair.map(|fair| fair.with_rate(within(fair.rate))))
            .with_cell(cell.map(|cell| cell.with_rate(within(cell.rate))))
            .with_age(said.age.saturating_add(now - heard_at));
        self.inner.handle_estimate(now, &believed, flows);
    }
}

impl Controller for Trusting {
    forward!(inner; but handle_sent, handle_ack, handle_estimate, handle_report);

    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        if sent.in_flight <= size && sent.at - self.active_at >= IDLE {
            self.trust.forget(self.segments(self.delivered));
        }
        self.active_at = sent.at;
        self.inner.handle_sent(sent, size);
    }

    fn handle_ack(&mut self, ack: &Ack) {
        self.measure(ack);
        self.believe(ack.now, Some(ack));
        self.inner.handle_ack(ack);
    }

    /// An estimate of this host's own modem is not doubted.
    fn handle_estimate(&mut self, now: HostInstant, estimate: &LinkEstimate, flows: u32) {
        self.said = None;
        self.inner.handle_estimate(now, estimate, flows);
    }

    fn handle_report(&mut self, now: HostInstant, report: &LinkEstimate, flows: u32) {
        self.said = Some((now, *report, flows));
        self.believe(now, None);
    }
}
