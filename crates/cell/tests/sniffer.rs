//! Writes the output of a modelled cell's sniffer, and reads it back.

use std::time::Duration;

use sounding_cell::config::{CarrierConfig, DeviceConfig, Rat};
use sounding_cell::{CarrierId, Direction, Event, Ran, sniffer};
use sounding_trace::dci::{Direction as TraceDirection, Format, Heard, Moment, Reader};
use sounding_units::{Bytes, HostInstant};

fn heard(carrier: CarrierConfig) -> Vec<sounding_cell::event::Dci> {
    let origin = HostInstant::from_nanos(1_000_000_000);
    let carrier = CarrierConfig { control_users_per_sec: 200.0, ..carrier };
    let mut ran: Ran<()> = Ran::new(&[carrier], origin, 4).expect("a sound pattern");
    let devices: Vec<_> =
        (0..3).map(|_| ran.add_device(DeviceConfig::default()).expect("a device")).collect();
    ran.sniff();
    for ms in 0..2_000 {
        let now = origin + Duration::from_millis(ms);
        for &device in &devices {
            for direction in [Direction::Downlink, Direction::Uplink] {
                ran.handle_packet(now, device, direction, Bytes::new(1_000), ());
            }
        }
    }
    let mut events = Vec::new();
    ran.drain_events(&mut events);
    events
        .into_iter()
        .filter_map(|event| if let Event::Dci(dci) = event { Some(dci) } else { None })
        .collect()
}

#[test]
fn every_format_keeps_what_every_user_was_granted() {
    let nr = CarrierConfig { rat: Rat::Nr, numerology: 1, prb: 106, ..CarrierConfig::default() };
    for (carrier, formats) in [
        (
            CarrierConfig::default(),
            &[
                Format::DciLog(TraceDirection::Downlink),
                Format::DciLog(TraceDirection::Uplink),
                Format::Falcon,
            ][..],
        ),
        (nr, &[Format::NrScope][..]),
    ] {
        let dcis = heard(carrier.clone());
        let mut users: Vec<u16> = dcis.iter().map(|dci| dci.rnti).collect();
        users.sort_unstable();
        users.dedup();
        assert!(users.len() > 200, "three with data and many without: {}", users.len());
        let (mut bits, mut prb, mut messages) = (0, 0, 0);
        for &format in formats {
            let mut text = String::from(format.header());
            text.push('\n');
            for dci in &dcis {
                format.write(&Heard::Dci(sniffer::message(dci, &carrier)), &mut text);
            }
            if format == Format::Falcon {
                // It contains both directions again.
                assert_eq!(text.lines().count() - 1, dcis.len());
                continue;
            }
            for line in Reader::new(format, 0, text.as_bytes()) {
                let Ok(Heard::Dci(message)) = line else { panic!("{line:?}") };
                bits +=
                    message.blocks.iter().flatten().map(|block| u64::from(block.bits)).sum::<u64>();
                prb += u64::from(message.prb);
                messages += 1;
            }
        }
        assert_eq!(messages, dcis.len());
        assert_eq!(bits, dcis.iter().map(|dci| u64::from(dci.size) * 8).sum());
        assert_eq!(prb, dcis.iter().map(|dci| u64::from(dci.prb)).sum());
    }
}

#[test]
fn a_device_counts_the_carriers_of_the_cell_that_serves_it_from_its_primary() {
    let device = DeviceConfig { cells: vec![vec![2, 0], vec![1]], ..DeviceConfig::default() };
    let mut numbers = sniffer::CarrierNumbers::new(&device);
    let of = |numbers: &sniffer::CarrierNumbers| [0, 1, 2].map(|at| numbers.number(CarrierId(at)));
    assert_eq!(of(&numbers), [Some(1), None, Some(0)]);
    let line = |cell| Heard::Nothing(Moment { cell, ..Moment::default() });
    assert_eq!((numbers.heard(line(2)), numbers.heard(line(1))), (Some(line(0)), None));
    numbers.handle_handover(CarrierId(1));
    assert_eq!(of(&numbers), [None, Some(0), None]);
    numbers.handle_handover(CarrierId(9));
    assert_eq!(of(&numbers), [None, Some(0), None]);
}
