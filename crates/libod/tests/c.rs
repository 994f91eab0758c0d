//! libOD as C programs meet it: the header says what the library does, and the example compiles and
//! runs.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::io::{BufRead, BufReader};
use std::mem::{offset_of, size_of};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use od::ffi::{ABI, Delay, KpiInfo, Link, Sample};
use sounding_board::{Place, Publisher};
use sounding_diag::layout::Item;
use sounding_diag::radio::{Decibels, Modulation, Tti};
use sounding_diag::record::{PuschTx, PuschTxReport};
use sounding_diag::{LogRecord, hdlc};
use sounding_estimate::{Bound, Direction, LinkEstimate};
use sounding_feed::Line;
use sounding_host::monotonic_now;
use sounding_kpi::{Reading, Subscription};
use sounding_units::{Bytes, ModemInstant, Prb, Rate};

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Compiles a program against the header, and if asked for against the library.
fn compile(source: &Path, folder: &Path, link: bool) -> PathBuf {
    let program = folder.join(source.file_stem().unwrap());
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-D_POSIX_C_SOURCE=200809L"]);
    cc.arg("-I").arg(here("include")).arg(source).arg("-o").arg(&program);
    if link {
        cc.arg(library()).arg(format!("-Wl,-rpath,{}", folder.display()));
        std::os::unix::fs::symlink(library(), folder.join("libod.so.1")).unwrap();
    }
    let output = cc.output().expect("a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// The shared library that was built with this test.
fn library() -> PathBuf {
    let beside = std::env::current_exe().unwrap().with_file_name("libod.so");
    assert!(beside.exists(), "{} is not built", beside.display());
    beside
}

#[test]
fn the_header_has_the_fields_where_the_library_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(&here("tests/layout.c"), folder.path(), false);
    let output = Command::new(program).output().unwrap();
    let ours = [
        ("od_sample", size_of::<Sample>()),
        ("od_sample.value", offset_of!(Sample, value)),
        ("od_sample.total", offset_of!(Sample, total)),
        ("od_sample.sequence", offset_of!(Sample, sequence)),
        ("od_sample.item", offset_of!(Sample, item)),
        ("od_sample.modem_unix_ns", offset_of!(Sample, modem_unix_ns)),
        ("od_sample.received_ns", offset_of!(Sample, received_ns)),
        ("od_sample.age_ns", offset_of!(Sample, age_ns)),
        ("od_sample.kpi", offset_of!(Sample, kpi)),
        ("od_sample.flags", offset_of!(Sample, flags)),
        ("od_kpi", size_of::<KpiInfo>()),
        ("od_kpi.name", offset_of!(KpiInfo, name)),
        ("od_kpi.unit", offset_of!(KpiInfo, unit)),
        ("od_kpi.least", offset_of!(KpiInfo, least)),
        ("od_kpi.most", offset_of!(KpiInfo, most)),
        ("od_kpi.code", offset_of!(KpiInfo, code)),
        ("od_kpi.reserved", offset_of!(KpiInfo, reserved)),
        ("od_line", size_of::<Link>()),
        ("od_line.number", offset_of!(Link, number)),
        ("od_line.advice_bits_per_sec", offset_of!(Link, advice_bits_per_sec)),
        ("od_line.rate_bits_per_sec", offset_of!(Link, rate_bits_per_sec)),
        ("od_line.backlog_bytes", offset_of!(Link, backlog_bytes)),
        ("od_line.age_ns", offset_of!(Link, age_ns)),
        ("od_line.made_ns", offset_of!(Link, made_ns)),
        ("od_line.line_age_ns", offset_of!(Link, line_age_ns)),
        ("od_line.valid_for_ns", offset_of!(Link, valid_for_ns)),
        ("od_line.modem_unix_ns", offset_of!(Link, modem_unix_ns)),
        ("od_line.time_ns", offset_of!(Link, time_ns)),
        ("od_line.span_ns", offset_of!(Link, span_ns)),
        ("od_line.granted_bytes", offset_of!(Link, granted_bytes)),
        ("od_line.fair_share_bits_per_sec", offset_of!(Link, fair_share_bits_per_sec)),
        ("od_line.users", offset_of!(Link, users)),
        ("od_line.carriers", offset_of!(Link, carriers)),
        ("od_line.has", offset_of!(Link, has)),
        ("od_line.flags", offset_of!(Link, flags)),
        ("od_line.reserved", offset_of!(Link, reserved)),
        ("od_line.modem", offset_of!(Link, modem)),
        ("od_line.cause", offset_of!(Link, cause)),
        ("od_line.bound", offset_of!(Link, bound)),
        ("od_line.state", offset_of!(Link, state)),
        ("od_line.source", offset_of!(Link, source)),
        ("od_delay", size_of::<Delay>()),
        ("od_delay.number", offset_of!(Delay, number)),
        ("od_delay.from_modem_unix_ns", offset_of!(Delay, from_modem_unix_ns)),
        ("od_delay.to_modem_unix_ns", offset_of!(Delay, to_modem_unix_ns)),
        ("od_delay.from_ns", offset_of!(Delay, from_ns)),
        ("od_delay.to_ns", offset_of!(Delay, to_ns)),
        ("od_delay.time_ns", offset_of!(Delay, time_ns)),
        ("od_delay.amount_ns", offset_of!(Delay, amount_ns)),
        ("od_delay.age_ns", offset_of!(Delay, age_ns)),
        ("od_delay.direction", offset_of!(Delay, direction)),
        ("od_delay.reserved", offset_of!(Delay, reserved)),
        ("od_delay.modem", offset_of!(Delay, modem)),
        ("od_delay.kind", offset_of!(Delay, kind)),
        ("od_delay.confidence", offset_of!(Delay, confidence)),
        ("OD_ABI", ABI as usize),
        ("OD_STALE", 1),
        ("OD_UPLINK", 0),
        ("OD_DOWNLINK", 1),
        ("OD_HAS_ADVICE", 1),
        ("OD_HAS_RATE", 2),
        ("OD_HAS_AGE", 4),
        ("OD_HAS_BACKLOG", 8),
        ("OD_HAS_USERS", 16),
        ("OD_HAS_GRANTED", 32),
        ("OD_HAS_FAIR_SHARE", 64),
    ];
    let ours: String = ours.iter().map(|(name, number)| format!("{name} {number}\n")).collect();
    assert_eq!(String::from_utf8_lossy(&output.stdout), ours);
}

#[test]
fn the_header_declares_the_functions_that_the_library_has() {
    let header = std::fs::read_to_string(here("include/sounding/od.h")).unwrap();
    let source = std::fs::read_to_string(here("src/ffi.rs")).unwrap();
    let mut exported: Vec<&str> = source
        .lines()
        .filter(|line| line.contains("extern \"C\" fn "))
        .filter_map(|line| line.split("fn ").nth(1)?.split('(').next())
        .collect();
    // A declaration begins a line, and its comment does not.
    let mut declared: Vec<&str> = header
        .lines()
        .filter(|line| line.ends_with(");") && !line.starts_with([' ', '\t', '*', '/', '#']))
        .filter_map(|line| line.split('(').next()?.split([' ', '*']).next_back())
        .collect();
    exported.sort_unstable();
    declared.sort_unstable();
    assert_eq!(declared, exported);
    assert_eq!(declared.len(), 11);
}

#[test]
fn the_header_is_cplusplus_too() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("header.cc");
    std::fs::write(
        &source,
        "#include <sounding/od.h>\nint main() { return od_abi() != OD_ABI; }\n",
    )
    .unwrap();
    let output = Command::new("cc")
        .args(["-x", "c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"])
        .arg(here("include"))
        .arg(&source)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("cc1plus") {
        sounding_testdata::skip(sounding_testdata::Need::Tools, "no C++ compiler");
        return;
    }
    assert!(output.status.success(), "{said}");
}

#[test]
fn the_example_prints_every_value_of_a_capture() {
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("drive.qmdl");
    std::fs::write(&capture, recorded(&[77, 1480, 20])).unwrap();
    let program = compile(&here("../../examples/libod/follow.c"), folder.path(), true);
    let output = Command::new(&program)
        .arg(format!("capture:{}", capture.display()))
        .args(["lte.pusch.tbs", "lte.pusch.prb"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let values = |name: &str| -> Vec<String> {
        let lines = BufReader::new(&output.stdout[..]).lines().map(Result::unwrap);
        let parts = lines.map(|line| line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        parts.filter(|parts| parts[1] == name).map(|parts| parts[2].clone()).collect()
    };
    assert_eq!(values("lte.pusch.tbs"), ["77", "1480", "20"]);
    assert_eq!(values("lte.pusch.prb"), ["4", "4", "4"]);
}

#[test]
fn the_program_of_the_readme_prints_every_value_of_a_capture() {
    let folder = tempfile::tempdir().unwrap();
    let readme = std::fs::read_to_string(here("README.md")).unwrap();
    let program = readme.split("```c\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let source = folder.path().join("tbs.c");
    std::fs::write(&source, program).unwrap();
    let capture = folder.path().join("drive.qmdl");
    std::fs::write(&capture, recorded(&[77, 1480])).unwrap();
    let program = compile(&source, folder.path(), true);
    let output =
        Command::new(&program).arg(format!("capture:{}", capture.display())).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "77 bytes\n1480 bytes\n");
}

#[test]
fn the_example_says_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(&here("../../examples/libod/follow.c"), folder.path(), true);
    for (source, says) in [
        ("board:missing", "no such board"),
        ("capture:/nowhere", "No such file"),
        ("device:/nowhere", "no such device"),
        ("teapot:x", "teapot"),
    ] {
        let output = Command::new(&program)
            .args([source, "lte.pusch.tbs"])
            .env("SOUNDING_BOARD_DIR", folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{source}");
        assert!(said.contains(says), "{source}: {said}");
    }
}

#[test]
fn the_example_follows_a_board_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(&here("../../examples/libod/follow.c"), folder.path(), true);
    let subscription = Subscription::new(["lte.cell.rsrp", "lte.pusch.tbs"]).unwrap();
    let place = Place::new(folder.path(), "modem").unwrap();
    let mut publisher = Publisher::create(place, subscription.kpis(), monotonic_now()).unwrap();
    let mut child = Command::new(&program)
        .args(["modem", "lte.pusch.tbs"])
        .env("SOUNDING_BOARD_DIR", folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for value in [100.0, 200.0, 300.0] {
        let at = ModemInstant::from_nanos(1_500_000_000);
        let reading = Reading { slot: 1, value, item: Item::default(), at };
        publisher.handle(&reading, monotonic_now());
        publisher.post(monotonic_now());
        publisher.heartbeat(monotonic_now());
        // It may have missed none: each is waited for.
        let line = next_line(&mut lines, &mut publisher);
        assert!(line.ends_with(&format!("lte.pusch.tbs {value}")), "{line}");
    }
    drop(publisher);
    assert!(lines.next().is_none());
    assert!(child.wait().unwrap().success());
}

/// A line of an uplink that is made now.
fn advising(number: u64, modem: &str, bits_per_sec: Option<u64>) -> Line {
    let rate = Rate::from_bits_per_sec(9_000_000);
    let said = LinkEstimate::new(Direction::Uplink, rate, Bound::Capacity);
    let mut line = Line::of(number, modem, monotonic_now(), &said);
    line.advice_bits_per_sec = bits_per_sec;
    line.advice_cause = bits_per_sec.map(|_| "capacity".into());
    line
}

#[test]
fn the_example_prints_advice_until_the_feed_is_dead_and_when_it_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(&here("../../examples/libod/advice.c"), folder.path(), true);
    let path = folder.path().join("wan.rate");
    let gap = Duration::from_millis(100);
    let open = || sounding_feed::Publisher::new(&path, 0o600, None, gap).unwrap();
    let mut feed = open();
    let mut child = sounding_testdata::Running(
        Command::new(&program)
            .arg("feed:wan")
            .env("SOUNDING_BOARD_DIR", folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let (said, hears) = std::sync::mpsc::channel();
    let lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| said.send(line)));
    let mut number = 0;
    let mut until_said = |feed: Option<&mut sounding_feed::Publisher>, advice, wanted: &str| {
        let mut feed = feed;
        loop {
            if let Some(feed) = feed.as_deref_mut() {
                number += 1;
                feed.attend();
                feed.publish(&advising(number, "wan", advice));
            }
            // A late machine may let a line become stale: the program then says that too.
            let line = hears.recv_timeout(Duration::from_millis(20));
            if line.is_ok_and(|line| line == wanted) {
                return;
            }
            assert!(number < 5_000, "{wanted} is never said");
        }
    };
    until_said(Some(&mut feed), Some(4_000_000), "4000000 bit/s: capacity");
    until_said(Some(&mut feed), Some(900_000), "900000 bit/s: capacity");
    until_said(Some(&mut feed), None, "0 bit/s: no advice");
    until_said(Some(&mut feed), Some(700_000), "700000 bit/s: capacity");
    drop(feed);
    until_said(None, None, "0 bit/s: the feed is dead");
    let mut feed = open();
    until_said(Some(&mut feed), Some(800_000), "800000 bit/s: capacity");
}

/// The next line, while the writer lives on.
fn next_line(
    lines: &mut (impl Iterator<Item = std::io::Result<String>> + Send),
    publisher: &mut Publisher,
) -> String {
    std::thread::scope(|scope| {
        let line = scope.spawn(|| lines.next().unwrap().unwrap());
        while !line.is_finished() {
            publisher.heartbeat(monotonic_now());
            std::thread::sleep(Duration::from_millis(1));
        }
        line.join().unwrap()
    })
}

/// A stream of PUSCH reports, one transmission each.
fn recorded(sizes: &[u64]) -> Vec<u8> {
    let mut stream = Vec::new();
    for size in sizes {
        let transmission = PuschTx {
            tti: Tti::from_count(7),
            carrier: 0,
            retx: 0,
            rv: 0,
            start_rb: 0,
            rbs: Prb::new(4),
            size: Bytes::new(*size),
            code_rate_1024: 500,
            modulation: Some(Modulation::Qpsk),
            power: Decibels::whole(8),
            dropped: Some(false),
        };
        let (mut body, mut payload) = (Vec::new(), Vec::new());
        PuschTxReport::emit(1, Tti::default(), &[transmission], &mut body).unwrap();
        let (code, at) = (PuschTxReport::CODE, ModemInstant::default());
        LogRecord { code, at, stamp: 0, radio: None, body: &body }.emit(&mut payload).unwrap();
        hdlc::encode(&payload, &mut stream);
    }
    stream
}
