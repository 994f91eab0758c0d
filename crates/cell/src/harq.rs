//! Transport blocks and the HARQ processes that repeat them.

use alloc::boxed::Box;

use arrayvec::ArrayVec;

use crate::bearer::{Pdu, Status};
use crate::event::{BufferReport, Dci, Transmission};
use crate::radio;

/// The content of a transport block, and its coding.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TransportBlock {
    /// Bytes of the block, without its CRC.
    pub(crate) size: u32,
    /// I_MCS of its first transmission.
    pub(crate) mcs: u8,
    /// Resource blocks.
    pub(crate) prb: u16,
    /// The first of them.
    pub(crate) first_prb: u16,
    /// Layers it is mapped to.
    pub(crate) layers: u8,
    /// The sub-bands that it covers, one bit for each.
    pub(crate) bands: u32,
    /// RLC PDUs in it.
    pub(crate) pdus: ArrayVec<Pdu, 2>,
    /// The status of the other direction's bearer.
    pub(crate) status: Option<Box<Status>>,
    /// Buffer status report.
    pub(crate) report: Option<BufferReport>,
    /// Padding bytes.
    pub(crate) padding: u32,
}

/// MAC and RLC overhead of a block: subheaders and fixed headers.
pub(crate) const BLOCK_HEADER: u64 = 5;

/// One transmission of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) rv: u8,
    /// 0 for the first.
    pub(crate) number: u8,
    pub(crate) arrived: bool,
    /// The combined SINR of all transmissions so far.
    pub(crate) sinr_db: f32,
}

/// Redundancy versions in the order in which they are sent (TS 36.321 §5.4.2.2, TS 38.214
/// §5.1.2.1).
const REDUNDANCY_VERSIONS: [u8; 4] = [0, 2, 3, 1];

/// One HARQ process.
///
/// ```text
/// Idle ──new block──▶ Sent ──feedback: arrived───────▶ Idle
///                      ▲  └──feedback: did not───────▶ Again ──granted──┐
///                      └──────────────────────────────────────────────┘
///                         (after the last transmission: Idle, RLC has to repeat)
/// ```
#[derive(Clone, Debug, Default)]
pub(crate) struct HarqProcess {
    pub(crate) state: HarqState,
    pub(crate) block: TransportBlock,
    /// Transmissions so far.
    pub(crate) sent: u8,
    /// The receiver's combined transmissions.
    pub(crate) air: Option<radio::Block>,
    /// New data indicator: toggles with each new block.
    pub(crate) ndi: bool,
    /// The slot before which its repeat cannot be sent.
    not_before: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum HarqState {
    #[default]
    Idle,
    /// Sent, or granted and to be sent.
    Sent,
    /// To be sent again in this slot at the earliest.
    Again(u64),
}

impl HarqProcess {
    pub(crate) fn begin(&mut self, block: TransportBlock) {
        self.state = HarqState::Sent;
        self.block = block;
        self.sent = 0;
        self.air = None;
        self.ndi = !self.ndi;
    }

    /// The modem's view of an attempt to send the block, which `dci` assigned or granted.
    pub(crate) fn transmission(&self, dci: &Dci, attempt: Attempt, power_dbm: f32) -> Transmission {
        Transmission {
            slot: dci.sent_in,
            direction: dci.direction,
            harq: dci.harq,
            number: attempt.number,
            rv: dci.rv,
            ndi: dci.ndi,
            mcs: dci.mcs,
            prb: dci.prb,
            first_prb: dci.first_prb,
            layers: dci.layers,
            size: dci.size,
            padding: self.block.padding,
            arrived: attempt.arrived,
            sinr_db: attempt.sinr_db,
            power_dbm,
            pdus: self.block.pdus.clone(),
            report: self.block.report,
        }
    }

    /// Redundancy version of the transmission that comes next.
    pub(crate) fn rv(&self) -> u8 {
        REDUNDANCY_VERSIONS[usize::from(self.sent) % 4]
    }
}

/// The processes of one carrier and direction.
#[derive(Clone, Debug)]
pub(crate) struct HarqProcesses {
    all: ArrayVec<HarqProcess, 32>,
    /// Number of processes that are not idle, and of those that must retransmit.
    busy: u8,
    again: u8,
}

impl HarqProcesses {
    pub(crate) fn new(count: u8) -> Self {
        let count = usize::from(count.clamp(1, 32));
        Self { all: (0..count).map(|_| HarqProcess::default()).collect(), busy: 0, again: 0 }
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.busy > 0
    }

    /// An idle process.
    #[inline]
    pub(crate) fn idle(&self) -> Option<u8> {
        if usize::from(self.busy) == self.all.len() {
            return None;
        }
        let at = self.all.iter().position(|process| process.state == HarqState::Idle);
        at.map(|at| at as u8)
    }

    /// The process whose block waits longest to be sent again and may be in `slot`.
    #[inline]
    pub(crate) fn again(&self, slot: u64) -> Option<u8> {
        self.again_in(slot, u64::MAX)
    }

    /// The same for a block that a grant in `slot` schedules in `data_slot`.
    #[inline]
    pub(crate) fn again_in(&self, slot: u64, data_slot: u64) -> Option<u8> {
        if self.again == 0 {
            return None;
        }
        let due = self.all.iter().enumerate().filter_map(|(at, process)| match process.state {
            HarqState::Again(from) if from <= slot && process.not_before <= data_slot => {
                Some((from, at as u8))
            }
            _ => None,
        });
        due.min().map(|(_, at)| at)
    }

    /// RLC's PDUs of blocks that have not arrived.
    pub(crate) fn pdus(&self) -> impl Iterator<Item = &Pdu> {
        let busy = self.all.iter().filter(|process| process.state != HarqState::Idle);
        busy.flat_map(|process| &process.block.pdus)
    }

    #[inline]
    pub(crate) fn get(&self, id: u8) -> &HarqProcess {
        &self.all[usize::from(id)]
    }

    pub(crate) fn begin(&mut self, id: u8, block: TransportBlock) -> &mut HarqProcess {
        self.busy += 1;
        let process = &mut self.all[usize::from(id)];
        process.begin(block);
        process
    }

    /// A process that is granted ahead of its block.
    pub(crate) fn reserve(&mut self, id: u8) {
        self.busy += 1;
        let process = &mut self.all[usize::from(id)];
        process.state = HarqState::Sent;
        process.block = TransportBlock::default();
    }

    /// The block of a reserved process.
    pub(crate) fn fill(&mut self, id: u8, block: TransportBlock) -> &mut HarqProcess {
        let process = &mut self.all[usize::from(id)];
        process.begin(block);
        process
    }

    pub(crate) fn repeat(&mut self, id: u8) -> &mut HarqProcess {
        let process = &mut self.all[usize::from(id)];
        if let HarqState::Again(_) = process.state {
            self.again -= 1;
            process.state = HarqState::Sent;
        }
        process
    }

    pub(crate) fn sent(&mut self, id: u8) -> &mut HarqProcess {
        &mut self.all[usize::from(id)]
    }

    pub(crate) fn finish(&mut self, id: u8) {
        let process = &mut self.all[usize::from(id)];
        if process.state != HarqState::Idle {
            self.busy -= 1;
            process.state = HarqState::Idle;
        }
    }

    /// The block did not arrive: it is assigned or granted again from slot `from` on, and sent from
    /// `not_before` on.
    pub(crate) fn refuse(&mut self, id: u8, from: u64, not_before: u64) {
        let process = &mut self.all[usize::from(id)];
        if process.state == HarqState::Sent {
            self.again += 1;
            process.state = HarqState::Again(from);
            process.not_before = not_before;
        }
    }

    /// The connection moved to another cell: all is forgotten.
    pub(crate) fn reset(&mut self) {
        for process in &mut self.all {
            process.state = HarqState::Idle;
        }
        self.busy = 0;
        self.again = 0;
    }
}
