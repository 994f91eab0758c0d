//! Whether a device had more to send than it was granted.

use alloc::vec::Vec;
use core::time::Duration;

use sounding_kpi::{BufferStatus, Direction, Grant};
use sounding_units::{Bytes, ModemInstant};

use crate::report_timer::ReportTimer;

/// How long data must stay queued before a link counts as full. If it were shorter, the bursts of
/// an ACK-clocked window would count. If it were longer, a sender would learn late that it has
/// filled the link. Chosen; pinned by the seeded runs of `sounding-lab`.
pub(super) const FILLED_FOR: Duration = Duration::from_millis(20);

/// A base station serves a queue at least so often, other users and all. Chosen; pinned by the same
/// runs.
const SERVED_WITHIN: Duration = Duration::from_millis(40);

/// With reports so rare that the next one decides, [`FILLED_FOR`] begins this long before it. Its
/// answer takes 10 ms at most (Gandalf Equation 4, measured at 5 ms). Another 5 ms remain for a
/// repeated block.
const EARLY: Duration = Duration::from_millis(5);

/// Reports of one cycle: a block in each subframe of each of a few carriers may have one.
const MAX_REPORTS: usize = 64;

/// The demand that the blocks of one direction show.
///
/// A padded block emptied the buffer, unless its own report says otherwise. A block without padding
/// left data behind. If the device reports how much, the blocks of the next grant cycle show
/// whether that was served in time.
///
/// ```text
///             a full block                 full for `FILLED_FOR`
///   Served ────────────────▶ Waiting ────────────────────────────▶ Backlogged
///     ▲                        │  ▲ what was reported was served    │
///     │        padding         │  └─────── within a cycle ──────────┤
///     └────────────────────────┴──────────── padding ───────────────┘
/// ```
#[derive(Clone, Debug)]
pub(super) struct Demand {
    /// Time from a report to the network's grant, if the device sends reports.
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
    /// Reports younger than a cycle, each with its bytes not sent yet.
    reports: Vec<(ModemInstant, Bytes)>,
    timer: ReportTimer,
}

/// Consecutive blocks that left data behind.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    since: ModemInstant,
    newest: ModemInstant,
}

impl Demand {
    /// Reports come every 5 ms in LTE and NR, and their bytes are sent within two intervals
    /// (Gandalf §4.3.2, Equation 4); a third interval allows for a repeated block. A base
    /// station sees its own queue.
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
            reports: Vec::new(),
            timer: ReportTimer::default(),
        }
    }

    /// How long after a report that was served in time nothing is called a backlog. Where reports are
    /// rare, data that enters after one waits for the next, and then for its grant. The radio has
    /// room for that data, so that this wait must not fill [`FILLED_FOR`].
    fn served_for(&self) -> Duration {
        let interval = self.timer.interval().unwrap_or_default();
        self.cycle.max(interval.saturating_sub(EARLY))
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
        if is_emptied {
            return self.handle_emptied(at);
        }
        self.handle_sent(at, grant.size);
        if let Some(BufferStatus { least, most }) = grant.report {
            if self.reports.len() == MAX_REPORTS {
                self.reports.remove(0);
            }
            // A report is a range; its lower end is the safe value.
            self.reports.push((at, Bytes::new(least.count().midpoint(most.count()))));
        }
        self.handle_left(at);
    }

    fn handle_emptied(&mut self, at: ModemInstant) {
        self.emptied = self.emptied.max(Some(at));
        self.serve_until(at + self.cycle);
        self.reports.retain(|(reported, _)| *reported > at);
        self.waiting = self.waiting.filter(|waiting| waiting.newest > at);
        if let Some(waiting) = &mut self.waiting {
            waiting.since = waiting.since.max(at);
        }
    }

    /// A block's bytes reduce the backlog that was reported before it.
    fn handle_sent(&mut self, at: ModemInstant, size: Bytes) {
        let (cycle, served_for) = (self.cycle, self.served_for());
        let mut served = None;
        self.reports.retain_mut(|(reported, left)| {
            if *reported < at {
                *left = left.saturating_sub(size);
            }
            let in_time = at - *reported <= cycle;
            if in_time && *left == Bytes::ZERO {
                served = served.max(Some(*reported + served_for));
            }
            in_time && *left > Bytes::ZERO
        });
        if let Some(until) = served {
            self.serve_until(until);
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
