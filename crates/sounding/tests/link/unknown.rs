//! Unknown values are absent, and known ones have their age.

use std::time::Duration;

use sounding_testbed::radio::RadioLink;

use crate::compose::{BEGIN, Capture, OTHER, with_a_hole};
use crate::{granted, lines, link, number, rows};

const SECOND: Duration = Duration::from_secs(1);

fn busy() -> Vec<u8> {
    RadioLink::generated(5, Duration::from_secs(8)).unwrap().capture
}

/// A hole of three seconds in a capture whose uplink is busy throughout.
fn assert_hole_is_stale(capture: &[u8]) {
    let (from, to) = (3 * SECOND, 6 * SECOND);
    let cut = with_a_hole(capture, from, to);
    let rows = rows(&cut.file(), "uplink", &[]);
    let within = |row: &&serde_json::Value| (3.31..=5.9).contains(&number(row, "time_s"));
    let hole: Vec<_> = rows.iter().filter(within).collect();
    assert!(hole.len() >= 25, "{}", hole.len());
    let mut age = 0.0;
    for row in hole {
        assert_eq!(row["state"], "stale", "{row}");
        assert!(row["rate_bits_per_sec"].is_null() && row["bound"].is_null(), "{row}");
        assert!(row["granted_bytes"].is_null(), "the grants are unknown: {row}");
        assert!(number(row, "age_us") >= age + 90_000.0, "{row}");
        age = number(row, "age_us");
    }
    let silent = rows.iter().find(|row| row["state"] == "silent");
    assert_eq!(silent, None, "a hole is no outage");
    let after = rows.iter().rfind(|row| row["rate_bits_per_sec"].is_number()).unwrap();
    assert!(number(after, "time_s") > 7.0, "{after}");
}

#[test]
fn a_hole_of_three_seconds_is_stale_and_ages() {
    assert_hole_is_stale(&busy());
}

#[test]
fn a_hole_in_a_real_capture_is_stale_and_ages() {
    const REAL: &str = "captures/lgs96__mobileinsight_core/diag_log_20211220_004729.mi2log";
    let Some(path) = sounding_testdata::shared(REAL) else { return };
    assert_hole_is_stale(&std::fs::read(path).unwrap());
}

#[test]
fn the_age_is_that_of_the_end_of_the_bin() {
    let mut capture = Capture::new();
    for ms in [0, 30, 170, 400] {
        capture.record(BEGIN + Duration::from_millis(ms), OTHER, &[]);
    }
    let rows = rows(&capture.file(), "uplink", &[]);
    let ages: Vec<_> = rows.iter().map(|row| number(row, "age_us") / 1000.0).collect();
    // Time stamps are a few nanoseconds off.
    let wanted = [70.0, 30.0, 130.0, 230.0, 0.0];
    let near = ages.iter().zip(wanted).all(|(age, wanted)| (age - wanted).abs() < 0.01);
    assert!(near && ages.len() == wanted.len(), "{ages:?}");
}

#[test]
fn without_records_of_grants_there_is_no_rate_and_the_records_are_named() {
    let mut capture = Capture::new();
    for ms in (0..3_000).step_by(20) {
        capture.record(BEGIN + Duration::from_millis(ms), OTHER, &[]);
    }
    let path = capture.file();
    let output = link(&path, &["--direction", "uplink"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success());
    assert_eq!(said.lines().count(), 1, "{said}");
    for part in ["capture.qmdl", "no rate of the uplink", "0xB139", "0xB064", "log one of"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let table = String::from_utf8(output.stdout).unwrap();
    let unknown = |line: &str| line.split_whitespace().filter(|word| *word == "-").count();
    assert!(table.lines().skip(3).all(|line| unknown(line) == 4), "{table}");
    for row in rows(&path, "uplink", &[]) {
        for name in ["rate_bits_per_sec", "bound", "state", "granted_bytes"] {
            assert!(row[name].is_null(), "{name}: {row}");
        }
    }
    let missing = lines(&path, &["--direction", "uplink"]).pop().unwrap();
    assert_eq!(missing["missing"][0]["direction"], "uplink", "{missing}");
}

#[test]
fn a_method_without_its_own_records_has_no_rate_and_names_them() {
    let mut capture = Capture::new();
    let blocks: Vec<_> = (0..10).map(|age| (Duration::from_millis(10 * age), 500)).collect();
    for record in 1..30 {
        capture.mac_uplink(BEGIN + record * SECOND / 10, &blocks);
    }
    // MAC records say no resource blocks.
    let path = capture.file();
    let output = link(&path, &["--direction", "uplink", "--method", "cell"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("which resource blocks were granted") && said.contains("0xB139"),
        "{said}"
    );
    let rows = rows(&path, "uplink", &["--method", "cell"]);
    assert!(rows.iter().all(|row| row["rate_bits_per_sec"].is_null()), "{rows:?}");
    assert_eq!(granted(&rows), 29 * 10 * 500, "what was granted is known all the same");

    let path = tempfile::NamedTempFile::new().unwrap();
    let download = RadioLink::cell(None, Duration::from_secs(3)).unwrap().capture;
    let mut without_cqi = Capture::new();
    let mut input = &download[..];
    let mut reader = sounding_diag::capture::Reader::new();
    while let Some(packet) = reader.poll_packet(&mut input) {
        use sounding_diag::packet::Packet::Log;
        let Ok(sounding_diag::capture::Located { packet: Log(record), .. }) = packet else {
            continue;
        };
        if !sounding_kpi::channel_codes().contains(&record.code) {
            without_cqi.record(record.at, record.code, record.body);
        }
    }
    drop(path);
    let path = without_cqi.file();
    let said = link(&path, &["--method", "cqi"]).stderr;
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(said.contains("report a CQI") && said.contains("0xB14D"), "{said}");
    let rows = crate::rows(&path, "downlink", &["--method", "cqi"]);
    assert!(rows.iter().all(|row| row["rate_bits_per_sec"].is_null()), "{rows:?}");
}

#[test]
fn before_the_first_grant_there_is_no_rate() {
    let mut capture = Capture::new();
    for ms in (0..1_000).step_by(20) {
        capture.record(BEGIN + Duration::from_millis(ms), OTHER, &[]);
    }
    let blocks = [(Duration::from_millis(50), 700), (Duration::ZERO, 700)];
    for ms in (1_000..2_000).step_by(100) {
        capture.mac_uplink(BEGIN + Duration::from_millis(ms), &blocks);
    }
    let rows = rows(&capture.file(), "uplink", &[]);
    let known = |row: &serde_json::Value| row["rate_bits_per_sec"].is_number();
    let first = rows.iter().position(known).unwrap();
    assert_eq!(number(&rows[first], "time_s"), 1.1);
    assert!(rows[first..].iter().all(known));
}

#[test]
fn a_table_names_the_units_of_its_columns() {
    let mut capture = Capture::new();
    capture.mac_uplink(BEGIN, &[(Duration::ZERO, 700)]);
    let table = String::from_utf8(link(&capture.file(), &[]).stdout).unwrap();
    let head = table.lines().take(3).collect::<Vec<_>>().join("\n");
    for word in ["granted", "bytes", "rate", "Mbit/s", "age", "ms"] {
        assert!(head.contains(word), "{word}: {head}");
    }
}

#[test]
fn a_clock_that_is_set_is_reported_and_rows_resume_at_the_new_time() {
    const YEARS: Duration = Duration::from_secs(41 * 365 * 24 * 3600);
    let start = sounding_units::ModemInstant::from_nanos(3_000_000_000);
    let mut capture = Capture::new();
    for clock in [start, start + YEARS] {
        for ms in (0..500).step_by(10) {
            capture.record(clock + Duration::from_millis(ms), OTHER, &[]);
        }
    }
    // One record that is misdated sets no clock.
    capture.record(start, OTHER, &[]);
    for ms in (500..1_000).step_by(10) {
        capture.record(start + YEARS + Duration::from_millis(ms), OTHER, &[]);
    }
    let path = capture.file();
    let lines = lines(&path, &["--direction", "uplink"]);
    let jumps: Vec<f64> = lines.iter().filter_map(|line| line["clock_jump_s"].as_f64()).collect();
    let years = YEARS.as_secs_f64();
    assert_eq!(jumps.len(), 1, "{jumps:?}");
    assert!((jumps[0] - years).abs() < 1.1, "{jumps:?}");
    assert!(lines.len() < 30, "no row for each bin of 41 years: {}", lines.len());
    let last = lines.iter().rfind(|line| line["direction"] == "uplink").unwrap();
    let end = (start + YEARS + Duration::from_millis(990)).unix_nanos();
    assert!(last["unix_ns"].as_u64().unwrap().abs_diff(end) < 1_000, "{last}");
    let said = String::from_utf8(link(&path, &["--direction", "uplink"]).stderr).unwrap();
    assert!(said.contains("set its clock 1 time") && said.contains("+1292975999.540 s"), "{said}");
}
