use core::time::Duration;

use sounding_units::{Bytes, HostInstant, Rate};

use super::path::{self, PathRtt};
use super::room::Room;
use crate::part::burst;
use crate::{Ack, Start};

/// At most all of what is acknowledged, in 64ths, as slow start grows.
pub(super) const MOST_STEP: u64 = 64;
/// The window is to be used up within an RTT, whatever the pacing's steps.
const PACING_PERMILLE: u64 = 1250;
/// As BBR's.
const LEAST_SEGMENTS: u64 = 4;
/// 1 GB: more than any path of this kind holds.
const MOST_CWND: u64 = 1 << 30;
/// 100 Gbit/s in bytes/s: no radio carries more.
pub(super) const MOST_RATE: u64 = 12_500_000_000;
/// 1 Mbit/s: at a rate of zero the pacing timer would outlive an outage.
const LEAST_PACING: Rate = Rate::from_bytes_per_sec(125_000);
/// A flow that gets less than three quarters of its part for so long has a rival that does not share. Chosen: longer than
/// any climb or handover.
const RIVAL_AFTER: Duration = Duration::from_secs(1);
/// And a queue that stands so long, beyond what the radio does to packets that find none.
const RIVAL_QUEUE: Duration = Duration::from_millis(32);

/// How much may be in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    cwnd: Bytes,
    mss: Bytes,
    headers: Bytes,
    /// Cap while restarting after a timeout.
    ramp: Option<Bytes>,
    rival: Rival,
}

/// A flow on the same device that fills the queue, whatever we do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rival {
    None,
    Suspected { since: HostInstant },
    Known,
}

impl Window {
    pub(super) fn new(start: &Start) -> Self {
        let Start { mss, headers, .. } = *start;
        Self { cwnd: start.initial_cwnd(), mss, headers, ramp: None, rival: Rival::None }
    }

    fn segments(&self, count: u64) -> Bytes {
        Bytes::new(self.mss.count() * count)
    }

    fn set(&mut self, cwnd: Bytes) {
        let most = Bytes::new(MOST_CWND);
        self.cwnd = cwnd.min(most).max(self.segments(LEAST_SEGMENTS));
    }

    /// What the link holds at a rate of IP.
    fn held(&self, share: Rate, path: &PathRtt, room: &Room) -> Bytes {
        let Some(least) = path.least() else { return self.cwnd };
        let (mss, all) = (self.mss.count(), self.mss.count() + self.headers.count());
        let payload = Rate::from_bytes_per_sec(share.bytes_per_sec().min(MOST_RATE) * mss / all);
        let mut span = least + room.span();
        if self.rival == Rival::Known {
            // As long as the rival makes the RTT. A tenth less, so that queues of ours alone do not keep each other up.
            span = span.max((least + path.queue()) * 9 / 10);
        }
        payload * span + burst(payload, self.mss)
    }

    /// The link is full at this rate.
    pub(super) fn fill(&mut self, share: Rate, path: &PathRtt, room: &Room) {
        self.set(self.held(share, path, room));
    }

    /// The link carries this at least.
    pub(super) fn at_least(&mut self, share: Rate, path: &PathRtt, room: &Room) {
        self.set(self.cwnd.max(self.held(share, path, room)));
    }

    /// The first that is heard is a floor: go on where the stock algorithm is, but with no more than twice of what is
    /// granted.
    pub(super) fn begin(&mut self, share: Rate, path: &PathRtt, room: &Room, shadow: Bytes) {
        let held = self.held(share, path, room);
        let twice = Bytes::new(held.count().saturating_mul(2));
        self.set(held.max(shadow.min(twice)).max(self.segments(10)));
    }

    /// More, for what was acknowledged.
    pub(super) fn grow(&mut self, acked: Bytes, step: u64) {
        self.set(self.cwnd + Bytes::new(acked.count().saturating_mul(step) / MOST_STEP));
    }

    /// What leaves no more than the smallest queue that is one.
    pub(super) fn without_queue(&mut self, path: &PathRtt, queue: Option<Duration>) {
        let least = path.least().unwrap_or_default();
        let wanted = (least + path::QUEUE).as_micros() as u64;
        let found = (least + queue.unwrap_or(path::QUEUE)).as_micros() as u64;
        let wanted = wanted.min(found);
        self.set(Bytes::new(self.cwnd.count().saturating_mul(wanted) / found.max(1)));
    }

    /// Three quarters.
    pub(super) fn ask(&mut self) {
        self.set(Bytes::new(self.cwnd.count() * 3 / 4));
    }

    /// The part of the link is another.
    pub(super) fn rescale(&mut self, from: Rate, to: Rate) {
        let (from, to) = (from.bytes_per_sec().max(1), to.bytes_per_sec().min(MOST_RATE));
        self.set(Bytes::new(self.cwnd.count().saturating_mul(to) / from));
    }

    /// Whether it was what held the flow back, and not the application: what is paced need not have left yet.
    pub(super) fn is_used(&self, ack: &Ack) -> bool {
        ack.prior_in_flight.count() >= self.cwnd.count() / 2
    }

    pub(super) fn handle_ack(&mut self, ack: &Ack) {
        let cwnd = self.cwnd;
        self.ramp = self.ramp.map(|cap| cap + ack.acked).filter(|cap| *cap < cwnd);
    }

    /// A round is over in which the flow could have had `share`.
    pub(super) fn handle_rivals(&mut self, ack: &Ack, share: Rate, path: &PathRtt, shared: bool) {
        let queues = path.queue() > path.jitter() * 4 + RIVAL_QUEUE;
        let starved = ack.rate.is_some_and(|rate| rate < share.scaled(3, 4));
        self.rival = match self.rival {
            _ if !shared || !queues => Rival::None,
            Rival::None if starved => Rival::Suspected { since: ack.now },
            Rival::Suspected { since } if starved && ack.now - since >= RIVAL_AFTER => Rival::Known,
            Rival::Suspected { .. } if !starved => Rival::None,
            rival => rival,
        };
    }

    pub(super) fn restart(&mut self, segments: u64) {
        self.ramp = Some(self.segments(segments));
    }

    pub(super) fn handle_undone(&mut self) {
        self.ramp = None;
    }

    /// What is always allowed, so that a flow goes on.
    pub(super) fn floor(&self) -> Bytes {
        self.segments(2)
    }

    pub(super) fn cwnd(&self) -> Bytes {
        self.ramp.map_or(self.cwnd, |cap| cap.min(self.cwnd))
    }

    /// What is held by now, as a rate over this RTT.
    pub(super) fn over(&self, rtt: Duration) -> Rate {
        self.cwnd.per(rtt.max(Duration::from_millis(1)))
    }

    /// How fast it may leave on a path of this RTT without queue.
    pub(super) fn pacing(&self, least: Duration) -> Rate {
        let gained = self.cwnd.count().saturating_mul(PACING_PERMILLE) / 1000;
        Bytes::new(gained).per(least.max(Duration::from_millis(1))).max(LEAST_PACING)
    }
}
