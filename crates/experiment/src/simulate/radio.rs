//! Events on the radio of a modelled cell while flows ran: named spans of time, for figures.

use std::collections::BTreeMap;
use std::time::Duration;

use sounding_cell::event::{Rrc, Transmission};
use sounding_cell::{DeviceId, Direction, Event, Passage};
use sounding_export::figures::{Cell, Kind};
use sounding_units::HostInstant;

use super::keep::{Failed, Files, Table};
use super::way;

const EVENTS: [(&str, Kind); 6] = [
    ("device", Kind::Text),
    // Empty for events without a direction.
    ("direction", Kind::Text),
    ("kind", Kind::Text),
    ("from_s", Kind::Real),
    ("until_s", Kind::Real),
    // For a burst the number of failed transmissions, otherwise the carrier.
    ("number", Kind::Int),
];

/// Transmissions are counted in spans of this length. Consecutive spans with failures are one
/// burst. Chosen: a few round trips of HARQ.
const BURST: Duration = Duration::from_millis(20);

/// A span is part of a burst if at least this many of its transmissions failed, and at least half
/// of them. Chosen: link adaptation aims at a tenth, which is far below.
const BURST_FAILURES: u32 = 4;

/// If the packet at the head of the queue waits this long for the scheduler or a grant, the event
/// is a silence. Chosen: several times the longest wait of a scheduling request in an idle cell.
const SILENCE: Duration = Duration::from_millis(100);

/// The table of a run.
pub(super) struct RadioLog {
    table: Table,
    names: BTreeMap<DeviceId, String>,
    end: HostInstant,
    /// Active carriers except the first, and since when.
    carriers: BTreeMap<(DeviceId, u8), HostInstant>,
    bursts: BTreeMap<(DeviceId, bool), Burst>,
    /// When the last byte of the previous packet was sent.
    sent: BTreeMap<(DeviceId, bool), HostInstant>,
}

/// Transmissions of a device and direction that fail.
#[derive(Clone, Copy, Debug, Default)]
struct Burst {
    /// The span that is being counted.
    span: u64,
    all: u32,
    failed: u32,
    /// The burst so far: its first span, the span after its last, and the number of failed
    /// transmissions.
    spans: Option<(u64, u64, u32)>,
}

impl RadioLog {
    /// Creates the table of these devices' events.
    pub(super) fn create(
        names: impl Iterator<Item = (DeviceId, String)>,
        end: HostInstant,
        about: &[(String, String)],
        files: &mut dyn Files,
    ) -> Result<Self, Failed> {
        Ok(Self {
            table: Table::create(files, "events.parquet", &EVENTS, about)?,
            names: names.collect(),
            end,
            carriers: BTreeMap::new(),
            bursts: BTreeMap::new(),
            sent: BTreeMap::new(),
        })
    }

    pub(super) fn handle_event(&mut self, event: &Event) -> Result<(), Failed> {
        match event {
            Event::Rrc { device, at, change } => self.change(*device, *at, change),
            Event::Transmission(device, transmission) => self.transmit(*device, transmission),
            Event::Passage { device, direction, passage } => {
                self.pass(*device, *direction, passage)
            }
            _ => Ok(()),
        }
    }

    fn change(&mut self, device: DeviceId, at: HostInstant, change: &Rrc) -> Result<(), Failed> {
        match change {
            Rrc::Handover { to, resumes, .. } => {
                // The device leaves every carrier of its old cell.
                let of = |key: &&(DeviceId, u8)| key.0 == device;
                let left: Vec<_> = self.carriers.keys().filter(of).copied().collect();
                for (device, carrier) in left {
                    self.deactivate(device, carrier, at)?;
                }
                self.push(device, None, "handover", (at, *resumes), to.0.into())
            }
            Rrc::Activated { carrier, usable } | Rrc::SecondaryAdded { carrier, usable } => {
                self.carriers.entry((device, carrier.0)).or_insert(*usable);
                Ok(())
            }
            Rrc::Deactivated { carrier }
            | Rrc::SecondaryFailed { carrier }
            | Rrc::SecondaryReleased { carrier } => self.deactivate(device, carrier.0, at),
            Rrc::Setup | Rrc::Released => Ok(()),
        }
    }

    fn deactivate(&mut self, device: DeviceId, carrier: u8, at: HostInstant) -> Result<(), Failed> {
        let Some(since) = self.carriers.remove(&(device, carrier)) else { return Ok(()) };
        self.push(device, None, "carrier", (since, at), carrier.into())
    }

    fn transmit(&mut self, device: DeviceId, sent: &Transmission) -> Result<(), Failed> {
        let key = (device, sent.direction == Direction::Uplink);
        let span = sent.slot.at.as_nanos() / BURST.as_nanos() as u64;
        let burst = self.bursts.entry(key).or_default();
        let over = (burst.span != span).then(|| burst.reach(span)).flatten();
        burst.all += 1;
        burst.failed += u32::from(!sent.arrived);
        over.map_or(Ok(()), |over| self.burst(key, over))
    }

    fn burst(
        &mut self,
        (device, up): (DeviceId, bool),
        (first, behind, failed): (u64, u64, u32),
    ) -> Result<(), Failed> {
        let at =
            |span: u64| HostInstant::default() + BURST * u32::try_from(span).unwrap_or(u32::MAX);
        let direction = if up { Direction::Uplink } else { Direction::Downlink };
        self.push(device, Some(direction), "harq", (at(first), at(behind)), failed.into())
    }

    fn pass(
        &mut self,
        device: DeviceId,
        direction: Direction,
        passage: &Passage,
    ) -> Result<(), Failed> {
        let before = self.sent.insert((device, direction == Direction::Uplink), passage.sent);
        let at_head = before.unwrap_or_default().clamp(passage.entered, passage.began);
        if passage.began - at_head < SILENCE {
            return Ok(());
        }
        self.push(device, Some(direction), "silence", (at_head, passage.began), 0)
    }

    fn push(
        &mut self,
        device: DeviceId,
        direction: Option<Direction>,
        kind: &str,
        (from, until): (HostInstant, HostInstant),
        number: u64,
    ) -> Result<(), Failed> {
        let Some(name) = self.names.get(&device) else { return Ok(()) };
        let seconds = |at: HostInstant| Some(Cell::from(at.min(self.end).as_nanos() as f64 * 1e-9));
        self.table.push([
            Some(name.as_str().into()),
            direction.map(|direction| way(direction).into()),
            Some(kind.into()),
            seconds(from),
            seconds(until),
            (kind != "silence").then(|| number.into()),
        ])
    }

    /// Writes the events that are still open, and the end of the file.
    pub(super) fn finish(mut self) -> Result<(), Failed> {
        let active: Vec<_> = self.carriers.keys().copied().collect();
        for (device, carrier) in active {
            self.deactivate(device, carrier, self.end)?;
        }
        let bursts: Vec<_> = self.bursts.iter().map(|(key, burst)| (*key, *burst)).collect();
        for (key, mut burst) in bursts {
            for over in burst.end() {
                self.burst(key, over)?;
            }
        }
        self.table.finish()
    }
}

impl Burst {
    /// A transmission is in a new span. Returns the burst that has ended, if any.
    fn reach(&mut self, span: u64) -> Option<(u64, u64, u32)> {
        let Self { span: last, all, failed, spans } = *self;
        let is_bad = failed >= BURST_FAILURES && 2 * failed >= all;
        let (joined, over) = match (is_bad, spans) {
            (true, Some((first, behind, sum))) if behind == last => {
                (Some((first, last + 1, sum + failed)), None)
            }
            (true, before) => (Some((last, last + 1, failed)), before),
            (false, before) => (None, before),
        };
        *self = Self { span, all: 0, failed: 0, spans: joined };
        over
    }

    /// There are no more transmissions. Returns the bursts that end now.
    fn end(&mut self) -> impl Iterator<Item = (u64, u64, u32)> {
        // The first call closes the current span. The second finds the span after it empty, and so
        // ends the burst.
        let next = self.span + 1;
        [self.reach(next), self.reach(next + 1)].into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bursts of these spans, each given as its number, transmissions and failures.
    fn bursts(spans: &[(u64, u32, u32)]) -> Vec<(u64, u64, u32)> {
        let mut burst = Burst::default();
        let mut over = Vec::new();
        for &(span, all, failed) in spans {
            over.extend(burst.reach(span));
            burst.all = all;
            burst.failed = failed;
        }
        over.extend(burst.end());
        over
    }

    #[test]
    fn spans_that_follow_each_other_are_one_burst() {
        assert_eq!(bursts(&[(3, 10, 5), (4, 10, 6), (7, 10, 9)]), [(3, 5, 11), (7, 8, 9)]);
    }

    #[test]
    fn a_tenth_that_fails_is_no_burst_and_neither_are_two_of_three() {
        assert_eq!(bursts(&[(3, 40, 4), (4, 3, 2)]), []);
    }

    #[test]
    fn a_good_span_between_two_bad_ones_separates_them() {
        assert_eq!(bursts(&[(1, 8, 8), (2, 8, 0), (3, 8, 8)]), [(1, 2, 8), (3, 4, 8)]);
    }
}
