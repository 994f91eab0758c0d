//! Controllers that know the truth: the future capacity of a link, or its present rate.

use alloc::collections::VecDeque;
use core::fmt;
use core::time::Duration;

use sounding_cc::{Ack, Controller, Departure, Loss, Start};
use sounding_units::{Bytes, HostInstant, Rate};

/// Interval at which the truth is read: delivery opportunities are counted in milliseconds.
const STEP: Duration = Duration::from_millis(1);

/// A sender that knows the truth, and needs no acknowledgement to know what may leave.
#[derive(Debug)]
pub struct Told<S> {
    sight: S,
    in_flight: Bytes,
    allowed: Bytes,
    now: HostInstant,
}

/// Sends at exactly the rate that its share of the link has when the packets arrive. So it uses the
/// whole share without a queue.
pub type Oracle<F> = Told<Future<F>>;

/// Knows the rate of its share of the link and its queue, without error, at the times and with the
/// delay of [`Word`]. It does not know the future.
///
/// It keeps bytes in flight and queued = rate × (time until a packet sent now arrives +
/// [`Word::room`]). With a smaller room, a link that gets faster is not filled. With a larger one,
/// a link that gets slower has a longer queue. This is a simple rule and no bound: another rule may
/// use the same knowledge better.
pub type Present<F> = Told<Now<F>>;

impl<S> Told<S> {
    fn with(start: &Start, sight: S) -> Self {
        Self { sight, in_flight: Bytes::ZERO, allowed: Bytes::ZERO, now: start.now }
    }
}

impl<F: Fn(HostInstant) -> Bytes> Oracle<F> {
    /// A flow whose packets are carried `lead` after they leave, if they find no queue.
    ///
    /// `capacity` returns how many bytes of payload the link could have carried for this flow from
    /// the beginning of time until a moment. It is called for the moment at which a packet that
    /// leaves now would be carried.
    pub fn new(start: &Start, lead: Duration, capacity: F) -> Self {
        let used = capacity(start.now + lead);
        Self::with(start, Future { capacity, lead, mss: start.mss, used })
    }
}

impl<F: Fn(HostInstant) -> Bytes> Present<F> {
    /// A flow that receives reports of the link as `word` defines. `capacity` is that of
    /// [`Oracle`], and is never called for the future.
    ///
    /// A packet that arrives at some time cannot use the capacity of that same time.
    pub fn new(start: &Start, word: Word, capacity: F) -> Self {
        let (mss, underway) = (start.mss, VecDeque::new());
        let (wire, waiting) = (Bytes::ZERO, Bytes::ZERO);
        let passed = capacity(word.told(start.now));
        Self::with(start, Now { capacity, word, mss, underway, wire, waiting, passed })
    }

    /// The queue in front of the link when the newest report of it set out, in bytes of payload.
    pub fn backlog(&self) -> Bytes {
        self.sight.waiting
    }
}

/// A [`Present`]'s knowledge of its link, and how it uses it.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// From leaving the sender to the link.
    pub lead: Duration,
    /// From the link to the sender, of word of it.
    pub late: Duration,
    /// Interval of the reports; zero: continuous.
    pub every: Duration,
    /// The link's rate is its mean over this span, which is above zero.
    pub span: Duration,
    /// Queueing delay to keep at the link.
    pub room: Duration,
}

impl Word {
    /// When the word set out that is the newest at `now`.
    pub fn told(&self, now: HostInstant) -> HostInstant {
        let told = now.as_nanos().saturating_sub(self.late.as_nanos() as u64);
        let every = (self.every.as_nanos() as u64).max(1);
        HostInstant::from_nanos(told - told % every)
    }
}

/// Knowledge of a link, and how much may leave for it.
pub trait Sight {
    /// Name of the sender that uses it.
    const NAME: &'static str;

    /// Bytes that may leave at `now`; the last call was for `before`.
    fn look(&mut self, before: HostInstant, now: HostInstant) -> Bytes;

    /// `size` bytes left.
    fn handle_sent(&mut self, at: HostInstant, size: Bytes);
}

/// State of an [`Oracle`].
pub struct Future<F> {
    capacity: F,
    /// From leaving the sender to being carried by the link.
    lead: Duration,
    mss: Bytes,
    /// The part of `capacity` that was used or let pass.
    used: Bytes,
}

impl<F: Fn(HostInstant) -> Bytes> Sight for Future<F> {
    const NAME: &'static str = "oracle";

    /// Unused capacity expires as the clock advances, except for one packet.
    fn look(&mut self, before: HostInstant, now: HostInstant) -> Bytes {
        let passed = (self.capacity)(before + self.lead);
        self.used = self.used.max(passed.saturating_sub(self.mss));
        (self.capacity)(now + self.lead).saturating_sub(self.used)
    }

    fn handle_sent(&mut self, _at: HostInstant, size: Bytes) {
        self.used += size;
    }
}

/// State of a [`Present`].
pub struct Now<F> {
    capacity: F,
    word: Word,
    mss: Bytes,
    /// On the way to the link: when each arrives there.
    underway: VecDeque<(HostInstant, Bytes)>,
    wire: Bytes,
    waiting: Bytes,
    /// The part of `capacity` that served the queue or that the link let pass.
    passed: Bytes,
}

impl<F: Fn(HostInstant) -> Bytes> Now<F> {
    /// Serves the queue until then. Capacity without a waiting packet is lost.
    fn serve(&mut self, until: HostInstant) {
        let passed = (self.capacity)(until);
        self.waiting = self.waiting.saturating_sub(passed.saturating_sub(self.passed));
        self.passed = self.passed.max(passed);
    }
}

impl<F: Fn(HostInstant) -> Bytes> Sight for Now<F> {
    const NAME: &'static str = "present";

    fn look(&mut self, _before: HostInstant, now: HostInstant) -> Bytes {
        let Word { lead, span, room, .. } = self.word;
        let told = self.word.told(now);
        // Packet by packet: a packet that arrives and leaves between two calls used capacity from
        // after its arrival, not from before. With one sum for all packets the computed
        // queue would be wrong.
        while let Some(&(at, size)) = self.underway.front()
            && at <= told
        {
            self.underway.pop_front();
            self.serve(at);
            self.wire = self.wire.saturating_sub(size);
            self.waiting += size;
        }
        self.serve(told);
        let begins = told.as_nanos().saturating_sub(span.as_nanos() as u64);
        let begins = HostInstant::from_nanos(begins);
        let rate = self.passed.saturating_sub((self.capacity)(begins)).per(span);
        let most = rate * (now - told + lead + room) + self.mss;
        most.saturating_sub(self.waiting + self.wire)
    }

    fn handle_sent(&mut self, at: HostInstant, size: Bytes) {
        self.underway.push_back((at + self.word.lead, size));
        self.wire += size;
    }
}

impl<F> fmt::Debug for Future<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Future").field("lead", &self.lead).finish_non_exhaustive()
    }
}

impl<F> fmt::Debug for Now<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Now").field("word", &self.word).finish_non_exhaustive()
    }
}

impl<S: Sight> Told<S> {
    fn look(&mut self, now: HostInstant) {
        self.allowed = self.sight.look(self.now, now);
        self.now = now;
    }
}

impl<S: Sight + fmt::Debug + Send> Controller for Told<S> {
    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        self.in_flight = sent.in_flight;
        self.sight.handle_sent(sent.at, size);
        self.allowed = self.allowed.saturating_sub(size);
    }

    fn handle_ack(&mut self, ack: &Ack) {
        self.in_flight = ack.in_flight;
        self.look(ack.now);
    }

    fn handle_loss(&mut self, loss: &Loss) {
        self.in_flight = loss.in_flight;
    }

    fn handle_timeout(&mut self, _now: HostInstant) {
        self.in_flight = Bytes::ZERO;
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.look(now);
    }

    fn wakeup(&self) -> Option<HostInstant> {
        Some(self.now + STEP)
    }

    fn cwnd(&self) -> Bytes {
        self.in_flight + self.allowed
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn state(&self) -> &'static str {
        S::NAME
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_every_ten_milliseconds_comes_late_and_is_up_to_ten_older() {
        let ms = |ms: u64| HostInstant::from_nanos(ms * 1_000_000);
        let late = Duration::from_millis(20);
        let (every, room) = (Duration::ZERO, Duration::ZERO);
        let steady = Word { lead: late, late, every, span: late, room };
        assert_eq!([ms(129), ms(130)].map(|now| steady.told(now)), [ms(109), ms(110)]);
        let every = Word { every: Duration::from_millis(10), ..steady };
        assert_eq!([ms(129), ms(130)].map(|now| every.told(now)), [ms(100), ms(110)]);
        assert_eq!(every.told(ms(3)), ms(0));
    }
}
