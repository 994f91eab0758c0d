//! Whether a device had more to send than it was granted.

use core::time::Duration;

use sounding_kpi::{BufferStatus, Direction, Grant};
use sounding_units::{Bytes, ModemInstant};

use super::ahead::Ahead;
use crate::entries::Entries;
use crate::report_timer::ReportTimer;

/// How long data must stay queued before a link counts as full. If it were shorter, the bursts of
/// an ACK-clocked window would count. If it were longer, a sender would learn late that it has
/// filled the link. Chosen; pinned by the seeded runs of `sounding-lab`.
pub(super) const FILLED_FOR: Duration = Duration::from_millis(20);

/// A base station serves a queue at least so often, other users and all. Chosen; pinned by the same
/// runs.
const SERVED_WITHIN: Duration = Duration::from_millis(40);

/// From a report to the grant that answers it, at most (Gandalf Equation 4, measured at 5 ms).
/// Where reports are rarer it takes no longer: a real base station answers each as soon.
const ANSWER: Duration = Duration::from_millis(10);

/// The demand that the blocks of one direction show.
///
/// A padded block emptied the buffer, unless its own report says otherwise. A block without padding
/// left data behind. If the device reports how much, it is known when the oldest waiting byte
/// entered.
///
/// ```text
///             a full block                 full for `FILLED_FOR`
///   Served ────────────────▶ Waiting ────────────────────────────▶ Backlogged
///     ▲                        │  ▲ the oldest byte is younger      │
///     │        padding         │  └────── than a cycle ─────────────┤
///     └────────────────────────┴──────────── padding ───────────────┘
/// ```
#[derive(Clone, Debug)]
pub(super) struct Demand {
    /// The longest that data waits for a grant where reports are frequent.
    cycle: Duration,
    /// A block counts when it arrived: later than others, if it had to be repeated.
    out_of_order: bool,
    /// The first block, and the newest.
    first: Option<ModemInstant>,
    newest: Option<ModemInstant>,
    /// The newest block that took all there was.
    emptied: Option<ModemInstant>,
    /// Until this time no data can have waited for longer than a cycle.
    served_until: Option<ModemInstant>,
    waiting: Option<Waiting>,
    entries: Entries,
    timer: ReportTimer,
    ahead: Ahead,
}

/// Consecutive blocks that left data behind.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    since: ModemInstant,
    newest: ModemInstant,
}

impl Demand {
    /// In the uplink data waits for a report, which comes every 5 ms in LTE and NR (Gandalf
    /// §4.3.2), and for its [`ANSWER`]. A base station sees its own queue.
    pub(super) fn new(direction: Direction) -> Self {
        let cycle = match direction {
            Direction::Uplink => Duration::from_millis(15),
            Direction::Downlink => Duration::from_millis(1),
        };
        Self {
            cycle,
            out_of_order: matches!(direction, Direction::Downlink),
            first: None,
            newest: None,
            emptied: None,
            served_until: None,
            waiting: None,
            entries: Entries::default(),
            timer: ReportTimer::default(),
            ahead: Ahead::default(),
        }
    }

    /// Forgets all but how the network grants.
    pub(super) fn forget(&mut self, direction: Direction) {
        *self = Self { ahead: self.ahead, ..Self::new(direction) };
    }

    /// A block of new data, of a record that knows padding.
    pub(super) fn handle_block(&mut self, grant: &Grant) {
        let Some(padding) = grant.padding else { return };
        let at = grant.at;
        self.first.get_or_insert(at);
        self.newest = self.newest.max(Some(at));
        let is_emptied = match grant.report {
            // A block may have padding because only an RLC status was sent.
            Some(report) => report.most == Bytes::ZERO,
            None => padding > Bytes::ZERO,
        };
        if let Some(report) = grant.report {
            self.timer.handle_report(at, report);
        }
        let bytes = grant.size.saturating_sub(padding);
        let unreported = Bytes::new(self.entries.handle_sent(bytes.count()));
        if self.timer.is_running() && self.backlogged_since(at).is_none() {
            self.ahead.handle_block(bytes, unreported, grant.report.is_some());
        }
        if is_emptied {
            self.entries.handle_left(at, 0, 0, 0);
            return self.handle_emptied(at);
        }
        if let Some(BufferStatus { least, most }) = grant.report {
            let (least, most) = (least.count(), most.count());
            // A queue that reads too short looks younger than it is. Chosen, as in `entries`.
            self.entries.handle_left(at, least, most, least + most.saturating_sub(least) / 3 * 2);
        }
        if self.timer.is_running() {
            self.handle_oldest(at);
        }
        self.handle_left(at);
    }

    /// How long data waits at most until it is granted, as long as the radio has room for it. Where
    /// reports are rare, it waits for the next, unless the network grants without.
    fn longest_wait(&self) -> Duration {
        match self.timer.value() {
            Some(interval) if !self.ahead.is_shown() => self.cycle.max(interval + ANSWER),
            _ => self.cycle,
        }
    }

    /// A block of `at` left the oldest waiting byte behind.
    fn handle_oldest(&mut self, at: ModemInstant) {
        let served = self.entries.oldest(at).map(|entered| entered + self.longest_wait());
        if let Some(until) = served.filter(|until| *until >= at) {
            self.serve_until(until);
        }
    }

    fn handle_emptied(&mut self, at: ModemInstant) {
        self.emptied = self.emptied.max(Some(at));
        self.serve_until(at + self.cycle);
        self.waiting = self.waiting.filter(|waiting| waiting.newest > at);
        if let Some(waiting) = &mut self.waiting {
            waiting.since = waiting.since.max(at);
        }
    }

    /// A block left data behind.
    fn handle_left(&mut self, at: ModemInstant) {
        // If one block of a subframe is not full, the buffer was emptied.
        if self.emptied.is_some_and(|emptied| at <= emptied) {
            return;
        }
        // Data behind a repeated block may have been sent long before the repeat arrives: a repeat
        // alone shows nothing.
        let goes_on = |waiting: &Waiting| {
            !self.out_of_order || waiting.filled() || at - waiting.newest <= FILLED_FOR
        };
        self.waiting = Some(match self.waiting {
            Some(waiting) if goes_on(&waiting) => {
                Waiting { newest: waiting.newest.max(at), ..waiting }
            }
            _ => Waiting { since: at, newest: at },
        });
    }

    fn serve_until(&mut self, until: ModemInstant) {
        self.served_until = self.served_until.max(Some(until));
    }

    /// Since when more has waited than was granted, as of `now`; `None` if unknown.
    pub(super) fn backlogged_since(&self, now: ModemInstant) -> Option<ModemInstant> {
        let waiting = self.waiting?;
        let end = match self.out_of_order {
            // A downlink block may by chance be exactly as large as the remaining data. Then no
            // data waits.
            true if now - waiting.newest > SERVED_WITHIN => return None,
            true => waiting.newest,
            false => waiting.newest.max(now),
        };
        let since = self.served_until.map_or(waiting.since, |until| until.max(waiting.since));
        (end - since >= FILLED_FOR).then_some(since)
    }

    /// Since when more has waited than was granted, and the newest block that left something
    /// behind.
    pub(super) fn waited(&self, now: ModemInstant) -> Option<(ModemInstant, ModemInstant)> {
        self.backlogged_since(now).zip(self.waiting.map(|waiting| waiting.newest))
    }

    /// Whether the newest blocks left data behind.
    pub(super) const fn is_left(&self) -> bool {
        self.waiting.is_some()
    }

    /// Whether the newest blocks, and not a late one, left a queue behind.
    pub(super) fn is_queue_left(&self) -> bool {
        self.waiting.is_some_and(|waiting| waiting.filled())
    }

    /// Duration of the known blocks.
    pub(super) fn known_for(&self) -> Duration {
        self.first.zip(self.newest).map_or(Duration::ZERO, |(first, newest)| newest - first)
    }

    /// The newest block that showed demand.
    pub(super) const fn newest(&self) -> Option<ModemInstant> {
        self.newest
    }
}

impl Waiting {
    fn filled(&self) -> bool {
        self.newest - self.since >= FILLED_FOR
    }
}
