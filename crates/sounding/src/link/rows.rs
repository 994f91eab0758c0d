//! From records to rows: one at the end of each bin, printed once no record can add to it any more.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use sounding_kpi::Kpi;
use sounding_link::{Bin, Bins, CellView, Granted, LinkEstimate, Seen, Sounder, State, Step};
use sounding_units::{Bytes, HostInstant, ModemInstant};

use super::missing::Needs;

/// What is printed.
#[derive(Debug)]
pub(super) enum Line {
    Row(Row),
    Jump(Jump),
}

/// A bin, and what is known of each direction.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) bin: Bin,
    pub(super) ways: Vec<Way>,
}

/// One direction in one bin.
#[derive(Debug)]
pub(super) struct Way {
    /// What a controller would receive at the end of the bin.
    pub(super) estimate: LinkEstimate,
    pub(super) cell: Option<CellView>,
    /// Bytes of the blocks that the records say were granted within the bin; `None` where no record says.
    pub(super) granted: Option<Bytes>,
}

/// The modem set its clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jump {
    /// After so much time since the first record.
    pub(super) elapsed: Duration,
    pub(super) from: ModemInstant,
    pub(super) to: ModemInstant,
}

impl Jump {
    /// How far, in seconds; negative if the clock was set back.
    pub(super) fn seconds(&self) -> f64 {
        (self.to - self.from).as_secs_f64() - (self.from - self.to).as_secs_f64()
    }
}

/// Takes lines as they are finished.
pub(super) trait Print {
    fn print(&mut self, line: &Line) -> io::Result<()>;
}

/// The rows of all directions.
pub(super) struct Rows<P> {
    pub(super) printer: P,
    bins: Bins,
    granted: Vec<Granted>,
    /// Blocks of bins that have not ended.
    early: Vec<VecDeque<(ModemInstant, Bytes)>>,
    /// Bins that ended, and to which a late record may add.
    held: VecDeque<Row>,
    needs: Vec<Needs>,
    /// The record whose KPIs come.
    stamped: ModemInstant,
    elapsed: Duration,
    pub(super) jumps: Jumps,
    /// Why nothing is printed any more.
    failed: Option<io::Error>,
}

/// How often the modem set its clock, and how the first time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Jumps {
    pub(super) count: u64,
    pub(super) first: Option<Jump>,
}

/// A block is reported and settled within this, where records come as often as usual.
const HELD_FOR: Duration = Duration::from_millis(1_500);

impl<P: Print> Rows<P> {
    pub(super) fn new(bin: Duration, needs: Vec<Needs>, printer: P) -> Self {
        Self {
            printer,
            bins: Bins::new(bin),
            granted: needs.iter().map(|needs| Granted::new(needs.direction())).collect(),
            early: needs.iter().map(|_| VecDeque::new()).collect(),
            held: VecDeque::new(),
            needs,
            stamped: ModemInstant::default(),
            elapsed: Duration::ZERO,
            jumps: Jumps::default(),
            failed: None,
        }
    }

    pub(super) fn handle_seen(&mut self, sounder: &Sounder, seen: &Seen<'_>) {
        match seen {
            Seen::Next(record) => {
                let mut bins = self.bins.clone();
                bins.handle_record(record.at, |step| self.handle_step(sounder, step));
                self.bins = bins;
                self.stamped = record.at;
                self.granted.iter_mut().for_each(|way| way.handle_time(record.at));
                self.needs.iter_mut().for_each(|needs| needs.handle_record(record.code));
            }
            Seen::Kpi(kpi) => {
                self.needs.iter_mut().for_each(|needs| needs.handle_kpi(kpi));
                if let Kpi::Grant(grant) = kpi {
                    let stamped = self.stamped;
                    self.granted.iter_mut().for_each(|way| way.handle_grant(stamped, grant));
                }
            }
            Seen::Record(_) | Seen::Other { .. } => {}
        }
    }

    /// A live modem says nothing, and its clock stands at about `now`.
    pub(super) fn handle_quiet(&mut self, sounder: &Sounder, now: ModemInstant) {
        let mut bins = self.bins.clone();
        bins.handle_time(now, |step| self.handle_step(sounder, step));
        self.bins = bins;
    }

    /// Nothing follows.
    pub(super) fn handle_end(&mut self, sounder: &Sounder) -> io::Result<()> {
        let mut bins = self.bins.clone();
        bins.handle_end(|step| self.handle_step(sounder, step));
        self.bins = bins;
        self.finish_held();
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Whether printing has failed.
    pub(super) fn check(&mut self) -> io::Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// The sentences about what is missing, one for each direction without a rate.
    pub(super) fn missing(&self) -> impl Iterator<Item = &Needs> {
        self.needs.iter().filter(|needs| !needs.are_met())
    }

    fn handle_step(&mut self, sounder: &Sounder, step: Step) {
        match step {
            Step::Bin(bin) => self.handle_bin(sounder, bin),
            Step::Jump { from, to } => {
                self.finish_held();
                let jump = Jump { elapsed: self.elapsed, from, to };
                self.jumps.count += 1;
                self.jumps.first.get_or_insert(jump);
                self.print(&Line::Jump(jump));
            }
        }
    }

    fn handle_bin(&mut self, sounder: &Sounder, bin: Bin) {
        let now = HostInstant::from_nanos(bin.end.as_nanos());
        let mut hold = HELD_FOR;
        let mut ways = Vec::new();
        for (estimator, needs) in sounder.estimators().zip(&mut self.needs) {
            let estimate = estimator.estimate(now);
            needs.handle_estimate(&estimate);
            hold = hold.max(HELD_FOR + estimator.period() * 2);
            let heard = needs.has_grants() && estimate.state != State::Stale;
            ways.push(Way {
                estimate,
                cell: estimator.cell(now),
                granted: heard.then_some(Bytes::ZERO),
            });
        }
        self.elapsed = bin.elapsed;
        self.held.push_back(Row { bin, ways });
        self.granted.iter_mut().for_each(|way| way.handle_time(bin.end));
        self.place_blocks();
        let printed_until = bin.end.saturating_before(hold);
        while let Some(row) = self.held.pop_front_if(|row| row.bin.end <= printed_until) {
            self.print(&Line::Row(row));
        }
    }

    /// Puts what is settled where it belongs.
    fn place_blocks(&mut self) {
        let Some(end) = self.held.back().map(|row| row.bin.end) else { return };
        for (way, (granted, early)) in self.granted.iter_mut().zip(&mut self.early).enumerate() {
            early.extend(std::iter::from_fn(|| granted.poll()));
            early.retain(|&(at, size)| {
                if at < end {
                    add(&mut self.held, way, at, size);
                }
                at >= end
            });
        }
    }

    /// Everything that has begun comes to its end.
    fn finish_held(&mut self) {
        for (way, (granted, early)) in self.granted.iter_mut().zip(&mut self.early).enumerate() {
            granted.handle_end();
            early.extend(std::iter::from_fn(|| granted.poll()));
            for (at, size) in early.drain(..) {
                add(&mut self.held, way, at, size);
            }
        }
        for row in std::mem::take(&mut self.held) {
            self.print(&Line::Row(row));
        }
    }

    fn print(&mut self, line: &Line) {
        if self.failed.is_none() {
            self.failed = self.printer.print(line).err();
        }
    }
}

/// Adds a block to the row of its time; to the oldest or the newest, if that one is not there.
fn add(rows: &mut VecDeque<Row>, way: usize, at: ModemInstant, size: Bytes) {
    let after = rows.partition_point(|row| row.bin.end <= at);
    let place = after.min(rows.len().saturating_sub(1));
    if let Some(way) = rows.get_mut(place).and_then(|row| row.ways.get_mut(way)) {
        way.granted = Some(way.granted.unwrap_or_default() + size);
    }
}
