use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_cc::Departure;
use sounding_units::{Bytes, HostInstant};

use super::segment::{Acknowledgement, Block};

/// Segments beyond a gap that show it is a loss (RFC 8985 §6.2 step 4, RFC 5681 §3.2).
const DUP_THRESH: u64 = 3;

/// Segments that are sent and not acknowledged cumulatively, and which of them are lost (RFC 8985).
#[derive(Debug, Default)]
pub(super) struct Scoreboard {
    /// The first segment that is not acknowledged cumulatively.
    base: u64,
    entries: VecDeque<Entry>,
    in_flight: Bytes,
    /// Segments beyond a gap that are there.
    sacked: u64,
    /// Lost and not sent again yet, in order of discovery; some may have turned up since.
    to_repair: VecDeque<u64>,
    /// Original transmissions before this one are judged: delivered, lost, or sent again.
    judged: u64,
    /// Repairs in order of sending.
    repairs: VecDeque<(u64, HostInstant)>,
    /// The newest transmission among all delivered.
    newest: Option<(HostInstant, u64)>,
    newest_rtt: Duration,
    /// The highest segment delivered.
    highest: u64,
    reordered: bool,
    /// Blocks of the previous acknowledgement, so that they are not processed again.
    known: [(u64, u64); 3],
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    sent: Departure,
    size: u32,
    state: State,
    repaired: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    Lost,
    Delivered,
}

/// Values that are the same for all segments that an acknowledgement delivers.
#[derive(Clone, Copy)]
struct Context {
    now: HostInstant,
    least_rtt: Option<Duration>,
    echo: HostInstant,
    /// The highest segment delivered before.
    highest: u64,
}

/// A segment that an acknowledgement delivers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivered {
    pub(super) size: Bytes,
    pub(super) sent: Departure,
    /// It was sent more than once.
    pub(super) repaired: bool,
}

impl Scoreboard {
    pub(super) fn in_flight(&self) -> Bytes {
        self.in_flight
    }

    /// The first segment that is not acknowledged cumulatively.
    pub(super) fn base(&self) -> u64 {
        self.base
    }

    /// The next segment that was never sent.
    pub(super) fn next(&self) -> u64 {
        self.base + self.entries.len() as u64
    }

    /// Whether a segment is missing before a received one.
    pub(super) fn has_gaps(&self) -> bool {
        self.sacked > 0
    }

    /// Notes that the next segment left.
    pub(super) fn push(&mut self, size: u32, sent: Departure) {
        self.in_flight += Bytes::new(size.into());
        self.entries.push_back(Entry { sent, size, state: State::InFlight, repaired: false });
    }

    /// The next lost segment to send again, and its size.
    pub(super) fn next_repair(&mut self) -> Option<(u64, u32)> {
        while let Some(&number) = self.to_repair.front() {
            if let Some(entry) = self.entry(number)
                && entry.state == State::Lost
            {
                return Some((number, entry.size));
            }
            self.to_repair.pop_front();
        }
        None
    }

    /// The last segment sent, for a probe of the tail.
    pub(super) fn tail(&self) -> Option<(u64, u32)> {
        let entry = self.entries.back().filter(|entry| entry.state == State::InFlight)?;
        Some((self.next() - 1, entry.size))
    }

    /// Notes that a segment was sent again.
    pub(super) fn repair(&mut self, number: u64, sent: Departure) {
        let Some(entry) = self.entry_mut(number) else { return };
        let was = entry.state;
        entry.state = State::InFlight;
        entry.sent = sent;
        entry.repaired = true;
        let size = Bytes::new(entry.size.into());
        if was == State::Lost {
            self.in_flight += size;
        }
        self.repairs.push_back((number, sent.at));
    }

    /// Processes a receiver's report; calls `delivered` for every newly received segment.
    pub(super) fn handle_ack(
        &mut self,
        now: HostInstant,
        ack: &Acknowledgement,
        least_rtt: Option<Duration>,
        mut delivered: impl FnMut(Delivered),
    ) {
        let context = Context { now, least_rtt, echo: ack.echo, highest: self.highest };
        let next = ack.next.min(self.next());
        while self.base < next {
            self.deliver(context, self.base, &mut delivered);
            self.entries.pop_front();
            self.base += 1;
            self.sacked = self.sacked.saturating_sub(1);
        }
        let mut known = [(0, 0); 3];
        for (known, block) in known.iter_mut().zip(ack.blocks) {
            *known = self.handle_block(context, next, block, &mut delivered);
        }
        self.known = known;
        self.judged = self.judged.max(self.base);
    }

    fn handle_block(
        &mut self,
        context: Context,
        next: u64,
        block: Block,
        delivered: &mut impl FnMut(Delivered),
    ) -> (u64, u64) {
        let end = (next + u64::from(block.end)).min(self.next());
        let first = (next + u64::from(block.start)).max(self.base);
        let mut number = first;
        while number < end {
            // Skips what an earlier acknowledgement already reported.
            if let Some(&(_, known)) =
                self.known.iter().find(|(start, end)| *start <= number && number < *end)
            {
                number = known;
                continue;
            }
            self.deliver(context, number, delivered);
            number += 1;
        }
        (first, end)
    }

    fn deliver(&mut self, context: Context, number: u64, delivered: &mut impl FnMut(Delivered)) {
        let Some(entry) = self.entry_mut(number) else { return };
        let Entry { sent, size, state, repaired } = *entry;
        if state == State::Delivered {
            return;
        }
        entry.state = State::Delivered;
        self.sacked += 1;
        let size = Bytes::new(size.into());
        if state == State::InFlight {
            self.in_flight = self.in_flight - size;
        }
        // RFC 8985 §6.2 step 3: a segment that was sent once and arrives after a later one was
        // reordered.
        self.reordered |= !repaired && number < context.highest;
        self.highest = self.highest.max(number);
        let rtt = context.now - sent.at;
        // Step 2: by its time stamp, or so soon after it was sent again, it is an earlier
        // transmission that arrived.
        let too_soon = context.least_rtt.is_some_and(|least| rtt < least);
        let is_first = repaired && (too_soon || context.echo < sent.at);
        if !is_first && self.newest.is_none_or(|newest| (sent.at, number) > newest) {
            self.newest = Some((sent.at, number));
            self.newest_rtt = rtt;
        }
        delivered(Delivered { size, sent, repaired });
    }

    /// Finds lost segments at `now`, and the time of the next check (RFC 8985 §6.2 steps 4 and 5).
    ///
    /// A segment is lost if a later one was delivered, and more than the RTT and the reordering
    /// window has passed since it was sent. Each segment is checked once for each time that it
    /// is sent.
    pub(super) fn find_lost(
        &mut self,
        now: HostInstant,
        least_rtt: Option<Duration>,
        recovering: bool,
        lost: &mut Vec<(Bytes, Departure)>,
    ) -> Option<HostInstant> {
        let newest = self.newest?;
        let patient = self.reordered || !(recovering || self.sacked >= DUP_THRESH);
        let window = if patient { least_rtt.unwrap_or_default() / 4 } else { Duration::ZERO };
        let had = self.newest_rtt + window;
        let mut again: Option<HostInstant> = None;
        while self.judged < self.next() {
            let entry = self.entries[(self.judged - self.base) as usize];
            if entry.state == State::InFlight && !entry.repaired {
                match verdict(now, (entry.sent.at, self.judged), newest, had) {
                    Verdict::Lost => self.lose(self.judged, lost),
                    Verdict::Wait(at) => {
                        again = Some(at);
                        break;
                    }
                    Verdict::Open => break,
                }
            }
            self.judged += 1;
        }
        while let Some(&(number, sent_at)) = self.repairs.front() {
            let current = self.entry(number).filter(|entry| entry.sent.at == sent_at);
            if current.is_some_and(|entry| entry.state == State::InFlight) {
                match verdict(now, (sent_at, number), newest, had) {
                    Verdict::Lost => self.lose(number, lost),
                    Verdict::Wait(at) => {
                        again = Some(again.map_or(at, |before| before.min(at)));
                        break;
                    }
                    Verdict::Open => break,
                }
            }
            self.repairs.pop_front();
        }
        again
    }

    fn lose(&mut self, number: u64, lost: &mut Vec<(Bytes, Departure)>) {
        let Some(entry) = self.entry_mut(number) else { return };
        entry.state = State::Lost;
        let (size, sent) = (Bytes::new(entry.size.into()), entry.sent);
        self.in_flight = self.in_flight - size;
        self.to_repair.push_back(number);
        lost.push((size, sent));
    }

    /// Takes all that is in flight for lost; returns how much that was.
    pub(super) fn lose_all(&mut self) -> Bytes {
        let lost = core::mem::take(&mut self.in_flight);
        self.to_repair.clear();
        self.repairs.clear();
        for (number, entry) in (self.base..).zip(&mut self.entries) {
            if entry.state != State::Delivered {
                entry.state = State::Lost;
                self.to_repair.push_back(number);
            }
        }
        self.judged = self.next();
        lost
    }

    /// Reverts [`lose_all`](Self::lose_all) for segments that were not sent again since.
    pub(super) fn restore(&mut self) {
        self.to_repair.clear();
        for entry in &mut self.entries {
            if entry.state == State::Lost {
                entry.state = State::InFlight;
                self.in_flight += Bytes::new(entry.size.into());
            }
        }
        self.judged = self.base;
    }

    fn entry(&self, number: u64) -> Option<&Entry> {
        self.entries.get(usize::try_from(number.checked_sub(self.base)?).ok()?)
    }

    fn entry_mut(&mut self, number: u64) -> Option<&mut Entry> {
        self.entries.get_mut(usize::try_from(number.checked_sub(self.base)?).ok()?)
    }
}

enum Verdict {
    Lost,
    /// It may be, from then on.
    Wait(HostInstant),
    /// No later transmission has been delivered yet.
    Open,
}

fn verdict(
    now: HostInstant,
    sent: (HostInstant, u64),
    newest: (HostInstant, u64),
    had: Duration,
) -> Verdict {
    let at = sent.0 + had;
    match (sent < newest, at <= now) {
        (false, _) => Verdict::Open,
        (true, true) => Verdict::Lost,
        (true, false) => Verdict::Wait(at),
    }
}
