//! CQIC: what a CQI stands for, times how much of the carrier the device is served (CQIC §3.2,
//! §3.3).
//!
//! For each carrier a table from CQI to rate. It starts as the standard's and is updated with the
//! real blocks at each CQI. A rate here belongs to one resource block. Times the resource blocks
//! that the device has while data waits for it, it is the paper's product of the carrier's rate and
//! the DTX ratio, whatever the carrier's width (`docs/interpretations/cqic.md`, interpretations 1
//! to 6).

mod kept;
mod served;
mod table;

use core::time::Duration;

use sounding_kpi::{Change, Channel, Direction, Kpi, Signal};
use sounding_units::{ModemInstant, Rate};

use super::slots::{Slot, Slots};
use crate::Config;
use crate::recent::Recent;
use kept::Kept;
use served::Served;
use table::{Entry, Table};

pub use kept::{CellRates, NoRates};
pub(crate) use served::Pending;

/// Carriers that are tracked separately; records of LTE and NR have no more.
const CARRIERS: usize = 8;

/// Records of grants and of reports come in their own time, LTE's downlink statistics up to 300 ms
/// late: what a block was sent at is settled after this.
const SETTLED: Duration = Duration::from_millis(400);

/// The table is updated from the blocks of this much time.
const LESSON: Duration = Duration::from_millis(20);

/// A carrier whose channel was not reported for so long is off, or the device has no connection
/// (interpretation 3).
const REPORTED: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug)]
struct Report {
    carrier: usize,
    entry: Entry,
}

/// A carrier's part of the estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChannelView {
    /// The carrier; 0 is the primary.
    pub carrier: u8,
    /// What a resource block carries by the reports of the window, in bits.
    pub bits_per_prb: f64,
    /// Resource blocks per second that the device has while data waits for it.
    pub prb_per_sec: f64,
}

/// Tables of the carriers in use, and what was reported.
#[derive(Clone, Debug)]
pub(super) struct CqiTables {
    direction: Direction,
    span: Duration,
    ip_share: f64,
    tables: [Option<Table>; CARRIERS],
    /// Which cell each carrier is, where a measurement named it.
    cells: [Option<(bool, u16)>; CARRIERS],
    reports: Recent<Report>,
    served: Served,
    kept: Option<Kept>,
    /// The newest time of a record.
    now: ModemInstant,
    /// The table includes blocks up to this time.
    learnt: ModemInstant,
}

impl CqiTables {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            direction: config.direction,
            span: config.window,
            ip_share: f64::from(config.ip_share_permille) / 1000.0,
            tables: [None; CARRIERS],
            cells: [None; CARRIERS],
            reports: Recent::new(Duration::from_secs(2).max(config.window.saturating_mul(2))),
            served: Served::default(),
            kept: None,
            now: ModemInstant::default(),
            learnt: ModemInstant::default(),
        }
    }

    /// The same without what it knows of the present; what it keeps by cell it still has.
    pub(super) fn emptied(&mut self, config: &Config) -> Self {
        self.keep_all();
        Self { kept: self.kept.take(), ..Self::new(config) }
    }

    pub(super) fn handle_kpi(&mut self, modem_now: ModemInstant, slots: &Slots, kpi: &Kpi) {
        self.now = modem_now;
        match kpi {
            Kpi::Channel(channel) => self.handle_channel(channel),
            Kpi::Signal(signal) => self.handle_signal(signal),
            // The network's service for a device that it has released is no longer known.
            Kpi::Connection(told) if told.change == Change::Ends => self.forget(),
            _ => {}
        }
        let settled = modem_now.saturating_before(SETTLED);
        if settled - self.learnt >= LESSON {
            // Nothing from before the first update, or before a pause, is kept.
            let since = self.learnt.max(settled.saturating_before(SETTLED));
            self.learn(slots, since, settled);
            self.learnt = settled;
        }
    }

    pub(super) fn handle_pending(&mut self, slots: &Slots, pending: Pending) {
        let Some(table) = self.tables.iter().flatten().next() else { return };
        self.served.handle_pending(slots, pending, table.kind());
    }

    fn handle_channel(&mut self, channel: &Channel) {
        let carrier = usize::from(channel.carrier);
        let Some(table) = self.tables.get_mut(carrier) else { return };
        if table.is_none_or(|table| table.kind() != channel.table) {
            let kept = self.kept.as_ref().zip(self.cells[carrier]);
            let kept = kept.and_then(|(kept, cell)| kept.table(cell));
            let fits = kept.filter(|kept| kept.kind() == channel.table);
            *table = Some(fits.unwrap_or_else(|| Table::standard(channel.table)));
        }
        self.reports.push(channel.at, Report { carrier, entry: Entry::of(channel) });
    }

    /// A carrier is another cell now: what was learnt goes on, unless that cell is known.
    fn handle_signal(&mut self, signal: &Signal) {
        let Some(carrier) = signal.serves_as.map(usize::from).filter(|at| *at < CARRIERS) else {
            return;
        };
        let key = (signal.nr, signal.cell);
        if self.cells[carrier] == Some(key) {
            return;
        }
        self.keep(carrier);
        self.cells[carrier] = Some(key);
        let known = self.kept.as_ref().and_then(|kept| kept.table(key));
        let now = &mut self.tables[carrier];
        if known.is_some_and(|known| now.is_none_or(|now| now.kind() == known.kind())) {
            *now = known;
        }
    }

    fn forget(&mut self) {
        self.keep_all();
        (self.tables, self.cells) = ([None; CARRIERS], [None; CARRIERS]);
        self.reports.forget_until(self.now);
    }

    fn keep(&mut self, carrier: usize) {
        if let (Some(kept), Some(cell), Some(table)) =
            (&mut self.kept, self.cells[carrier], self.tables[carrier])
        {
            kept.keep(CellRates::new(cell, table));
        }
    }

    fn keep_all(&mut self) {
        (0..CARRIERS).for_each(|carrier| self.keep(carrier));
    }

    /// From now on it keeps what it learns by cell, and begins with these.
    pub(super) fn keep_rates(&mut self, rates: impl IntoIterator<Item = CellRates>) {
        self.kept = Some(Kept::of(rates));
    }

    /// All that it keeps, the cells in use included.
    pub(super) fn kept_rates(&self) -> impl Iterator<Item = CellRates> {
        let mut all = self.kept.clone().unwrap_or_default();
        for (cell, table) in self.cells.iter().zip(&self.tables) {
            if let (Some(cell), Some(table)) = (cell, table) {
                all.keep(CellRates::new(*cell, *table));
            }
        }
        all.rates()
    }

    /// The report in force at a time.
    fn report(&self, carrier: usize, at: ModemInstant) -> Option<(ModemInstant, Entry)> {
        let mut of_carrier = self.reports.until(at).filter(|(_, report)| report.carrier == carrier);
        of_carrier.next().map(|(at, report)| (*at, report.entry))
    }

    /// Takes in the blocks of a lesson: their mean at each entry.
    fn learn(&mut self, slots: &Slots, since: ModemInstant, until: ModemInstant) {
        /// A lesson has no more entries than reports: they come every few milliseconds.
        const ENTRIES: usize = 16;
        let mut means: [Option<(usize, Entry, f64, f64)>; ENTRIES] = [None; ENTRIES];
        for (at, slot) in slots.until(until).take_while(|(at, _)| *at > since) {
            let Some((carrier, entry, bits, prb)) = self.observed(*at, slot) else { continue };
            let place = means
                .iter_mut()
                .find(|known| known.is_none_or(|(of, then, ..)| of == carrier && then == entry));
            if let Some(place) = place {
                let (_, _, sum, all) = place.get_or_insert((carrier, entry, 0.0, 0.0));
                (*sum, *all) = (*sum + bits, *all + prb);
            }
        }
        for (carrier, entry, bits, prb) in means.into_iter().flatten() {
            if let Some(table) = &mut self.tables[carrier] {
                table.learn(entry, bits / prb);
            }
        }
    }

    /// What a slot shows of the table: carrier, entry, bits and resource blocks.
    fn observed(&self, at: ModemInstant, slot: &Slot) -> Option<(usize, Entry, f64, f64)> {
        let carrier = usize::from(slot.carrier);
        (*self.tables.get(carrier)?)?;
        let bits = slot.bits_per_prb()? * f64::from(slot.prb);
        let (_, entry) = self.report(carrier, at)?;
        Some((carrier, entry, bits, f64::from(slot.prb)))
    }

    /// Whether channels are reported now, so that there is a rate before the first grant.
    pub(super) fn is_reported(&self, now: ModemInstant) -> bool {
        self.views(now).next().is_some()
    }

    /// The carriers whose channel is reported, as of `now`.
    pub(super) fn views(&self, now: ModemInstant) -> impl Iterator<Item = ChannelView> {
        // A device reports no CQI of what it sends.
        let tables = self.tables.iter().filter(|_| self.direction == Direction::Downlink);
        (0..).zip(tables).filter_map(move |(carrier, table)| {
            let (table, at) = (table.as_ref()?, usize::from(carrier));
            Some(ChannelView {
                carrier,
                bits_per_prb: self.mean(table, at, now)?,
                prb_per_sec: self.served.prb_per_sec(at, table.kind()),
            })
        })
    }

    /// The rate as of the newest record.
    pub(super) fn rate(&self) -> Option<Rate> {
        let mut views = self.views(self.now).peekable();
        views.peek()?;
        let bits: f64 = views.map(|view| view.bits_per_prb * view.prb_per_sec).sum();
        Some(Rate::from_bits_per_sec((bits * self.ip_share) as u64))
    }

    /// The mean over the reports of a window; over the last one, where there is none in it.
    fn mean(&self, table: &Table, carrier: usize, end: ModemInstant) -> Option<f64> {
        let (newest, last) = self.report(carrier, end)?;
        if end - newest > REPORTED {
            return None;
        }
        let (mut sum, mut count) = (0.0, 0.0);
        for report in self.reports.within(end, self.span).filter(|report| report.carrier == carrier)
        {
            sum += table.bits(report.entry);
            count += 1.0;
        }
        Some(if count > 0.0 { sum / count } else { table.bits(last) })
    }
}

/// What the standard says of a report: bits of a resource block, all layers together.
pub(super) fn standard_bits(report: &Channel) -> f64 {
    table::standard(report.table, Entry::of(report))
}
