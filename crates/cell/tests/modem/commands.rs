//! Activation commands of MAC in the records of a network that activates carriers by load.

use std::time::Duration;

use sounding_cell::config::{AggregationConfig, CarrierConfig, DeviceConfig};
use sounding_cell::event::Rrc;
use sounding_cell::modem::{Modem, ModemConfig};
use sounding_cell::radio::{ModelConfig, ScriptConfig};
use sounding_cell::{DeviceId, Direction, Event, Ran};
use sounding_diag::hdlc::Deframer;
use sounding_diag::mac::Element;
use sounding_diag::packet::Packet;
use sounding_diag::record::MacDownlink;
use sounding_units::Bytes;

use crate::network::{ORIGIN, lte};

/// Carriers that came (true) and went, and the activation bits in the records, of a flow that is
/// fast for a second and slow for two.
fn watched(load: Option<f64>) -> (Vec<bool>, Vec<u8>) {
    let carriers = [lte(), CarrierConfig { pci: 2, uplink: false, ..lte() }];
    let aggregation =
        AggregationConfig { load, queue: Bytes::new(60_000), ..AggregationConfig::default() };
    let channel = ModelConfig::Script(ScriptConfig::constant(16.0));
    let device =
        DeviceConfig { cells: vec![vec![0, 1]], aggregation, channel, ..DeviceConfig::default() };
    let id = DeviceId(0);
    let mut ran: Ran<()> = Ran::new(&carriers, ORIGIN, 5).expect("sound");
    let mut modem =
        Modem::new(ModemConfig::default(), id, &device, &carriers, ORIGIN).expect("sound");
    ran.add_device(device).expect("a device");
    ran.watch(id);
    let (mut events, mut changes, mut commands) = (Vec::new(), Vec::new(), Vec::new());
    for ms in 0..3_500 {
        let now = ORIGIN + Duration::from_millis(ms);
        // First more data than one carrier can send, then little, then none. The modem then writes
        // the waiting records.
        let packets = if ms < 1_000 { 16 } else { u64::from(ms < 3_000 && ms % 4 == 0) };
        for _ in 0..packets {
            ran.handle_packet(now, id, Direction::Downlink, Bytes::new(1_500), ());
        }
        ran.handle_time(now);
        ran.drain_events(&mut events);
        for event in events.drain(..) {
            modem.handle_event(&event);
            match event {
                Event::Rrc { change: Rrc::Activated { .. }, .. } => changes.push(true),
                Event::Rrc { change: Rrc::Deactivated { .. }, .. } => changes.push(false),
                _ => {}
            }
        }
        modem.handle_time(now);
        while let Some(record) = modem.poll_record() {
            let mut input = &record.bytes[..];
            let mut deframer = Deframer::new();
            let frame = deframer.poll_frame(&mut input).expect("a frame").expect("whole");
            let Ok(Packet::Log(log)) = Packet::parse(frame.payload) else { continue };
            if log.code != MacDownlink::CODE {
                continue;
            }
            for block in MacDownlink::parse(log.body).expect("described").blocks() {
                commands.extend(block.pdu.elements().filter_map(|(_, element)| match element {
                    Element::Activation(cells) => Some(cells),
                    _ => None,
                }));
            }
        }
    }
    assert_eq!(modem.unwritten(), 0);
    (changes, commands)
}

#[test]
fn a_carrier_that_comes_and_goes_by_load_is_commanded_both_times() {
    let (changes, commands) = watched(Some(0.7));
    assert_eq!(changes, [true, false]);
    // The secondary cell of index 1, then none.
    assert_eq!(commands, [1 << 1, 0]);
}

#[test]
fn without_load_carriers_come_and_go_by_rrc_alone() {
    let (changes, commands) = watched(None);
    assert_eq!(changes, [true, false]);
    assert!(commands.is_empty(), "{commands:?}");
}
