use core::time::Duration;

use sounding_cc::Start;
use sounding_cc::part::Windowed;
use sounding_cc::sharing::Part;
use sounding_estimate::MAX_RATE;
use sounding_units::{Bytes, HostInstant, Rate};

use super::Config;
use super::delay::LateRun;
use super::delivery::{self, Delivery};
use super::state::{Share, State};
use crate::limits::micros;
use crate::radio_law::{Ack, FeedUpdate, Report};

/// How long a minimum of the RTT is believed (§4.2.2: as BBR's).
const RTT_LASTS: Duration = Duration::from_secs(10);
/// Part of BtlBw that is sent while the queue of the Internet drains, in hundredths (§4.2.3).
const DRAIN: u64 = 50;
/// The window fills where no pace is obeyed, so that its slack is a queue: no more than D_th and
/// N_pkt ask for (interpretation 9).
const UNPACED_SLACK: Duration = Duration::from_millis(40);
/// The fair share counts as reached from so many hundredths of it on (interpretation 10).
const REACHED: u64 = 95;
/// Growth of a rate whose capacity is unknown, in a round and in hundredths: at first as slow
/// start, later as BBR probes.
const FIRST_GROWTH: u64 = 200;
const GROWTH: u64 = 125;
/// The highest gain of BBR's ProbeBW, which PBE-CC enters directly (§4.2.3, interpretation 19).
const PROBE: u64 = 125;
/// A finding about a path counts for this long while no estimates come. Chosen (interpretation 20).
const FOUND_LASTS: Duration = Duration::from_secs(1);
/// Arrivals grow if they exceed all before them by so many hundredths (interpretation 25). Chosen.
const GROWS: u64 = 105;
/// It grows to no more than so many times what the radio is known to grant.
const ABOVE_FLOOR: u64 = 2;

/// One flow under PBE-CC. Whole numbers only; the kernel runs the same.
#[derive(Clone, Debug)]
pub struct Law {
    config: Config,
    mss: u64,
    headers: u64,
    initial_cwnd: u64,
    state: State,
    share: Option<Share>,
    /// The rate, payload, bytes a second.
    target: u64,
    /// RTprop in microseconds.
    rtt_min: Option<Windowed<u64>>,
    late: LateRun,
    delivery: Delivery,
    /// The most that arrived in this ramp, and since when.
    peak: (u64, HostInstant),
    bandwidth: u64,
    cut: Option<u64>,
    /// That a claim was too high or the bottleneck elsewhere, when estimates ceased to come.
    found: Option<(State, HostInstant)>,
}

impl Law {
    /// A flow without any estimate, which has `delivered` so much already, wrapping.
    pub fn new(config: Config, start: &Start, delivered: u32) -> Self {
        let slack = if start.paced { config.slack } else { config.slack.min(UNPACED_SLACK) };
        let mut law = Self {
            config: Config { slack, ..config },
            mss: start.mss.count().max(1),
            headers: start.headers.count(),
            initial_cwnd: start.initial_cwnd().count(),
            state: State::NoEstimate,
            share: None,
            target: 0,
            rtt_min: None,
            late: LateRun::new(start.now),
            delivery: Delivery::new(delivered),
            peak: (0, start.now),
            bandwidth: 0,
            cut: None,
            found: None,
        };
        law.handle_rtt(start.now, start.rtt);
        law
    }

    /// Where the bottleneck is believed to be.
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether the window and the pace are the law's, and not BBR's.
    pub fn law_controls(&self) -> bool {
        self.state.phase().law_controls()
    }

    /// The window while the law controls the flow.
    pub fn cwnd(&self) -> Bytes {
        let rtt = self.rtt_min_us();
        let slack = (rtt / 4).max(micros(self.config.slack));
        let least = match self.state {
            State::Ramp { .. } | State::Probing { .. } => self.initial_cwnd,
            _ => self.mss * u64::from(self.config.min_cwnd),
        };
        let window = delivery::over(self.sends(), rtt + slack).count() + 2 * self.mss;
        Bytes::new(window.max(least))
    }

    /// The pace while the law controls the flow.
    pub fn pacing(&self) -> Rate {
        let rate = match self.state {
            State::Drain { .. } => self.bandwidth.min(self.target) * DRAIN / 100,
            _ => self.sends(),
        };
        Rate::from_bytes_per_sec(rate.max(self.slowest()))
    }

    /// The rate; no more than a quarter above what arrives while packets are late, whatever is
    /// claimed (interpretation 25).
    fn sends(&self) -> u64 {
        let arrives = self.delivery.arrives();
        let is_full = arrives > 0 && self.late.is_late(&self.config, self.enough());
        if !is_full || !self.config.judge_by_delivery {
            return self.target;
        }
        self.target.min(delivery::most_of(arrives).max(self.first_rate()))
    }

    /// The most that BBR may send while the law does not control the flow (Eq. 7, and the guard
    /// against misreports).
    pub fn limit(&self) -> Option<Rate> {
        let most = match self.state {
            State::BottleneckElsewhere => {
                let most = self.share?.goal().max(self.bandwidth);
                most.min(self.bandwidth * PROBE / 100)
            }
            State::EstimateTooHigh => self.delivery.believed().max(self.slowest()),
            _ => return None,
        };
        Some(Rate::from_bytes_per_sec(most.max(self.slowest())))
    }

    /// Given once: BBR's filter must not remember more than this, payload.
    pub fn take_cut(&mut self) -> Option<Rate> {
        self.cut.take().map(Rate::from_bytes_per_sec)
    }

    /// A window of four segments a round trip: at less a flow would not learn that the path is
    /// back.
    fn slowest(&self) -> u64 {
        self.a_round_trip(self.mss * u64::from(self.config.min_cwnd))
    }

    /// The initial window a round trip (interpretation 6).
    fn first_rate(&self) -> u64 {
        self.a_round_trip(self.initial_cwnd)
    }

    /// So many bytes in each RTprop.
    fn a_round_trip(&self, bytes: u64) -> u64 {
        bytes * 1_000_000 / self.rtt_min_us().max(1_000)
    }

    fn rtt_min_us(&self) -> u64 {
        self.rtt_min.map_or(100_000, |filter| filter.best())
    }

    fn rtt_min(&self) -> Duration {
        Duration::from_micros(self.rtt_min_us())
    }

    fn handle_rtt(&mut self, now: HostInstant, rtt: Option<Duration>) {
        let Some(rtt) = rtt.map(micros).filter(|rtt| *rtt > 0) else { return };
        match &mut self.rtt_min {
            Some(filter) => filter.update(now.as_nanos(), rtt),
            None => {
                let window = RTT_LASTS.as_nanos() as u64;
                self.rtt_min = Some(Windowed::min(window, now.as_nanos(), rtt));
            }
        }
    }

    /// Payload of a rate of IP packets.
    fn payload(&self, rate: Rate) -> u64 {
        rate.min(MAX_RATE).bytes_per_sec() * self.mss / (self.mss + self.headers)
    }

    /// N_pkt (Eq. 6), as payload. A claim that is too high would make it longer than it is to take
    /// (interpretation 25).
    fn enough(&self) -> Bytes {
        let claimed = self.share.map_or(self.target, |share| share.rate);
        let rate = match self.delivery.arrives() {
            arrives if arrives > 0 && self.config.judge_by_delivery => claimed.min(arrives),
            _ => claimed,
        };
        delivery::over(rate, micros(self.config.late_for)).max(Bytes::new(self.mss))
    }

    fn begin_ramp(&mut self, now: HostInstant, from: u64) {
        self.peak = (0, now);
        self.state = State::Ramp { since: now, from };
    }

    /// A timeout fired: what is in flight is lost, and the flow begins anew.
    pub fn handle_timeout(&mut self, now: HostInstant) {
        if self.law_controls() {
            self.target = 0;
            self.begin_ramp(now, 0);
        }
    }

    /// The update for this flow: without old estimates, with its part, and for an idle device only
    /// with a fair share.
    pub(super) fn known(&self, now: HostInstant, update: FeedUpdate, part: Part) -> FeedUpdate {
        let report = match update {
            FeedUpdate::Carries(report) => report,
            FeedUpdate::Idle(report) if report.fair.is_some() => report,
            FeedUpdate::Handover => return FeedUpdate::Handover,
            FeedUpdate::Idle(_) | FeedUpdate::Nothing => return FeedUpdate::Nothing,
        };
        let is_fresh = now - report.sampled_at <= self.config.max_age;
        if is_fresh { FeedUpdate::Carries(report.part(part)) } else { FeedUpdate::Nothing }
    }

    /// The publisher spoke, or is found to be silent.
    pub fn handle_feed(&mut self, now: HostInstant, update: FeedUpdate) {
        match update {
            FeedUpdate::Carries(claim) if self.rtt_min.is_some() => self.handle_claim(now, claim),
            FeedUpdate::Carries(_) => {}
            FeedUpdate::Handover => {
                // Knowledge of the last cell does not hold in the next.
                self.late = LateRun::new(now);
                self.delivery.forget();
                self.found = None;
                if self.law_controls() {
                    self.state = State::Handover;
                }
            }
            FeedUpdate::Nothing | FeedUpdate::Idle(_) => {
                self.delivery.forget();
                if matches!(self.state, State::BottleneckElsewhere | State::EstimateTooHigh) {
                    self.found = Some((self.state, now));
                }
                (self.state, self.share) = (State::NoEstimate, None);
            }
        }
        self.advance(now);
    }

    fn handle_claim(&mut self, now: HostInstant, claim: Report) {
        let before = self.share;
        let share = Share {
            rate: self.payload(claim.rate),
            bound: claim.bound,
            fair: claim.fair.map(|fair| self.payload(fair.rate)),
            carriers: claim.fair.map_or(0, |fair| fair.carriers),
        };
        self.share = Some(share);
        match self.state {
            State::NoEstimate => match self.found.take() {
                Some((state, at)) if now - at <= FOUND_LASTS => self.state = state,
                _ => self.begin(now, share, self.delivery.last().unwrap_or_default()),
            },
            State::Handover => self.begin(now, share, self.target.min(share.goal())),
            State::RadioLimited
                if before.is_some_and(|before| share.carriers > before.carriers) =>
            {
                self.begin_ramp(now, self.target);
            }
            State::RadioLimited => self.state = share.state(GROWTH),
            State::Probing { growth } => self.state = share.state(growth),
            State::EstimateTooHigh if share.rate <= self.delivery.believed() => {
                self.state = State::RadioLimited;
            }
            _ => {}
        }
    }

    /// The law takes the flow over, which sends at about `from`.
    fn begin(&mut self, now: HostInstant, share: Share, from: u64) {
        self.target = from;
        self.late.begin();
        match share.fair {
            Some(_) => self.begin_ramp(now, from),
            None => self.state = share.state(FIRST_GROWTH),
        }
    }

    /// Lets the rate follow time and what was reported.
    fn advance(&mut self, now: HostInstant) {
        let Some(share) = self.share else { return };
        match self.state {
            State::Ramp { since, from } => {
                let goal = share.goal();
                let whole = self.rtt_min_us() * u64::from(self.config.ramp_rtts.max(1));
                let passed = micros(now - since).min(whole);
                let reached = from + goal.saturating_sub(from) * passed / whole.max(1);
                if passed >= whole || from >= goal {
                    self.state = State::RadioLimited;
                    self.target = self.steady(share);
                } else {
                    self.target = reached.max(self.first_rate().min(goal));
                }
            }
            State::RadioLimited => self.target = self.steady(share),
            State::Probing { .. } => {
                self.target = self.target.max(share.rate).max(self.first_rate());
            }
            State::Drain { until, elsewhere } if now >= until => self.end_drain(share, elsewhere),
            _ => {}
        }
    }

    /// The rate while the radio is the bottleneck: C_p, and no less than C_f unless packets are
    /// late. A rival that is backlogged leaves nothing idle, and C_p alone then follows
    /// whatever the flow sends, down to nothing (interpretation 17).
    fn steady(&self, share: Share) -> u64 {
        let entitled = share.fair.filter(|_| self.config.keeps_fair_share);
        match entitled {
            Some(fair) if !self.late.is_late(&self.config, self.enough()) => share.rate.max(fair),
            _ => share.rate,
        }
    }

    fn end_drain(&mut self, share: Share, elsewhere: bool) {
        self.late.begin();
        self.state = if elsewhere { State::BottleneckElsewhere } else { share.state(GROWTH) };
    }

    /// Folds an acknowledgement in. `bandwidth` is BtlBw: BBR's filter of delivery rates, payload.
    pub fn handle_ack(&mut self, ack: &Ack, bandwidth: Rate) {
        self.handle_rtt(ack.now, ack.rtt);
        self.bandwidth = bandwidth.min(MAX_RATE).bytes_per_sec();
        if let Some(delay) = ack.delay {
            self.late.handle_ack(&self.config, ack.now, delay, ack.acked);
        } else if let Some(rtt) = ack.rtt.map(micros).filter(|rtt| *rtt > 0) {
            // While losses are repaired, the RTT says whether there is a queue (interpretation 18).
            let late = rtt > self.rtt_min_us() + micros(self.config.late_by);
            self.late.count(ack.now, late, ack.acked);
        }
        if let Some(share) = self.share {
            let asked = if self.law_controls() { self.target } else { share.rate };
            self.delivery.handle_claim(asked.min(share.rate));
        }
        let rate = ack.rate.map(|rate| rate.min(MAX_RATE).bytes_per_sec());
        let [delivered, prior] = [ack.delivered, ack.prior_delivered].map(|all| all.count() as u32);
        let over = self.delivery.handle_ack(rate, delivered, prior, ack.is_limited);
        if rate.is_some_and(|rate| rate * 100 > self.peak.0 * GROWS) {
            self.peak = (rate.unwrap_or_default(), ack.now);
        }
        self.judge(ack, over);
        self.advance(ack.now);
    }

    /// Whether more is sent than arrives, and no more has arrived for one RTprop: the end of a ramp
    /// (§4.1, interpretation 25).
    fn is_flat(&self, ack: &Ack) -> bool {
        let exceeds = self.target > delivery::most_of(self.delivery.arrives());
        exceeds && !ack.is_limited && ack.now - self.peak.1 >= self.rtt_min()
    }

    fn judge(&mut self, ack: &Ack, over: bool) {
        let Some(share) = self.share else { return };
        let late = self.late.is_late(&self.config, self.enough());
        let narrow = !self.config.judge_by_delivery || self.delivery.is_narrow(share.rate);
        match self.state {
            State::Ramp { .. } | State::RadioLimited | State::Probing { .. } if late && narrow => {
                self.begin_drain(ack.now, true);
            }
            State::Ramp { .. } if late && self.is_flat(ack) => self.begin_drain(ack.now, true),
            State::RadioLimited if self.delivery.is_overstated() => {
                self.state = State::EstimateTooHigh;
                self.cut = self.delivery.last();
            }
            State::RadioLimited if self.late.is_due(ack.now) => self.begin_drain(ack.now, false),
            State::Probing { .. } if late => self.state = State::Probing { growth: 100 },
            State::Probing { growth } if over && !ack.is_limited => {
                let most = share.rate * ABOVE_FLOOR;
                self.target = (self.target * growth / 100).min(most.max(self.target));
                let next = if growth == 100 { GROWTH } else { growth };
                self.state = State::Probing { growth: next };
            }
            State::BottleneckElsewhere if self.late.is_on_time(self.enough()) => {
                let arrives = self.delivery.last().unwrap_or_default();
                if over && !ack.is_limited && arrives * 100 >= share.goal() * REACHED {
                    self.target = arrives;
                    self.state = State::RadioLimited;
                }
            }
            _ => {}
        }
    }

    fn begin_drain(&mut self, now: HostInstant, elsewhere: bool) {
        self.late.handle_drain(now);
        if elsewhere {
            self.cut = self.delivery.last();
        }
        self.state = State::Drain { until: now + self.rtt_min(), elsewhere };
    }

    /// Time has reached [`wakeup`](Self::wakeup).
    pub fn handle_time(&mut self, now: HostInstant) {
        self.advance(now);
    }

    /// When the rate changes of itself.
    pub fn wakeup(&self) -> Option<HostInstant> {
        match self.state {
            State::Drain { until, .. } => Some(until),
            _ => None,
        }
    }
}
