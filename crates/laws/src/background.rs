//! Background traffic in a cell, this project's own: it sends while the cell is its alone, and
//! yields while it is not.
//!
//! Legilimens judges single gaps, and a proportional-fair cell hides a rival from it: a newcomer is
//! served first, until it has had as much as the others. This law judges its share of the cell over
//! 200 ms in which data was waiting, beside what the cell gave it when it was alone. The first 100
//! ms of a burst show the cell, the rest shows the share.
//!
//! ```text
//!   Opening ──▶ Waiting ──▶ Probing ──(free, twice)──▶ Sending
//!                  ▲           │                          │
//!                  ├──(busy: U[2^(b-1)..2^b]·T)           │
//!                  └──(busy: T)───────────────────────────┘
//! ```
//!
//! In an upload the device's modem knows the share itself, from its resource blocks. Where it
//! speaks, its word replaces that of rates.
//!
//! Without a usable clock of the receiver it goes by delay, as LEDBAT++.
//! `docs/interpretations/legilimens.md` has the reasons. It never falls back to a foreground
//! algorithm.

mod delay;
mod seeing;
mod share;
mod turns;

use core::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sounding_cc::parameter::{Kind, Parameter, Values};
use sounding_cc::part::{Aimd, RttEstimator, Slots};
use sounding_cc::{Ack, Controller, Loss, Needs, Recovery, Start};
use sounding_estimate::{LinkEstimate, Source};
use sounding_units::{Bytes, HostInstant, Rate};

use delay::ByDelay;
use seeing::Seeing;
use share::{Share, Verdict};

const INTERVAL: Parameter = Parameter {
    name: "interval",
    kind: Kind::millis(250, 10, 10_000),
    unit: "",
    about: "the unit of the back-off",
    source: "as Legilimens, Table I, T",
};
const MAX_BACK_OFF: Parameter = Parameter {
    name: "max_back_off",
    kind: Kind::count(4, 1, 8),
    unit: "",
    about: "a wait beside one rival is at most 2 to this many intervals",
    source: "chosen: half of a cell that became free is found within 2.5 s",
};
const CROWDED: Parameter = Parameter {
    name: "crowded",
    kind: Kind::count(3, 0, 6),
    unit: "",
    about: "a wait beside several rivals is at most 2 to this many times longer",
    source: "chosen on Fig. 12 of Legilimens (interpretation 19)",
};
const QUEUE: Parameter = Parameter {
    name: "queue",
    kind: Kind::millis(40, 5, 1_000),
    unit: "",
    about: "what waits at the radio while the flow sends, so that its share can be seen",
    source: "chosen",
};

/// A flow that sends on is silent for an interval after so long, and proves its share again.
/// Chosen: an interval of 250 ms and a burst of 300 ms cost 2 % then. When the flow begins to send
/// on it is a thirty-second of that, and then twice as long after each (interpretation 18).
const PROVEN_FOR: Duration = Duration::from_secs(10);
/// Proofs in a row that are enough.
const PROOFS: u32 = 7;
/// So many are there before the flow sends on: one may be a moment of a fade.
const CONFIRMED: u32 = 2;
/// The first wait is up to 2 to this many intervals: a rival that two bursts have shown stays for
/// longer than one (interpretation 19).
const LEAST_BACK_OFF: u32 = 2;

/// A look that finds the cell busy has taken it from others for as long as it lasted: so many times
/// more than this is waited longer (interpretation 42).
const DEAR: u32 = 10;
const CHEAP: Duration = Duration::from_millis(300);
/// A burst that lasted longer had not only what a newcomer is served first.
const LONGEST: Duration = Duration::from_secs(3);

/// A cell that was free for less than this is one of many short transfers: the back-off's bound is
/// so many powers of two more there (interpretation 42).
const STEADY: Duration = Duration::from_secs(2);
const SHORT: u32 = 1;

/// A receiver whose clock moves less often hides a cell's turns (interpretation 22).
const COARSEST_TICK: Duration = Duration::from_millis(2);

/// A loss while the queue is at least this part of what the flow keeps waiting is one of a full
/// buffer: the queue is another flow's too, or the buffer is small (interpretation 26).
const FULL: u32 = 2;
/// What waits at least while the flow sends: of a buffer with less, half.
const LEAST_QUEUE: Duration = Duration::from_millis(5);
/// How long a queue counts as shared after such a loss.
const SHARED_FOR: Duration = Duration::from_secs(30);
/// In a shared queue the first packet after silence waits for others if it takes so much longer
/// than the fastest packet.
const OTHERS: Duration = Duration::from_millis(10);
/// Until a path's RTT is known. Chosen.
const UNKNOWN_RTT: Duration = Duration::from_millis(100);
/// A modem's report counts for this long; all stale data falls back.
const MODEM_FOR: Duration = Duration::from_millis(100);
/// Segments that a burst into a shared queue begins with.
const PROBE: u64 = 4;
/// The window is for this much more than what the cell gives now: one of so many parts
/// (interpretation 31).
const MORE: u64 = 4;

/// One background flow.
#[derive(Clone, Debug)]
pub struct Background {
    interval: Duration,
    max_back_off: u32,
    crowded: u32,
    queue: Duration,
    slots: Slots,
    share: Share,
    /// The part of the cell that the device's modem shows, and until when it counts.
    modem: Option<(u16, HostInstant)>,
    window: Aimd,
    seeing: Seeing,
    delay: ByDelay,
    rtt: RttEstimator,
    /// The newest sample.
    last_rtt: Duration,
    /// Until then the queue counts as one that other flows share.
    shared_until: Option<HostInstant>,
    /// When the newest burst began.
    began: HostInstant,
    /// The first packet of a burst into a shared queue is not acknowledged yet.
    is_first: bool,
    start: Start,
    phase: Phase,
    back_off: u32,
    /// Bursts in a row that found the cell free.
    proofs: u32,
    /// How long a newcomer was served first, as far as is known.
    look: Duration,
    /// When the newest spell of sending began, and whether the last one was shorter than
    /// [`STEADY`].
    spell: HostInstant,
    was_short: bool,
    rng: ChaCha8Rng,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The first burst: slow start, until the cell's rate is known.
    Opening,
    /// Sends nothing until then.
    Waiting { until: HostInstant },
    /// Sends until the share is known.
    Probing,
    /// The cell is this flow's alone.
    Sending { since: HostInstant },
    /// The receiver has no usable clock.
    ByDelay,
    /// All blocks of the cell are known.
    Seeing,
}

impl Background {
    /// What it asks of a modem: who has the cell's blocks, in a download as its receiver reports.
    pub const NEEDS: Needs = Needs::ESTIMATES.reported(Source::Cell).optional();
    /// What plans can set.
    pub const PARAMETERS: &[Parameter] = &[INTERVAL, MAX_BACK_OFF, CROWDED, QUEUE];

    /// A flow that knows nothing of its cell.
    pub fn new(start: &Start) -> Self {
        Self::tuned(start, &Values::default())
    }

    /// The same with what plans state.
    pub fn tuned(start: &Start, values: &Values) -> Self {
        Self {
            interval: values.time(&INTERVAL),
            max_back_off: values.count(&MAX_BACK_OFF),
            crowded: values.count(&CROWDED),
            queue: values.time(&QUEUE),
            slots: Slots::default(),
            share: Share::new(start.mss.count()),
            modem: None,
            window: Aimd::new(start),
            seeing: Seeing::new(start),
            delay: ByDelay::new(start.now, start.mss.count()),
            rtt: RttEstimator::default(),
            last_rtt: Duration::ZERO,
            shared_until: None,
            began: start.now,
            is_first: false,
            start: *start,
            phase: Phase::Opening,
            look: Duration::ZERO,
            spell: start.now,
            was_short: false,
            back_off: 0,
            proofs: 0,
            rng: ChaCha8Rng::seed_from_u64(start.seed),
        }
    }

    fn wait(&mut self, now: HostInstant, span: Duration) {
        self.phase = Phase::Waiting { until: now + span };
    }

    /// How long the newest proof counts.
    fn proven_for(&self) -> Duration {
        PROVEN_FOR / (1 << PROOFS.saturating_sub(self.proofs))
    }

    /// A loss, a timeout or a queue of others: the share showed no rival, so that one burst that
    /// finds the cell free is enough.
    fn handle_busy(&mut self, now: HostInstant) {
        let proofs = self.proofs.min(CONFIRMED - 1);
        self.back_off(now, 1, self.max_back_off);
        self.proofs = proofs;
    }

    /// Waits for twice as long as the last time, 2 to so many intervals at least and at most.
    fn back_off(&mut self, now: HostInstant, least: u32, most: u32) {
        self.back_off = (self.back_off + 1).max(least).min(most);
        self.proofs = 0;
        let half = 1 << (self.back_off - 1);
        let drawn = half * 1000 + self.rng.next_u32() % (half * 1000);
        self.wait(now, self.interval * drawn / 1000);
    }

    fn handle_verdict(&mut self, now: HostInstant, verdict: Verdict) {
        match (self.phase, verdict) {
            (Phase::Waiting { .. } | Phase::ByDelay | Phase::Seeing, _) | (_, Verdict::Open) => {}
            // Its rate may be all of the cell or a part of it: silence, and then a burst that shows
            // both.
            (Phase::Opening, _) | (_, Verdict::Likely) => self.wait(now, self.interval),
            (Phase::Probing, Verdict::Busy | Verdict::Crowded) => {
                let is_crowded = verdict == Verdict::Crowded;
                let more = if is_crowded { self.crowded } else { 0 };
                let more = more + if self.was_short { SHORT } else { 0 };
                let dear = (now - self.began).min(LONGEST).saturating_sub(CHEAP) * DEAR;
                self.learn_look(now, verdict);
                self.back_off(now + dear, LEAST_BACK_OFF, self.max_back_off + more);
            }
            // It may be a fade: the next burst shows it soon, and that one backs off
            // (interpretation 32).
            (Phase::Sending { .. }, Verdict::Busy | Verdict::Crowded) => {
                self.learn_look(now, verdict);
                self.was_short = now - self.spell < STEADY;
                self.wait(now, self.interval);
            }
            // A newcomer is served first for as long.
            (Phase::Probing, Verdict::Free) if now - self.began < self.look + self.look / 4 => {}
            (Phase::Probing, Verdict::Free) => {
                self.proofs = (self.proofs + 1).min(PROOFS);
                if self.proofs < CONFIRMED {
                    return self.wait(now, self.interval);
                }
                if self.proofs == CONFIRMED {
                    self.spell = now;
                }
                self.back_off = 0;
                self.phase = Phase::Sending { since: now };
            }
            // A rival that was there all along shows in a burst after silence alone.
            (Phase::Sending { since }, Verdict::Free) if now - since > self.proven_for() => {
                self.wait(now, self.interval);
            }
            (Phase::Sending { .. }, Verdict::Free) => {}
        }
    }

    /// A burst had the cell for so long before others had nearly all of it: an average of the
    /// scheduler's that is slow.
    fn learn_look(&mut self, now: HostInstant, verdict: Verdict) {
        let length = now - self.began;
        if verdict == Verdict::Crowded && length < LONGEST {
            self.look = length.max(self.look - self.look / 4);
        }
    }

    /// The window that keeps the cell busy: rate × (RTT without a queue + the queue to keep), four
    /// segments at least. The rate is a little more than what the cell gives now, and the
    /// capacity at most. With the capacity alone, a burst beside rivals would leave as much in
    /// the queue as the burst itself.
    fn target(&self) -> Option<Bytes> {
        let span = self.rtt.least()? + self.queue;
        let capacity = self.share.capacity()?;
        let given = self.share.given().map(|given| given.saturating_add(given / MORE));
        let rate = given.map_or(capacity, |given| given.min(capacity));
        let target = Bytes::new(rate.saturating_mul(span.as_micros() as u64) / 1_000_000);
        Some(target.max(self.start.segments(4)))
    }
}

impl Background {
    /// How much longer than the fastest packet the newest took.
    fn queueing(&self) -> Duration {
        let least = self.rtt.least().unwrap_or(self.last_rtt);
        micros(self.last_rtt).saturating_sub(micros(least))
    }

    /// The part of the cell that the modem shows, while that is fresh.
    fn modem(&self, now: HostInstant) -> Option<u16> {
        self.modem.filter(|(_, until)| now <= *until).map(|(part, _)| part)
    }

    fn is_shared(&self, now: HostInstant) -> bool {
        self.shared_until.is_some_and(|until| now < until)
    }

    /// The least RTT, or that of a path that is not known.
    fn least_rtt(&self) -> Duration {
        self.rtt.least().map_or(UNKNOWN_RTT, micros)
    }

    /// The blocks of the cell are not known any more, or not believed: silence, and then a burst
    /// that shows the share. Where no burst has shown the cell yet, the first one.
    fn lose_sight(&mut self, now: HostInstant) {
        self.slots.reset();
        self.window = Aimd::new(&self.start);
        if self.share.capacity().is_some() {
            self.proofs = 0;
            self.wait(now, self.interval);
        } else {
            self.phase = Phase::Opening;
        }
    }

    /// Goes by delay from here on, or by the receiver's clock again. A flow that changes begins
    /// again.
    fn go_by(&mut self, now: HostInstant, has_clock: bool) {
        match (has_clock, self.phase) {
            (true, Phase::ByDelay) => {
                self.slots.reset();
                self.share = Share::new(self.start.mss.count());
                self.window = Aimd::new(&self.start);
                self.phase = Phase::Opening;
            }
            (false, phase) if phase != Phase::ByDelay => {
                self.delay = ByDelay::new(now, self.start.mss.count());
                self.phase = Phase::ByDelay;
            }
            _ => {}
        }
    }
}

/// In whole microseconds, as the kernel knows RTTs.
fn micros(rtt: Duration) -> Duration {
    Duration::from_micros(rtt.as_micros() as u64)
}

impl Controller for Background {
    fn handle_ack(&mut self, ack: &Ack) {
        self.rtt.handle_ack(ack);
        self.last_rtt = ack.rtt.filter(|rtt| !rtt.is_zero()).unwrap_or(self.last_rtt);
        let marked = self.window.handle_ack(ack);
        if self.phase == Phase::Seeing {
            let waited = self.queueing();
            if self.seeing.handle_ack(ack.now, ack.acked.count(), waited) {
                self.lose_sight(ack.now);
            } else if marked {
                self.seeing.cut(ack.now, self.least_rtt());
            }
            return;
        }
        self.go_by(ack.now, ack.stamp.is_some_and(|stamp| stamp.tick <= COARSEST_TICK));
        if self.phase == Phase::ByDelay {
            if marked {
                self.delay.cut(ack.now);
            }
            let rtt = ack.rtt.map_or(0, |rtt| rtt.as_micros() as u32);
            let grows = !marked && ack.cwnd_limited && ack.recovery != Recovery::Fast;
            return self.delay.handle_ack(ack.now, rtt, ack.acked.count(), grows);
        }
        if core::mem::take(&mut self.is_first) && self.queueing() > OTHERS {
            return self.handle_busy(ack.now);
        }
        if self.phase == Phase::Opening {
            self.window.grow(ack);
        } else if let Some(target) = self.target().filter(|_| ack.recovery == Recovery::None) {
            // Losses cut the window; it comes back as in slow start.
            let now = self.window.cwnd();
            self.window.slow_start_to(target.min(now + ack.acked), target);
        }
        if let Some(slot) = self.slots.handle_ack(ack) {
            let modem = self.modem(ack.now);
            let now = ack.now.as_nanos();
            let verdict = self.share.handle_slot(now, &slot, ack.acked.count(), modem);
            self.handle_verdict(ack.now, verdict);
        }
    }

    fn handle_loss(&mut self, loss: &Loss) {
        self.window.handle_loss(loss);
        if loss.begins_recovery && self.phase == Phase::ByDelay {
            self.delay.cut(loss.now);
        }
        if loss.begins_recovery && self.phase == Phase::Seeing {
            if self.queueing() >= self.queue / FULL {
                self.seeing.distrust(loss.now);
                self.lose_sight(loss.now);
            } else {
                self.seeing.cut(loss.now, self.least_rtt());
            }
        }
        let sends = matches!(self.phase, Phase::Probing | Phase::Sending { .. });
        // Lost packets left before those that the newest acknowledgement delivered.
        let sends = sends && loss.now - self.began >= micros(self.last_rtt);
        let queueing = self.queueing();
        if loss.begins_recovery && sends && queueing >= self.queue / FULL {
            self.queue = self.queue.min(queueing / 2).max(LEAST_QUEUE);
            self.shared_until = Some(loss.now + SHARED_FOR);
            self.handle_busy(loss.now);
        }
    }

    fn handle_timeout(&mut self, now: HostInstant) {
        self.window.handle_timeout(now);
        match self.phase {
            Phase::Waiting { .. } => {}
            Phase::ByDelay => self.delay.handle_timeout(now),
            Phase::Seeing => self.seeing.stop(),
            // A cell that serves nothing is busy.
            _ => self.handle_busy(now),
        }
    }

    fn handle_spurious_timeout(&mut self, now: HostInstant) {
        self.window.handle_spurious_timeout(now);
    }

    fn handle_estimate(&mut self, now: HostInstant, estimate: &LinkEstimate, _flows: u32) {
        let part = estimate.known_own_blocks().filter(|_| estimate.is_usable());
        self.modem = part.map(|part| (part, now + MODEM_FOR));
        let cell = estimate.known_cell().filter(|_| self.seeing.listens(now));
        match (cell, self.phase) {
            (Some(cell), phase) => {
                if phase != Phase::Seeing {
                    self.seeing.begin(now, &cell);
                    self.phase = Phase::Seeing;
                }
                self.seeing.handle_cell(now, &cell, self.least_rtt());
            }
            (None, Phase::Seeing) => self.lose_sight(now),
            (None, _) => {}
        }
    }

    fn handle_time(&mut self, now: HostInstant) {
        if self.phase == Phase::Seeing && self.seeing.until() <= now {
            return self.lose_sight(now);
        }
        let Phase::Waiting { until } = self.phase else { return };
        if until <= now {
            self.share.begin();
            self.began = now;
            if let Some(target) = self.target() {
                let is_shared = self.is_shared(now);
                let first = if is_shared { self.start.segments(PROBE) } else { target };
                self.window.slow_start_to(first.min(target), target);
                self.is_first = is_shared;
            }
            self.phase = Phase::Probing;
        }
    }

    fn wakeup(&self) -> Option<HostInstant> {
        match self.phase {
            Phase::Seeing => Some(self.seeing.until()),
            _ => self.not_before(),
        }
    }

    fn not_before(&self) -> Option<HostInstant> {
        match self.phase {
            Phase::Waiting { until } => Some(until),
            _ => None,
        }
    }

    fn cwnd(&self) -> Bytes {
        match self.phase {
            Phase::ByDelay => Bytes::new(self.delay.cwnd()),
            Phase::Seeing => self.seeing.cwnd(self.least_rtt()),
            _ => self.window.cwnd(),
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        (self.phase == Phase::Seeing).then(|| self.seeing.pacing())
    }

    fn state(&self) -> &'static str {
        match self.phase {
            Phase::Opening => "opening",
            Phase::Waiting { .. } => "waiting",
            // It believes the cell free until the burst shows something else.
            Phase::Probing if self.proofs >= CONFIRMED && self.share.is_free() => "proving",
            Phase::Probing => "probing",
            Phase::Sending { .. } => "sending",
            Phase::ByDelay => "by delay",
            Phase::Seeing => "seeing",
        }
    }
}

#[cfg(test)]
mod tests {
    use sounding_estimate::{Bound, CellUse, Direction, State};

    use super::*;

    #[test]
    fn a_modem_s_word_counts_for_100_ms_and_only_while_data_waited() {
        let says = LinkEstimate::new(
            Direction::Uplink,
            Rate::from_bits_per_sec(8_000_000),
            Bound::Capacity,
        )
        .with_age(Duration::from_millis(5))
        .with_own_blocks(Some(400));
        let mut flow = Background::new(&Start::tcp(at(0), None, 1));
        flow.handle_estimate(at(10), &says, 1);
        assert_eq!((flow.modem(at(110)), flow.modem(at(111))), (Some(400), None));
        let floor = says.with_bound(Bound::Floor);
        let stale = says.with_state(State::Stale);
        for other in [floor, stale, says.with_own_blocks(None)] {
            flow.handle_estimate(at(20), &says, 1);
            flow.handle_estimate(at(30), &other, 1);
            assert_eq!(flow.modem(at(31)), None, "{other:?}");
        }
    }

    /// A flow that 100 ms of reports have shown an idle cell, and the next report.
    fn seeing() -> (Background, LinkEstimate) {
        let rate = Rate::from_bits_per_sec(40_000_000);
        let says = LinkEstimate::new(Direction::Downlink, rate, Bound::Capacity)
            .with_age(Duration::from_millis(5))
            .with_cell(Some(CellUse::new(rate, 0, 1000)));
        let mut flow = Background::new(&Start::tcp(at(0), None, 1));
        (0..100).step_by(10).for_each(|ms| flow.handle_estimate(at(ms), &says, 1));
        (flow, says)
    }

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_flow_is_blind_100_ms_after_the_cell_was_seen_last() {
        let (mut flow, _) = seeing();
        assert_eq!(flow.state(), "seeing");
        // The newest report came at 90 ms.
        assert_eq!(flow.wakeup(), Some(at(190)));
        flow.handle_time(at(189));
        assert_eq!(flow.state(), "seeing");
        flow.handle_time(at(190));
        assert_eq!((flow.state(), flow.pacing_rate()), ("opening", None));
        assert_eq!(flow.cwnd(), Start::tcp(at(0), None, 1).initial_cwnd());
    }

    #[test]
    fn a_flow_is_blind_at_once_where_a_report_does_not_show_the_cell() {
        let (_, says) = seeing();
        for blind in [says.with_cell(None), says.with_state(State::Handover)] {
            let (mut flow, _) = seeing();
            flow.handle_estimate(at(100), &blind, 1);
            assert_eq!(flow.state(), "opening", "{blind:?}");
        }
    }

    #[test]
    fn a_flow_that_sees_an_idle_cell_takes_it_and_one_that_sees_none_idle_leaves() {
        let (mut flow, says) = seeing();
        let taken = flow.pacing_rate().expect("a pace");
        assert!(taken > Rate::from_bits_per_sec(9_000_000), "{taken:?}");
        let full = CellUse::new(Rate::from_bits_per_sec(40_000_000), 400, 0);
        let full = says.with_cell(Some(full));
        (100..1_000).step_by(10).for_each(|ms| flow.handle_estimate(at(ms), &full, 1));
        // A segment in 50 ms.
        assert_eq!(flow.pacing_rate(), Some(Rate::from_bytes_per_sec(28_960)));
    }
}
