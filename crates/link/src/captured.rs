//! A capture as a link: what the network granted, at its own times.

use alloc::collections::BTreeMap;
use core::time::Duration;

use sounding_diag::capture::{CaptureError, recognise};
use sounding_kpi::{Direction, Kpi};
use sounding_trace::{Carried, InvalidTrace, Trace};
use sounding_units::{Bytes, HostInstant, ModemInstant};

use crate::{Arrival, Bin, Bins, Bound, Config, Granted, Seen, Sounder, State, Step};

/// The link of one direction that a capture shows. Give it everything that the sounder's watcher
/// receives.
///
/// Each block counts once ([`Granted`]), when it was on the air. It counts whole, with padding: the
/// link could have carried more data in it. A packet of 1500 bytes takes its headers too.
#[derive(Clone, Debug)]
pub struct Captured {
    granted: Granted,
    bins: Bins,
    /// Time of the record whose KPIs are being received.
    stamped: ModemInstant,
    /// The modem's clock since it was last set.
    stretch: Option<Stretch>,
    /// Bytes of blocks by their millisecond, as long as an earlier block may still be reported.
    waiting: BTreeMap<u64, Bytes>,
    /// The millisecond of the first block.
    first: Option<u64>,
    /// The link, which begins at [`LEAD`], and how far it is complete.
    carried: Carried,
    complete: u64,
    failed: Option<InvalidTrace>,
    account: Account,
    is_silent: bool,
}

/// Time that passes on one setting of the modem's clock.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    began: ModemInstant,
    /// The time in the link at its beginning.
    at: Duration,
}

/// What a link does not show of the radio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// From the first record to the last.
    pub lasts: Duration,
    /// Time in which the device was granted everything that it asked for, so that the radio may
    /// have had more.
    pub floor: Duration,
    /// Stretches without records.
    pub gaps: u64,
    /// The time in them, in which the link carries nothing.
    pub silent: Duration,
    /// How often the modem set its clock. The link goes on without the jump.
    pub jumps: u64,
}

/// Why bytes show no link.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoLink {
    /// They are something else.
    #[error(transparent)]
    NoCapture(#[from] CaptureError),
    /// Too little or too much was granted for a trace.
    #[error("its grants make no trace: {0}")]
    NoTrace(#[from] InvalidTrace),
}

/// The first record may list blocks that are so much older. If so, the link begins with them.
const LEAD: Duration = Duration::from_secs(2);
/// A block is reported within this, also by records that come once in some seconds.
const REPORTED: Duration = Duration::from_secs(10);
/// The account is made in spans of this.
const SPAN: Duration = Duration::from_millis(100);
/// What a block has before its data: MAC's subheader with a length of 15 bits and RLC's fixed
/// header (TS 36.321 §6.1.2, TS 36.322 §6.2.1.4).
const BLOCK: Bytes = Bytes::new(5);
/// What a packet takes beside its own bytes: PDCP's header, RLC's length and a part of MAC's (TS
/// 36.323 §6.2, TS 38.321 §6.1.2). The same number is assumed before a packet's overhead is
/// measured.
const PACKET: Bytes = Bytes::new(8);

impl Captured {
    /// The link of this direction. The sounder has an estimator of it.
    pub fn new(direction: Direction) -> Self {
        Self {
            granted: Granted::new(direction),
            bins: Bins::new(SPAN),
            stamped: ModemInstant::default(),
            stretch: None,
            waiting: BTreeMap::new(),
            first: None,
            carried: Carried::with_headers(PACKET),
            complete: 0,
            failed: None,
            account: Account::default(),
            is_silent: false,
        }
    }

    /// The link of a whole capture.
    ///
    /// # Errors
    ///
    /// [`NoLink`] if the bytes are no capture, or too little or too much was granted for a trace.
    pub fn of(capture: &[u8], direction: Direction) -> Result<(Trace, Account), NoLink> {
        let kind = recognise(capture)?;
        let mut sounder = Sounder::new(Config::new(direction)).reading(kind);
        let mut link = Self::new(direction);
        sounder.handle_bytes(Arrival::AsStamped, capture, |sounder, seen| {
            link.handle_seen(sounder, &seen);
        });
        sounder.handle_end(Arrival::AsStamped, |sounder, seen| link.handle_seen(sounder, &seen));
        Ok(link.finish(&sounder)?)
    }

    /// Its direction.
    pub const fn direction(&self) -> Direction {
        self.granted.direction()
    }

    /// Receives an event of the sounder's watcher.
    pub fn handle_seen(&mut self, sounder: &Sounder, seen: &Seen<'_>) {
        match seen {
            Seen::Next(record) => {
                let now = sounder.clock().unwrap_or(record.at);
                self.stretch.get_or_insert(Stretch { began: now, at: LEAD });
                self.step(|bins, ended| bins.handle_record(now, ended), sounder);
                self.stamped = record.at;
                self.granted.handle_time(now);
                self.take_blocks();
                let reported = self.at(now.saturating_before(REPORTED));
                self.pass_on(reported);
            }
            Seen::Kpi(Kpi::Grant(grant)) => self.granted.handle_grant(self.stamped, grant),
            Seen::Kpi(_) | Seen::Record(_) | Seen::Other { .. } => {}
        }
    }

    /// The capture has ended: the link, and what it does not show.
    ///
    /// # Errors
    ///
    /// [`InvalidTrace`] if too little or too much was granted for a trace.
    pub fn finish(mut self, sounder: &Sounder) -> Result<(Trace, Account), InvalidTrace> {
        self.step(|bins, ended| bins.handle_end(ended), sounder);
        self.end_stretch();
        let lead = LEAD.as_millis() as u64;
        let begins = self.first.map_or(lead, |first| first.min(lead));
        let trace = match self.failed {
            Some(failed) => Err(failed),
            None => self.carried.finish(begins as u32),
        };
        Ok((trace?, self.account))
    }

    fn step(&mut self, cut: impl FnOnce(&mut Bins, &mut dyn FnMut(Step)), sounder: &Sounder) {
        // A copy, because each end of a bin changes the rest.
        let mut bins = self.bins.clone();
        cut(&mut bins, &mut |step| match step {
            Step::Bin(bin) => self.handle_bin(sounder, bin),
            Step::Jump(jump) => {
                self.end_stretch();
                self.stretch = Some(Stretch { began: jump.to, at: LEAD + jump.elapsed });
                self.account.jumps += 1;
            }
        });
        self.bins = bins;
    }

    fn handle_bin(&mut self, sounder: &Sounder, bin: Bin) {
        let now = HostInstant::from_nanos(bin.end.as_nanos());
        let direction = self.granted.direction();
        let own = sounder.estimators().find(|estimator| estimator.direction() == direction);
        let Some(estimate) = own.map(|estimator| estimator.estimate(now)) else { return };
        let account = &mut self.account;
        account.lasts = bin.elapsed;
        let was_silent = core::mem::replace(&mut self.is_silent, estimate.state == State::Stale);
        match (estimate.state, estimate.bound) {
            (State::Stale, _) => {
                account.gaps += u64::from(!was_silent);
                account.silent += bin.span;
            }
            (State::Active | State::Idle, Bound::Floor) => account.floor += bin.span,
            // An outage is known, and so is the way to another cell.
            _ => {}
        }
    }

    /// A moment of the modem in milliseconds of the link.
    fn at(&self, modem: ModemInstant) -> u64 {
        let Some(Stretch { began, at }) = self.stretch else { return 0 };
        let at = (at + (modem - began)).saturating_sub(began - modem);
        u64::try_from(at.as_millis()).unwrap_or(u64::MAX)
    }

    fn take_blocks(&mut self) {
        while let Some((at, size)) = self.granted.poll() {
            let at = self.at(at);
            self.first = Some(self.first.map_or(at, |first| first.min(at)));
            *self.waiting.entry(at).or_default() += size.saturating_sub(BLOCK);
        }
    }

    /// Blocks before this millisecond of the link are complete.
    fn pass_on(&mut self, until: u64) {
        while let Some(entry) = self.waiting.first_entry().filter(|entry| *entry.key() < until) {
            let (at, bytes) = entry.remove_entry();
            // A block that is reported later than others, or from before a jump, is late.
            self.complete = self.complete.max(at);
            if self.failed.is_none() {
                self.failed = self.carried.handle_bytes(self.complete, bytes).err();
            }
        }
    }

    /// The clock is set, or the capture has ended.
    fn end_stretch(&mut self) {
        self.granted.handle_end();
        self.take_blocks();
        self.pass_on(u64::MAX);
    }
}
