//! Both ends against each other: a capture served by the simulated modem, read through a session,
//! is the capture.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use sounding_diag::capture::{Capture, Counts, Located, Reader};
use sounding_diag::layout::{Sink, Value};
use sounding_diag::packet::Packet;
use sounding_diag::record;
use sounding_diag::session::{Event, Wanted};
use sounding_diag::{LogCode, LogRecord};
use sounding_modem::{
    Behaviour, Mischief, Place, Pump, Script, Simulation, Source, Tally, Turn, monotonic_now,
};
use sounding_testdata::{shared, shared_files};
use sounding_units::ModemInstant;

/// A record as both ways give it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Kept {
    code: LogCode,
    stamp: u64,
    radio: Option<u32>,
    body: Vec<u8>,
}

impl Kept {
    fn of(record: &LogRecord<'_>) -> Self {
        let LogRecord { code, stamp, radio, body, .. } = *record;
        Self { code, stamp, radio, body: body.to_vec() }
    }
}

fn of_file(bytes: &[u8]) -> Vec<Kept> {
    let mut capture = Capture::new(bytes).expect("a capture");
    let mut records = Vec::new();
    while let Some(found) = capture.poll_packet() {
        if let Ok(Located { packet: Packet::Log(record), .. }) = found {
            records.push(Kept::of(&record));
        }
    }
    records
}

/// A simulated modem on a separate thread.
struct Modem {
    source: Source,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Tally>,
}

impl Modem {
    fn start(capture: &[u8], behaviour: Behaviour, place: Place) -> Self {
        let script = Script::of(capture);
        let mut simulation = Simulation::new(script, behaviour, place).expect("a port");
        let source = simulation.source().parse().expect("a source");
        let stop = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&stop);
        let thread =
            std::thread::spawn(move || simulation.run(&until, |_| {}).expect("the port stays"));
        Self { source, stop, thread }
    }

    fn stop(self) -> Tally {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the modem does not panic")
    }
}

/// The result of a session.
struct Session {
    records: Vec<Kept>,
    counts: Counts,
    events: Vec<Event>,
}

/// Reads until there are `expected` records, or none for as long as a loaded machine may stand
/// still; then ends the session in good order. A port that closes is opened again.
fn read(source: &Source, codes: &[LogCode], expected: usize) -> Session {
    read_until(source, codes, |records| records.len() >= expected)
}

fn read_until(source: &Source, codes: &[LogCode], is_all: impl Fn(&[Kept]) -> bool) -> Session {
    const PATIENCE: Duration = Duration::from_secs(20);
    let wanted = Wanted { codes: codes.to_vec(), budget_bytes_per_sec: None };
    let mut pump = Pump::open(source.clone(), Some(wanted)).expect("opens");
    let mut reader = Reader::new();
    let mut session = Session { records: Vec::new(), counts: reader.counts(), events: Vec::new() };
    let mut newest = monotonic_now();
    let mut ending = false;
    while !pump.is_over() && monotonic_now() - newest < PATIENCE {
        match pump.turn(Duration::from_millis(5)).expect("reads") {
            Turn::Bytes(read) => {
                let (before, now) = (session.records.len(), read.now);
                read.find(&mut reader, |found| {
                    if let Ok(Packet::Log(record)) = found.map(|located| located.packet) {
                        session.records.push(Kept::of(&record));
                    }
                });
                if session.records.len() > before {
                    newest = now;
                }
            }
            Turn::Closed(_) => while reader.poll_end().is_some() {},
            Turn::Idle | Turn::Reopened => {}
        }
        session.events.extend(std::iter::from_fn(|| pump.poll_event()));
        if is_all(&session.records) && !ending {
            ending = true;
            pump.handle_end();
        }
    }
    session.counts = reader.counts();
    session
}

fn codes(records: &[Kept]) -> Vec<LogCode> {
    let mut codes: Vec<_> = records.iter().map(|record| record.code).collect();
    codes.sort();
    codes.dedup();
    codes
}

/// As fast as the reader takes it. Everything is on from the start: masks are set one equipment
/// after the other, and what is made between the first and the last would be missing.
fn fast() -> Behaviour {
    Behaviour { speed: 1e6, all_on: true, ..Behaviour::default() }
}

fn own_name(what: &str) -> String {
    format!("sounding-both-ends-{what}-{}", std::process::id())
}

/// Serves a capture whole, and compares.
fn whole(path: &PathBuf, behaviour: Behaviour, place: Place) -> (Session, Tally) {
    let capture = std::fs::read(path).expect("readable");
    let expected = of_file(&capture);
    let modem = Modem::start(&capture, behaviour, place);
    let session = read(&modem.source, &codes(&expected), expected.len());
    let tally = modem.stop();
    assert!(
        session.records == expected,
        "{}: {} of {}",
        path.display(),
        session.records.len(),
        expected.len()
    );
    (session, tally)
}

/// A few captures of different modems, with broken frames and wrapped ones among them.
fn captures() -> Vec<PathBuf> {
    let all = shared_files("captures");
    let is_stream = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "mi2log" || extension == "qmdl")
            && std::fs::read(path).is_ok_and(|bytes| Capture::new(&bytes).is_ok())
    };
    all.into_iter().filter(is_stream).step_by(4).collect()
}

#[test]
fn a_capture_through_the_pty_is_the_capture() {
    for path in captures() {
        let (session, tally) = whole(&path, fast(), Place::Pty(None));
        assert_eq!(session.counts.frames.bad, 0, "{}", path.display());
        assert_eq!((tally.lost, tally.masked, tally.broken), (0, 0, 0));
    }
}

#[test]
fn one_corrupt_frame_in_a_hundred_is_counted_and_nothing_else_is_lost() {
    for path in captures() {
        let mischief = Mischief { corrupt: 0.01, seed: 1, ..Mischief::default() };
        let (session, tally) = whole(&path, Behaviour { mischief, ..fast() }, Place::Pty(None));
        let counts = session.counts;
        assert_eq!(counts.frames.bad + counts.bad_packets, tally.broken, "{}", path.display());
        assert!(tally.broken > 0 || session.records.len() < 1000, "{}", path.display());
    }
}

/// The frames of a capture up to the first log record that was made `span` after the first one.
fn beginning(capture: &[u8], span: Duration) -> &[u8] {
    let mut reader = Reader::new();
    let (mut rest, mut first, mut end) = (capture, None, 0);
    while let Some(found) = reader.poll_packet(&mut rest) {
        if let Ok(Located { packet: Packet::Log(record), .. }) = found
            && record.at - *first.get_or_insert(record.at) >= span
        {
            break;
        }
        end = capture.len() - rest.len();
    }
    &capture[..end]
}

/// Every field of every record that is described, as text.
fn decoded(records: &[Kept]) -> Vec<String> {
    let all = records.iter().map(|kept| {
        let at = ModemInstant::from_diag(kept.stamp);
        let Kept { code, stamp, radio, body } = kept;
        let log = LogRecord { code: *code, at, stamp: *stamp, radio: *radio, body };
        let mut fields = Fields(format!("{code} {stamp} {radio:?}"));
        let outcome = record::decode(&log, &mut fields);
        format!("{} {outcome:?}", fields.0)
    });
    all.collect()
}

struct Fields(String);

impl Sink for Fields {
    fn field(&mut self, name: &'static str, value: Value<'_>) {
        self.0 += &format!(" {name}={value}");
    }
    fn begin_list(&mut self, name: &'static str) {
        self.0 += &format!(" {name}[");
    }
    fn begin_item(&mut self) {
        self.0 += "{";
    }
    fn end_item(&mut self) {
        self.0 += "}";
    }
    fn end_list(&mut self) {
        self.0 += "]";
    }
}

#[test]
fn a_capture_at_its_own_pace_decodes_as_its_file_and_corrupt_frames_are_counted() {
    const SPAN: Duration = Duration::from_secs(4);
    let Some(path) = shared(ONE) else { return };
    let capture = std::fs::read(path).expect("readable");
    let slice = beginning(&capture, SPAN);
    let expected = of_file(slice);
    assert!(expected.len() > 300, "{} records", expected.len());
    let mischief = Mischief { corrupt: 0.01, seed: 4, ..Mischief::default() };
    let behaviour = Behaviour { mischief, all_on: true, ..Behaviour::default() };
    let modem = Modem::start(slice, behaviour, Place::Pty(None));
    let begin = monotonic_now();
    let session = read(&modem.source, &codes(&expected), expected.len());
    let took = monotonic_now() - begin;
    let tally = modem.stop();
    assert_eq!(decoded(&session.records), decoded(&expected));
    assert!(session.records == expected);
    assert!(took > SPAN * 3 / 4, "{took:?}: that was not its own pace");
    assert_eq!((tally.lost, tally.masked), (0, 0));
    assert!(tally.broken > 0);
    assert_eq!(session.counts.frames.bad + session.counts.bad_packets, tally.broken);
}

#[test]
fn a_port_without_hdlc_carries_the_same_records() {
    let Some(path) = shared(ONE) else { return };
    let unframed = || Behaviour { unframed: true, ..fast() };
    for place in [Place::Pty(None), Place::Tcp(0), Place::VendorRouter(own_name("unframed"))] {
        let (session, tally) = whole(&path, unframed(), place);
        assert_eq!(session.counts.frames.bad + session.counts.bad_packets, 0);
        assert!(tally.answered > 0, "requests went the other way");
        assert_eq!((tally.lost, tally.refused), (0, 0));
    }
}

#[test]
fn garbage_on_a_port_without_hdlc_is_counted_and_costs_no_more_than_its_neighbours() {
    let Some(path) = shared(ONE) else { return };
    let capture = std::fs::read(path).expect("readable");
    let all = of_file(&capture);
    let mischief = Mischief { garbage: 0.01, seed: 6, ..Mischief::default() };
    let behaviour = Behaviour { unframed: true, mischief, ..fast() };
    let modem = Modem::start(&capture, behaviour, Place::Pty(None));
    let last = all.last().expect("records");
    let session = read_until(&modem.source, &codes(&all), |records| records.last() == Some(last));
    let tally = modem.stop();
    let damaged = session.counts.frames.bad + session.counts.bad_packets;
    assert!(tally.broken > 10 && damaged > 10, "{tally:?}, {damaged} damaged");
    // These bytes have no check, so garbage may look like the beginning of something longer.
    let lost = (all.len() - session.records.len()) as u64;
    assert!(lost <= tally.broken, "{lost} lost, {tally:?}");
}

#[test]
fn cut_frames_and_garbage_cost_themselves_only() {
    let Some(path) = shared(ONE) else { return };
    let capture = std::fs::read(path).expect("readable");
    let all = of_file(&capture);
    for mischief in [
        Mischief { truncate: 0.05, seed: 2, ..Mischief::default() },
        Mischief { garbage: 0.05, seed: 3, ..Mischief::default() },
    ] {
        let cuts = mischief.truncate > 0.0;
        let modem = Modem::start(&capture, Behaviour { mischief, ..fast() }, Place::Pty(None));
        let last = all.last().expect("records");
        let session =
            read_until(&modem.source, &codes(&all), |records| records.last() == Some(last));
        let tally = modem.stop();
        assert_eq!(session.records.len() as u64, tally.sent);
        assert_eq!(session.counts.frames.bad + session.counts.bad_packets, tally.broken);
        assert!(tally.broken > 10, "{tally:?}");
        let lost = if cuts { tally.broken as usize } else { 0 };
        assert_eq!(session.records.len() + lost, all.len());
    }
}

const ONE: &str = "captures/mobile-insight__mobileinsight-core/att.mi2log";

#[test]
fn every_kind_of_port_carries_the_same_records() {
    let Some(path) = shared(ONE) else { return };
    whole(&path, fast(), Place::Tcp(0));
    whole(&path, fast(), Place::Router(own_name("router")));
    whole(&path, fast(), Place::VendorRouter(own_name("vendor")));
}

#[test]
fn a_modem_that_buffers_is_drained_and_gives_the_same_records() {
    let Some(path) = shared(ONE) else { return };
    // The modem would buffer everything for an hour, and its high-water mark is too high to be
    // reached.
    let release = Duration::from_secs(3600);
    let behaviour = Behaviour { high_water: usize::MAX, release, ..fast() };
    let (_, tally) = whole(&path, behaviour, Place::VendorRouter(own_name("drained")));
    assert!(tally.drained > 0);
}

#[test]
fn what_is_not_asked_for_does_not_come() {
    let Some(path) = shared(ONE) else { return };
    let capture = std::fs::read(path).expect("readable");
    let all = of_file(&capture);
    let one = all[0].code;
    let expected: Vec<_> = all.iter().filter(|record| record.code == one).cloned().collect();
    let behaviour = Behaviour { all_on: false, ..fast() };
    let modem = Modem::start(&capture, behaviour, Place::Pty(None));
    let session = read(&modem.source, &[one], expected.len());
    let tally = modem.stop();
    assert!(session.records == expected);
    assert!(tally.masked > 0);
    assert_eq!(session.events.last(), Some(&Event::Restored));
}

#[test]
fn a_modem_that_restarts_is_asked_again_and_goes_on() {
    let Some(path) = shared(ONE) else { return };
    let capture = std::fs::read(path).expect("readable");
    let all = of_file(&capture);
    let folder = tempfile::tempdir().expect("a folder");
    let script = Script::of(&capture);
    let mischief = Mischief { reboot: Some(script.duration() / 2), ..Mischief::default() };
    // A second or so, so that what is made while it is down is a part only.
    let speed = script.duration().as_secs_f64().max(1.0) / 3.0;
    let behaviour = Behaviour { mischief, speed, ..Behaviour::default() };
    let modem = Modem::start(&capture, behaviour, Place::Pty(Some(folder.path().join("modem"))));
    let last = all.last().expect("records").stamp;
    let session = read_until(&modem.source, &codes(&all), |records| {
        records.last().is_some_and(|record| record.stamp == last)
    });
    modem.stop();
    let ready = session.events.iter().filter(|event| matches!(event, Event::Ready { .. })).count();
    assert_eq!(ready, 2, "{:?}", session.events);
    assert!(session.records.len() < all.len());
    assert!(session.records.iter().all(|record| all.contains(record)));
}
