use sounding_cc::part::Windowed;
use sounding_units::HostInstant;

use super::micros;
use crate::radio_law::Ack;

/// How long the path's RTT without a queue is kept, as in BBR (BBR draft §2.8).
const MIN_LASTS: u64 = 10_000_000_000;
/// This many RTT samples with a queue are enough, also before their round is over (RFC 9406 §4.3).
const SAMPLES: u32 = 8;
/// Smallest delay, beyond all jitter, that counts as a queue: every packet of a round has waited
/// this long. On an uplink even the smallest RTT of a round varies with the intervals of reports
/// and with repeated blocks. Chosen on four seeds: with 16 ms uplinks carried up to 7 % less;
/// pinned by the tests on modelled cells.
pub(super) const QUEUE_US: u64 = 25_000;
/// Limit on the jitter: the mean delay in a round, beyond the smallest, from scheduling, HARQ and
/// reordering. It is one repetition of LTE in FDD and the wait for a grant. Chosen.
const MAX_JITTER_US: u64 = 20_000;

/// What acknowledgements show of a path: its RTT without queue, the radio's extra delay without a
/// queue, and the queue on top. All in microseconds.
///
/// A block that is repeated, or waits for its grant, is late without congestion. If every packet of
/// a round waits, that is congestion. The smallest RTT of a round beyond the overall minimum is the
/// standing queue. The mean beyond the smallest is the radio's extra delay for packets without a
/// queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathRtt {
    least: Option<Windowed<u64>>,
    /// A round ends when data is delivered that left after the round began (BBR draft §4.1.1.3).
    round_ends_at: u32,
    smallest: Option<u64>,
    sum: u64,
    samples: u32,
    jitter: u64,
    queue: u64,
    /// The smallest RTT of the last whole round.
    last: u64,
}

/// The result of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// It ended a round.
    pub(super) over: bool,
    /// The standing queue, if the round has enough samples.
    pub(super) queue: Option<u64>,
}

impl PathRtt {
    pub(super) fn new(now: HostInstant, rtt: Option<u64>, delivered: u32) -> Self {
        Self {
            least: rtt.map(|rtt| Windowed::min(MIN_LASTS, now.as_nanos(), rtt)),
            round_ends_at: delivered,
            smallest: None,
            sum: 0,
            samples: 0,
            jitter: 0,
            queue: 0,
            last: 0,
        }
    }

    pub(super) fn handle_ack(&mut self, ack: &Ack) -> Seen {
        if let Some(rtt) = ack.rtt.and_then(micros) {
            let now = ack.now.as_nanos();
            match &mut self.least {
                Some(least) => least.update(now, rtt),
                None => self.least = Some(Windowed::min(MIN_LASTS, now, rtt)),
            }
            self.smallest = Some(self.smallest.map_or(rtt, |smallest| smallest.min(rtt)));
            self.sum += rtt;
            self.samples = self.samples.saturating_add(1);
        }
        let over =
            (ack.prior_delivered.count() as u32).wrapping_sub(self.round_ends_at) as i32 >= 0;
        let (Some(least), Some(smallest)) = (self.least(), self.smallest) else {
            if over {
                self.begin_round(ack.delivered.count() as u32);
            }
            return Seen { over, queue: None };
        };
        let known = over || self.samples >= SAMPLES;
        let queue = known.then(|| smallest.saturating_sub(least));
        if over {
            let jitter = (self.sum / u64::from(self.samples.max(1))).saturating_sub(smallest);
            self.jitter = (self.jitter * 7 + jitter.min(MAX_JITTER_US)) / 8;
            (self.queue, self.last) = (queue.unwrap_or_default(), smallest);
            self.begin_round(ack.delivered.count() as u32);
        }
        Seen { over, queue }
    }

    /// Begins a round with the data that leaves from now on. `delivered` is [`Ack::delivered`],
    /// wrapping.
    pub(super) fn begin_round(&mut self, delivered: u32) {
        self.round_ends_at = delivered;
        (self.smallest, self.sum, self.samples) = (None, 0, 0);
    }

    /// The RTT of a packet that does not wait.
    pub(super) fn least(&self) -> Option<u64> {
        self.least.map(|filter| filter.best())
    }

    /// The mean delay that the radio adds.
    pub(super) fn jitter(&self) -> u64 {
        self.jitter
    }

    /// The queue that stood in the last whole round.
    pub(super) fn queue(&self) -> u64 {
        self.queue
    }

    /// The smallest RTT of the last whole round.
    pub(super) fn smallest(&self) -> u64 {
        self.last
    }

    /// A standing queue hides the smallest RTT, so its validity starts again.
    pub(super) fn keep_least(&mut self, now: HostInstant) {
        if let Some(least) = self.least() {
            self.handle_longer(now, least);
        }
    }

    /// The path has become longer: its earlier minimum is no longer valid.
    pub(super) fn handle_longer(&mut self, now: HostInstant, rtt: u64) {
        self.least = Some(Windowed::min(MIN_LASTS, now.as_nanos(), rtt));
    }
}
