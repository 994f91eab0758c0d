//! Transport blocks and the HARQ processes that repeat them.

use alloc::boxed::Box;

use arrayvec::ArrayVec;

use crate::bearer::{Pdu, Status};
use crate::event::BufferReport;
use crate::radio;

/// What a transport block carries, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Block {
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
    /// Which of the sub-bands it covers, a bit each.
    pub(crate) bands: u32,
    /// RLC PDUs in it.
    pub(crate) pdus: ArrayVec<Pdu, 2>,
    /// The status of the other direction's bearer.
    pub(crate) status: Option<Box<Status>>,
    /// Buffer status report.
    pub(crate) report: Option<BufferReport>,
    /// Bytes that carry nothing.
    pub(crate) padding: u32,
}

/// Redundancy versions in the order in which they are sent (TS 36.321 §5.4.2.2, TS 38.214 §5.1.2.1).
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
pub(crate) struct Process {
    pub(crate) state: State,
    pub(crate) block: Block,
    /// Transmissions so far.
    pub(crate) sent: u8,
    /// What the receiver has gathered of it.
    pub(crate) air: Option<radio::Block>,
    /// New data indicator: toggles with each new block.
    pub(crate) ndi: bool,
    /// The slot before which its repeat cannot be sent.
    not_before: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    #[default]
    Idle,
    /// Sent, or granted and to be sent.
    Sent,
    /// To be sent again in this slot at the earliest.
    Again(u64),
}

impl Process {
    pub(crate) fn begin(&mut self, block: Block) {
        self.state = State::Sent;
        self.block = block;
        self.sent = 0;
        self.air = None;
        self.ndi = !self.ndi;
    }

    /// Redundancy version of the transmission that comes next.
    pub(crate) fn rv(&self) -> u8 {
        REDUNDANCY_VERSIONS[usize::from(self.sent) % 4]
    }
}

/// The processes of one carrier and direction.
#[derive(Clone, Debug)]
pub(crate) struct Processes {
    all: ArrayVec<Process, 32>,
    /// How many are not idle, and how many are to be sent again.
    busy: u8,
    again: u8,
}

impl Processes {
    pub(crate) fn new(count: u8) -> Self {
        let count = usize::from(count.clamp(1, 32));
        Self { all: (0..count).map(|_| Process::default()).collect(), busy: 0, again: 0 }
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
        let at = self.all.iter().position(|process| process.state == State::Idle);
        at.map(|at| at as u8)
    }

    /// The process whose block waits longest to be sent again and may be in `slot`.
    #[inline]
    pub(crate) fn again(&self, slot: u64) -> Option<u8> {
        self.again_in(slot, u64::MAX)
    }

    /// The same for a block that a grant in `slot` gives `data_slot` to.
    #[inline]
    pub(crate) fn again_in(&self, slot: u64, data_slot: u64) -> Option<u8> {
        if self.again == 0 {
            return None;
        }
        let due = self.all.iter().enumerate().filter_map(|(at, process)| match process.state {
            State::Again(from) if from <= slot && process.not_before <= data_slot => {
                Some((from, at as u8))
            }
            _ => None,
        });
        due.min().map(|(_, at)| at)
    }

    /// RLC's PDUs of blocks that have not arrived.
    pub(crate) fn pdus(&self) -> impl Iterator<Item = &Pdu> {
        let busy = self.all.iter().filter(|process| process.state != State::Idle);
        busy.flat_map(|process| &process.block.pdus)
    }

    #[inline]
    pub(crate) fn get(&self, id: u8) -> &Process {
        &self.all[usize::from(id)]
    }

    pub(crate) fn begin(&mut self, id: u8, block: Block) -> &mut Process {
        self.busy += 1;
        let process = &mut self.all[usize::from(id)];
        process.begin(block);
        process
    }

    /// A process that is granted ahead of its block.
    pub(crate) fn reserve(&mut self, id: u8) {
        self.busy += 1;
        let process = &mut self.all[usize::from(id)];
        process.state = State::Sent;
        process.block = Block::default();
    }

    /// The block of a reserved process.
    pub(crate) fn fill(&mut self, id: u8, block: Block) -> &mut Process {
        let process = &mut self.all[usize::from(id)];
        process.begin(block);
        process
    }

    pub(crate) fn repeat(&mut self, id: u8) -> &mut Process {
        let process = &mut self.all[usize::from(id)];
        if let State::Again(_) = process.state {
            self.again -= 1;
            process.state = State::Sent;
        }
        process
    }

    pub(crate) fn sent(&mut self, id: u8) -> &mut Process {
        &mut self.all[usize::from(id)]
    }

    pub(crate) fn finish(&mut self, id: u8) {
        let process = &mut self.all[usize::from(id)];
        if process.state != State::Idle {
            self.busy -= 1;
            process.state = State::Idle;
        }
    }

    /// The block did not arrive: it is assigned or granted again from slot `from` on, and sent from `not_before` on.
    pub(crate) fn refuse(&mut self, id: u8, from: u64, not_before: u64) {
        let process = &mut self.all[usize::from(id)];
        if process.state == State::Sent {
            self.again += 1;
            process.state = State::Again(from);
            process.not_before = not_before;
        }
    }

    /// The connection moved to another cell: all is forgotten.
    pub(crate) fn reset(&mut self) {
        for process in &mut self.all {
            process.state = State::Idle;
        }
        self.busy = 0;
        self.again = 0;
    }
}
