//! The radio's own delays: as rows, and on the clock of a receiver of the packets.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value as Json;

use crate::{link, number};

fn rows(capture: &Path, arguments: &[&str]) -> (Vec<Json>, String) {
    let output = link(capture, &[&["--delays", "--json"], arguments].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    let text = String::from_utf8(output.stdout).unwrap();
    (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), said)
}

/// Begin and end of each repeat of the uplink, ns since 1970.
fn repeats(rows: &[Json]) -> BTreeMap<u64, u64> {
    let repeats = rows.iter().filter(|row| row["kind"] == "harq");
    let span = |row: &Json| {
        let end = row["unix_ns"].as_u64().unwrap();
        (end - (number(row, "held_ms") * 1e6) as u64, end)
    };
    repeats.map(span).collect()
}

/// A pcap with a packet each two milliseconds but while an event holds them, and two at its end; all of them `later`, ns.
fn pcap(path: &Path, repeats: &BTreeMap<u64, u64>, later: u64) {
    let (first, last) = (*repeats.keys().next().unwrap(), *repeats.values().max().unwrap());
    let second = 1_000_000_000;
    let is_held = |at: u64| {
        repeats.range(at.saturating_sub(second)..=at).any(|(begin, end)| *begin <= at && at <= *end)
    };
    let mut arrivals: Vec<u64> =
        (first - second..last + second).step_by(2_000_000).filter(|at| !is_held(*at)).collect();
    arrivals.extend(repeats.values().flat_map(|end| [*end, end + 100_000]));
    arrivals.sort_unstable();
    let mut file = 0xA1B2_3C4D_u32.to_le_bytes().to_vec();
    file.extend([0; 20]);
    for at in arrivals {
        let at = at + later;
        for word in [at / second, at % second, 4, 1_200] {
            file.extend(u32::try_from(word).unwrap().to_le_bytes());
        }
        file.extend([0; 4]);
    }
    std::fs::write(path, file).unwrap();
}

#[test]
fn a_receivers_packets_date_the_uplinks_events_on_its_own_clock() {
    const LATER: u64 = 7_654_321_000;
    let file = "captures/lgs96__mobileinsight_core/diag_log_20211220_111534.mi2log";
    let Some(capture) = sounding_testdata::shared(file) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (without, _) = rows(&capture, &["--direction", "uplink"]);
    let repeats = repeats(&without);
    assert!(repeats.len() > 50, "{}", repeats.len());
    let packets = folder.path().join("server.pcap");
    pcap(&packets, &repeats, LATER);
    let (with, said) = rows(&capture, &["--packets", packets.to_str().unwrap()]);
    assert!(said.contains("repeats have a burst"), "{said}");
    assert_eq!(with.len(), without.len());
    for (with, without) in with.iter().zip(&without) {
        assert_eq!(with["unix_ns"], without["unix_ns"]);
        let [there, here] =
            ["receiver_unix_ns", "unix_ns"].map(|name| with[name].as_u64().unwrap());
        assert!((there - here).abs_diff(LATER) < 1_000_000, "{with}");
    }

    // Packets of somebody else have no shift that fits.
    let others: BTreeMap<u64, u64> =
        (0..100).map(|number| (number * 63_000_000, number * 63_000_000 + 8_000_000)).collect();
    let begin = *repeats.keys().next().unwrap();
    let others = others.into_iter().map(|(from, to)| (begin + from, begin + to)).collect();
    pcap(&packets, &others, 0);
    let output = link(&capture, &["--delays", "--packets", packets.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("no shift of the clocks fits"), "{said}");
}
