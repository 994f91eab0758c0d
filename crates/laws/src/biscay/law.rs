use core::time::Duration;

use sounding_units::{HostInstant, Rate};

use crate::limits::MAX_RTT_US;
use crate::radio_law::Ack;

use super::round::{HEADERS, MAX_GAIN, MAX_SEGS, Round, Suspicion, micros, payload, segments};
use super::{
    Bound, Cleared, Command, Config, FallbackReason, FeedEstimate, PathSample, Snapshot, State,
    Timeout,
};

/// Below 1.2 Mbit/s TCP hands down single segments, above it at least two, as BBR has it do (Linux
/// tcp_bbr.c, `bbr_min_tso_rate`).
const SLOW: u64 = 150_000;
/// 100 Gbit/s in bytes/s: no radio carries more, and the products below stay under 2^64.
const MAX_RATE: u64 = sounding_estimate::MAX_RATE.bytes_per_sec();
/// A feed further in the future than this was not stamped by our clock.
const MAX_LEAD: Duration = Duration::from_secs(1);
/// Bounds of the products below; no path and no setting comes near.
const MAX_MSS: u64 = 65_535;
/// 1 Mbit/s in bytes/s. Below it the window holds a flow back, not the pacing timer: at a rate of
/// zero the timer would outlive the outage. Chosen; pinned by
/// `a_link_that_carries_nothing_keeps_two_segments`.
const MIN_PACING: u64 = 125_000;
/// Window after a timeout, as after any restart: RFC 6928's IW10 (interpretation 10).
const RESTART_CWND: u32 = 10;
/// How long a path counts as longer than the kernel's minimum, as long as BBR keeps its own.
const LONGER_FOR: Duration = Duration::from_secs(10);
/// The smallest window, even in an outage.
pub(super) const FLOOR_CWND: u32 = 2;

/// One flow under BISCAY's law. Integers only, and step by step the arithmetic of `biscay.h`.
#[derive(Clone, Debug)]
pub struct Biscay {
    config: Config,
    state: State,
    since: HostInstant,
    share: u64,
    delivery: u64,
    flows: u32,
    transitions: u32,
    command: Command,
    round: Round,
    prior_share: Option<u64>,
    /// The RTT without queue, microseconds; zero where it is not known.
    least_us: u64,
    longer: Option<Longer>,
}

/// A path found to be longer than the kernel's minimum remembers.
#[derive(Clone, Copy, Debug)]
struct Longer {
    rtt_us: u64,
    until: HostInstant,
}

/// The flow's part of the link in bytes/s, as IP packets and as payload; and the link's rate for
/// all flows, IP.
#[derive(Clone, Copy)]
struct Share {
    link: u64,
    payload: u64,
    whole: u64,
}

impl Biscay {
    /// A flow that has delivered `delivered` segments so far, wrapping.
    pub fn new(config: Config, now: HostInstant, delivered: u32) -> Self {
        Self {
            config,
            state: State::NoEstimate(None),
            since: now,
            share: 0,
            delivery: 0,
            flows: 0,
            transitions: 0,
            command: Command { cwnd: 0, pacing: Rate::ZERO, cut: None, longer: None },
            round: Round::new(delivered),
            prior_share: None,
            least_us: 0,
            longer: None,
        }
    }

    /// The state: where the bottleneck seems to be.
    pub fn state(&self) -> State {
        self.state
    }

    /// When that began.
    pub fn since(&self) -> HostInstant {
        self.since
    }

    /// Number of changes of the state, wrapping.
    pub fn transitions(&self) -> u32 {
        self.transitions
    }

    /// This flow's part of the last believable estimate, of IP packets.
    pub fn share(&self) -> Rate {
        Rate::from_bytes_per_sec(self.share)
    }

    /// Upper bound of what the path delivered in the last judged round, payload.
    pub fn delivery(&self) -> Rate {
        Rate::from_bytes_per_sec(self.delivery)
    }

    /// Flows the link was shared by at the last step, this one included.
    pub fn flows(&self) -> u32 {
        self.flows
    }

    /// Folds one acknowledgement in.
    pub fn handle_ack(
        &mut self,
        now: HostInstant,
        feed: &Snapshot,
        path: &PathSample,
        timeout: Timeout,
        ack: &Ack,
    ) -> Command {
        self.step(now, feed, path, timeout, Some(ack))
    }

    /// Reads the feed again before a flow sends after a pause, because the result of the last
    /// acknowledgement may be old.
    pub fn handle_restart(
        &mut self,
        now: HostInstant,
        feed: &Snapshot,
        path: &PathSample,
        timeout: Timeout,
    ) -> Command {
        self.step(now, feed, path, timeout, None)
    }

    /// The smallest RTT (interpretation 5). The kernel's minimum looks back five minutes, and a
    /// flow that keeps a link full never sees it empty. If the flow's window alone explains an
    /// RTT, the path did not become longer.
    fn update_rtt(&mut self, rtt_min_us: u64, mss: u64) {
        let fits = payload(self.share, mss) * rtt_min_us.min(MAX_RTT_US) / 1_000_000;
        let makes = matches!(self.state, State::RadioLimited { .. })
            && fits <= u64::from(self.command.cwnd) * mss;
        if self.least_us == 0 || rtt_min_us <= self.least_us || !makes {
            self.least_us = rtt_min_us;
        }
    }

    fn step(
        &mut self,
        now: HostInstant,
        feed: &Snapshot,
        path: &PathSample,
        timeout: Timeout,
        ack: Option<&Ack>,
    ) -> Command {
        let mss = u64::from(path.mss).clamp(1, MAX_MSS);
        let rtt_min_us = path.rtt_min.map_or(0, micros);
        let verdict = self.verdict(now, feed);
        self.update_rtt(rtt_min_us, mss);
        let other_flows = feed.estimate.map_or(0, |estimate| estimate.other_flows);
        let flows = (u64::from(path.flows) + u64::from(other_flows)).max(1);
        self.flows = u32::try_from(flows).unwrap_or(u32::MAX);
        // Without an RTT there is no bandwidth-delay product to set.
        let usable = verdict.ok().filter(|_| rtt_min_us > 0).map(|estimate| {
            let link = estimate.rate.bytes_per_sec() / flows;
            let whole = path.link.unwrap_or(estimate.rate).bytes_per_sec().min(MAX_RATE).max(link);
            (estimate, Share { link, payload: payload(link, mss), whole })
        });
        if let Some((_, share)) = usable {
            self.share = share.link;
        }
        let transitions = self.transitions;
        if let Some(ack) = ack {
            self.gather(now, path, ack, usable.map(|(_, share)| share), mss);
        }
        match self.state {
            State::NoEstimate(None) => {
                if usable.is_some() && feed.agreeing >= self.config.settled_after {
                    self.enter_radio_limited(now, Cleared::Fresh);
                }
            }
            State::RadioLimited { .. } => {
                if let Err(reason) = verdict {
                    self.enter(now, State::NoEstimate(Some(reason)));
                }
            }
            // A narrow path stays narrow while the feed is away.
            State::BottleneckElsewhere { .. } => {}
            State::NoEstimate(Some(_)) => {
                if usable.is_some() {
                    self.enter_radio_limited(now, Cleared::Fresh);
                }
            }
        }
        let left = self.transitions != transitions;
        self.longer = self.longer.filter(|longer| now < longer.until);
        let longer_us = self.longer.map_or(0, |longer| longer.rtt_us);
        let longer = (longer_us > rtt_min_us).then(|| Duration::from_micros(longer_us));
        self.command = match (&mut self.state, usable) {
            (State::RadioLimited { ramp, narrow, .. }, Some((estimate, share))) => {
                let queue_test = narrow.is_some_and(|seen| seen.asked.is_some());
                let mut cwnd =
                    window(&self.config, share, self.least_us.max(longer_us), mss, queue_test);
                let gain = u64::from(self.config.pacing_gain_permille).min(MAX_GAIN);
                let mut pacing = (share.payload * gain / 1000).max(MIN_PACING);
                // A floor is probed above, by BBR (interpretation 4).
                if estimate.bound == Bound::Floor {
                    cwnd = cwnd.max(path.shadow_cwnd);
                    pacing = pacing.max(path.shadow_pacing.bytes_per_sec());
                }
                // Loss is no signal here; a timeout restarts, and soon is back.
                let acked = || ack.map_or(0, |ack| segments(ack.acked, mss));
                *ramp = match timeout {
                    Timeout::Undone => None,
                    Timeout::Fired => Some(RESTART_CWND),
                    Timeout::None => {
                        ramp.map(|cap| (u64::from(cap) + u64::from(acked())).min(MAX_SEGS) as u32)
                    }
                }
                .filter(|cap| *cap < cwnd);
                Command {
                    cwnd: ramp.unwrap_or(cwnd),
                    pacing: Rate::from_bytes_per_sec(pacing),
                    cut: None,
                    longer,
                }
            }
            (state, _) => {
                if let State::RadioLimited { ramp, .. } = state {
                    *ramp = None;
                }
                let narrow = matches!(state, State::BottleneckElsewhere { .. });
                Command {
                    cwnd: path.shadow_cwnd.max(FLOOR_CWND),
                    pacing: path.shadow_pacing,
                    cut: (narrow && left).then_some(Rate::from_bytes_per_sec(self.delivery)),
                    longer,
                }
            }
        };
        self.command
    }

    /// Whether the feed is usable, and if not, why.
    fn verdict(&self, now: HostInstant, feed: &Snapshot) -> Result<FeedEstimate, FallbackReason> {
        let estimate = feed.estimate.ok_or(FallbackReason::Absent)?;
        if estimate.rate.bytes_per_sec() > MAX_RATE
            || estimate.sampled_at - now > MAX_LEAD
            || feed.heartbeat_at - now > MAX_LEAD
        {
            return Err(FallbackReason::Absurd);
        }
        if now - feed.heartbeat_at > self.config.max_silence {
            return Err(FallbackReason::Silent);
        }
        if now - estimate.sampled_at > self.config.max_age {
            return Err(FallbackReason::Stale);
        }
        Ok(estimate)
    }

    fn gather(
        &mut self,
        now: HostInstant,
        path: &PathSample,
        ack: &Ack,
        share: Option<Share>,
        mss: u64,
    ) {
        let rtt_us = ack.rtt.map_or(0, micros);
        if let Some(longer) = &mut self.longer
            && rtt_us > 0
        {
            longer.rtt_us = longer.rtt_us.min(rtt_us);
        }
        self.round.gather(ack, share.map(|share| share.link), mss);
        if !self.round.ends_with(ack, mss) {
            return;
        }
        if let Some(share) = share {
            self.judge(now, path.e2e.bytes_per_sec(), share, mss);
        }
        self.prior_share = self.round.share();
        self.round = Round::new(segments(ack.delivered, mss));
    }

    /// Judges the round that ended: where is the bottleneck?
    fn judge(&mut self, now: HostInstant, e2e: u64, share: Share, mss: u64) {
        let delivery = self.round.delivery(e2e.min(MAX_RATE), mss);
        self.delivery = delivery;
        match self.state {
            State::RadioLimited { after, ramp, narrow } => {
                let Command { cwnd, .. } = self.command;
                let evidence =
                    self.round.evidence(&self.config, cwnd, self.prior_share, delivery, mss);
                let narrow = match self.round.suspect(&self.config, now, narrow, evidence) {
                    Suspicion::None => None,
                    Suspicion::Open(narrow) => Some(narrow),
                    Suspicion::Longer { rtt_us } => {
                        self.longer = Some(Longer { rtt_us, until: now + LONGER_FOR });
                        None
                    }
                    Suspicion::Narrow => {
                        return self.enter(now, State::BottleneckElsewhere { wide_rounds: 0 });
                    }
                };
                self.state = State::RadioLimited { after, ramp, narrow };
            }
            State::BottleneckElsewhere { mut wide_rounds } => {
                let wide = 1000 - u64::from(self.config.wide_permille).min(1000);
                if delivery * 1000 >= share.payload * wide {
                    wide_rounds = wide_rounds.wrapping_add(1);
                } else if !self.round.limited() {
                    wide_rounds = 0;
                }
                self.state = State::BottleneckElsewhere { wide_rounds };
                if wide_rounds >= self.config.wide_rounds {
                    self.enter_radio_limited(now, Cleared::Wide);
                }
            }
            State::NoEstimate(_) => {}
        }
    }

    fn enter_radio_limited(&mut self, now: HostInstant, after: Cleared) {
        self.enter(now, State::RadioLimited { after, narrow: None, ramp: None });
    }

    fn enter(&mut self, now: HostInstant, state: State) {
        self.state = state;
        self.since = now;
        self.transitions = self.transitions.wrapping_add(1);
    }
}

/// The window in segments: share × (RTT + allowance), and a part of three bursts. TCP sends a burst
/// at once; it is a millisecond at the rate of the whole link (Linux `sk_pacing_shift`; BBR budgets
/// the same three). With three bursts for each flow, every further flow would lengthen the queue.
/// The same holds for the minimum window, so flows also divide that.
///
/// While `queue_test`, the window is three quarters of this.
fn window(config: &Config, share: Share, rtt_min_us: u64, mss: u64, queue_test: bool) -> u32 {
    if share.link == 0 {
        return FLOOR_CWND;
    }
    let span_us = rtt_min_us.min(MAX_RTT_US) + micros(config.allowance).min(MAX_RTT_US);
    let (payload, packet) = (payload(share.whole, mss), mss + HEADERS);
    let least = if payload < SLOW { 1 } else { 2 };
    let quantum = ((payload >> 10).min(65_535) / mss).max(least);
    let bursts = 3 * quantum * packet * share.link / share.whole;
    let segs = (share.link * span_us / 1_000_000 + bursts).div_ceil(packet);
    let cap = u64::from(config.max_cwnd).min(MAX_SEGS).max(u64::from(FLOOR_CWND));
    let segs = segs * if queue_test { 3 } else { 4 } / 4;
    let least = (u64::from(config.min_cwnd).min(MAX_SEGS) * share.link).div_ceil(share.whole);
    // The cap is at most 2^20.
    segs.max(least).max(u64::from(FLOOR_CWND)).min(cap) as u32
}
