//! Each device's part of each carrier of a modelled cell: the truth for tests of a cell monitor.

use std::collections::BTreeMap;
use std::time::Duration;

use sounding_cell::event::SlotUse;
use sounding_cell::{CarrierId, DeviceId, rnti};
use sounding_export::figures::{Cell, Kind};
use sounding_units::HostInstant;

use super::keep::{Failed, Files, Table};

const CARRIERS: [(&str, Kind); 11] = [
    ("carrier", Kind::Int),
    ("device", Kind::Text),
    ("rnti", Kind::Int),
    ("from_s", Kind::Real),
    // Slots of the downlink; subframes in LTE.
    ("slots", Kind::Int),
    // Slots in which the device could use the carrier.
    ("active_slots", Kind::Int),
    ("carrier_prb", Kind::Int),
    // The rest are means over the slots.
    ("own_prb", Kind::Real),
    ("idle_prb", Kind::Real),
    ("control_prb", Kind::Real),
    ("other_users", Kind::Real),
];

/// The table of a run.
pub(super) struct CarrierLog {
    table: Table,
    devices: BTreeMap<DeviceId, Known>,
    width: Duration,
    end: HostInstant,
    bins: BTreeMap<CarrierId, Bin>,
}

/// A device that may be in the table.
pub(super) struct Known {
    pub(super) name: String,
    /// The carriers on which it has a row in each bin: those that it may use, if it has flows. On
    /// others it has one if it had resource blocks.
    pub(super) always: Vec<CarrierId>,
}

/// Counts of a carrier.
#[derive(Debug)]
struct Bin {
    begins: HostInstant,
    prb: u16,
    slots: u64,
    idle: u64,
    control: u64,
    /// Slots in which data waited for a device, all devices together.
    waits: u64,
    users: BTreeMap<DeviceId, User>,
}

#[derive(Clone, Copy, Debug, Default)]
struct User {
    active: u64,
    prb: u64,
    waits: u64,
}

impl CarrierLog {
    pub(super) fn create(
        devices: BTreeMap<DeviceId, Known>,
        width: Duration,
        end: HostInstant,
        about: &[(String, String)],
        files: &mut dyn Files,
    ) -> Result<Self, Failed> {
        let table = Table::create(files, "carriers.parquet", &CARRIERS, about)?;
        let width = width.max(Duration::from_micros(1));
        Ok(Self { table, devices, width, end, bins: BTreeMap::new() })
    }

    /// Adds the use of a slot; the slots of a carrier arrive in order.
    pub(super) fn handle_use(&mut self, used: &SlotUse) -> Result<(), Failed> {
        let SlotUse { slot, prb, control_prb, users } = used;
        if slot.at >= self.end {
            return Ok(());
        }
        self.reach(slot.carrier, slot.at)?;
        let bin = self.bins.entry(slot.carrier).or_insert_with(|| Bin::new(slot.at, self.width));
        bin.prb = *prb;
        bin.slots += 1;
        bin.idle += u64::from(used.idle_prb());
        bin.control += u64::from(*control_prb);
        bin.waits += used.backlogged() as u64;
        for share in users {
            let user = bin.users.entry(share.device).or_default();
            user.active += 1;
            user.prb += u64::from(share.prb);
            user.waits += u64::from(share.waits);
        }
        Ok(())
    }

    /// Writes a carrier's bin if it ended by `now`.
    fn reach(&mut self, carrier: CarrierId, now: HostInstant) -> Result<(), Failed> {
        let is_over = |bin: &Bin| bin.begins + self.width <= now;
        if self.bins.get(&carrier).is_some_and(is_over)
            && let Some(bin) = self.bins.remove(&carrier)
        {
            self.write(carrier, &bin)?;
        }
        Ok(())
    }

    fn write(&mut self, carrier: CarrierId, bin: &Bin) -> Result<(), Failed> {
        let mean = |sum: u64| Some(Cell::from(sum as f64 / bin.slots as f64));
        for (device, known) in &self.devices {
            let user = bin.users.get(device).copied().unwrap_or_default();
            if user.prb == 0 && !known.always.contains(&carrier) {
                continue;
            }
            self.table.push([
                Some(u64::from(carrier.0).into()),
                Some(known.name.as_str().into()),
                Some(u64::from(rnti(*device)).into()),
                Some((bin.begins.as_nanos() as f64 * 1e-9).into()),
                Some(bin.slots.into()),
                Some(user.active.into()),
                Some(u64::from(bin.prb).into()),
                mean(user.prb),
                mean(bin.idle),
                mean(bin.control),
                mean(bin.waits - user.waits),
            ])?;
        }
        Ok(())
    }

    /// Writes the last bin, and the end of the file.
    pub(super) fn finish(mut self) -> Result<(), Failed> {
        let bins = std::mem::take(&mut self.bins);
        for (carrier, bin) in &bins {
            self.write(*carrier, bin)?;
        }
        self.table.finish()
    }
}

impl Bin {
    /// The bin of this width that `at` is in.
    fn new(at: HostInstant, width: Duration) -> Self {
        let width = width.as_nanos() as u64;
        Self {
            begins: HostInstant::from_nanos(at.as_nanos() / width * width),
            prb: 0,
            slots: 0,
            idle: 0,
            control: 0,
            waits: 0,
            users: BTreeMap::new(),
        }
    }
}
