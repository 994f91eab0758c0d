//! RRC messages in records agree with the actions of the network.

use std::time::Duration;

use sounding_cell::config::{CarrierConfig, DeviceConfig, Rat};
use sounding_cell::event::{Rrc, Transmission};
use sounding_cell::modem::{Modem, ModemConfig, Record};
use sounding_cell::{CarrierId, DeviceId, Direction, Event};
use sounding_diag::hdlc::Deframer;
use sounding_diag::packet::Packet;
use sounding_diag::record::{LteRrc, NrRrc, RrcPdu};
use sounding_rrc::facts::{Facts, Known, Target, facts};
use sounding_rrc::{Pdu, decode};

use crate::network::{Flows, ORIGIN, items, lte, nr, run};

/// The message of an RRC record: its cell and its contents.
fn read(record: &Record) -> Option<(u16, Facts)> {
    let mut input = &record.bytes[..];
    let mut deframer = Deframer::new();
    let frame = deframer.poll_frame(&mut input)?.expect("it is whole");
    let Ok(Packet::Log(log)) = Packet::parse(frame.payload) else { return None };
    let (pci, pdu, message): (u16, RrcPdu, &[u8]) = match log.code {
        LteRrc::CODE => {
            let found = LteRrc::parse(log.body).expect("described");
            (found.pci, found.pdu.expect("described"), found.message)
        }
        NrRrc::CODE => {
            let found = NrRrc::parse(log.body).expect("described");
            (found.pci, found.pdu.expect("described"), found.message)
        }
        _ => return None,
    };
    let decoded = decode(pdu, message).expect("it decodes");
    assert_eq!((decoded.unread, decoded.left_bits < 8), (0, true), "{pdu:?}");
    Some((pci, facts(Pdu::from(pdu), &decoded.value)))
}

/// RRC messages to a device of four carriers over its life.
fn life(rat: Rat) -> Vec<(u16, Facts)> {
    let carrier = |pci: u16, arfcn: u32| CarrierConfig {
        rat,
        pci,
        arfcn,
        prb: 50,
        ..CarrierConfig::default()
    };
    let carriers =
        [carrier(11, 1_300), carrier(12, 66_786), carrier(13, 6_300), carrier(14, 67_000)];
    let device = DeviceConfig { cells: vec![vec![0, 1, 2], vec![3]], ..DeviceConfig::default() };
    let id = DeviceId(3);
    let mut modem =
        Modem::new(ModemConfig::default(), id, &device, &carriers, ORIGIN).expect("sound patterns");
    let at = |ms| ORIGIN + Duration::from_millis(ms);
    let [first, second, third, fourth] = [0, 1, 2, 3].map(CarrierId);
    for (ms, change) in [
        (3, Rrc::Setup),
        (50, Rrc::Activated { carrier: second, usable: at(80) }),
        (90, Rrc::Activated { carrier: third, usable: at(120) }),
        (200, Rrc::Deactivated { carrier: second }),
        (300, Rrc::Handover { from: first, to: fourth, resumes: at(340) }),
        (900, Rrc::Released),
    ] {
        modem.handle_event(&Event::Rrc { device: id, at: at(ms), change });
        modem.handle_event(&Event::Rrc { device: DeviceId(4), at: at(ms), change });
    }
    modem.handle_time(at(1_000));
    assert_eq!(modem.unwritten(), 0);
    let records: Vec<Record> = std::iter::from_fn(|| modem.poll_record()).collect();
    records.iter().filter_map(read).collect()
}

#[test]
fn a_connection_begins_grows_moves_and_ends() {
    for rat in [Rat::Lte, Rat::Nr] {
        use sounding_rrc::facts::Event;
        let life = life(rat);
        let events: Vec<_> = life.iter().map(|(pci, facts)| (*pci, facts.event)).collect();
        let wanted = [
            (11, Event::Setup),
            (11, Event::Reconfiguration),
            (11, Event::Reconfiguration),
            (11, Event::Reconfiguration),
            (11, Event::Handover),
            // It answers through the cell it was sent to.
            (14, Event::ReconfigurationComplete),
            (14, Event::Release),
        ];
        assert_eq!(events, wanted.map(|(pci, event)| (pci, Some(event))), "{rat:?}");

        let known = |at: usize| {
            let facts = life[at].1.facts.iter();
            facts.map(|fact| (fact.place.scell, fact.known.clone())).collect::<Vec<_>>()
        };
        assert!(known(0).contains(&(None, Known::PeriodicBsrTimer(Some(5)))));
        assert!(known(0).contains(&(None, Known::RetxBsrTimer(Some(320)))));
        let target = |at| {
            known(at).into_iter().find_map(|(index, known)| match known {
                Known::ScellAdded(target) | Known::Handover(target) => Some((index, target)),
                _ => None,
            })
        };
        let is = |found: Option<(Option<u8>, Target)>, index, pci, arfcn| {
            let (at, found) = found.expect("a target");
            let wanted = (index, Some(pci), Some(arfcn), Some(50));
            assert_eq!((at, found.pci, found.arfcn, found.bandwidth_prb), wanted, "{rat:?}");
        };
        is(target(1), Some(1), 12, 66_786);
        is(target(2), Some(2), 13, 6_300);
        assert!(known(3).contains(&(None, Known::ScellReleased(1))));
        is(target(4), None, 14, 67_000);
    }
}

#[test]
fn a_secondary_cell_of_the_network_is_signalled_to_its_device() {
    let secondary = CarrierConfig { pci: 2, uplink: false, ..lte() };
    let flows = Flows::saturated(true, false);
    let span = Duration::from_secs(2);
    let run = run(&[lte(), secondary], flows, span, ModemConfig::default(), 8);
    let messages: Vec<_> = run.records.iter().filter_map(read).collect();
    let added = messages.iter().flat_map(|(_, facts)| &facts.facts);
    let added: Vec<_> = added
        .filter_map(|fact| match fact.known {
            Known::ScellAdded(target) => Some((fact.place.scell, target.pci)),
            _ => None,
        })
        .collect();
    assert_eq!(added, [(Some(1), Some(2))]);
}

/// A cell of LTE with a secondary group of NR, then a cell of NR alone, then LTE again.
#[test]
fn nr_is_added_to_lte_fails_and_is_moved_to_and_from() {
    use sounding_rrc::facts::Event as Told;
    let carriers = [lte(), nr(), CarrierConfig { pci: 701, ..nr() }];
    let device = DeviceConfig { cells: vec![vec![0, 1], vec![2]], ..DeviceConfig::default() };
    let id = DeviceId(0);
    let mut modem =
        Modem::new(ModemConfig::default(), id, &device, &carriers, ORIGIN).expect("sound patterns");
    let at = |ms| ORIGIN + Duration::from_millis(ms);
    let [master, secondary, alone] = [0, 1, 2].map(CarrierId);
    for (ms, change) in [
        (50, Rrc::SecondaryAdded { carrier: secondary, usable: at(70) }),
        (400, Rrc::SecondaryFailed { carrier: secondary }),
        (401, Rrc::SecondaryReleased { carrier: secondary }),
        (500, Rrc::Handover { from: master, to: alone, resumes: at(540) }),
        (700, Rrc::Handover { from: alone, to: master, resumes: at(740) }),
    ] {
        modem.handle_event(&Event::Rrc { device: id, at: at(ms), change });
    }
    modem.handle_time(at(1_000));
    assert_eq!(modem.unwritten(), 0);
    let records: Vec<Record> = std::iter::from_fn(|| modem.poll_record()).collect();
    let messages: Vec<_> = records.iter().filter_map(read).collect();
    let events: Vec<_> = messages.iter().map(|(pci, facts)| (*pci, facts.event)).collect();
    let wanted = [
        (1, Told::Reconfiguration),
        (1, Told::SecondaryFailure),
        (1, Told::Reconfiguration),
        (1, Told::Handover),
        (701, Told::ReconfigurationComplete),
        (701, Told::Handover),
        (1, Told::ReconfigurationComplete),
    ];
    assert_eq!(events, wanted.map(|(pci, event)| (pci, Some(event))));
    let added = messages[0].1.facts.iter().find_map(|fact| match fact.known {
        Known::Handover(target) => Some((fact.place.nr, fact.place.secondary, target.pci)),
        _ => None,
    });
    assert_eq!(added, Some((true, true, Some(700))));
}

/// With NR near, both RATs carry data, and each has its own records of it.
#[test]
fn with_a_secondary_group_both_rats_write_their_records() {
    let flows = Flows::saturated(true, true);
    let span = Duration::from_secs(2);
    let run = run(&[lte(), nr()], flows, span, ModemConfig::default(), 8);
    let blocks = |direction, carrier| {
        let sent = run.sent(direction).into_iter();
        sent.filter(|sent| sent.slot.carrier == CarrierId(carrier)).count()
    };
    let count = |code, lists: &[&str]| items(&run.read(code), lists).len();
    // Two layers of LTE are two blocks.
    let layers = |sent: &&Transmission| usize::from(sent.layers.min(2));
    let down = run.sent(Direction::Downlink).into_iter();
    let lte_down = down.filter(|sent| sent.slot.carrier == CarrierId(0));
    assert_eq!(count(0xB173, &["subframes", "blocks"]), lte_down.map(|sent| layers(&sent)).sum());
    assert_eq!(count(0xB139, &["transmissions"]), blocks(Direction::Uplink, 0));
    assert_eq!(count(0xB883, &["slots"]), blocks(Direction::Uplink, 1));
    let nr_down = blocks(Direction::Downlink, 1);
    assert!(nr_down > 500 && blocks(Direction::Uplink, 1) > 50, "{nr_down}");
    assert_eq!(count(0xB887, &["slots", "blocks"]), nr_down);
}
