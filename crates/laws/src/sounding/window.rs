use core::time::Duration;

use sounding_cc::part::burst;
use sounding_cc::sharing::{Part, WHOLE};
use sounding_units::{Bytes, HostInstant, Rate};

use super::micros;
use super::path::{self, PathRtt};
use super::queue_target::QueueTarget;
use crate::radio_law::Ack;

/// Largest step, in 64ths of the acknowledged bytes: as in slow start.
pub(super) const MAX_STEP: u64 = 64;
/// The pacing rate must use the window within an RTT, also with coarse pacing.
const PACING_PERMILLE: u64 = 1250;
/// The least window of all flows of a link together; BBR's for one. Each has its part of it, and
/// two at least: on a link that nearly stops, four for each would make the queue longer by every
/// flow that shares it.
const MIN_SEGMENTS: u64 = 4;
/// The minimum window of a flow, so that delayed acknowledgements are sent at once; and the initial
/// window (RFC 6928: IW10).
const FEWEST: u64 = 2;
const INITIAL: u64 = 10;
/// 1 GB: more than any path of this kind holds. Keeps the products below under 2^64, as the next
/// two do.
pub(super) const MAX_CWND: u64 = 1 << 30;
/// No segment is longer.
const MAX_MSS: u64 = 65_535;
/// 1 Mbit/s in bytes/s: at a rate of zero the pacing timer would outlive an outage.
const MIN_PACING: u64 = 125_000;
/// Shortest time for a rate: a shorter one depends on the clock more than on the path.
const MIN_RTT_US: u64 = 1_000;
/// A flow that gets less than three quarters of its part for this long has a rival that does not
/// share. Chosen: longer than any climb or handover.
const RIVAL_AFTER: Duration = Duration::from_secs(1);
/// A competitor's standing queue is at least this long, beyond the radio's jitter.
const RIVAL_QUEUE_US: u64 = 32_000;
/// A queue of more RTTs than this comes from another flow, because BBR keeps only two RTTs in
/// flight.
const CROWDED_RTTS: u64 = 3;

/// The bytes that may be in flight: bytes, microseconds and bytes per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    cwnd: u64,
    mss: u64,
    headers: u64,
    /// Share among all members with a claim on the link, as parts of [`WHOLE`].
    part: u64,
    /// Mean of the rates received over about the last RTT, IP; zero if there was none.
    pipe: u64,
    /// Cap while restarting after a timeout.
    ramp: Option<u64>,
    rival: Rival,
}

/// A flow on the same device that always fills the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rival {
    None,
    Suspected { since: HostInstant },
    Known,
}

/// A flow's part of its link, IP, bytes/s.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// The part of its share that may be used.
    pub(super) sure: u64,
    /// The rate of the whole link.
    pub(super) link: u64,
}

/// Whether the flow receives less than three quarters of `share`.
pub(super) fn is_starved(rate: u64, share: u64) -> bool {
    rate * 4 < share * 3
}

impl Window {
    pub(super) fn new(mss: Bytes, headers: Bytes) -> Self {
        let (mss, headers) = (mss.count().clamp(1, MAX_MSS), headers.count().min(MAX_MSS));
        Self {
            cwnd: INITIAL * mss,
            mss,
            headers,
            part: WHOLE,
            pipe: 0,
            ramp: None,
            rival: Rival::None,
        }
    }

    fn set(&mut self, cwnd: u64) {
        self.cwnd = cwnd.min(MAX_CWND).max(self.least());
    }

    /// The least window.
    fn least(&self) -> u64 {
        (MIN_SEGMENTS * self.part).div_ceil(WHOLE).max(FEWEST) * self.mss
    }

    /// This flow's part of a total rate, without a cap.
    pub(super) fn part_of(&self, rate: u64) -> u64 {
        rate * self.part / WHOLE
    }

    /// Others came, or left.
    pub(super) fn handle_part(&mut self, part: Part) {
        self.part = part.fraction();
    }

    /// The link has had this rate for this time.
    ///
    /// Moves the window to a new rate over one RTT. Packets in flight left at the old rate. If the
    /// link became faster, a window for the new rate alone would put the difference into the
    /// queue at once. If it became slower, sending would stop until the excess has arrived. A
    /// window that follows over an RTT sends at the new rate.
    pub(super) fn follow(&mut self, share: u64, elapsed: Duration, path: &PathRtt) {
        let Some(least) = path.least().filter(|_| self.pipe > 0) else {
            self.pipe = share;
            return;
        };
        let elapsed = micros(elapsed).unwrap_or_default().min(least);
        self.pipe = (self.pipe * (least - elapsed) + share * elapsed) / least;
    }

    /// The bytes in flight are unknown.
    pub(super) fn forget_pipe(&mut self) {
        self.pipe = 0;
    }

    fn payload(&self, share: u64) -> u64 {
        share * self.mss / (self.mss + self.headers)
    }

    /// Bytes of this flow in flight and in the queue.
    ///
    /// They include a part of a burst of the link. With a full burst for each flow, every further
    /// flow would lengthen the queue.
    fn held(&self, share: Share, path: &PathRtt, queue_target: &QueueTarget) -> u64 {
        let Some(least) = path.least() else { return self.cwnd };
        let payload = self.payload(share.sure);
        let mut queue_target = queue_target.span();
        if self.has_rival() {
            // While the competitor causes the RTT. A tenth less, so that queues of this law's flows
            // do not sustain each other.
            queue_target =
                queue_target.max(((least + path.queue()) * 9 / 10).saturating_sub(least));
        }
        let burst = burst(Rate::from_bytes_per_sec(self.payload(share.link)), Bytes::new(self.mss));
        (self.payload(self.pipe) * least + payload * queue_target) / 1_000_000
            + burst.count() * share.sure / share.link.max(1)
    }

    /// The link is full at this rate.
    pub(super) fn fill(&mut self, share: Share, path: &PathRtt, queue_target: &QueueTarget) {
        self.set(self.held(share, path, queue_target));
    }

    /// The link carries this at least.
    pub(super) fn at_least(&mut self, share: Share, path: &PathRtt, queue_target: &QueueTarget) {
        self.set(self.cwnd.max(self.held(share, path, queue_target)));
    }

    /// The first estimate is a floor: continue at the stock algorithm's window, but with at most
    /// twice the grants.
    pub(super) fn begin(
        &mut self,
        share: Share,
        path: &PathRtt,
        queue_target: &QueueTarget,
        shadow: u64,
    ) {
        let held = self.held(share, path, queue_target);
        self.set(held.max(shadow.min(held * 2)).max(INITIAL * self.mss));
    }

    /// Whether the window alone explains an RTT on a link with this share: a flow that keeps a
    /// link full never sees it empty.
    pub(super) fn makes(&self, rtt: u64, share: u64) -> bool {
        self.payload(share) * rtt / 1_000_000 <= self.cwnd
    }

    /// The bytes in flight at this rate of payload on a path of this RTT.
    pub(super) fn hold(&mut self, rate: u64, rtt: u64) {
        self.set((rate * rtt / 1_000_000).max(INITIAL * self.mss));
    }

    /// Grows the window for acknowledged bytes.
    pub(super) fn grow(&mut self, acked: u64, step: u64) {
        self.set(self.cwnd + acked * step / MAX_STEP);
    }

    /// Lowers the window so that at most the smallest detectable queue remains.
    pub(super) fn without_queue(&mut self, path: &PathRtt, queue: Option<u64>) {
        let least = path.least().unwrap_or_default();
        let wanted = least + path::QUEUE_US;
        let found = least + queue.unwrap_or(path::QUEUE_US);
        self.set(self.cwnd * wanted.min(found) / found.max(1));
    }

    /// Three quarters of the bytes that were in flight while an RTT was that long: the window may
    /// since have grown with the grants. A rate of zero is unknown.
    pub(super) fn begin_queue_test(&mut self, rate: u64, rtt: u64) {
        let under_way = if rate > 0 { rate * rtt / 1_000_000 } else { self.cwnd };
        self.set(under_way.min(self.cwnd) * 3 / 4);
    }

    /// The part of the link is another.
    pub(super) fn rescale(&mut self, from: u64, to: u64) {
        self.set(self.cwnd * to / from.max(1));
        self.forget_pipe();
    }

    /// Whether the window limited the flow, and not the application. Paced packets need not have
    /// left yet.
    pub(super) fn is_used(&self, ack: &Ack) -> bool {
        ack.in_flight.count() >= self.cwnd / 2
    }

    pub(super) fn handle_ack(&mut self, acked: u64) {
        let cwnd = self.cwnd;
        self.ramp = self.ramp.map(|cap| cap + acked).filter(|cap| *cap < cwnd);
    }

    /// A round is over in which the flow could have had `share`, and got `rate` if that is known.
    pub(super) fn handle_rivals(
        &mut self,
        now: HostInstant,
        share: u64,
        rate: Option<u64>,
        path: &PathRtt,
    ) {
        // Flows with their least windows alone make a queue of this on a link that is slow.
        let floors = self.least() * 1_000_000 / share.max(1);
        let queues = path.queue() > path.jitter() * 4 + RIVAL_QUEUE_US + floors;
        let starved = rate.is_some_and(|rate| is_starved(rate, share));
        self.rival = match self.rival {
            _ if self.part == WHOLE || !queues => Rival::None,
            Rival::None if starved => Rival::Suspected { since: now },
            Rival::Suspected { since } if starved && now - since >= RIVAL_AFTER => Rival::Known,
            Rival::Suspected { .. } if !starved => Rival::None,
            rival => rival,
        };
    }

    /// Whether one is known.
    pub(super) fn has_rival(&self) -> bool {
        self.rival == Rival::Known
    }

    /// Whether a competitor fills the queue until packets are lost, which then do not show the
    /// radio's capacity.
    pub(super) fn is_crowded(&self, path: &PathRtt) -> bool {
        let least = path.least().unwrap_or(u64::MAX);
        self.has_rival() && path.queue() / CROWDED_RTTS >= least
    }

    pub(super) fn restart(&mut self) {
        self.ramp = Some(INITIAL * self.mss);
    }

    pub(super) fn handle_undone(&mut self) {
        self.ramp = None;
    }

    pub(super) fn cwnd(&self) -> u64 {
        self.ramp.map_or(self.cwnd, |cap| cap.min(self.cwnd))
    }

    /// The window as a rate over this RTT.
    pub(super) fn over(&self, rtt: u64) -> u64 {
        self.cwnd * 1_000_000 / rtt.max(MIN_RTT_US)
    }

    /// Pacing rate on a path of this RTT without queue.
    pub(super) fn pacing(&self, least: u64) -> u64 {
        let gained = self.cwnd * PACING_PERMILLE / 1000;
        (gained * 1_000_000 / least.max(MIN_RTT_US)).max(MIN_PACING)
    }
}
