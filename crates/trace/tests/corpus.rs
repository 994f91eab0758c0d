//! Runs the fuzz target with its seeds, and generates the seeds.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod targets;

use std::path::PathBuf;

fn corpus() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/trace"))
}

/// Wide spaces (U+3000). An error message shows them by their code.
const WIDE: [[u8; 3]; 44] = [*b"\xE3\x80\x80"; 44];

/// The seeds: name, kind, bytes, and whether they are valid links.
const SEEDS: &[(&str, u8, &[u8], bool)] = &[
    ("opportunities", 0, b"0\n0\n3\n3\n5000\n", true),
    ("opportunities-of-windows", 0, b"1\r\n2\r\n", true),
    ("opportunities-of-a-week", 0, b"1\n604800000", true),
    ("opportunities-with-a-mark", 0, b"\xEF\xBB\xBF1\n2\n", true),
    ("opportunities-too-late", 0, b"604800001\n", false),
    ("opportunities-back", 0, b"7\n6\n", false),
    ("opportunities-of-no-time", 0, b"0\n0\n", false),
    ("opportunities-that-are-escaped", 0, WIDE.as_flattened(), false),
    ("steps", 1, b"0s 20Mbit, 5s 5 Mbit,7500ms 0bit, 1min 1.5Gbit/s", true),
    ("steps-of-one-rate", 1, b"800kbit", true),
    ("steps-closer-than-a-microsecond", 1, b"0us 1bit, 0.5us 2bit", true),
    (
        "steps-as-far-and-fast-as-there-are",
        1,
        b"0s 18446744073709551615bit, 18446744073.7095516s 0bit",
        true,
    ),
    ("steps-back", 1, b"0s 1Mbit, 2s 1Mbit, 1s 1Mbit", false),
    ("steps-without-units", 1, b"0 20", false),
    ("steps-of-points", 1, b"... 1bit", false),
    ("table-of-packets", 2, b"time_ms,packets\n0,2\n3,3\n9,1\n", true),
    ("table-of-rates", 2, b"from_ns,until_ns,rate_bits_per_sec\n0,1500000001,12000000\n1500000001,2000000000,0\n", true),
    ("table-of-a-spreadsheet", 2, b"\xEF\xBB\xBF\"packets\",\"time_ms\"\r\n\"2\", 0\r\n\r\n3,3", true),
    ("table-of-more-than-there-is", 2, b"time_ms,packets\n1,18446744073709551615\n", false),
    ("table-with-a-gap", 2, b"from_ns,until_ns,rate_bits_per_sec\n0,5,1\n6,7,1\n", false),
    ("table-of-quotes", 2, b"\"\"\"\"\"\n\"", false),
    ("log-of-mm-link", 3, b"# mahimahi mm-link (Uplink) [a.up] > b\n# base timestamp: 39\n46 # 1504\n46 + 1504\n98 - 1504 52\n98 d 1 1504", false),
    ("log-of-pantheon", 3, b"# init timestamp: 1540000000.125\n98.250 + 1500 2\n98.250 - 1500 52.125 1\n", false),
    ("log-of-two-clocks", 3, b"98.250 - 1500 -0.125 1\n", false),
    ("log-of-nothing", 3, b"# [ ] ( \n# mahimahi config: [delay ms] [delay 99999999999999999999 ms]\n+ - #\n1 + +1\n", false),
    ("series", 4, b"10.0 9.9\n11.0\t2\n11.0 7\n13.0 , 4.5\n", true),
    ("series-with-a-mark", 4, b"\xEF\xBB\xBF10.0 9.9\n11.0 2\n", true),
    ("series-of-no-rate", 4, b"0 0\n1 0\n", true),
    ("series-back", 4, b"2 2\n3 4\n2 3\n", false),
    ("series-of-one-line", 4, b"1 2\n", false),
    ("series-of-no-numbers", 4, b"0 0\n1 inf\n", false),
    (
        "log-of-g-nettrack",
        5,
        b"Timestamp,Longitude,Latitude,DL_bitrate,UL_bitrate\nx,1,2,72,20\nx,1,2,0,5\n",
        true,
    ),
    ("log-without-its-column", 5, b"Timestamp,Longitude,Latitude\nx,1,2\n", false),
    ("log-with-a-hole", 5, b"Timestamp,Longitude,Latitude,DL_bitrate\nx,1,2,72\nx,1\n", false),
];

#[test]
fn seeds_are_links_or_are_refused() {
    for &(name, .., is_link) in SEEDS {
        let seed = std::fs::read(corpus().join(name)).unwrap();
        assert_eq!(targets::trace(&seed).is_some(), is_link, "{name}");
    }
}

#[test]
fn every_seed_does_no_harm() {
    for file in std::fs::read_dir(corpus()).unwrap() {
        targets::trace(&std::fs::read(file.unwrap().path()).unwrap());
    }
}

/// `cargo test -p sounding-trace --test corpus -- --ignored`
#[test]
#[ignore = "writes the seeds anew"]
fn regenerate() {
    std::fs::create_dir_all(corpus()).unwrap();
    for &(name, kind, text, _) in SEEDS {
        std::fs::write(corpus().join(name), [&[kind], text].concat()).unwrap();
    }
}
