use core::time::Duration;

use sounding_cc::part::Windowed;
use sounding_units::{Bytes, HostInstant};

use super::Config;

/// How long the earliest packet says how long the way is (§4.2.2).
const LASTS: Duration = Duration::from_secs(10);

/// So much later than the earliest is still as early as packets come: the jitter of 94.1 % of the
/// time (§4.2.2).
const JITTER: Duration = Duration::from_millis(3);

/// Which packets are late, and how many of them came in a row (§4.2.2).
///
/// A delay is relative, on two clocks whose difference is unknown: only differences count.
#[derive(Clone, Copy, Debug)]
pub(super) struct LateRun {
    /// D_prop.
    least: Option<Windowed<Duration>>,
    /// When a packet came as early as that, within the jitter.
    early_at: HostInstant,
    late: Bytes,
    /// Since when packets come late, and how long that was at the last of them.
    late_since: HostInstant,
    late_span: Duration,
    on_time: Bytes,
}

impl LateRun {
    pub(super) fn new(now: HostInstant) -> Self {
        Self {
            least: None,
            early_at: now,
            late: Bytes::ZERO,
            late_since: now,
            late_span: Duration::ZERO,
            on_time: Bytes::ZERO,
        }
    }

    /// `acked` was on the way for `delay`.
    pub(super) fn handle_ack(
        &mut self,
        config: &Config,
        now: HostInstant,
        delay: Duration,
        acked: Bytes,
    ) {
        let least = match &mut self.least {
            Some(filter) => {
                filter.update(now.as_nanos(), delay);
                filter.best()
            }
            None => {
                let window = LASTS.as_nanos() as u64;
                self.least = Some(Windowed::min(window, now.as_nanos(), delay));
                delay
            }
        };
        if delay <= least + JITTER {
            self.early_at = now;
        }
        self.count(now, delay > least + config.late_by, acked);
    }

    /// `acked` was late, or on time.
    pub(super) fn count(&mut self, now: HostInstant, late: bool, acked: Bytes) {
        if !late {
            (self.late, self.on_time) = (Bytes::ZERO, self.on_time + acked);
            return;
        }
        if self.late == Bytes::ZERO {
            self.late_since = now;
        }
        self.late_span = now - self.late_since;
        (self.late, self.on_time) = (self.late + acked, Bytes::ZERO);
    }

    /// Whether the last packets were late, `enough` of them, and not all at once: a radio that
    /// stood still hands over at once what it held (interpretation 26).
    pub(super) fn is_late(&self, config: &Config, enough: Bytes) -> bool {
        self.late >= enough && self.late_span >= config.late_for
    }

    /// Whether the last packets were on time, `enough` of them.
    pub(super) fn is_on_time(&self, enough: Bytes) -> bool {
        self.on_time >= enough
    }

    /// Past arrivals say nothing about the next ones.
    pub(super) fn begin(&mut self) {
        (self.late, self.on_time) = (Bytes::ZERO, Bytes::ZERO);
    }

    /// Whether no packet has come as early as the earliest for ten seconds: the queue has to be
    /// drained, to see how long the way is now.
    pub(super) fn is_due(&self, now: HostInstant) -> bool {
        now - self.early_at > LASTS
    }

    /// It is being drained.
    pub(super) fn handle_drain(&mut self, now: HostInstant) {
        self.early_at = now;
    }
}
