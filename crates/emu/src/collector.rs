//! Takes records and log lines off the thread that moves packets and writes them where they belong.

use std::fs::File;
use std::io::{self, BufWriter};
use std::mem;
use std::sync::mpsc;
use std::time::Duration;

use sounding_sim::LinkEvent;
use sounding_units::HostInstant;

use crate::log::LinkLog;
use crate::{Direction, PacketRecord};

/// Entries handed over at once: one wake-up of the collector for some thousand packets.
const BATCH: usize = 8192;

/// Maximum number of waiting batches. Beyond it entries are lost, and counted: 1024 batches are 0.6
/// GB.
const MAX_BATCHES: usize = 1024;

/// The longest that an entry waits before it is written.
const FLUSH_AFTER: Duration = Duration::from_secs(1);

/// Records that are kept: 2^24, which is 1.3 GB and 200 s of full packets at 1 Gbit/s. The rest is
/// lost, and counted.
const MAX_RECORDS: usize = 1 << 24;

pub(crate) enum Entry {
    Link(Direction, LinkEvent),
    Packet(PacketRecord),
}

/// The requested outputs about packets.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) events: [bool; 2],
    pub(crate) records: bool,
}

/// The end at the thread that moves packets: never blocks.
pub(crate) struct Sender {
    wanted: Wanted,
    batch: Vec<Entry>,
    full: mpsc::SyncSender<Vec<Entry>>,
    empty: mpsc::Receiver<Vec<Entry>>,
    flushed: HostInstant,
    lost: u64,
    totals: mpsc::Sender<u64>,
}

/// The other end.
pub(crate) struct Collector {
    logs: [Option<LinkLog<BufWriter<File>>>; 2],
    full: mpsc::Receiver<Vec<Entry>>,
    empty: mpsc::SyncSender<Vec<Entry>>,
    totals: mpsc::Receiver<u64>,
}

/// The collector's result.
pub(crate) struct Collected {
    pub(crate) records: Vec<PacketRecord>,
    pub(crate) lost: u64,
    pub(crate) logs: [Option<LinkLog<BufWriter<File>>>; 2],
    pub(crate) result: io::Result<()>,
}

pub(crate) fn pair(
    logs: [Option<LinkLog<BufWriter<File>>>; 2],
    records: bool,
    now: HostInstant,
) -> (Sender, Collector) {
    let (full, full_out) = mpsc::sync_channel(MAX_BATCHES);
    let (empty, empty_out) = mpsc::sync_channel(MAX_BATCHES);
    let (totals, totals_out) = mpsc::channel();
    let wanted = Wanted { events: [logs[0].is_some(), logs[1].is_some()], records };
    let sender = Sender {
        wanted,
        batch: Vec::with_capacity(BATCH),
        full,
        empty: empty_out,
        flushed: now,
        lost: 0,
        totals,
    };
    (sender, Collector { logs, full: full_out, empty, totals: totals_out })
}

impl Sender {
    pub(crate) fn wants_events(&self, direction: Direction) -> bool {
        self.wanted.events[direction as usize]
    }

    pub(crate) fn event(&mut self, direction: Direction, event: LinkEvent) {
        self.push(Entry::Link(direction, event));
    }

    pub(crate) fn record(&mut self, record: PacketRecord) {
        if self.wanted.records {
            self.push(Entry::Packet(record));
        }
    }

    /// Sends the batch if it has waited long enough.
    pub(crate) fn flush_if_due(&mut self, now: HostInstant) {
        if !self.batch.is_empty() && now - self.flushed >= FLUSH_AFTER {
            self.flush();
            self.flushed = now;
        }
    }

    pub(crate) fn close(mut self) {
        self.flush();
        // The collector may have ended with an error, which it reports itself.
        let _ = self.totals.send(self.lost);
    }

    fn push(&mut self, entry: Entry) {
        self.batch.push(entry);
        if self.batch.len() >= BATCH {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let fresh = self.empty.try_recv().unwrap_or_else(|_| Vec::with_capacity(BATCH));
        let batch = mem::replace(&mut self.batch, fresh);
        if let Err(mpsc::TrySendError::Full(batch) | mpsc::TrySendError::Disconnected(batch)) =
            self.full.try_send(batch)
        {
            self.lost += batch.len() as u64;
        }
    }
}

impl Collector {
    /// Takes entries until the sender is closed.
    pub(crate) fn run(self) -> Collected {
        let Self { mut logs, full, empty, totals } = self;
        let mut records = Vec::new();
        let mut result = Ok(());
        let mut surplus = 0;
        for mut batch in full {
            for entry in batch.drain(..) {
                match entry {
                    Entry::Packet(record) if records.len() < MAX_RECORDS => records.push(record),
                    Entry::Packet(_) => surplus += 1,
                    Entry::Link(direction, event) => {
                        if let Some(log) = &mut logs[direction as usize]
                            && result.is_ok()
                        {
                            result = log.handle_event(event);
                        }
                    }
                }
            }
            // No room means that enough empty batches wait already.
            let _ = empty.try_send(batch);
        }
        Collected { records, lost: totals.try_recv().unwrap_or(0) + surplus, logs, result }
    }
}
