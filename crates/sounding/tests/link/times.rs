//! Records whose time is missing or wrong.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use sounding_diag::LogRecord;
use sounding_diag::capture::Reader;
use sounding_diag::command::{LogMask, Request};
use sounding_diag::packet::Packet;
use sounding_diag::record::MacUplink;
use sounding_modem::{Behaviour, Place, READ_SIZE, Read, Script, Simulation, Source};
use sounding_units::ModemInstant;

use crate::compose::{BEGIN, Capture, OTHER};
use crate::memory::limited;
use crate::{lines, link};

const NEVER: ModemInstant = ModemInstant::from_nanos(0);
const YEARS: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Two seconds of an uplink. After each tenth record come those that `strange` adds; it receives
/// the time.
fn capture(strange: impl Fn(&mut Capture, ModemInstant)) -> Capture {
    let mut capture = Capture::new();
    for record in 0..100 {
        let at = BEGIN + ms(20 * record);
        capture.mac_uplink(at, &[(ms(4), 900), (ms(2), 700 + record)]);
        if record % 10 == 5 {
            strange(&mut capture, at);
        }
    }
    capture
}

/// The rows, and the object after them about what was left out.
fn rows(capture: &Capture, arguments: &[&str]) -> (Vec<Json>, Option<Json>) {
    let mut lines = lines(&capture.file(), arguments);
    let skipped = lines.pop_if(|line| line.get("skipped").is_some());
    assert!(lines.len() > 3, "{lines:?}");
    (lines, skipped.map(|line| line["skipped"].clone()))
}

/// Which records are added, and as what each is counted.
type Strange = (fn(&mut Capture, ModemInstant), &'static str);

const BLOCKS: [(Duration, u64); 1] = [(Duration::ZERO, 100)];

#[test]
fn a_record_without_a_time_or_with_a_wrong_one_changes_no_row_and_is_counted() {
    let (rates, none) = rows(&capture(|_, _| ()), &["--direction", "uplink"]);
    let (both, _) = rows(&capture(|_, _| ()), &[]);
    assert_eq!(none, None);
    let strange: [Strange; 7] = [
        (|capture, _| capture.record(NEVER, OTHER, &[1]), "untimed_records"),
        (|capture, _| _ = capture.mac_uplink(NEVER, &BLOCKS), "untimed_records"),
        (|capture, at| _ = capture.mac_uplink(at + YEARS, &BLOCKS), "misdated_records"),
        (|capture, at| _ = capture.mac_uplink(at + ms(5_000), &BLOCKS), "misdated_records"),
        (|capture, at| _ = capture.mac_uplink(at + ms(3_600_000), &BLOCKS), "misdated_records"),
        (
            |capture, at| _ = capture.mac_uplink(at.saturating_before(ms(2_000)), &BLOCKS),
            "misdated_records",
        ),
        (
            |capture, at| _ = capture.mac_uplink(at.saturating_before(ms(203_000)), &BLOCKS),
            "misdated_records",
        ),
    ];
    for (number, (add, name)) in strange.into_iter().enumerate() {
        let capture = capture(add);
        let (found, skipped) = rows(&capture, &["--direction", "uplink"]);
        assert_eq!(found, rates, "{number}");
        assert_eq!(skipped.unwrap()[name], 10, "{number}");
        assert_eq!(rows(&capture, &[]).0, both, "{number}");
        let said = String::from_utf8(link(&capture.file(), &[]).stderr).unwrap();
        assert!(!said.contains("clock") && said.contains("10 records with"), "{said}");
    }
}

#[test]
fn records_that_no_estimate_reads_change_no_row_whatever_their_time_is() {
    let (rates, _) = rows(&capture(|_, _| ()), &[]);
    let strange: [fn(ModemInstant) -> ModemInstant; 5] = [
        |at| at + YEARS,
        |at| at + ms(61_000),
        |at| at + ms(3_000),
        |at| at.saturating_before(ms(203_000)),
        |at| at.saturating_before(ms(30)),
    ];
    for (number, of) in strange.into_iter().enumerate() {
        let capture = capture(|capture, at| {
            (0..9).for_each(|record| capture.record(of(at) + ms(record), OTHER, &[]));
        });
        assert_eq!(rows(&capture, &[]), (rates.clone(), None), "{number}");
    }
}

#[test]
fn delays_are_the_same_beside_records_without_a_time() {
    let clean = sounding_testbed::radio::RadioLink::cell(Some(3), Duration::from_secs(4)).unwrap();
    let mut input = &clean.capture[..];
    let (mut whole, mut strange) = (Capture::new(), Capture::new());
    let mut reader = Reader::new();
    let mut number = 0;
    while let Some(packet) = reader.poll_packet(&mut input) {
        let Packet::Log(LogRecord { at, code, body, .. }) = packet.unwrap().packet else {
            continue;
        };
        number += 1;
        whole.record(at, code, body);
        strange.record(at, code, body);
        match number % 30 {
            7 => strange.record(NEVER, code, body),
            17 => strange.record(at + YEARS, code, body),
            27 => strange.record(at.saturating_before(ms(203_000)), code, body),
            _ => {}
        }
    }
    let (events, _) = rows(&whole, &["--delays"]);
    assert_eq!(rows(&strange, &["--delays"]).0, events);
    let said = String::from_utf8(link(&strange.file(), &["--delays"]).stderr).unwrap();
    assert!(said.contains("without a time") && said.contains("with a time far"), "{said}");
}

#[test]
fn a_gap_of_hours_is_one_row_with_its_length() {
    let mut capture = Capture::new();
    for record in 0..200 {
        let gap = if record < 100 { Duration::ZERO } else { Duration::from_secs(7 * 3600) };
        capture.mac_uplink(BEGIN + gap + ms(20 * record), &BLOCKS);
    }
    let (rows, skipped) = rows(&capture, &["--direction", "uplink"]);
    assert_eq!(skipped, None);
    let long: Vec<_> = rows.iter().filter(|row| row["span_s"].as_f64() > Some(1.0)).collect();
    assert_eq!(long.len(), 1, "{long:?}");
    assert!(rows.len() < 150, "{}", rows.len());
}

/// What a modem answers to a request.
fn ask(device: &Path, request: Request<'_>) -> Vec<u8> {
    let source: Source = device.to_str().unwrap().parse().unwrap();
    let mut port = source.open().unwrap();
    let mut payload = Vec::new();
    request.emit(&mut payload);
    port.send(&payload).unwrap();
    let (mut reader, mut buffer) = (Reader::new(), vec![0; READ_SIZE]);
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(60) {
        let Read::Bytes(count) = port.read(&mut buffer, ms(100)).unwrap() else { continue };
        let mut bytes = &buffer[..count];
        while let Some(packet) = reader.poll_packet(&mut bytes) {
            if let Ok(located) = packet
                && let Packet::Other { command, body, .. } = located.packet
                && command == payload[0]
            {
                return body.to_vec();
            }
        }
    }
    panic!("no answer to {payload:02X?}")
}

#[test]
fn a_live_modem_without_times_is_read_in_little_memory_and_has_its_mask_back() {
    let mut records = Capture::new();
    for record in 0..6_000 {
        let at = BEGIN + ms(20 * record);
        records.mac_uplink(at, &BLOCKS);
        match record % 50 {
            10 => _ = records.mac_uplink(NEVER, &BLOCKS),
            20 => _ = records.mac_uplink(at + YEARS, &BLOCKS),
            30 => _ = records.mac_uplink(at.saturating_before(ms(203_000)), &BLOCKS),
            _ => {}
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let device = folder.path().join("modem");
    let bytes = std::fs::read(records.file()).unwrap();
    let behaviour = Behaviour { all_on: true, ..Behaviour::default() };
    let place = Place::Pty(Some(device.clone()));
    let mut modem = Simulation::new(Script::of(&bytes), behaviour, place).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let until = Arc::clone(&stop);
    let modem = std::thread::spawn(move || modem.run(&until, |_| {}).unwrap());
    let bits = [0xA5; 512];
    ask(&device, Request::LogMask(LogMask { equipment: 0xB, items: 4096, bits: &bits }));
    let before = ask(&device, Request::LogMaskOf(0xB));
    assert!(before.contains(&0xA5), "{before:02X?}");

    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
    command.arg("link").arg(&device).args(["--direction", "uplink", "--json", "--bin", "1ms"]);
    command.env("SOUNDING_RUN_DIR", folder.path().join("run"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = limited(&mut command).spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut lines = out.map(|line| serde_json::from_str::<Json>(&line).unwrap());
    let known = lines.by_ref().take(4_000).filter(|row| row["rate_bits_per_sec"].is_number());
    assert!(known.count() > 1_000, "rows go on");
    // SAFETY: the child has not been waited for, so the id is its own.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
    let rest: Vec<Json> = lines.collect();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("without a time") && !said.contains("set its clock"), "{said}");
    assert!(rest.len() < 4_000, "{} rows after the interrupt", rest.len());
    assert_eq!(ask(&device, Request::LogMaskOf(0xB)), before);
    stop.store(true, Ordering::Relaxed);
    modem.join().unwrap();
}

#[test]
fn a_modem_that_restarts_is_followed_to_its_new_clock() {
    let mut capture = Capture::new();
    let unset = ModemInstant::from_nanos(3_000_000_000);
    for record in 0..50 {
        capture.mac_uplink(unset + ms(20 * record), &BLOCKS);
    }
    for record in 0..50 {
        capture.mac_uplink(BEGIN + ms(20 * record), &BLOCKS);
    }
    let (rows, skipped) = rows(&capture, &["--direction", "uplink"]);
    assert_eq!(skipped, None, "nothing is lost");
    let jumps = rows.iter().filter(|row| row["clock_jump_s"].is_number()).count();
    assert_eq!(jumps, 1);
    assert_eq!(crate::granted(&rows), 100 * 100);
}

#[test]
fn a_value_or_a_record_without_a_time_says_so() {
    let code = MacUplink::CODE.to_string();
    let mut capture = Capture::new();
    capture.mac_uplink(NEVER, &BLOCKS);
    capture.mac_uplink(BEGIN, &BLOCKS);
    let file = capture.file();
    let sounding = |arguments: &[&str]| {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
        let output = command.arg(arguments[0]).arg(&file).args(&arguments[1..]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let decoded = sounding(&["decode", "--code", &code]);
    let decoded: Vec<Json> =
        decoded.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(decoded[0]["unix_ns"].is_null() && decoded[1]["unix_ns"].is_number(), "{decoded:?}");
    let kpi = sounding(&["kpi", "--kpi", "lte.mac.ul.grant", "--csv"]);
    let times: Vec<_> = kpi.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(times, ["", &BEGIN.unix_nanos().to_string()]);
    let kpi = sounding(&["kpi", "--kpi", "lte.mac.ul.grant"]);
    assert!(kpi.starts_with("- lte.mac.ul.grant"), "{kpi}");
}
