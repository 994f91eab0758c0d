//! How a device asks for the uplink, and what the network believes of its buffer.

use alloc::collections::VecDeque;
use core::time::Duration;

use sounding_phy::lte::BsrTable;
use sounding_phy::nr::BsrFormat;
use sounding_units::{Bytes, HostInstant};

use crate::config::{Rat, UplinkConfig};
use crate::event::{BufferReport, ReportCause};

/// The device's side (TS 36.321 §5.4.4–5.4.5, TS 38.321 §5.4.4–5.4.5).
///
/// ```text
/// nothing ──data to an empty buffer──▶ Regular ──no grant at the next occasion──▶ request sent
///    ▲                                    │                                          │
///    └──────── a block with the report ◀──┴────────────── the first grant ◀──────────┘
/// ```
#[derive(Clone, Debug)]
pub(crate) struct Asking {
    regular: bool,
    /// When the periodic report is due, once a report was sent.
    periodic: Option<HostInstant>,
    /// When the report counts as not heard.
    retx: Option<HostInstant>,
}

impl Asking {
    pub(crate) const fn new() -> Self {
        Self { regular: false, periodic: None, retx: None }
    }

    /// Data came to a buffer that was empty, or a control PDU is to be sent.
    pub(crate) fn handle_data(&mut self) {
        self.regular = true;
    }

    /// Whether a scheduling request is to be sent in a slot without a grant.
    pub(crate) fn requests(&self) -> bool {
        self.regular
    }

    /// Time has reached `now`, with `waiting` bytes in the buffer.
    pub(crate) fn handle_time(&mut self, now: HostInstant, waiting: u64) {
        if self.retx.is_some_and(|at| at <= now) {
            self.retx = None;
            self.regular |= waiting > 0;
        }
    }

    /// The report for a block that leaves `waiting` bytes behind and has `room` bytes to spare.
    pub(crate) fn report(
        &mut self,
        now: HostInstant,
        waiting: u64,
        room: u64,
        rat: Rat,
        config: &UplinkConfig,
    ) -> Option<BufferReport> {
        let cause = if self.regular {
            ReportCause::Regular
        } else if self.periodic.is_some_and(|at| at <= now) {
            ReportCause::Periodic
        } else if room >= REPORT_SIZE {
            ReportCause::Padding
        } else {
            return None;
        };
        self.regular = false;
        self.periodic = Some(now + config.periodic_bsr);
        self.retx = Some(now + config.retx_bsr);
        Some(BufferReport { cause, index: report_index(rat, waiting), waiting })
    }

    /// Whether a report will be in the next block whatever room it has.
    pub(crate) fn reports(&self, now: HostInstant) -> bool {
        self.regular || self.periodic.is_some_and(|at| at <= now)
    }

    pub(crate) fn reset(&mut self) {
        *self = Self::new();
    }
}

/// A short BSR with its subheader.
pub(crate) const REPORT_SIZE: u64 = 2;

/// The index that a report of `waiting` bytes has.
fn report_index(rat: Rat, waiting: u64) -> u8 {
    let waiting = Bytes::new(waiting);
    match rat {
        Rat::Lte => BsrTable::Normal.index(waiting),
        Rat::Nr => BsrFormat::Short.index(waiting),
    }
}

/// What the network takes a report for: the upper end of its range; of the open one as much as it can grant.
fn report_value(rat: Rat, index: u8) -> u64 {
    /// More than any carrier can be granted within a report's period.
    const OPEN_ENDED: u64 = 600_000;
    let upper = match rat {
        Rat::Lte => BsrTable::Normal.upper(index),
        Rat::Nr => BsrFormat::Short.upper(index),
    };
    upper.map_or(OPEN_ENDED, Bytes::count)
}

/// The network's side: what it believes waits in a device.
///
/// Grants follow a rhythm: once all that was reported is granted, the next grant is one report interval later, so that what
/// comes in one interval is sent in the next but one, with that interval's report (Gandalf §3.2.1). A device that has just
/// had something is granted room for a report even if it told of nothing. Reports overlap: each counts what was granted but
/// not sent when it was written. The network corrects for that, not always rightly (§3.2.2).
#[derive(Clone, Debug, Default)]
pub(crate) struct Belief {
    /// To be granted now.
    ready: u64,
    /// To be granted later.
    later: VecDeque<Expected>,
    /// Granted, and not sent yet.
    granted: u64,
    /// What the newest report told.
    told: u64,
    /// All reported is granted, and the next block is not sent before.
    rhythm: Option<HostInstant>,
    /// Grants for a report alone that are still to be given.
    polls: u8,
    /// What such a grant is for.
    poll: u64,
}

/// Bytes that a device waits to send.
#[derive(Clone, Copy, Debug)]
struct Expected {
    /// The network knows of them from then on.
    known: HostInstant,
    /// Blocks with them are sent from then on.
    sent: HostInstant,
    bytes: u64,
}

/// A report as it reached the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told<'a> {
    pub(crate) rat: Rat,
    pub(crate) report: &'a BufferReport,
    /// When the block with it was sent.
    pub(crate) sent: HostInstant,
    /// When it was decoded.
    pub(crate) known: HostInstant,
    /// This time the network takes bytes for new that it was told of before.
    pub(crate) twice: bool,
}

impl Belief {
    /// A request arrived; it is answered from `from` on.
    pub(crate) fn handle_request(&mut self, from: HostInstant, config: &UplinkConfig) {
        let bytes = config.first_grant.count();
        self.later.push_back(Expected { known: from, sent: from, bytes });
    }

    /// A report arrived.
    pub(crate) fn handle_report(&mut self, told: Told<'_>, config: &UplinkConfig) {
        let Told { rat, report, sent, known, twice } = told;
        let value = report_value(rat, report.index);
        let before = core::mem::replace(&mut self.told, value);
        if value > 0 {
            self.polls = POLLS;
            self.poll = config.first_grant.count();
        }
        let later: u64 = self.later.iter().map(|expected| expected.bytes).sum();
        let due = self.ready + later;
        let wanted = value + if twice { before } else { 0 };
        if wanted > due + self.granted {
            let delay = interval(config).mul_f64(config.grant_delay);
            let bytes = wanted - due - self.granted;
            self.later.push_back(Expected { known, sent: sent + delay, bytes });
            return;
        }
        // Less than believed: the newest belief goes first.
        let mut excess = due.saturating_sub(value);
        while let Some(expected) = self.later.back_mut() {
            let cut = excess.min(expected.bytes);
            expected.bytes -= cut;
            excess -= cut;
            if expected.bytes > 0 {
                break;
            }
            self.later.pop_back();
        }
        self.ready -= excess.min(self.ready);
    }

    /// What may be granted at `now` for a block that is sent at `sent`.
    pub(crate) fn ready(&mut self, now: HostInstant, sent: HostInstant) -> u64 {
        while let Some(expected) = self.later.front() {
            if expected.known > now || expected.sent > sent {
                break;
            }
            self.ready += expected.bytes;
            self.later.pop_front();
        }
        match self.rhythm {
            Some(next) if sent < next => 0,
            _ if self.ready == 0 && self.polls > 0 => self.poll,
            _ => self.ready,
        }
    }

    /// Whether there is or will be anything to grant.
    pub(crate) fn is_empty(&self) -> bool {
        self.ready == 0 && self.later.is_empty() && self.polls == 0
    }

    /// A grant was given for a block that is sent at `sent`.
    pub(crate) fn handle_grant(&mut self, sent: HostInstant, bytes: u64, config: &UplinkConfig) {
        if self.ready == 0 {
            self.polls = self.polls.saturating_sub(1);
        }
        self.ready = self.ready.saturating_sub(bytes);
        self.granted += bytes;
        // A repeat that took a beat's slot does not shift the beats after it.
        let (interval, beat) = (interval(config), self.rhythm.unwrap_or(sent));
        let beat = if beat + interval > sent { beat } else { sent };
        self.rhythm = (self.ready == 0).then(|| beat + interval);
    }

    /// What was granted has been sent.
    pub(crate) fn handle_use(&mut self, bytes: u64) {
        self.granted = self.granted.saturating_sub(bytes);
    }

    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }
}

/// Reports that the network still makes room for after one of an empty buffer. Chosen: without, a device that sends evenly
/// would have to ask anew whenever it was granted too much once.
const POLLS: u8 = 2;

/// What the network counts with: reports that come seldom are no reason to grant seldom.
fn interval(config: &UplinkConfig) -> Duration {
    const LONGEST: Duration = Duration::from_millis(40);
    config.periodic_bsr.min(LONGEST)
}
