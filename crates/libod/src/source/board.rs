use std::os::fd::{AsFd, AsRawFd, RawFd};

use sounding_board::{Reader, Writer};
use sounding_host::monotonic_now;
use sounding_kpi::registry;

use super::{full, gone, no_such_kpi, nothing_subscribed, nothing_yet};
use crate::error::Failure;
use crate::sample::Sample;

/// A board of another process.
pub(crate) struct Board {
    reader: Reader,
    subscribed: Vec<Subscribed>,
    /// Index of the KPI at which the next read begins: with a short buffer all KPIs get their
    /// turn.
    next: usize,
}

pub(super) struct Subscribed {
    pub(super) slot: usize,
    /// Sequence number of the last returned sample.
    pub(super) seen: u64,
}

impl Board {
    pub(super) fn new(reader: Reader) -> Self {
        Self { reader, subscribed: Vec::new(), next: 0 }
    }

    pub(super) fn subscribe(&mut self, name: &str) -> Result<usize, Failure> {
        let Some(slot) = self.reader.find(name) else {
            let why = match registry::find(name) {
                Some(_) => {
                    format!("{name} is not on this board: name it where the board is started")
                }
                None => format!("no KPI is called {name:?}"),
            };
            return Err(Failure::new(libc::ENOENT, why));
        };
        let known = self.subscribed.iter().position(|subscribed| subscribed.slot == slot);
        Ok(known.unwrap_or_else(|| {
            self.subscribed.push(Subscribed { slot, seen: 0 });
            self.subscribed.len() - 1
        }))
    }

    pub(super) fn read(&mut self, samples: &mut [Sample]) -> Result<usize, Failure> {
        // Before the read: a sample that arrives later makes the descriptor readable again.
        self.reader.rearm();
        let now = monotonic_now();
        let writer = self.reader.writer(now);
        let stale = writer == Writer::Lost;
        let read = newest(&mut self.subscribed, &mut self.next, samples, |kpi, slot| {
            let sample = self.reader.read(slot).ok().flatten()?;
            Some(Sample::of(kpi, &sample, now, stale))
        })?;
        match (read, writer) {
            // A reader without a place at the wake-up socket: its descriptor stays readable without
            // values, so a poll would loop.
            (0, Writer::Alive) if self.reader.is_turned_away() => Err(full()),
            (0, Writer::Alive) => Err(nothing_yet()),
            (0, Writer::Lost) => Err(gone()),
            (read, _) => Ok(read),
        }
    }

    pub(super) fn latest(&mut self, kpi: usize) -> Result<Sample, Failure> {
        let subscribed = self.subscribed.get(kpi).ok_or_else(|| no_such_kpi(kpi))?;
        let sample = self.reader.read(subscribed.slot).ok().flatten().ok_or_else(nothing_yet)?;
        let now = monotonic_now();
        Ok(Sample::of(kpi, &sample, now, self.reader.writer(now) != Writer::Alive))
    }

    pub(super) fn poll_fd(&self) -> RawFd {
        self.reader.as_fd().as_raw_fd()
    }
}

/// Fills `samples` with the newest sample of each KPI, if it was not returned before.
pub(super) fn newest(
    subscribed: &mut [Subscribed],
    next: &mut usize,
    samples: &mut [Sample],
    read: impl Fn(usize, usize) -> Option<Sample>,
) -> Result<usize, Failure> {
    let count = subscribed.len();
    if count == 0 {
        return Err(nothing_subscribed());
    }
    let mut filled = 0;
    let first = *next;
    for kpi in (0..count).map(|offset| (first + offset) % count) {
        let Some(to) = samples.get_mut(filled) else {
            *next = kpi;
            break;
        };
        let Subscribed { slot, seen } = &mut subscribed[kpi];
        if let Some(sample) = read(kpi, *slot)
            && sample.sequence != *seen
        {
            *seen = sample.sequence;
            *to = sample;
            filled += 1;
        }
    }
    Ok(filled)
}
