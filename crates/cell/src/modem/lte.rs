//! LTE's records of transmissions and receptions.

mod layer1;
mod layer2;

use alloc::vec::Vec;

use sounding_units::HostInstant;

use super::Common;
use super::batch::Batch;
use super::cells::Cell;
use crate::bearer::Status;
use crate::event::{Dci, Direction, SlotId, Transmission};

use self::layer1::{Layer1, PdschItem};
pub(super) use self::layer1::{write_channel, write_signal};
use self::layer2::Layer2;

/// Items that an LTE modem collects for its next records.
#[derive(Debug)]
pub(super) struct Lte {
    layer1: Layer1,
    layer2: Layer2,
    /// Whether the device has LTE at all.
    on: bool,
}

impl Lte {
    pub(super) fn new(origin: HostInstant, on: bool) -> Self {
        Self { layer1: Layer1::new(origin), layer2: Layer2::new(origin), on }
    }

    pub(super) fn handle_beat(&mut self, now: HostInstant, common: &mut Common) {
        if self.on {
            self.layer1.handle_beat(now, common);
            self.layer2.handle_beat(now, common);
        }
    }

    /// The network activates these secondary cells, and no others.
    pub(super) fn handle_command(&mut self, cells: u8) {
        self.layer2.handle_command(cells);
    }

    pub(super) fn handle_dci(&mut self, cell: &Cell, dci: &Dci, common: &mut Common) {
        self.layer1.handle_dci(cell, dci, common);
    }

    pub(super) fn handle_sent(
        &mut self,
        cell: &Cell,
        at: HostInstant,
        sent: &Transmission,
        acknowledged: bool,
        common: &mut Common,
    ) {
        match sent.direction {
            Direction::Downlink => {
                if let Some(item) = PdschItem::of(cell, sent, &common.cells) {
                    self.layer1.handle_pdsch(item, common);
                }
                if sent.arrived {
                    self.layer2.handle_downlink(sent, acknowledged, common);
                }
            }
            Direction::Uplink => {
                self.layer1.handle_pusch(cell, sent, common);
                // MAC builds a block once.
                if sent.number == 0 {
                    self.layer2.handle_uplink(at, sent, acknowledged, common);
                }
            }
        }
    }

    pub(super) fn handle_answer(&mut self, slot: SlotId, arrived: bool, common: &Common) {
        self.layer1.handle_answer(slot, arrived, common);
    }

    pub(super) fn handle_status(
        &mut self,
        at: HostInstant,
        direction: Direction,
        status: &Status,
        common: &mut Common,
    ) {
        self.layer2.handle_status(at, direction, status, common);
    }
}

/// A record that is written now, if there is one.
fn written<T>(full: Option<Vec<T>>, write: impl FnOnce(&[T])) {
    if let Some(items) = full {
        write(&items);
    }
}

/// Adds to a batch, and writes a record if the batch is full.
fn collect<T>(batch: &mut Batch<T>, item: T, write: impl FnOnce(&[T])) {
    written(batch.push(item), write);
}
