//! Runs of plans do not depend on threads or the build.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use sounding_export::figures::{self, Cell::Real};
use sounding_link::{Arrival, Seen};
use sounding_trace::dci::{Format, Heard, Reader};

use super::*;
use crate::observe::windows;
use crate::plan::Text;

const CELL: &str = r#"
duration = "2s"
seeds = [1, 2]

[cell]
carriers = [{ prb = 25 }]
sniffer = true
[[cell.devices]]
name = "phone"
modem = {}

[wire]
delay = "20ms"

[[flows]]
direction = "up"

[sweep]
"flows.0.controller" = ["biscay", "bbr"]
"#;

const LINKS: &str = r#"
duration = "10s"
warmup = "2s"

[[links]]
up = "0s 12Mbit, 4s 6Mbit, 7s 20Mbit"
down = "20Mbit"
delay = "20ms"
queue = "100kB"

[wire]
up = "15Mbit"
down = "1Gbit"
delay = "5ms"
queue = "60kB"

[[flows]]
name = "bulk"
direction = "up"

[[flows]]
name = "short"
direction = "up"
controller = "reno"
start = "3s"
stop = "6s"

[[flows]]
name = "steady"
direction = "down"
traffic = { kind = "steady", rate = "2Mbit" }

[sweep]
"flows.bulk.controller" = ["cubic", "bbr", "reno"]
"#;

/// Files in memory, by run and name.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<BTreeMap<String, Vec<u8>>>>);

struct InMemory(Memory, String);

impl Memory {
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Files for InMemory {
    fn create(&mut self, name: &str) -> io::Result<Output> {
        Ok(Box::new(InMemory(self.0.clone(), format!("{} {name}", self.1))))
    }
}

impl Place for InMemory {
    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

impl io::Write for InMemory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut files = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.entry(self.1.clone()).or_default().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn run(plan: &str, keep: &Keep, jobs: usize) -> (Finished, BTreeMap<String, Vec<u8>>) {
    let text = Text::new("plan.toml", plan, PathBuf::new());
    let runs = text.runs().expect("a plan");
    let (about, stop, memory) = (About::new(&text), AtomicBool::new(false), Memory::default());
    let open = |run: &Run| -> io::Result<Box<dyn Place>> {
        Ok(Box::new(InMemory(memory.clone(), run.number.to_string())))
    };
    let finished = all(&runs, keep, &about, jobs, &stop, &open, &mut |_| {}).expect("no error");
    assert!(finished.complete);
    let table = InMemory(memory.clone(), "flows".into());
    parquet(&about, &finished, Box::new(table)).expect("room");
    (finished, memory.files())
}

const EVERYTHING: Keep = Keep {
    series: Some(Duration::from_millis(100)),
    packets: true,
    captures: true,
    traces: true,
    truth: true,
    sniffer: true,
};

#[test]
fn the_number_of_threads_changes_no_byte() {
    let (one, files) = run(CELL, &EVERYTHING, 1);
    let (three, again) = run(CELL, &EVERYTHING, 3);
    assert_eq!(files.len(), 4 * 9 + 1, "{:?}", files.keys());
    assert!(files.values().all(|bytes| !bytes.is_empty()));
    assert!(files == again);
    let json =
        |finished: &Finished| json(&About::new(&Text::new("", "", PathBuf::new())), finished);
    assert_eq!(json(&one).expect("JSON"), json(&three).expect("JSON"));
}

/// The same digest as in every other build. The links are given here, because the results of a
/// modelled cell may change with its model.
#[test]
fn the_same_plan_is_the_same_in_every_build() {
    let (finished, _) = run(LINKS, &Keep::default(), 2);
    let digests: Vec<_> = finished.outcomes.iter().map(|outcome| outcome.digest.as_str()).collect();
    assert_eq!(digests, ["5fe51d04a639f27b", "5ec6a9fcf317b00b", "ce66a8a642110197"]);
}

#[test]
fn what_is_kept_changes_nothing_of_what_happens() {
    for plan in [CELL, LINKS] {
        let digests = |keep: &Keep| -> Vec<String> {
            run(plan, keep, 2).0.outcomes.into_iter().map(|outcome| outcome.digest).collect()
        };
        assert_eq!(digests(&Keep::default()), digests(&EVERYTHING));
    }
}

#[test]
fn a_flow_that_stops_leaves_the_link_to_the_others() {
    let (finished, _) = run(LINKS, &Keep::default(), 2);
    for outcome in &finished.outcomes {
        let [bulk, short, steady] = &outcome.flows[..] else { panic!("three flows") };
        // In the 8 measured seconds it sends for three, at 12 and 6 Mbit/s, and has a share of
        // that.
        let most = (12.0 + 2.0 * 6.0) / 8.0;
        assert!(short.throughput_mbit_per_sec < most, "{short:?}");
        let used = bulk.utilisation.expect("links are given");
        assert!((0.5..1.0).contains(&used), "{used}");
        assert!((steady.throughput_mbit_per_sec - 2.07).abs() < 0.1, "{steady:?}");
    }
}

#[test]
fn a_capture_is_what_the_modem_wrote_and_holds_the_grants() {
    let (finished, files) = run(CELL, &EVERYTHING, 2);
    let capture = &files["1 phone.qmdl"];
    let mut sounder = sounding_link::Sounder::new(sounding_link::Config::new(Direction::Uplink));
    let mut best = 0.0_f64;
    for chunk in capture.chunks(1_000) {
        sounder.handle_bytes(Arrival::AsStamped, chunk, |sounder, seen| {
            if let Seen::Record(record) = seen {
                let now = HostInstant::from_nanos(record.at.as_nanos());
                best = best.max(sounder.estimate(now).rate.mbit_per_sec());
            }
        });
    }
    let carried = finished.outcomes[0].flows[0].throughput_mbit_per_sec;
    assert!(best > 0.8 * carried, "{best} {carried}");
}

#[test]
fn a_sniffer_has_a_line_for_every_subframe() {
    let (_, files) = run(CELL, &EVERYTHING, 2);
    let heard = String::from_utf8(files["1 carrier-0-up.dciLog"].clone()).expect("text");
    let mut subframes: Vec<&str> =
        heard.lines().filter_map(|line| line.split('\t').next()).collect();
    subframes.dedup();
    let expected: Vec<String> = (0..2_000).map(|tti| tti.to_string()).collect();
    assert_eq!(subframes, expected);
}

#[test]
fn a_sniffers_log_has_the_time_of_day_that_the_modem_has() {
    let (_, files) = run(CELL, &EVERYTHING, 2);
    let log = &files["1 carrier-0-up.dciLog"];
    let mut log = Reader::new(Format::DciLog(Direction::Uplink), 0, log);
    let Some(Ok(Heard::Nothing(first))) = log.next() else { panic!("a subframe without messages") };
    let mut sounder = sounding_link::Sounder::new(sounding_link::Config::new(Direction::Uplink));
    let mut stamped = None;
    sounder.handle_bytes(Arrival::AsStamped, &files["1 phone.qmdl"], |_, seen| {
        if let Seen::Record(record) = seen {
            stamped.get_or_insert(record.at.unix_nanos());
        }
    });
    let distance = stamped.expect("records").abs_diff(first.time.as_nanos() as u64);
    assert!(distance < 2_000_000_000, "{distance} ns");
}

#[test]
fn a_trace_is_what_the_flow_got() {
    let (finished, files) = run(LINKS, &EVERYTHING, 2);
    let trace = sounding_trace::mahimahi::parse(&files["1 0-bulk-device-0-up.trace"]).expect("it");
    let flow = &finished.outcomes[0].flows[0];
    let mbit = trace.millis().len() as f64 * 12e3 / 8e6;
    assert!((mbit / flow.throughput_mbit_per_sec - 1.0).abs() < 0.01, "{mbit} {flow:?}");
}

/// A phone that moves from a cell with two carriers to one with a single carrier.
const DRIVE: &str = r#"
duration = "8s"

[cell]
carriers = [
    { prb = 50, pci = 1 },
    { prb = 50, pci = 2, site = { position = { x_m = 600.0, y_m = 0.0 } } },
    { prb = 25, pci = 3, uplink = false },
]
[[cell.devices]]
name = "phone"
cells = [[0, 2], [1]]
trajectory = { kind = "waypoints", points = [{ x_m = 150.0, y_m = 20.0 }, { x_m = 450.0, y_m = 20.0 }], speed_mps = 40.0 }

[[flows]]
direction = "down"
"#;

#[test]
fn what_happened_on_the_radio_is_kept_beside_the_series() {
    let series = Keep { series: Some(Duration::from_millis(100)), ..Keep::default() };
    let (_, files) = run(DRIVE, &series, 1);
    let events = &files["1 events.parquet"];
    let mut file = tempfile::tempfile().expect("a file");
    io::Write::write_all(&mut file, events).expect("room");
    let mut rows = Vec::new();
    let columns = ["device", "kind", "from_s", "until_s", "number"];
    figures::read(file, &columns, |row| rows.push(row.to_vec())).expect("a table");
    let of = |kind: &str| {
        let row = rows.iter().find(|row| row[1] == Some(kind.into())).expect("it happened");
        let (Some(Real(from)), Some(Real(until))) = (&row[2], &row[3]) else { panic!("{row:?}") };
        (row[0].clone(), row[4].clone(), *from, *until)
    };
    let (device, to, left, back) = of("handover");
    assert_eq!((device, to), (Some("phone".into()), Some(1_u64.into())));
    assert!(left > 1.0 && back > left && back < left + 0.5, "{left} {back}");
    // The second carrier is one of the cell that it leaves.
    let (_, carrier, since, until) = of("carrier");
    assert_eq!((carrier, until), (Some(2_u64.into()), left));
    assert!(since < left, "{since}");
}

#[test]
fn windows_count_the_handovers_that_the_series_have() {
    let series = Keep { series: Some(Duration::from_secs(1)), ..Keep::default() };
    let (_, files) = run(DRIVE, &series, 1);
    let mut file = tempfile::tempfile().expect("a file");
    io::Write::write_all(&mut file, &files["1 events.parquet"]).expect("room");
    let mut kept = 0;
    let count = |row: &[Option<figures::Cell>]| {
        kept += u64::from(row[0] == Some("handover".into()));
    };
    figures::read(file, &["kind"], count).expect("a table");
    let runs = Text::new("plan.toml", DRIVE, PathBuf::new()).runs().expect("a plan");
    let shown = windows::run(&runs[0], false).expect("a run");
    assert_eq!((shown.account.handovers, kept), (1, 1));
}

/// Two phones and one that fetches by itself share a cell; one of the phones has a second carrier.
const SHARED: &str = r#"
duration = "2s"

[cell]
carriers = [{ prb = 50, control_users_per_sec = 100.0 }, { prb = 25, uplink = false, pci = 2 }]
[[cell.devices]]
name = "one"
cells = [[0, 1]]
channel = { kind = "script", levels = [{ at_s = 0.0, sinr_db = 16.0 }] }
[[cell.devices]]
name = "two"
channel = { kind = "script", levels = [{ at_s = 0.0, sinr_db = 16.0 }] }
[[cell.devices]]
name = "other"
channel = { kind = "script", levels = [{ at_s = 0.0, sinr_db = 16.0 }] }
traffic = { kind = "full" }

[[flows]]
name = "first"
device = "one"
direction = "down"
traffic = { kind = "datagrams", rate = "100Mbit" }

[[flows]]
name = "second"
device = "two"
direction = "down"
start = "1s"
traffic = { kind = "datagrams", rate = "100Mbit" }
"#;

#[test]
fn the_parts_of_each_carrier_are_kept_beside_the_series() {
    let series = Keep { series: Some(Duration::from_millis(50)), ..Keep::default() };
    let (_, files) = run(SHARED, &series, 1);
    let mut file = tempfile::tempfile().expect("a file");
    io::Write::write_all(&mut file, &files["1 carriers.parquet"]).expect("room");
    let mut rows = Vec::new();
    let columns = [
        "carrier",
        "device",
        "rnti",
        "from_s",
        "slots",
        "active_slots",
        "carrier_prb",
        "own_prb",
        "idle_prb",
        "control_prb",
        "other_users",
    ];
    figures::read(file, &columns, |row| rows.push(row.to_vec())).expect("a table");
    let of = |carrier: u64, device: &str, bin: usize| -> Vec<f64> {
        let mut rows = rows
            .iter()
            .filter(|row| row[0] == Some(carrier.into()) && row[1] == Some(device.into()));
        let row = rows.nth(bin).unwrap_or_else(|| panic!("{carrier} {device} {bin}"));
        let number = |cell: &Option<figures::Cell>| match cell {
            Some(figures::Cell::Int(number)) => *number as f64,
            Some(Real(number)) => *number,
            other => panic!("{other:?}"),
        };
        row[2..].iter().map(number).collect()
    };
    let one = of(0, "one", 30);
    let [two, other] = ["two", "other"].map(|name| of(0, name, 30));
    assert_eq!((one[0], two[0], other[0]), (256.0, 257.0, 258.0), "their RNTIs");
    assert_eq!((one[1], one[2], one[3], one[4]), (1.5, 50.0, 50.0, 50.0));
    let [own, idle, control, others] = [one[5], one[6], one[7], one[8]];
    assert!((own + two[5] + other[5] + idle + control - 50.0).abs() < 1e-9, "{one:?}");
    // All are backlogged, and share alike.
    assert_eq!((others, two[8], other[8]), (2.0, 2.0, 2.0));
    assert!((12.0..18.0).contains(&own) && idle < 1.0 && control > 0.2, "{one:?}");
    // Before the second one begins.
    let early = of(0, "one", 10);
    assert_eq!(early[8], 1.0);
    assert!(early[5] > 20.0, "{early:?}");
    assert_eq!(of(0, "two", 10)[5], 0.0);
    // It comes with the queue, and is its own.
    let second = of(1, "one", 30);
    assert_eq!((second[3], second[4], second[8]), (50.0, 25.0, 0.0));
    assert!(second[5] > 24.0, "{second:?}");
    assert_eq!(of(1, "one", 0)[3], 0.0, "not active yet");
}

#[test]
fn a_parameter_changes_what_a_flow_does_and_its_default_nothing() {
    let plan = "duration = \"5s\"\n[[links]]\nup = \"12Mbit\"\ndown = \"12Mbit\"\ndelay = \"20ms\"\n\
                [[flows]]\ndirection = \"up\"\n[sweep]\n\"flows.0.controller\" = [\"copa\", \
                { name = \"copa\", delta = 0.5 }, { name = \"copa\", delta = 0.1 }, \"copa:delta=1\"]\n";
    let text = Text::new("plan.toml", plan, PathBuf::new());
    let study = crate::study::Study::new(text).expect("a plan");
    let finished = study.run(&Keep::default(), None).expect("four runs");
    let digests: Vec<_> = finished.outcomes.iter().map(|outcome| &outcome.digest).collect();
    assert_eq!(digests[0], digests[1]);
    assert!(digests[0] != digests[2] && digests[2] != digests[3] && digests[0] != digests[3]);
    // About 1.25 ÷ δ packets of queue.
    let queueing = |at: usize| {
        let flow: &FlowOutcome = &finished.outcomes[at].flows[0];
        flow.queueing_ms.expect("packets").mean
    };
    assert!(queueing(2) > queueing(0) && queueing(0) > queueing(3));
    let shown = table(&finished);
    assert!(shown.contains("copa(delta=0.1)") && shown.contains("copa(delta=0.5)"), "{shown}");
    let json = json(study.about(), &finished).expect("JSON");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let flow = |run: usize| &json["runs"][run]["flows"][0];
    assert_eq!((&flow(0)["controller"], flow(0).get("tuned")), (&"copa".into(), None));
    assert_eq!(flow(2)["controller"], "copa(delta=0.1)");
    assert_eq!(
        flow(2)["tuned"],
        serde_json::json!({ "name": "copa", "parameters": { "delta": 0.1 } })
    );
}
