use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_cc::part::{DeliveryRate, Pacer, RttEstimator};
use sounding_cc::sharing::{Claim, Part};
use sounding_cc::{Ack, Controller, Delivered, Departure, Loss, Recovery, Start};
use sounding_kpi::Direction;
use sounding_link::{DelayUpdate, LinkEstimate};
use sounding_units::{Bytes, HostInstant, Rate};

use super::receiver::DELAY;
use super::scoreboard::Scoreboard;
use super::segment::{Acknowledgement, Data};
use super::traffic::Source;
use crate::soonest::soonest;

/// The sending end of a byte stream: what TCP is without its bytes.
///
/// Selective acknowledgements (RFC 2018, RFC 6675); loss detection by time (RACK with tail loss
/// probe, RFC 8985); retransmission timeouts (RFC 6298), undone if the first acknowledgement after
/// one confirms an earlier transmission (RFC 3522); pacing if the controller uses it.
#[derive(Debug)]
pub(super) struct Sender {
    controller: Box<dyn Controller>,
    mss: Bytes,
    headers: Bytes,
    /// Limit on unacknowledged data, from the buffers of both ends.
    buffer: u64,
    source: Source,
    board: Scoreboard,
    rtt: RttEstimator,
    rate: DeliveryRate,
    pacer: Pacer,
    repair: Repair,
    /// Payload sent so far, each byte once.
    sent: u64,
    blocked: Blocked,
    timer: Option<(Timer, HostInstant)>,
    /// When to look for losses again.
    look_again: Option<HostInstant>,
    /// The tail was probed when this many segments had been sent.
    probed: Option<u64>,
    /// A probe is due, regardless of the window.
    probe_due: bool,
    last_sent: HostInstant,
    /// Its last delivery rate, IP.
    used: Rate,
    lost: Vec<(Bytes, Departure)>,
    counts: Counts,
}

/// An event of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) lost: u64,
    pub(super) repairs: u64,
    pub(super) timeouts: u64,
    pub(super) spurious: u64,
}

/// Why no packet leaves now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blocked {
    Window,
    Pacing(HostInstant),
    Application,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    Probe,
    Retransmission,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    None,
    Fast { until: u64 },
    Timeout { until: u64, fired_at: HostInstant, from: u64 },
}

impl Repair {
    fn recovery(self) -> Recovery {
        match self {
            Self::None => Recovery::None,
            Self::Fast { .. } => Recovery::Fast,
            Self::Timeout { .. } => Recovery::Timeout,
        }
    }
}

impl Sender {
    pub(super) fn new(
        start: &Start,
        controller: Box<dyn Controller>,
        source: Source,
        buffer: Option<Bytes>,
    ) -> Self {
        let mut rtt = RttEstimator::default();
        if let Some(sample) = start.rtt {
            rtt.handle_sample(sample);
        }
        Self {
            controller,
            mss: start.mss,
            headers: start.headers,
            buffer: buffer.map_or(u64::MAX, Bytes::count),
            source,
            board: Scoreboard::default(),
            rtt,
            rate: DeliveryRate::default(),
            pacer: Pacer::default(),
            repair: Repair::None,
            sent: 0,
            blocked: Blocked::Application,
            timer: None,
            look_again: None,
            probed: None,
            probe_due: false,
            last_sent: start.now,
            used: Rate::ZERO,
            lost: Vec::new(),
            counts: Counts::default(),
        }
    }

    pub(super) fn controller(&self) -> &dyn Controller {
        self.controller.as_ref()
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    pub(super) fn last_sent(&self) -> HostInstant {
        self.last_sent
    }

    /// Its claim on its link. An application without more data counts as finished from its next
    /// poll. Its claim ends when it has had no packets in flight for an RTT.
    pub(super) fn claim(&self, now: HostInstant) -> Claim {
        if self.blocked != Blocked::Application {
            return Claim::Hungry;
        }
        let silent = self.board.in_flight() == Bytes::ZERO
            && now - self.last_sent > self.rtt.smoothed().unwrap_or_default();
        if silent { Claim::Idle } else { Claim::Limited(self.used) }
    }

    pub(super) fn handle_part(&mut self, now: HostInstant, part: Part) {
        self.controller.handle_part(now, part);
    }

    pub(super) fn handle_request(&mut self, number: u64) {
        self.source.handle_request(number);
    }

    /// The smallest RTT so far.
    pub(super) fn rtt_least(&self) -> Option<Duration> {
        self.rtt.least()
    }

    pub(super) fn handle_delays(
        &mut self,
        now: HostInstant,
        data: Direction,
        delays: &DelayUpdate,
    ) {
        self.controller.handle_delays(now, data, delays);
    }

    pub(super) fn handle_estimate(
        &mut self,
        now: HostInstant,
        estimate: &LinkEstimate,
        flows: u32,
    ) {
        self.controller.handle_estimate(now, estimate, flows);
    }

    /// Processes an acknowledgement. Returns what the controller received, if the acknowledgement
    /// has news.
    pub(super) fn handle_ack(&mut self, now: HostInstant, said: &Acknowledgement) -> Option<Ack> {
        let prior_in_flight = self.board.in_flight();
        let base = self.board.base();
        self.undo_spurious_timeout(now, said);
        let (mut acked, mut earliest, mut newest) = (Bytes::ZERO, None, None);
        let Self { board, rate, rtt, controller, .. } = self;
        board.handle_ack(now, said, rtt.least(), |delivered| {
            acked += delivered.size;
            rate.handle_delivered(now, delivered.size, &delivered.sent);
            let (size, sent) = (delivered.size, delivered.sent);
            controller.handle_delivered(&Delivered { now, size, sent });
            let at = (delivered.sent.at, delivered.repaired);
            newest = newest.max(Some(at));
            if !delivered.repaired {
                earliest = Some(earliest.map_or(at.0, |before: HostInstant| before.min(at.0)));
            }
        });
        let (newest_at, repaired) = newest?;
        // The transmission that arrived is known if the segment was sent once, or if its time stamp
        // was echoed.
        let rtt = (!repaired || said.echo == newest_at).then(|| now - newest_at);
        // The timeout covers acknowledgements that waited for a second segment (RFC 6298 §3).
        if let Some(sample) = earliest.map(|at| now - at).or(rtt) {
            self.rtt.handle_sample(sample);
        }
        if self.board.base() > base {
            self.end_repair();
        }
        let newly_lost = self.find_lost(now);
        let (sent, rate) = self.rate.finish(now, self.rtt.least())?;
        if let Some(rate) = rate {
            let mss = self.mss.count().max(1);
            let all = mss + self.headers.count();
            self.used = Rate::from_bytes_per_sec(rate.bytes_per_sec() * all / mss);
        }
        let ack = Ack {
            now,
            acked,
            newly_lost,
            rtt,
            one_way: Some(said.received_at - said.echo),
            stamp: Some(said.stamp),
            rate,
            delivered: self.rate.delivered(),
            lost: self.rate.lost(),
            prior_in_flight,
            in_flight: self.board.in_flight(),
            ce: Bytes::ZERO,
            cwnd_limited: self.blocked == Blocked::Window,
            recovery: self.repair.recovery(),
            sent,
        };
        self.controller.handle_ack(&ack);
        self.arm(now);
        Some(ack)
    }

    /// RFC 3522: the timeout was spurious if the first acknowledgement after it is for a segment
    /// sent before it.
    fn undo_spurious_timeout(&mut self, now: HostInstant, said: &Acknowledgement) {
        let Repair::Timeout { fired_at, from, .. } = self.repair else { return };
        if said.next <= from || self.board.base() > from {
            return;
        }
        if said.echo < fired_at {
            self.board.restore();
            self.repair = Repair::None;
            self.counts.spurious += 1;
            self.controller.handle_spurious_timeout(now);
        }
    }

    fn end_repair(&mut self) {
        let base = self.board.base();
        if self.probed.is_some_and(|until| base >= until) {
            self.probed = None;
        }
        match self.repair {
            Repair::Fast { until } | Repair::Timeout { until, .. } if base >= until => {
                self.repair = Repair::None;
            }
            _ => {}
        }
    }

    fn find_lost(&mut self, now: HostInstant) -> Bytes {
        let mut lost = core::mem::take(&mut self.lost);
        let recovering = self.repair != Repair::None;
        self.look_again = self.board.find_lost(now, self.rtt.least(), recovering, &mut lost);
        let mut total = Bytes::ZERO;
        for (size, sent) in lost.drain(..) {
            total += size;
            self.counts.lost += 1;
            self.rate.handle_lost(size);
            let begins_recovery = self.repair == Repair::None;
            if begins_recovery {
                self.repair = Repair::Fast { until: self.board.next() };
            }
            let in_flight = self.board.in_flight();
            self.controller.handle_loss(&Loss { now, size, in_flight, sent, begins_recovery });
        }
        self.lost = lost;
        total
    }

    /// The next segment that leaves at `now`; poll it until `None`.
    pub(super) fn poll_data(&mut self, now: HostInstant) -> Option<Data> {
        let in_flight = self.board.in_flight();
        let repair = self.board.next_repair();
        let (number, size) = match repair {
            Some(repair) => repair,
            None => match self.fresh(now) {
                Some(size) => (self.board.next(), size),
                None => {
                    self.blocked = Blocked::Application;
                    if in_flight + self.mss <= self.controller.cwnd() {
                        self.rate.handle_app_limited(in_flight);
                    }
                    let probe = core::mem::take(&mut self.probe_due);
                    let tail = self.board.tail().filter(|_| probe)?;
                    self.send(now, tail.0, tail.1);
                    return Some(Data { number: tail.0, size: tail.1, sent_at: now });
                }
            },
        };
        let bytes = Bytes::new(size.into());
        let fits = in_flight + bytes <= self.controller.cwnd() || in_flight == Bytes::ZERO;
        if !fits && !self.probe_due {
            self.blocked = Blocked::Window;
            return None;
        }
        if let Some(at) = self.controller.not_before().filter(|&at| at > now) {
            self.blocked = Blocked::Pacing(at);
            return None;
        }
        if let Some(rate) = self.controller.pacing_rate() {
            let at = self.pacer.next(now);
            if at > now {
                self.blocked = Blocked::Pacing(at);
                return None;
            }
            self.pacer.handle_sent(now, bytes, rate, self.mss);
        }
        self.probe_due = false;
        self.send(now, number, size);
        Some(Data { number, size, sent_at: now })
    }

    /// Size of the next segment that was never sent, if the application has one and the buffers
    /// room for it.
    fn fresh(&self, now: HostInstant) -> Option<u32> {
        let room = self.buffer.saturating_sub(self.sent - self.rate.delivered().count());
        let size = self.source.available(now, self.sent).min(self.mss.count());
        (size > 0 && size <= room).then_some(size as u32)
    }

    fn send(&mut self, now: HostInstant, number: u64, size: u32) {
        let bytes = Bytes::new(size.into());
        let is_fresh = number == self.board.next();
        let in_flight = self.board.in_flight() + bytes;
        let sent = self.rate.handle_sent(now, bytes, in_flight);
        if is_fresh {
            self.board.push(size, sent);
            self.sent += bytes.count();
        } else {
            self.board.repair(number, sent);
            self.counts.repairs += 1;
        }
        self.last_sent = now;
        self.controller.handle_sent(&sent, bytes);
        if self.timer.is_none() {
            self.arm(now);
        }
    }

    /// Restarts the timer: a tail loss probe if no segment is missing, otherwise the timeout (RFC
    /// 8985 §7.2, RFC 6298 §5).
    fn arm(&mut self, now: HostInstant) {
        if self.board.in_flight() == Bytes::ZERO && self.board.base() == self.board.next() {
            self.timer = None;
            return;
        }
        let timeout = now + self.rtt.timeout();
        self.timer = Some((Timer::Retransmission, timeout));
        let may_probe =
            self.repair == Repair::None && !self.board.has_gaps() && self.probed.is_none();
        if let (true, Some(smoothed)) = (may_probe, self.rtt.smoothed()) {
            let alone = self.board.in_flight() <= self.mss;
            let probe = now + smoothed * 2 + if alone { DELAY } else { Duration::ZERO };
            if probe < timeout {
                self.timer = Some((Timer::Probe, probe));
            }
        }
    }

    pub(super) fn handle_time(&mut self, now: HostInstant) {
        if self.look_again.is_some_and(|at| at <= now) {
            self.find_lost(now);
        }
        if self.controller.wakeup().is_some_and(|at| at <= now) {
            self.controller.handle_time(now);
        }
        match self.timer {
            Some((Timer::Probe, at)) if at <= now => {
                self.probed = Some(self.board.next());
                self.probe_due = true;
                self.arm(now);
            }
            Some((Timer::Retransmission, at)) if at <= now => self.time_out(now),
            _ => {}
        }
    }

    fn time_out(&mut self, now: HostInstant) {
        let lost = self.board.lose_all();
        self.rate.handle_lost(lost);
        self.counts.timeouts += 1;
        self.counts.lost += lost.count().div_ceil(self.mss.count().max(1));
        self.rtt.handle_timeout();
        self.look_again = None;
        self.probed = None;
        self.repair =
            Repair::Timeout { until: self.board.next(), fired_at: now, from: self.board.base() };
        self.controller.handle_timeout(now);
        self.arm(now);
    }

    pub(super) fn wakeup(&self, now: HostInstant) -> Option<HostInstant> {
        let paced = match self.blocked {
            Blocked::Pacing(at) => Some(at),
            Blocked::Application => self.source.wakeup(now, self.sent),
            Blocked::Window => None,
        };
        let timer = self.timer.map(|(_, at)| at);
        soonest([paced, timer, self.look_again, self.controller.wakeup()])
    }
}
