//! The granted bytes of rows, compared with other code's sums over the output of `decode`; and
//! infrequent records.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value as Json;

use crate::compose::{BEGIN, Capture};
use crate::{granted, lines, number, rows};

/// LTE's records with grants, by direction, the one that counts first.
const KINDS: [(&str, &[&str]); 2] =
    [("uplink", &["0xB139", "0xB064"]), ("downlink", &["0xB173", "0xB063", "0xB126"])];

/// Two kinds of records list the same blocks if they are this close, in nanoseconds.
const SAME_BLOCKS: u64 = 500_000_000;

/// A record as `decode` prints it: when it was stamped, and its blocks that are this device's, with
/// their bytes if they are new.
struct Listed {
    code: String,
    at: u64,
    new_bytes: u64,
}

fn is_ours(rnti: &Json) -> bool {
    ["c_rnti", "sps_rnti", "sps_c_rnti"].iter().any(|name| rnti == name)
}

fn items<'a>(fields: &'a Json, name: &str) -> Vec<&'a Json> {
    fields[name].as_array().map(|items| items.iter().collect()).unwrap_or_default()
}

fn bytes(block: &Json, name: &str) -> u64 {
    block[name].as_u64().unwrap_or_else(|| panic!("{name}: {block}"))
}

/// Bytes of each block for this device; zero for a repeat and for one that did not arrive.
fn blocks(code: &str, fields: &Json) -> Vec<u64> {
    let of_mac = || {
        let packets = items(fields, "sub_packets");
        let mut blocks: Vec<&Json> =
            packets.iter().flat_map(|packet| items(packet, "samples")).collect();
        blocks.extend(items(fields, "blocks"));
        blocks
    };
    match code {
        "0xB139" => {
            let sent = items(fields, "transmissions");
            let sent = sent.iter().filter(|sent| sent["dropped"] != true);
            sent.map(|sent| if sent["retx"] == 0 { bytes(sent, "tb_bytes") } else { 0 }).collect()
        }
        "0xB064" => of_mac().iter().map(|block| bytes(block, "grant_bytes")).collect(),
        "0xB063" => {
            let ours = of_mac().into_iter().filter(|block| is_ours(&block["rnti"]));
            ours.map(|block| {
                bytes(block, if block["tb_bytes"].is_null() { "size_bytes" } else { "tb_bytes" })
            })
            .collect()
        }
        "0xB173" => {
            // Versions below 37 count the CRC with the block (TS 36.212 §5.1.1: 24 bits).
            let crc = if fields["version"].as_u64().unwrap() < 37 { 3 } else { 0 };
            let blocks = items(fields, "subframes")
                .into_iter()
                .flat_map(|subframe| items(subframe, "blocks"));
            let ours = blocks.filter(|block| is_ours(&block["rnti"]));
            ours.map(
                |block| if block["crc"] == "pass" { bytes(block, "tb_bytes") - crc } else { 0 },
            )
            .collect()
        }
        _ => {
            let rank = fields["rank"].as_str().and_then(|rank| rank.parse().ok()).unwrap_or(1);
            let sizes =
                ["tb_bits_0", "tb_bits_1"].iter().take(rank).map(|name| bytes(fields, name) / 8);
            if is_ours(&fields["rnti"]) {
                sizes.filter(|size| *size > 0).collect()
            } else {
                Vec::new()
            }
        }
    }
}

fn listed(capture: &Path) -> Vec<Listed> {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
    command.arg("decode").arg(capture).arg("--no-redact");
    for code in KINDS.iter().flat_map(|(_, kinds)| *kinds) {
        command.args(["--code", code]);
    }
    let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let record = |line: &str| {
        let record: Json = serde_json::from_str(line).unwrap();
        let code = record["code"].as_str()?.to_owned();
        let blocks = blocks(&code, &record["fields"]);
        let at = record["unix_ns"].as_u64()?;
        (!blocks.is_empty()).then(|| Listed { code, at, new_bytes: blocks.iter().sum() })
    };
    text.lines().filter_map(record).collect()
}

/// The sum of one direction, each block once.
fn sum(listed: &[Listed], kinds: &[&str]) -> u64 {
    let of =
        |kind: &&str| listed.iter().filter(move |record| record.code == *kind).collect::<Vec<_>>();
    let mut sum = 0;
    for (place, kind) in kinds.iter().enumerate() {
        let trusted: Vec<&Listed> = kinds[..place].iter().flat_map(of).collect();
        for record in of(kind) {
            let twice = trusted.iter().any(|other| other.at.abs_diff(record.at) <= SAME_BLOCKS);
            sum += if twice { 0 } else { record.new_bytes };
        }
    }
    sum
}

#[test]
fn what_was_granted_is_the_sum_of_the_records_at_every_length_of_bins() {
    let mut compared = 0;
    for capture in sounding_testdata::shared_files("captures") {
        let listed = listed(&capture);
        let wanted = KINDS.map(|(direction, kinds)| (direction, sum(&listed, kinds)));
        if wanted.iter().all(|(_, sum)| *sum == 0) {
            continue;
        }
        for bin in ["50ms", "1s", "7s"] {
            let rows = lines(&capture, &["--bin", bin]);
            for (direction, wanted) in wanted {
                let found = rows.iter().filter(|row| row["direction"] == direction);
                let found: u64 = found.filter_map(|row| row["granted_bytes"].as_u64()).sum();
                let off = found.abs_diff(wanted) as f64;
                assert!(
                    off <= 0.001 * wanted as f64,
                    "{}: {direction}, --bin {bin}: {found}, and by decode {wanted}",
                    capture.display()
                );
                compared += 1;
            }
        }
    }
    assert!(compared == 0 || compared > 100, "{compared}");
}

#[test]
fn a_bin_says_what_was_granted_within_it_and_not_when_it_was_reported() {
    let mut capture = Capture::new();
    let ms = Duration::from_millis;
    capture.mac_uplink(BEGIN, &[(ms(0), 1)]);
    // Two blocks. The first was granted a bin earlier.
    capture.mac_uplink(BEGIN + ms(250), &[(ms(100), 20), (ms(0), 300)]);
    capture.mac_uplink(BEGIN + ms(400), &[(ms(0), 4_000)]);
    let rows = rows(&capture.file(), "uplink", &[]);
    let bytes: Vec<u64> = rows.iter().map(|row| row["granted_bytes"].as_u64().unwrap()).collect();
    assert_eq!(bytes, [1, 20, 300, 0, 4_000]);
}

/// A minute of a modem that writes 0xB064 once a second, with what was granted in that second.
#[test]
fn a_record_a_second_gives_the_rate_of_that_second_until_the_next() {
    for gaps in [[10, 10, 10], [7, 25, 60]] {
        let mut capture = Capture::new();
        let mut in_all = 0;
        for second in 1..=70_u64 {
            let mut blocks = Vec::new();
            let mut age = 990_u64;
            for step in (0..).map(|block| gaps[block % gaps.len()]) {
                blocks.push((Duration::from_millis(age), 200 + 37 * (second % 11)));
                let Some(next) = age.checked_sub(step) else { break };
                age = next;
            }
            in_all += capture.mac_uplink(BEGIN + Duration::from_secs(second), &blocks);
        }
        for bin in ["20ms", "100ms", "1s"] {
            let rows = rows(&capture.file(), "uplink", &["--bin", bin]);
            assert_eq!(granted(&rows), in_all, "{bin}");
            let period = 1.0;
            let end = number(rows.last().unwrap(), "time_s");
            let inner: Vec<&Json> = rows
                .iter()
                .filter(|row| (period..=end - period).contains(&number(row, "time_s")))
                .collect();
            let of = |row: &&Json| number(row, "rate_bits_per_sec") / 8.0 * number(row, "span_s");
            let estimated: f64 = inner.iter().map(of).sum();
            let listed: u64 = inner.iter().filter_map(|row| row["granted_bytes"].as_u64()).sum();
            // An estimate is IP bytes: 95 % of a block.
            let share = estimated / 0.95 / listed as f64;
            assert!((0.9..=1.1).contains(&share), "{bin}: {share}");
            for row in inner {
                assert_eq!(row["state"], "active", "{row}");
            }
        }
    }
}
