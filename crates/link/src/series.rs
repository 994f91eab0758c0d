//! A series of estimates over time, with the grants of each bin.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_kpi::Kpi;
use sounding_units::{Bytes, HostInstant, ModemInstant};

use crate::{
    Bin, Bins, CellView, Estimator, Granted, Jump, LinkEstimate, Seen, Sounder, State, Step,
};

/// An item of a [`Series`].
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// A bin that has ended.
    Row(Row),
    /// The modem set its clock.
    Jump(Jump),
}

/// A bin, with both directions.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its time.
    pub bin: Bin,
    /// One entry for each estimator of the sounder, in their order.
    pub ways: Vec<Way>,
}

/// One direction in one bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Way {
    /// The estimate that a controller would receive at the end of the bin.
    pub estimate: LinkEstimate,
    /// The state of the cells at that time, with [`Method::Cell`](crate::Method::Cell).
    pub cell: Option<CellView>,
    /// Bytes of the blocks that were granted in the bin, each counted once ([`Granted`]); `None`
    /// if no record lists blocks.
    pub granted: Option<Bytes>,
}

/// Cuts the results of a [`Sounder`] into rows of equal length.
///
/// Give it everything that the sounder's watcher receives, and call [`poll`](Self::poll) after
/// each. A row is complete when no record can add grants to it: 1.5 s after its end, or later if
/// records are rare. The series holds the rows of that time, and those of a pause of ten seconds.
#[derive(Clone, Debug)]
pub struct Series {
    bins: Bins,
    ways: Vec<Grants>,
    /// Bins that have ended, but to which a late record may add.
    held: VecDeque<Row>,
    ready: VecDeque<Line>,
    /// Time of the record whose KPIs are being received.
    stamped: ModemInstant,
    /// Whether a record counted since the last look at the host's clock.
    is_new: bool,
    /// The modem's clock when the newest record came that counts, and when that was by the host's.
    heard: Option<(ModemInstant, HostInstant)>,
}

/// The grants of one direction.
#[derive(Clone, Debug)]
struct Grants {
    granted: Granted,
    /// Bytes that were granted in the current bin.
    current: Bytes,
    /// Whether any record listed a block.
    any: bool,
}

/// Records of a live modem arrive within this: its buffer is drained every 100 ms at most.
const UNDERWAY: Duration = Duration::from_millis(300);

/// Time until a block is reported and settled, if records are as frequent as usual.
const HELD_FOR: Duration = Duration::from_millis(1_500);

impl Series {
    /// A series of the sounder's estimates, with rows of this length, which must not be zero.
    pub fn new(bin: Duration, sounder: &Sounder) -> Self {
        let way = |direction| Grants {
            granted: Granted::new(direction),
            current: Bytes::ZERO,
            any: false,
        };
        Self {
            bins: Bins::new(bin),
            ways: sounder.estimators().map(|estimator| way(estimator.direction())).collect(),
            held: VecDeque::new(),
            ready: VecDeque::new(),
            stamped: ModemInstant::default(),
            is_new: false,
            heard: None,
        }
    }

    /// Receives an event of the sounder's watcher.
    pub fn handle_seen(&mut self, sounder: &Sounder, seen: &Seen<'_>) {
        match seen {
            Seen::Next(record) => {
                let now = sounder.clock().unwrap_or(record.at);
                self.step(|bins, ended| bins.handle_record(now, ended), sounder);
                self.stamped = record.at;
                self.is_new = true;
                self.settle_blocks(now);
                self.release(sounder, now);
            }
            Seen::Kpi(Kpi::Grant(grant)) => {
                for way in
                    self.ways.iter_mut().filter(|way| way.granted.direction() == grant.direction)
                {
                    way.any = true;
                    way.granted.handle_grant(self.stamped, grant);
                }
            }
            Seen::Kpi(_) | Seen::Record(_) | Seen::Other { .. } => {}
        }
    }

    /// It is `now` at the host of a live modem, whose records were handed in as they came: ends the
    /// rows that no record underway can be in.
    pub fn handle_host_time(&mut self, sounder: &Sounder, now: HostInstant) {
        if core::mem::take(&mut self.is_new) {
            self.heard = sounder.clock().map(|clock| (clock, now));
        }
        if let Some(clock) = self.modem_time(now) {
            let until = clock.saturating_before(UNDERWAY);
            self.step(|bins, ended| bins.handle_time(until, ended), sounder);
            self.release(sounder, until);
        }
    }

    /// The modem's time of a moment of the host, as the newest record of a live modem has it.
    pub fn modem_time(&self, at: HostInstant) -> Option<ModemInstant> {
        let (clock, came) = self.heard?;
        Some((clock + (at - came)).saturating_before(came - at))
    }

    /// The input has ended.
    pub fn handle_end(&mut self, sounder: &Sounder) {
        self.step(|bins, ended| bins.handle_end(ended), sounder);
        self.finish_held();
    }

    /// The next complete line.
    pub fn poll(&mut self) -> Option<Line> {
        self.ready.pop_front()
    }

    fn step(&mut self, cut: impl FnOnce(&mut Bins, &mut dyn FnMut(Step)), sounder: &Sounder) {
        // A copy, because each end of a bin changes the rest.
        let mut bins = self.bins.clone();
        cut(&mut bins, &mut |step| self.handle_step(sounder, step));
        self.bins = bins;
    }

    fn handle_step(&mut self, sounder: &Sounder, step: Step) {
        match step {
            Step::Bin(bin) => self.handle_bin(sounder, bin),
            Step::Jump(jump) => {
                self.finish_held();
                self.ready.push_back(Line::Jump(jump));
            }
        }
    }

    fn handle_bin(&mut self, sounder: &Sounder, bin: Bin) {
        let now = HostInstant::from_nanos(bin.end.as_nanos());
        let mut ways = Vec::new();
        for (estimator, way) in sounder.estimators().zip(&mut self.ways) {
            let estimate = estimator.estimate(now);
            let heard = way.any && estimate.state != State::Stale;
            let current = core::mem::take(&mut way.current);
            let granted = (heard || current > Bytes::ZERO).then_some(current);
            ways.push(Way { estimate, cell: estimator.cell(now), granted });
        }
        self.held.push_back(Row { bin, ways });
        self.settle_blocks(bin.end);
        self.release(sounder, bin.end);
    }

    /// The clock is at `now`: rows are complete to which no record can add.
    fn release(&mut self, sounder: &Sounder, now: ModemInstant) {
        let periods = sounder.estimators().map(Estimator::period);
        let over = now.saturating_before(HELD_FOR + periods.max().unwrap_or_default() * 2);
        while self.held.front().is_some_and(|row| row.bin.end <= over) {
            self.ready.extend(self.held.pop_front().map(Line::Row));
        }
    }

    /// The clock is at `now`: adds settled blocks to the rows of their times.
    fn settle_blocks(&mut self, now: ModemInstant) {
        self.ways.iter_mut().for_each(|way| way.granted.handle_time(now));
        let ended = self.held.back().map(|row| row.bin.end);
        for (number, way) in self.ways.iter_mut().enumerate() {
            while let Some((at, size)) = way.granted.poll() {
                if ended.is_some_and(|end| at < end) {
                    add(&mut self.held, number, at, size);
                } else {
                    way.current += size;
                }
            }
        }
    }

    /// Ends all held rows.
    fn finish_held(&mut self) {
        for (number, way) in self.ways.iter_mut().enumerate() {
            way.granted.handle_end();
            while let Some((at, size)) = way.granted.poll() {
                add(&mut self.held, number, at, size);
            }
        }
        self.ready.extend(self.held.drain(..).map(Line::Row));
    }
}

/// Adds a block to the row of its time; to the oldest or the newest row if that row is not held any
/// more.
fn add(rows: &mut VecDeque<Row>, way: usize, at: ModemInstant, size: Bytes) {
    let after = rows.partition_point(|row| row.bin.end <= at);
    let place = after.min(rows.len().saturating_sub(1));
    if let Some(way) = rows.get_mut(place).and_then(|row| row.ways.get_mut(way)) {
        way.granted = Some(way.granted.unwrap_or_default() + size);
    }
}
