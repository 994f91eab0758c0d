use alloc::vec::Vec;
use core::time::Duration;

use sounding_diag::record::PdschStat;
use sounding_kpi::Grant;
use sounding_units::ModemInstant;

use super::Event;

/// A repeat that comes later has another cause: its process was used anew meanwhile, and a record
/// is missing.
const LATEST: Duration = Duration::from_millis(100);

/// Processes that are followed: those of 16 carriers with 16 each. Further ones are ignored.
const PROCESSES: usize = 256;

/// From the begin of a block's subframe or slot until its packets reach the host: the slot, and
/// demodulation and decoding, 1.5 ms in LTE (TR 36.912 §B.2), in NR about N1 of the shortest slots
/// (TS 38.214 Table 5.3-1).
pub(super) const fn delivery(is_nr: bool) -> Duration {
    if is_nr { Duration::from_micros(1_000) } else { Duration::from_micros(2_500) }
}

/// The blocks of one direction by process, and which of them wait for a repeat.
#[derive(Clone, Debug, Default)]
pub(super) struct Harq {
    processes: Vec<Process>,
    newest: Option<ModemInstant>,
}

#[derive(Clone, Copy, Debug)]
struct Process {
    carrier: u8,
    harq: u8,
    ndi: Option<bool>,
    first: ModemInstant,
    last: ModemInstant,
    /// The block did not arrive yet.
    missing: bool,
}

impl Harq {
    /// The newest transmission that was reported.
    pub(super) fn newest(&self) -> Option<ModemInstant> {
        self.newest
    }

    fn process(&mut self, grant: &Grant) -> Option<(&mut Process, bool)> {
        self.newest = self.newest.max(Some(grant.at));
        let harq = grant.harq?;
        let place =
            self.processes.iter().position(|of| (of.carrier, of.harq) == (grant.carrier, harq));
        if let Some(place) = place {
            return Some((&mut self.processes[place], false));
        }
        if self.processes.len() == PROCESSES {
            return None;
        }
        self.processes.push(Process {
            carrier: grant.carrier,
            harq,
            ndi: grant.ndi,
            first: grant.at,
            last: grant.at,
            missing: false,
        });
        self.processes.last_mut().map(|process| (process, true))
    }

    /// A block of the downlink that was or was not decoded; the event, if it was decoded after a
    /// repeat.
    pub(super) fn handle_received(&mut self, grant: &Grant) -> Option<Event> {
        let arrived = grant.decoded?;
        let (process, is_new) = self.process(grant)?;
        // The second codeword of the same subframe, or a record that came twice.
        let same_time = !is_new && grant.at == process.last;
        let is_repeat = match (grant.ndi, process.ndi) {
            (Some(now), Some(before)) => now == before && (grant.retransmission || process.missing),
            _ => grant.retransmission,
        };
        let continues = !is_new && is_repeat && grant.at - process.last <= LATEST;
        if same_time {
            process.missing |= !arrived;
            return None;
        }
        let was_missing = process.missing && continues && grant.at > process.last;
        if !was_missing {
            process.first = grant.at;
        }
        (process.last, process.ndi, process.missing) = (grant.at, grant.ndi, !arrived);
        let first = process.first;
        (was_missing && arrived).then(|| {
            let delivery = delivery(grant.code != PdschStat::CODE);
            Event {
                from: first + delivery,
                to: grant.at + delivery,
                amount: grant.at - first,
                is_decoded: true,
            }
        })
    }

    /// A transmission of the uplink; the event so far, if it is a repeat.
    pub(super) fn handle_sent(&mut self, grant: &Grant) -> Option<Event> {
        let (process, is_new) = self.process(grant)?;
        let continues = !is_new
            && grant.retransmission
            && grant.at > process.last
            && grant.at - process.last <= LATEST;
        if !continues {
            // A repeat whose first transmission is unknown begins nothing.
            process.missing = !grant.retransmission;
            (process.first, process.last) = (grant.at, grant.at);
            return None;
        }
        process.last = grant.at;
        let first = process.first;
        process.missing.then(|| Event {
            from: first,
            to: grant.at,
            amount: grant.at - first,
            is_decoded: false,
        })
    }
}
