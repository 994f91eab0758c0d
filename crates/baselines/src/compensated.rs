//! A controller that does not take the radio's own delays for a queue (Gandalf §4.3 and §5).
//!
//! A modem reports retransmissions and grants, but some 10 to 300 ms after the packets they
//! delayed. There are two ways to bear that:
//!
//! * [`Compensated::revising`]: an acknowledgement reaches the controller at once. Its RTT is
//!   smoothed over some intervals of reports, and what the radio added lately on average is taken
//!   off. When the exact delay is known, the controller gets a [`Revision`]. It must use revisions.
//! * [`Compensated::holding`]: acknowledgements reach the controller when the radio's delay is
//!   known, with exact RTTs that are not smoothed. Any controller can be used, and it decides
//!   later. [`Compensated::exact`] is the same for a queue's length.
//!
//! An RTT is shortened by the delays that decoded events explain. No RTT falls below that of the
//! path, a small one of the last ten seconds. When the modem falls silent the controller receives
//! RTTs as they are, and learns that.

mod floor;
mod holding;
mod revising;
mod smoothing;
mod together;
mod way_back;

use alloc::collections::VecDeque;
use core::time::Duration;

use sounding_cc::part::{Boxcar, Windowed};
use sounding_cc::{Ack, Controller, Delivered, Revision, forward};
use sounding_estimate::delay::{PATIENCE, SILENT, USUAL_INTERVAL, followed, in_intervals};
use sounding_estimate::{DelayKind, DelayUpdate, Direction, Timeline};
use sounding_units::HostInstant;

use floor::Floor;
use holding::Held;
pub use smoothing::{Means, Smoothing};
use together::Together;
use way_back::WayBack;

/// Packets that entered the modem at one time count as so far apart, as where their blocks are
/// counted (`sounding-link`).
const APART: Duration = Duration::from_micros(1);
/// The longest that the scheduler takes for a report and its answer: three usual intervals of
/// reports (Gandalf §4.3.2, Equation 4).
const LONGEST_WAIT: Duration = Duration::from_millis(15);
/// The longest wait for a grant is that of so long.
const WAITS_LAST: u64 = 10_000_000_000;
/// A held acknowledgement is never held for longer.
const HELD_FOR: Duration = Duration::from_millis(150);
/// A floor that rose by more than this is reported to the controller.
const RAISED: Duration = Duration::from_micros(250);
/// The smallest RTT is remembered for so long, as Copa does.
const LEAST_LASTS: u64 = 10_000_000_000;
/// Acknowledgements that wait until their delay is known: those of 400 ms at 20 000 a second. Of
/// more, the oldest wait no longer.
const WAITING: usize = 8_192;
/// The most that the radio added is remembered for so long: records of PHY are 300 ms apart at
/// most.
const MOST_LASTS: u64 = 400_000_000;

/// A controller whose delays are without what the radio added.
#[derive(Debug)]
pub struct Compensated<C> {
    inner: C,
    way: Way,
    whole_waits: bool,
    smoothing: Smoothing,
    timeline: Timeline,
    /// Direction of the flow's data, once it is known.
    data: Option<Direction>,
    /// Between reports of the buffer's status.
    interval: Duration,
    /// The longest wait for a grant lately.
    longest: Option<Windowed<Duration>>,
    /// When the modem was last heard of, as far as is known.
    heard_at: Option<HostInstant>,
    /// The controller receives compensated RTTs now.
    active: bool,
    samples: VecDeque<Sample>,
    together: Together,
    way_back: WayBack,
    held: VecDeque<Held>,
    raw: Boxcar,
    exact: Boxcar,
    steady: Boxcar,
    recent: Boxcar,
    most: Windowed<Duration>,
    /// Waits that stay in RTTs.
    kept: Boxcar,
    /// The smallest RTT as measured, and the smallest exact one.
    least_raw: Option<Windowed<Duration>>,
    least: Floor,
    /// The floor that was last reported to the controller.
    told: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Revise,
    Hold,
}

/// An RTT whose parts may not be known yet.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: HostInstant,
    sent: HostInstant,
    /// When its uplink packet entered the modem, and when its downlink packet reached the device.
    entered: HostInstant,
    received: HostInstant,
    /// By then its uplink packet had left the radio: when the sender had the acknowledgement, on
    /// the device's clock.
    passed: HostInstant,
    /// Of an upload: how much longer its acknowledgement took than the fastest, if that is known.
    longer: Option<Duration>,
    rtt: Duration,
    /// What the controller received.
    shown: Duration,
}

/// The parts of a delay that the radio added.
#[derive(Clone, Copy, Debug, Default)]
struct Added {
    data: Duration,
    all: Duration,
    /// The wait for a grant, if it is not in the others.
    kept: Duration,
}

impl<C: Controller> Compensated<C> {
    /// For a controller that uses [`Controller::handle_revision`].
    pub fn revising(inner: C) -> Self {
        Self::revising_with(inner, Smoothing::default())
    }

    /// The same, with other times of smoothing.
    pub fn revising_with(inner: C, smoothing: Smoothing) -> Self {
        Self::new(inner, Way::Revise, smoothing)
    }

    /// For any controller.
    pub fn holding(inner: C) -> Self {
        Self::new(inner, Way::Hold, Smoothing::default().without_waits())
    }

    /// As [`holding`](Self::holding), for a controller that compares a queue's length and not its
    /// changes: RTTs are without the whole wait for a block in downloads, and in uploads without as
    /// much of it as the scheduler takes at the longest. That is 15 ms, or more where reports are
    /// more than 5 ms apart.
    pub fn exact(inner: C) -> Self {
        Self { whole_waits: true, ..Self::holding(inner) }
    }

    fn new(inner: C, way: Way, smoothing: Smoothing) -> Self {
        Self {
            inner,
            way,
            whole_waits: false,
            smoothing,
            timeline: Timeline::new(),
            data: None,
            interval: USUAL_INTERVAL,
            longest: None,
            heard_at: None,
            active: false,
            samples: VecDeque::with_capacity(WAITING),
            together: Together::default(),
            way_back: WayBack::default(),
            held: VecDeque::with_capacity(if way == Way::Hold { WAITING } else { 0 }),
            raw: Boxcar::new(smoothing.down.shown),
            exact: Boxcar::new(smoothing.down.shown),
            steady: Boxcar::new(smoothing.down.steady),
            recent: Boxcar::new(smoothing.recent),
            most: Windowed::max(MOST_LASTS, 0, Duration::ZERO),
            kept: Boxcar::new(smoothing.down.steady),
            least_raw: None,
            least: Floor::new(smoothing.down.floor_percent),
            told: Duration::ZERO,
        }
    }

    fn set_smoothing(&mut self, data: Direction) {
        let of = self.smoothing.means(data).at(self.interval);
        // A controller that waits for exact delays sees each exact RTT, down to the smallest. Waits
        // that are kept raise the floor.
        let percent = if self.way == Way::Hold || of.keeps_waits { 0 } else { of.floor_percent };
        self.raw.set_window(of.shown);
        self.exact.set_window(of.shown);
        self.steady.set_window(of.steady);
        self.kept.set_window(of.steady);
        self.least.set_percent(percent);
        self.least.set_interval(self.interval);
        self.least.set_usual(of.keeps_waits.then_some(of.usual_percent));
        self.least.set_unsure(if of.keeps_waits { of.unsure } else { Duration::ZERO });
    }

    /// The times of a sample's packets at the device, on its clock.
    fn places(&self, ack: &Ack) -> Option<(HostInstant, HostInstant)> {
        match self.data? {
            Direction::Uplink => Some((ack.sent.at, ack.now)),
            // The receiver's stamp, whatever the difference of the clocks: it is in the one-way
            // delay and taken out again.
            Direction::Downlink => {
                let received = ack.sent.at + ack.one_way?;
                Some((received, received))
            }
        }
    }

    fn is_heard(&self, now: HostInstant) -> bool {
        self.heard_at.is_some_and(|at| now - at <= SILENT)
    }

    /// Tells the controller when RTTs change their meaning.
    fn switch(&mut self, now: HostInstant) {
        let wanted = self.is_heard(now) && self.least.best().is_some();
        if wanted == self.active {
            return;
        }
        self.active = wanted;
        let raw = self.least_raw.map(|least| least.best());
        let least = if wanted { self.least.best() } else { raw };
        if !wanted {
            self.least.clear();
            self.raw.clear();
            self.exact.clear();
            self.steady.clear();
            self.recent.clear();
            self.most = Windowed::max(MOST_LASTS, now.as_nanos(), Duration::ZERO);
            self.kept.clear();
            self.samples.clear();
        }
        if let Some(least) = least {
            self.told = least;
            self.inner.handle_revision(&Revision::Rebase { now, least });
        }
    }

    fn added(&mut self, sample: &Sample) -> Added {
        let [waited, repeated] = self.timeline.up_parts(sample.entered);
        let keeps = self.data.is_some_and(|data| self.smoothing.means(data).keeps_waits);
        let kept = if keeps { waited } else { Duration::ZERO };
        let waited = match self.data {
            _ if !self.whole_waits => waited - kept,
            // No queue of acknowledgements is the data's (interpretation 28).
            Some(Direction::Downlink) => self.timeline.whole_wait(sample.entered),
            _ => self.timeline.whole_wait(sample.entered).min(self.longest_wait()),
        };
        let up = waited + repeated;
        let down = self.timeline.down(sample.received, sample.sent);
        // An acknowledgement that was not late was not held, whatever ended when it came.
        let down = sample.longer.map_or(down, |longer| down.min(longer));
        let data = if self.data == Some(Direction::Uplink) { up } else { down };
        Added { data, all: (up + down).min(sample.rtt), kept }
    }

    /// The longest that the scheduler takes lately. A report is waited for during an interval, and
    /// its answer need not take longer because reports are rarer.
    fn longest_wait(&self) -> Duration {
        let most = in_intervals(LONGEST_WAIT, self.interval);
        self.longest.map_or(LONGEST_WAIT, |longest| longest.best().clamp(LONGEST_WAIT, most))
    }

    fn note_longest(&mut self, now: HostInstant, delays: &DelayUpdate) {
        let waits = delays.events.iter().filter(|event| event.kind == DelayKind::Scheduling);
        if let Some(amount) = waits.map(|wait| wait.amount).max() {
            let at = now.as_nanos();
            self.longest
                .get_or_insert_with(|| Windowed::max(WAITS_LAST, at, amount))
                .update(at, amount);
        }
    }

    /// Takes in what the radio added to the oldest sample; its exact RTT, smoothed.
    fn settle(&mut self, sample: &Sample) -> (Added, Duration) {
        let added = self.added(sample);
        self.recent.push(sample.at, added.all);
        self.most.update(sample.at.as_nanos(), added.all);
        let without = sample.rtt - added.all;
        let steady = self.steady.push(sample.at, without);
        let kept = self.kept.push(sample.at, added.kept);
        self.least.push(sample.at, steady, kept);
        (added, self.exact.push(sample.at, without).max(self.floor()))
    }

    fn floor(&self) -> Duration {
        self.least.best().unwrap_or_default()
    }

    /// Whether the radio's part of a sample is known, or will not be.
    fn is_settled(&self, now: HostInstant, sample: &Sample, patience: Duration) -> bool {
        now - sample.at >= patience
            || self.timeline.knows(sample.entered, sample.passed, sample.received)
    }

    /// How many packets that entered the modem at the same time came before that of an
    /// acknowledgement.
    fn before(&mut self, ack: &Ack) -> u32 {
        let Some((entered, _)) = self.places(ack) else { return 0 };
        self.together.before(entered, self.data == Some(Direction::Uplink))
    }

    fn sample(&self, ack: &Ack, before: u32) -> Option<Sample> {
        let rtt = ack.rtt.filter(|rtt| !rtt.is_zero())?;
        let (entered, received) = self.places(ack)?;
        let (after, longer) = match self.data? {
            Direction::Uplink => (rtt, self.way_back.longer(ack)),
            Direction::Downlink => (rtt.saturating_sub(ack.one_way?), None),
        };
        Some(Sample {
            at: ack.now,
            sent: ack.sent.at,
            entered: entered + APART * before,
            received,
            passed: entered + after,
            longer,
            rtt,
            shown: rtt,
        })
    }

    fn note_least(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt.filter(|rtt| !rtt.is_zero()) {
            let at = ack.now.as_nanos();
            let least = self.least_raw.get_or_insert_with(|| Windowed::min(LEAST_LASTS, at, rtt));
            least.update(at, rtt);
        }
    }
}

impl<C: Controller> Controller for Compensated<C> {
    forward!(
        inner; but handle_delivered, handle_ack, handle_timeout, handle_delays, handle_time, wakeup
    );

    fn handle_delivered(&mut self, delivered: &Delivered) {
        self.together.handle_delivered(delivered.sent.at);
        if self.holds(delivered.now) {
            self.hold(Held::Delivered(*delivered));
        } else {
            self.inner.handle_delivered(delivered);
        }
    }

    fn handle_ack(&mut self, ack: &Ack) {
        self.note_least(ack);
        self.way_back.handle_ack(ack);
        self.switch(ack.now);
        if self.holds(ack.now) {
            let before = self.before(ack);
            self.hold(Held::Ack(*ack, before));
            self.release(ack.now);
            return;
        }
        if self.way == Way::Hold {
            self.inner.handle_ack(ack);
            return;
        }
        self.revise(ack.now);
        self.raise(ack.now);
        let shown = self.show(ack);
        self.inner.handle_ack(&shown);
    }

    fn handle_timeout(&mut self, now: HostInstant) {
        // Earlier arrivals are known before it.
        while let Some(next) = self.held.pop_front() {
            self.hand_on(now, &next, false);
        }
        self.inner.handle_timeout(now);
    }

    fn handle_delays(&mut self, now: HostInstant, data: Direction, delays: &DelayUpdate) {
        let interval = followed(delays.report_interval);
        if self.data != Some(data) || self.interval != interval {
            (self.data, self.interval) = (Some(data), interval);
            self.set_smoothing(data);
        }
        if self.whole_waits {
            self.note_longest(now, delays);
        }
        self.heard_at = Some(delays.heard_at);
        self.timeline.handle_update(delays);
        self.switch(now);
        match self.way {
            Way::Revise => self.revise(now),
            Way::Hold => self.release(now),
        }
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.switch(now);
        self.release(now);
        if self.inner.wakeup().is_some_and(|at| at <= now) {
            self.inner.handle_time(now);
        }
    }

    fn wakeup(&self) -> Option<HostInstant> {
        // The first in the row may be a delivery, which goes on at once: so an acknowledgement is
        // first.
        let held = self.held.front().map(|first| first.now() + HELD_FOR);
        let inner = self.inner.wakeup();
        held.into_iter().chain(inner).min()
    }
}

#[cfg(test)]
mod tests;
