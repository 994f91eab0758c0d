//! A sniffer, which receives a cell's control channel for all users.

mod live;

use alloc::vec::Vec;
use core::time::Duration;

use sounding_trace::dci::{Block, Dci as Message, Direction as TraceDirection, Heard, Moment};

use crate::config::{CarrierConfig, DeviceConfig, Rat};
use crate::event::{CarrierId, Dci, Direction};
pub use live::{Sniffer, SnifferConfig};

/// The numbers of a network's carriers, by which a sniffer goes, as a device counts its own: its
/// primary is 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarrierNumbers {
    cells: Vec<Vec<CarrierId>>,
    serving: usize,
}

impl CarrierNumbers {
    /// For a device, which starts in the first of its cells.
    pub fn new(device: &DeviceConfig) -> Self {
        let id = |&carrier: &usize| CarrierId(carrier as u8);
        let cells = device.cells.iter().map(|cell| cell.iter().map(id).collect()).collect();
        Self { cells, serving: 0 }
    }

    /// The device has moved to the cell of this primary carrier. A carrier outside its cells has no
    /// effect.
    pub fn handle_handover(&mut self, primary: CarrierId) {
        let found = self.cells.iter().position(|cell| cell.first() == Some(&primary));
        self.serving = found.unwrap_or(self.serving);
    }

    /// The device's number of a carrier; `None` if the cell that serves it does not have that
    /// carrier.
    pub fn number(&self, carrier: CarrierId) -> Option<u8> {
        let cell = self.cells.get(self.serving)?;
        cell.iter().position(|own| *own == carrier).map(|at| at as u8)
    }

    /// A sniffer's line with the device's number of the carrier; `None` if the carrier is not one
    /// of the device's.
    pub fn heard(&self, heard: Heard) -> Option<Heard> {
        let numbered = |moment: Moment| {
            self.number(CarrierId(moment.cell)).map(|cell| Moment { cell, ..moment })
        };
        Some(match heard {
            Heard::Nothing(moment) => Heard::Nothing(numbered(moment)?),
            Heard::Dci(dci) => Heard::Dci(Message { moment: numbered(dci.moment)?, ..dci }),
        })
    }
}

/// The message that a sniffer writes of a DCI on a carrier of this configuration. Its clock counts
/// from where the host's does.
///
/// All users' DCIs become events once [`Ran::sniff`](crate::Ran::sniff) has been called. HARQ
/// processes of LTE's uplink are not in its DCIs (TS 36.212 §5.3.3.1.1).
pub fn message(dci: &Dci, carrier: &CarrierConfig) -> Message {
    let numerology = match carrier.rat {
        Rat::Lte => 0,
        Rat::Nr => carrier.numerology.min(4),
    };
    let slots = 10_u64 << numerology;
    let slot = dci.sent_in;
    let direction = match dci.direction {
        Direction::Uplink => TraceDirection::Uplink,
        Direction::Downlink => TraceDirection::Downlink,
    };
    let lte = carrier.rat == Rat::Lte;
    // Two layers of LTE are two codewords (TS 36.211 §6.3.3.2); in NR four are one (TS 38.211
    // §7.3.1.3).
    let blocks = if lte && dci.layers > 1 { 2 } else { 1 };
    let block =
        Block { mcs: dci.mcs, rv: Some(dci.rv), ndi: Some(dci.ndi), bits: dci.size * 8 / blocks };
    Message {
        moment: Moment {
            time: Duration::from_nanos(slot.at.as_nanos()),
            cell: slot.carrier.0,
            frame: (slot.slot / slots % 1024) as u16,
            slot: (slot.slot % slots) as u8,
        },
        rnti: dci.rnti,
        direction,
        prb: dci.prb,
        cell_prb: Some(carrier.prb),
        blocks: [Some(block), (blocks > 1).then_some(block)],
        harq: (direction == TraceDirection::Downlink || !lte).then_some(dci.harq),
    }
}
