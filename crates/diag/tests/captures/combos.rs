//! Band combinations of a device, in a real capture that no other decoder reads.

use std::collections::BTreeMap;

use sounding_diag::LogCode;
use sounding_diag::capture::Capture;
use sounding_diag::packet::Packet;
use sounding_diag::record;
use sounding_testdata::shared;

use crate::tree::{Builder, Item};

fn number(item: &Item, name: &str) -> i64 {
    item.number(name).unwrap_or_else(|| panic!("there is no {name}"))
}

/// The decoded records of one code.
fn records(code: LogCode) -> Vec<Item> {
    let Some(path) = shared("captures/HandyMenny__uecapabilityparser/scat.qmdl") else {
        return Vec::new();
    };
    let bytes = std::fs::read(path).expect("the capture can be read");
    let mut capture = Capture::new(&bytes).expect("it is a capture");
    let mut found = Vec::new();
    while let Some(packet) = capture.poll_packet() {
        if let Ok(located) = packet
            && let Packet::Log(log) = located.packet
            && log.code == code
        {
            let mut tree = Builder::new();
            record::decode(&log, &mut tree).expect("the version is described");
            found.push(tree.finish());
        }
    }
    found
}

/// The capture has all combinations of one device over several records, those of different sources
/// interleaved; each says how many there are in all, with which it begins and how many it has.
#[test]
fn band_combinations_of_a_device_are_complete() {
    let mut seen: BTreeMap<i64, i64> = BTreeMap::new();
    for tree in records(LogCode::new(0xB826)) {
        let combos = tree.list("combos");
        let seen = seen.entry(number(&tree, "total_combos")).or_default();
        assert_eq!(
            (*seen, combos.len() as i64),
            (number(&tree, "first_combo"), number(&tree, "combo_count"))
        );
        *seen += combos.len() as i64;
        for combo in combos {
            let bands = combo.list("bands");
            assert!((1..=6).contains(&bands.len()), "{} bands", bands.len());
            for band in bands {
                // NR has bands up to 512, LTE up to 88, and every band is received in some class.
                let most = if number(band, "nr") == 1 { 512 } else { 88 };
                assert!((1..=most).contains(&number(band, "band")), "{band:?}");
                assert!((1..=17).contains(&number(band, "dl_class")), "{band:?}");
                assert!((0..=17).contains(&number(band, "ul_class")), "{band:?}");
            }
        }
    }
    let whole = BTreeMap::from([(0, 0), (16, 16), (581, 581)]);
    assert!(seen.is_empty() || seen == whole, "{seen:?}");
}

/// The same for LTE, which says no more than how many there are in a record: all of a device's are
/// there four times over.
#[test]
fn lte_combinations_of_a_device_are_plausible() {
    let mut combos = BTreeMap::<usize, usize>::new();
    for log in records(LogCode::new(0xB0CD)) {
        assert_eq!(log.list("combos").len() as i64, number(&log, "combo_count"));
        *combos.entry(log.list("combos").len()).or_default() += 1;
        for band in log.list("combos").iter().flat_map(|combo| combo.list("bands")) {
            assert!((1..=88).contains(&number(band, "band")), "{band:?}");
            assert!((1..=9).contains(&number(band, "dl_class")), "{band:?}");
            assert!((0..=9).contains(&number(band, "ul_class")), "{band:?}");
            // Without an uplink on the band there is nothing to say of its antennas.
            let [class, antennas] =
                ["ul_class", "ul_antennas_index"].map(|name| number(band, name) == 0);
            assert_eq!(class, antennas, "{band:?}");
        }
    }
    let whole = BTreeMap::from([(75, 4), (100, 28)]);
    assert!(combos.is_empty() || combos == whole, "{combos:?}");
}
