//! The logs of a network: modem output, sniffer logs, and the true events.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

use sounding_cell::config::{CarrierConfig, Rat};
use sounding_cell::event::{Dci, SlotId};
use sounding_cell::modem::ClockConfig;
use sounding_cell::{CarrierId, DeviceId, Direction, Event, Passage, sniffer};
use sounding_export::figures::{Cell, Kind};
use sounding_sim::{Device, Diag};
use sounding_trace::dci::{Dci as Message, Format, Heard};
use sounding_units::HostInstant;

use super::carriers::{CarrierLog, Known};
use super::keep::{Failed, Files, Keep, Output, Table};
use super::radio::RadioLog;
use super::way;
use crate::observe::Sink;
use crate::plan::{Actors, Cell as CellPlan, Plan};

/// The parts of a packet's delay. A packet waits for earlier ones at its device (`queue`). At the
/// head of the queue it waits for the scheduler or, in the uplink, for the grant that its buffer
/// status report requested (`grant`). It is sent (`sending`), in several blocks if it does not fit
/// into one. It is in the air until all of it is decoded, including repetitions of HARQ and RLC
/// (`air`). It is delivered when all earlier packets are complete (`order`).
const TRUTH: [(&str, Kind); 10] = [
    ("device", Kind::Text),
    ("direction", Kind::Text),
    ("entered_ns", Kind::Int),
    ("queue_ns", Kind::Int),
    ("grant_ns", Kind::Int),
    ("sending_ns", Kind::Int),
    ("air_ns", Kind::Int),
    ("order_ns", Kind::Int),
    ("harq_repeats", Kind::Int),
    ("rlc_repeated", Kind::Int),
];

/// The logs of a run.
pub(super) struct Logs {
    names: BTreeMap<Device, String>,
    captures: BTreeMap<Device, (String, Output)>,
    truth: Option<Table>,
    /// When the last byte before was sent, for each device and direction.
    sent: BTreeMap<(DeviceId, bool), HostInstant>,
    sniffed: Vec<Sniffed>,
    radio: Option<RadioLog>,
    carriers: Option<CarrierLog>,
    /// End of the run.
    end: HostInstant,
    error: Option<Failed>,
}

/// The files of a sniffed carrier.
struct Sniffed {
    carrier: CarrierConfig,
    files: Vec<Lines>,
}

/// One of them.
struct Lines {
    name: String,
    format: Format,
    /// The direction of its DCIs, if it does not have all.
    only: Option<Direction>,
    out: Output,
    /// The first slot that is not written yet.
    next_slot: u64,
}

impl Sink for Logs {
    fn handle_diag(&mut self, diag: &Diag) {
        if let Some((name, out)) = self.captures.get_mut(&diag.device)
            && let Err(error) = out.write_all(&diag.bytes)
        {
            self.error.get_or_insert((name.clone(), error.into()));
        }
    }

    fn handle_radio(&mut self, event: &Event) {
        let result = match event {
            Event::Passage { device, direction, passage } => {
                self.pass(*device, *direction, passage)
            }
            Event::Dci(dci) => self.hear(dci),
            Event::Use(used) => {
                self.carriers.as_mut().map_or(Ok(()), |carriers| carriers.handle_use(used))
            }
            _ => Ok(()),
        };
        let noted = self.radio.as_mut().map_or(Ok(()), |radio| radio.handle_event(event));
        if let Err(failed) = result.and(noted) {
            self.error.get_or_insert(failed);
        }
    }
}

impl Logs {
    pub(super) fn open(
        plan: &Plan,
        actors: &Actors,
        keep: &Keep,
        about: &[(String, String)],
        files: &mut dyn Files,
    ) -> Result<Self, Failed> {
        let mut logs = Self {
            names: BTreeMap::new(),
            captures: BTreeMap::new(),
            truth: None,
            sent: BTreeMap::new(),
            sniffed: Vec::new(),
            radio: None,
            carriers: None,
            end: HostInstant::default() + plan.duration,
            error: None,
        };
        let Some(cell) = &plan.cell else { return Ok(logs) };
        let mut create = |name: String| match files.create(&name) {
            Ok(out) => Ok((name, out)),
            Err(error) => Err((name, error.into())),
        };
        for (group, device) in actors.groups.iter().zip(&cell.devices) {
            for device_number in group.devices.clone() {
                let number = Device(device_number);
                let name = group.name_of(number);
                if keep.captures && device.modem.is_some_and(|modem| modem.on) {
                    logs.captures.insert(number, create(format!("{name}.qmdl"))?);
                }
                logs.names.insert(number, name);
            }
        }
        if keep.sniffer && cell.sniffer.is_some() {
            for (at, carrier) in cell.carriers.iter().enumerate() {
                let kinds: &[(&str, Format, Option<Direction>)] = match carrier.rat {
                    Rat::Lte => &[
                        (
                            "-down.dciLog",
                            Format::DciLog(Direction::Downlink),
                            Some(Direction::Downlink),
                        ),
                        ("-up.dciLog", Format::DciLog(Direction::Uplink), Some(Direction::Uplink)),
                    ],
                    Rat::Nr => &[(".csv", Format::NrScope, None)],
                };
                let mut opened = Vec::new();
                for &(end, format, only) in kinds {
                    let (name, mut out) = create(format!("carrier-{at}{end}"))?;
                    if !format.header().is_empty() {
                        writeln!(out, "{}", format.header())
                            .map_err(|error| (name.clone(), error.into()))?;
                    }
                    opened.push(Lines { name, format, only, out, next_slot: 0 });
                }
                logs.sniffed.push(Sniffed { carrier: carrier.clone(), files: opened });
            }
        }
        if keep.truth {
            logs.truth = Some(Table::create(files, "truth.parquet", &TRUTH, about)?);
        }
        if let Some(width) = keep.series {
            let busy = actors.busy();
            let devices = known(cell, actors, &busy);
            logs.carriers = Some(CarrierLog::create(devices, width, logs.end, about, files)?);
            let names = busy.iter().map(|device| (DeviceId(device.0), actors.name_of(*device)));
            logs.radio = Some(RadioLog::create(names, logs.end, about, files)?);
        }
        Ok(logs)
    }

    /// Whether it needs events.
    pub(super) fn wants_events(&self) -> bool {
        self.truth.is_some() || self.radio.is_some() || self.wants_every_dci()
    }

    /// Whether it needs all users' events of the control channel.
    pub(super) fn wants_every_dci(&self) -> bool {
        !self.sniffed.is_empty()
    }

    /// Whether they need the use of each slot.
    pub(super) fn wants_use(&self) -> bool {
        self.carriers.is_some()
    }

    /// The first failure.
    pub(super) fn error(&mut self) -> Result<(), Failed> {
        self.error.take().map_or(Ok(()), Err)
    }

    fn pass(
        &mut self,
        device: DeviceId,
        direction: Direction,
        passage: &Passage,
    ) -> Result<(), Failed> {
        let Some(truth) = &mut self.truth else { return Ok(()) };
        let before = self.sent.insert((device, direction == Direction::Uplink), passage.sent);
        let at_head = before.unwrap_or_default().clamp(passage.entered, passage.began);
        let name = self.names.get(&Device(device.0)).map(|name| name.as_str().into());
        let span =
            |from: HostInstant, to: HostInstant| Some(Cell::from((to - from).as_nanos() as u64));
        truth.push([
            name,
            Some(way(direction).into()),
            Some(passage.entered.as_nanos().into()),
            span(passage.entered, at_head),
            span(at_head, passage.began),
            span(passage.began, passage.sent),
            span(passage.sent, passage.arrived),
            span(passage.arrived, passage.delivered),
            Some(u64::from(passage.harq).into()),
            Some(u64::from(passage.rlc).into()),
        ])
    }

    fn hear(&mut self, dci: &Dci) -> Result<(), Failed> {
        if dci.sent_in.at >= self.end {
            return Ok(());
        }
        let carrier = usize::from(dci.sent_in.carrier.0);
        let Some(Sniffed { carrier, files }) = self.sniffed.get_mut(carrier) else {
            return Ok(());
        };
        let message = sniffer::message(dci, carrier);
        for lines in files {
            lines.silence(carrier, dci.sent_in, dci.sent_in.slot)?;
            if lines.only.is_none_or(|only| only == message.direction) {
                lines.next_slot = dci.sent_in.slot + 1;
                lines.write(&Heard::Dci(message))?;
            }
        }
        Ok(())
    }

    /// Writes the ends of all files.
    pub(super) fn finish(mut self) -> Result<(), Failed> {
        self.error()?;
        for (at, Sniffed { carrier, mut files }) in self.sniffed.into_iter().enumerate() {
            for lines in &mut files {
                if carrier.rat == Rat::Lte {
                    let carrier_id = CarrierId(at as u8);
                    let last = self.end.as_nanos() / 1_000_000;
                    let slot = SlotId { carrier: carrier_id, slot: last, at: self.end };
                    lines.silence(&carrier, slot, last)?;
                }
                lines.out.flush().map_err(|error| (lines.name.clone(), error.into()))?;
            }
        }
        for (name, mut out) in self.captures.into_values() {
            out.flush().map_err(|error| (name, error.into()))?;
        }
        self.radio.map_or(Ok(()), RadioLog::finish)?;
        self.carriers.map_or(Ok(()), CarrierLog::finish)?;
        self.truth.map_or(Ok(()), Table::finish)
    }
}

/// All devices of a cell; devices with flows count on every carrier that they may use.
fn known(cell: &CellPlan, actors: &Actors, busy: &[Device]) -> BTreeMap<DeviceId, Known> {
    let devices = actors.groups.iter().zip(&cell.devices).flat_map(|(group, device)| {
        group.devices.clone().map(move |number| (group.name_of(Device(number)), number, device))
    });
    let known = devices.map(|(name, number, device)| {
        let is_busy = busy.contains(&Device(number));
        let all = device.config.cells.iter().flatten().filter(|_| is_busy);
        let always = all.map(|carrier| CarrierId(*carrier as u8)).collect();
        (DeviceId(number), Known { name, always })
    });
    known.collect()
}

impl Lines {
    /// NG-Scope has a line for each subframe without messages; counts of idle resource blocks need
    /// them.
    fn silence(&mut self, carrier: &CarrierConfig, like: SlotId, until: u64) -> Result<(), Failed> {
        if carrier.rat != Rat::Lte {
            return Ok(());
        }
        while self.next_slot < until {
            let slot = self.next_slot;
            let moment = sounding_trace::dci::Moment {
                time: Duration::from_millis(slot),
                cell: like.carrier.0,
                frame: (slot / 10 % 1024) as u16,
                slot: (slot % 10) as u8,
            };
            self.write(&Heard::Nothing(moment))?;
            self.next_slot += 1;
        }
        Ok(())
    }

    fn write(&mut self, heard: &Heard) -> Result<(), Failed> {
        // By the time of day, as a sniffer's host has it and modems have it from a network: a log
        // fits the run's captures.
        let begins = Duration::from_nanos(ClockConfig::default().begins.unix_nanos());
        let mut heard = *heard;
        let (Heard::Nothing(moment) | Heard::Dci(Message { moment, .. })) = &mut heard;
        moment.time += begins;
        let mut line = String::new();
        self.format.write(&heard, &mut line);
        self.out.write_all(line.as_bytes()).map_err(|error| (self.name.clone(), error.into()))
    }
}
