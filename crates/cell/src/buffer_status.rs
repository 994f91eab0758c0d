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
/// Reports overlap: each counts what an earlier one told and what was granted but not sent when it was written. The
/// network corrects for that, not always rightly, and grants what is new one to two report intervals later
/// (Gandalf §3.2.1–3.2.2).
#[derive(Clone, Debug, Default)]
pub(crate) struct Belief {
    /// To be granted now.
    ready: u64,
    /// To be granted from then on.
    later: VecDeque<(HostInstant, u64)>,
    /// Granted, and not sent yet.
    granted: u64,
}

impl Belief {
    /// A request arrived; it is answered from `from` on.
    pub(crate) fn handle_request(&mut self, from: HostInstant, config: &UplinkConfig) {
        self.later.push_back((from, config.first_grant.count()));
    }

    /// A report arrived. `forgets`: this time the network does not correct for what it has granted meanwhile.
    pub(crate) fn handle_report(
        &mut self,
        now: HostInstant,
        rat: Rat,
        report: &BufferReport,
        delay: Duration,
        forgets: bool,
    ) {
        let told = report_value(rat, report.index);
        let later: u64 = self.later.iter().map(|(_, bytes)| bytes).sum();
        let known = self.ready + later + if forgets { 0 } else { self.granted };
        if told > known {
            self.later.push_back((now + delay, told - known));
            return;
        }
        // Less than believed: the newest belief goes first.
        let mut excess = (self.ready + later).saturating_sub(told);
        while let Some((_, bytes)) = self.later.back_mut() {
            let cut = excess.min(*bytes);
            *bytes -= cut;
            excess -= cut;
            if *bytes > 0 {
                break;
            }
            self.later.pop_back();
        }
        self.ready -= excess.min(self.ready);
    }

    /// What may be granted at `now`.
    pub(crate) fn ready(&mut self, now: HostInstant) -> u64 {
        while let Some(&(from, bytes)) = self.later.front() {
            if from > now {
                break;
            }
            self.ready += bytes;
            self.later.pop_front();
        }
        self.ready
    }

    /// Whether there is or will be anything to grant.
    pub(crate) fn is_empty(&self) -> bool {
        self.ready == 0 && self.later.is_empty()
    }

    pub(crate) fn handle_grant(&mut self, bytes: u64) {
        self.ready = self.ready.saturating_sub(bytes);
        self.granted += bytes;
    }

    /// What was granted has been sent.
    pub(crate) fn handle_use(&mut self, bytes: u64) {
        self.granted = self.granted.saturating_sub(bytes);
    }

    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }
}
