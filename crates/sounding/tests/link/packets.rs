//! `--packets`: what the radio added to each packet of an upload, by the clocks of a modem and of a
//! receiver that nothing compares but these packets.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::Value as Json;

use crate::number;

/// The modelled modem's clock at the begin of a run, s since 1970, and how far the receiver's is
/// ahead.
const BEGIN: u64 = 1_640_995_218;
const AHEAD: f64 = 7.25;
/// From the radio to the receiver, s: Gandalf's plan.
const WAY: f64 = 0.015;

/// A packet of the upload.
#[derive(Clone, Copy, Debug)]
struct Sent {
    sent: u64,
    arrived: u64,
    bytes: u64,
    /// While blocks were sent again, ms, by the network's own account.
    held: f64,
    /// Until a block took it, ms, behind others too.
    waited: f64,
}

/// What a phone sent at 10 Mbit/s, and its modem's records.
struct Upload {
    _folder: tempfile::TempDir,
    capture: PathBuf,
    packets: Vec<Sent>,
}

fn rows(file: &Path) -> Vec<HashMap<String, Field>> {
    let reader = SerializedFileReader::new(File::open(file).unwrap()).unwrap();
    let of = |row: Row| row.get_column_iter().map(|(a, b)| (a.clone(), b.clone())).collect();
    reader.get_row_iter(None).unwrap().map(|row| of(row.unwrap())).collect()
}

fn whole(row: &HashMap<String, Field>, name: &str) -> Option<u64> {
    match row[name] {
        Field::Long(number) => Some(number.try_into().unwrap()),
        Field::ULong(number) => Some(number),
        _ => None,
    }
}

fn is(row: &HashMap<String, Field>, name: &str, word: &str) -> bool {
    matches!(&row[name], Field::Str(found) if found == word)
}

fn upload(seed: u64) -> Upload {
    let folder = tempfile::tempdir().unwrap();
    let plan = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/plans/gandalf.toml");
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
    command.arg("sim").arg(plan).args(["--seed", &seed.to_string(), "--out"]).arg(folder.path());
    command.args(["--set", "sweep={}", "--set", "cell.carriers=[{ prb = 100 }]"]);
    command.args([
        "--set",
        "duration=10s",
        "--set",
        "flows.up.traffic.rate=10Mbit",
        "--packets",
        "--captures",
        "--truth",
    ]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let run = folder.path().join("run-0001");
    let mut truth: HashMap<u64, (u64, u64)> = HashMap::new();
    for row in rows(&run.join("truth.parquet")) {
        if is(&row, "direction", "up") {
            let of = |name: &str| whole(&row, name).unwrap_or_default();
            let waited = of("queue_ns") + of("grant_ns") + of("sending_ns");
            truth.insert(of("entered_ns"), (of("air_ns") + of("order_ns"), waited));
        }
    }
    let least = truth.values().map(|(held, _)| *held).min().unwrap();
    let packets = rows(&run.join("packets.parquet"))
        .iter()
        .filter(|row| is(row, "name", "up"))
        .filter_map(|row| {
            let sent = whole(row, "entered_ns")?;
            let (held, waited) = truth.get(&sent).copied()?;
            Some(Sent {
                sent,
                arrived: whole(row, "arrived_ns")?,
                bytes: whole(row, "size_bytes")?,
                held: (held - least) as f64 / 1e6,
                waited: waited as f64 / 1e6,
            })
        })
        .collect();
    Upload { capture: run.join("phone.qmdl"), _folder: folder, packets }
}

static UPLOAD: LazyLock<Upload> = LazyLock::new(|| upload(1));

fn stamp(arrived: u64, ahead: f64) -> u64 {
    BEGIN * 1_000_000_000 + arrived + (ahead * 1e9) as u64
}

/// A table of the packets.
fn table(packets: &[Sent], ahead: f64, knows_sent: bool) -> Vec<u8> {
    let mut text =
        String::from(if knows_sent { "time_s,bytes,sent_s\n" } else { "time_s,bytes\n" });
    for packet in packets {
        let at = stamp(packet.arrived, ahead);
        let seconds = |ns: u64| format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
        text += &format!("{},{}", seconds(at), packet.bytes);
        text += &if knows_sent { format!(",{}\n", seconds(packet.sent)) } else { "\n".into() };
    }
    text.into_bytes()
}

/// A pcap of raw IP with nanoseconds, as tcpdump writes it: of each packet the first 28 bytes. It
/// has the packets from the receiver too.
fn pcap(packets: &[Sent], ahead: f64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [0xA1B2_3C4D_u32, 4 << 16 | 2, 0, 0, 28, 101] {
        bytes.extend(word.to_le_bytes());
    }
    let (phone, server) = ([10, 0, 0, 2], [192, 0, 2, 1]);
    for (place, packet) in packets.iter().enumerate() {
        let mut write = |at: u64, size: u64, from: [u8; 4], to: [u8; 4]| {
            let time = [at / 1_000_000_000, at % 1_000_000_000, 28, size];
            time.iter().for_each(|word| bytes.extend((*word as u32).to_le_bytes()));
            let length = (size as u16).to_be_bytes();
            bytes.extend([0x45, 0, length[0], length[1], 0, 0, 0, 0, 64, 17, 0, 0]);
            bytes.extend(from.iter().chain(&to));
            let udp = (size as u16 - 20).to_be_bytes();
            bytes.extend([0x13, 0x88, 0x01, 0xBB, udp[0], udp[1], 0, 0]);
        };
        let at = stamp(packet.arrived, ahead);
        write(at, packet.bytes, phone, server);
        if place % 2 == 0 {
            write(at + 100_000, 52, server, phone);
        }
    }
    bytes
}

fn link(capture: &Path, file: &Path, arguments: &[&str]) -> Output {
    let all = [&["--delays", "--packets", file.to_str().unwrap()], arguments].concat();
    crate::link(capture, &all)
}

/// A file beside no other.
struct Written(tempfile::NamedTempFile);

impl Written {
    fn new(bytes: &[u8]) -> Self {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        Self(file)
    }
}

/// The summary, and the packets.
fn lines(bytes: &[u8], arguments: &[&str]) -> (Json, Vec<Json>) {
    let file = Written::new(bytes);
    let output = link(&UPLOAD.capture, file.0.path(), &[&["--json"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    (lines.next().unwrap(), lines.collect())
}

/// What the command says when it refuses.
fn refused(bytes: &[u8], arguments: &[&str]) -> String {
    let file = Written::new(bytes);
    let output = link(&UPLOAD.capture, file.0.path(), arguments);
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    // As a terminal breaks lines.
    said.split_whitespace()
        .filter(|word| !matches!(*word, "│" | "×" | "help:"))
        .collect::<Vec<_>>()
        .join(" ")
}

fn quantile(mut values: Vec<f64>, part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() as f64 * part) as usize]
}

#[test]
fn the_clocks_are_found_and_each_packet_has_what_the_network_says_it_was_held() {
    let packets = &UPLOAD.packets;
    assert!(packets.len() > 2_000, "{}", packets.len());
    let (summary, rows) = lines(&table(packets, AHEAD, true), &[]);
    assert!((number(&summary, "offset_s") - AHEAD - WAY).abs() < 0.004, "{summary}");
    assert!(number(&summary, "matched_share") >= 0.6, "{summary}");
    assert_eq!((number(&summary, "packets") as usize, rows.len()), (packets.len(), packets.len()));
    let both = || packets.iter().zip(&rows);
    let of = |errors: Vec<f64>| [0.5, 0.9].map(|part| quantile(errors.clone(), part));
    let repeats = of(both().map(|(of, row)| (number(row, "harq_ms") - of.held).abs()).collect());
    assert!(repeats[0] <= 0.5 && repeats[1] <= 2.0, "median and 90th percentile: {repeats:?}");
    // A packet that waits longer waits in a queue, and so not only for the scheduler.
    let scheduled = both().filter(|(of, _)| of.waited <= 12.0 && of.held < 1.0);
    let waits = scheduled.map(|(of, row)| (number(row, "scheduling_ms") - of.waited).abs());
    let waits: Vec<f64> = waits.collect();
    assert!(waits.len() > 500, "{}", waits.len());
    let waits = of(waits);
    assert!(waits[0] <= 1.0 && waits[1] <= 2.0, "median and 90th percentile: {waits:?}");
    // Those that were held longest are among those that were found.
    let held = both().filter(|(of, _)| of.held >= 7.5);
    let found: Vec<bool> = held.map(|(_, row)| number(row, "harq_ms") >= 5.0).collect();
    let share = found.iter().filter(|found| **found).count() as f64 / found.len() as f64;
    assert!(found.len() > 30 && share >= 0.9, "{share:.2} of {}", found.len());
}

#[test]
fn a_pcap_gives_the_same_as_a_table_without_times_of_sending() {
    let (of_table, rows) = lines(&table(&UPLOAD.packets, AHEAD, false), &[]);
    let (of_pcap, same) = lines(&pcap(&UPLOAD.packets, AHEAD), &[]);
    assert_eq!(rows, same);
    assert_eq!(of_pcap["flow"], "udp 10.0.0.2:5000 > 192.0.2.1:443");
    assert_eq!(
        (&of_table["offset_s"], &of_pcap["other_flows"]),
        (&of_pcap["offset_s"], &Json::from(1))
    );
}

#[test]
fn a_table_for_people_begins_with_the_clocks_and_csv_is_for_programs() {
    let file = Written::new(&pcap(&UPLOAD.packets, AHEAD));
    let output = link(&UPLOAD.capture, file.0.path(), &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    for word in ["flow ", "offset ", "events ", "packets ", "sent again ms"] {
        assert!(text.contains(word), "{word}: {}", text.chars().take(600).collect::<String>());
    }
    let output = link(&UPLOAD.capture, file.0.path(), &["--csv"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("time_s,at_ns,bytes,harq_ms,rlc_ms,scheduling_ms,added_ms\n"));
    assert_eq!(text.lines().count(), UPLOAD.packets.len() + 1);
    assert!(String::from_utf8_lossy(&output.stderr).contains("offset "));
}

#[test]
fn packets_of_another_upload_are_refused_with_the_share() {
    let other = upload(2);
    let said = refused(&table(&other.packets, AHEAD, true), &[]);
    assert!(said.contains("do not fit the modem's events") && said.contains("0.60"), "{said}");
    let several = refused(&pcap(&UPLOAD.packets, AHEAD), &["--flow", "udp"]);
    assert!(several.contains("not exactly one of its 2 flows"), "{several}");
}

#[test]
fn clocks_an_hour_apart_need_to_be_said() {
    let table = table(&UPLOAD.packets, 3_600.0, true);
    let said = refused(&table, &[]);
    assert!(said.contains("within two minutes of an event") && said.contains("--offset"), "{said}");
    let (summary, _) = lines(&table, &["--offset", "3590"]);
    assert!((number(&summary, "offset_s") - 3_600.0 - WAY).abs() < 0.004, "{summary}");
}

#[test]
fn a_file_that_ends_within_a_packet_has_those_before_and_says_so() {
    let whole = pcap(&UPLOAD.packets, AHEAD);
    let file = Written::new(&whole[..whole.len() * 3 / 4 + 5]);
    let output = link(&UPLOAD.capture, file.0.path(), &["--csv"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("it ends within packet"), "{said}");
    let lines = String::from_utf8(output.stdout).unwrap().lines().count();
    assert!((UPLOAD.packets.len() * 2 / 3..UPLOAD.packets.len()).contains(&lines), "{lines}");
}

#[test]
fn what_is_no_list_of_packets_is_refused() {
    let capture = std::fs::read(&UPLOAD.capture).unwrap();
    let said = refused(&capture, &[]);
    assert!(
        said.contains("is no pcap, no pcapng, and no table") && said.contains("time_s"),
        "{said}"
    );
    let said = refused(b"time_s,bytes\n1.0,1500\nsoon,1500\n", &[]);
    assert!(said.contains("line 3"), "{said}");
    let said = refused(b"time_s\n", &[]);
    assert!(said.contains("has no packet"), "{said}");
    let absent = link(&UPLOAD.capture, Path::new("/nonexistent/server.pcap"), &[]);
    assert!(String::from_utf8_lossy(&absent.stderr).contains("server.pcap"), "{absent:?}");
    // A capture without any event of the uplink.
    let mut idle = crate::compose::Capture::new();
    idle.record(crate::compose::BEGIN, crate::compose::OTHER, &[]);
    let file = Written::new(&table(&UPLOAD.packets, AHEAD, false));
    let said = link(&idle.file(), file.0.path(), &[]);
    assert!(String::from_utf8_lossy(&said.stderr).contains("no event of"), "{said:?}");
}

#[test]
fn packets_are_of_an_upload_and_of_a_capture() {
    let file = Written::new(&table(&UPLOAD.packets, AHEAD, true));
    for arguments in [&["--direction", "downlink"][..], &["--feed", "-"]] {
        let output = link(&UPLOAD.capture, file.0.path(), arguments);
        assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}");
    }
}
