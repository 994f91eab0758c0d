//! A network with a watched device whose modem writes, and the events and records of both.

use std::time::Duration;

use sounding_cell::config::{CarrierConfig, DeviceConfig, HarqConfig, Rat};
use sounding_cell::event::Transmission;
use sounding_cell::modem::{Modem, ModemConfig, Record};
use sounding_cell::radio::{FadingConfig, ModelConfig, ScriptConfig};
use sounding_cell::{DeviceId, Direction, Event, Outcome, Ran};
use sounding_diag::packet::Packet;
use sounding_diag::record;
use sounding_diag::{LogCode, hdlc};
use sounding_units::{Bytes, HostInstant, ModemInstant};

use crate::tree::{Builder, Item};

pub(crate) const ORIGIN: HostInstant = HostInstant::from_nanos(7_000_000_000);
const DEVICE: DeviceId = DeviceId(0);

pub(crate) fn lte() -> CarrierConfig {
    CarrierConfig::default()
}

/// Configuration 2, band 41.
pub(crate) fn lte_tdd() -> CarrierConfig {
    CarrierConfig { tdd: Some("2".into()), arfcn: 40_620, frequency_mhz: 2_593.0, ..lte() }
}

pub(crate) fn nr() -> CarrierConfig {
    CarrierConfig {
        rat: Rat::Nr,
        numerology: 1,
        prb: 106,
        tdd: Some("DDDSU".into()),
        arfcn: 636_666,
        pci: 700,
        ..CarrierConfig::default()
    }
}

/// Packets each way: how large, and how far apart.
#[derive(Clone, Copy)]
pub(crate) struct Flows {
    pub(crate) down: Option<(u64, Duration)>,
    pub(crate) up: Option<(u64, Duration)>,
}

impl Flows {
    /// More than any carrier here holds.
    pub(crate) const fn saturated(down: bool, up: bool) -> Self {
        let flow = Some((1_500, Duration::from_micros(40)));
        Self { down: if down { flow } else { None }, up: if up { flow } else { None } }
    }

    pub(crate) const LIGHT: Self = Self {
        down: Some((1_200, Duration::from_micros(13_700))),
        up: Some((300, Duration::from_micros(31_300))),
    };
}

/// The result.
pub(crate) struct Run {
    pub(crate) events: Vec<Event>,
    pub(crate) records: Vec<Record>,
    pub(crate) goodput: [u64; 2],
}

pub(crate) fn run(
    carriers: &[CarrierConfig],
    flows: Flows,
    span: Duration,
    config: ModemConfig,
    seed: u64,
) -> Run {
    // A good channel with occasional deep fades, so that HARQ loses some blocks.
    let channel = ScriptConfig {
        fading: FadingConfig { surroundings_mps: 10.0, ..FadingConfig::default() },
        ..ScriptConfig::constant(20.0)
    };
    run_over(channel, carriers, flows, span, config, seed)
}

pub(crate) fn run_over(
    channel: ScriptConfig,
    carriers: &[CarrierConfig],
    flows: Flows,
    span: Duration,
    config: ModemConfig,
    seed: u64,
) -> Run {
    let device = DeviceConfig {
        cells: vec![(0..carriers.len()).collect()],
        channel: ModelConfig::Script(channel),
        // Let RLC have something to repeat.
        harq: HarqConfig { transmissions: 2, ..HarqConfig::default() },
        ..DeviceConfig::default()
    };
    let mut ran: Ran<()> = Ran::new(carriers, ORIGIN, seed).expect("sound patterns");
    let mut modem = Modem::new(config, DEVICE, &device, carriers, ORIGIN).expect("sound patterns");
    ran.add_device(device).expect("a device");
    ran.watch(DEVICE);
    let mut result = Run { events: Vec::new(), records: Vec::new(), goodput: [0; 2] };
    let mut next = [ORIGIN; 2];
    let mut fresh = Vec::new();
    let mut now = ORIGIN;
    while now < ORIGIN + span {
        now = now + Duration::from_millis(1);
        for (at, direction, flow) in
            [(0, Direction::Downlink, flows.down), (1, Direction::Uplink, flows.up)]
        {
            let Some((size, gap)) = flow else { continue };
            while next[at] < now {
                ran.handle_packet(next[at].max(now), DEVICE, direction, Bytes::new(size), ());
                next[at] = next[at] + gap;
            }
        }
        ran.handle_time(now);
        ran.drain_events(&mut fresh);
        fresh.iter().for_each(|event| modem.handle_event(event));
        result.events.append(&mut fresh);
        modem.handle_time(now);
        result.records.extend(std::iter::from_fn(|| modem.poll_record()));
        while let Some(output) = ran.poll_output() {
            if let Outcome::Delivered(_) = output.outcome {
                result.goodput[usize::from(output.direction == Direction::Uplink)] +=
                    output.size.count();
            }
        }
    }
    // Flushes the records that the modem still collects.
    modem.handle_time(now + Duration::from_secs(1));
    result.records.extend(std::iter::from_fn(|| modem.poll_record()));
    assert_eq!(modem.unwritten(), 0);
    result
}

impl Run {
    /// The records of a code, read by their tables, each with its time stamp.
    pub(crate) fn read(&self, code: u16) -> Vec<(ModemInstant, Item)> {
        read(&self.records, code)
    }

    pub(crate) fn sent(&self, direction: Direction) -> Vec<&Transmission> {
        let sent = self.events.iter().filter_map(|event| match event {
            Event::Transmission(_, sent) if sent.direction == direction => Some(sent),
            _ => None,
        });
        sent.collect()
    }
}

pub(crate) fn read(records: &[Record], code: u16) -> Vec<(ModemInstant, Item)> {
    let mut found = Vec::new();
    for record in records.iter().filter(|record| record.code == LogCode::new(code)) {
        let mut deframer = hdlc::Deframer::new();
        let mut input = &record.bytes[..];
        let frame = deframer.poll_frame(&mut input).expect("a frame").expect("it is whole");
        let Ok(Packet::Log(log)) = Packet::parse(frame.payload) else { panic!("no log record") };
        let mut builder = Builder::new();
        record::decode(&log, &mut builder).expect("it is described");
        found.push((log.at, builder.finish()));
    }
    found
}

/// The items of lists within lists, over all records.
pub(crate) fn items(records: &[(ModemInstant, Item)], lists: &[&str]) -> Vec<Item> {
    let mut items: Vec<Item> = records.iter().map(|(_, item)| item.clone()).collect();
    for list in lists {
        items = items
            .iter()
            .flat_map(|outer| {
                outer.list(list).iter().map(|item| {
                    let mut item = item.clone();
                    let own = outer.0.iter().filter(|(name, _)| name != list).cloned();
                    item.0.extend(own);
                    item
                })
            })
            .collect();
    }
    items
}

/// Numbers of an item by name.
pub(crate) fn numbers<const N: usize>(item: &Item, names: [&str; N]) -> [i64; N] {
    names.map(|name| item.number(name).unwrap_or_else(|| panic!("no {name} in {item:?}")))
}

/// Fails on the first item that differs: it is easier to read than all of them.
pub(crate) fn same<T: PartialEq + std::fmt::Debug>(found: &[T], wanted: &[T]) {
    let at = found.iter().zip(wanted).position(|(found, wanted)| found != wanted);
    if let Some(at) = at {
        panic!("item {at}: found {:?}, wanted {:?}", found[at], wanted[at]);
    }
    assert_eq!(found.len(), wanted.len());
}
