//! All captures that are found, and the totals of the comparison.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

use sounding_diag::LogCode;
use sounding_diag::capture::Capture;
use sounding_diag::packet::Packet;
use sounding_diag::record::{self, Record, RecordError};
use sounding_testdata::{Need, say, shared, skip};

use crate::agree::Fields;
use crate::found::{Found, Pair};
use crate::pinned::PINNED;
use crate::{Seen, compared, tree};

/// The shared data; data without a reference is reported.
pub(crate) fn found() -> &'static Found {
    static FOUND: OnceLock<Found> = OnceLock::new();
    FOUND.get_or_init(|| {
        let (Some(captures), Some(expected)) = (shared("captures"), shared("expected")) else {
            return Found::default();
        };
        let found = Found::look(&captures, &expected);
        if found.pairs.is_empty() {
            let folder = captures.parent().unwrap_or(&captures);
            skip(
                Need::Data,
                format_args!("{} has no capture with an expected reading", folder.display()),
            );
        }
        for (name, _) in &found.unread {
            say(&format!("NOT COMPARED: {name} has no expected reading"));
        }
        for orphan in &found.orphans {
            say(&format!("NOT COMPARED: {} has no capture", orphan.display()));
        }
        found
    })
}

/// The captures whose contents are known, if all of them are there.
pub(crate) fn known() -> Option<Vec<&'static Pair>> {
    let pairs = &found().pairs;
    PINNED.iter().map(|(name, ..)| pairs.iter().find(|pair| pair.name == *name)).collect()
}

/// One capture with its result, or with the error that ended its test.
struct Outcome {
    pair: Pair,
    seen: Result<Seen, String>,
}

/// Compares each, on every processor.
fn compare_each(pairs: &[Pair]) -> Vec<Outcome> {
    let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(pair) = pairs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let seen = catch_unwind(AssertUnwindSafe(|| compared(pair)));
            let seen = seen.map_err(|panic| {
                let said = panic.downcast_ref::<String>().cloned();
                said.or_else(|| panic.downcast_ref::<&str>().map(|said| (*said).to_owned()))
                    .unwrap_or_else(|| "it broke off".to_owned())
            });
            let outcome = Outcome { pair: pair.clone(), seen };
            outcomes.lock().unwrap_or_else(PoisonError::into_inner).push(outcome);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    outcomes.sort_by(|one, other| one.pair.name.cmp(&other.pair.name));
    outcomes
}

fn outcomes() -> &'static [Outcome] {
    static OUTCOMES: OnceLock<Vec<Outcome>> = OnceLock::new();
    OUTCOMES.get_or_init(|| compare_each(&found().pairs))
}

#[test]
fn every_capture_agrees_with_its_expected_reading() {
    let mut wrong = Vec::new();
    for Outcome { pair, seen } in outcomes() {
        match seen {
            Err(panic) => wrong.push(format!("{}: {panic}", pair.name)),
            Ok(seen) => {
                let differ = seen.unexplained.values().map(Vec::len).sum::<usize>();
                let first = seen.unexplained.values().flatten().next();
                wrong.extend(first.map(|first| format!("{first}, and {differ} records in all")));
            }
        }
    }
    assert!(wrong.is_empty(), "{} captures differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn captures_that_are_known_hold_what_they_held() {
    let mut absent = Vec::new();
    for (name, frames, records) in PINNED {
        let Some(one) = outcomes().iter().find(|one| one.pair.name == *name) else {
            absent.push(*name);
            continue;
        };
        let Ok(seen) = &one.seen else { panic!("{name} could not be compared") };
        let compared = seen.compared.values().sum::<usize>();
        assert_eq!((seen.frames, compared), (*frames, *records), "{name}: {:?}", seen.compared);
    }
    if let Some(first) = absent.first().filter(|_| !found().pairs.is_empty()) {
        skip(
            Need::Data,
            format_args!("{} known captures are absent, the first is {first}", absent.len()),
        );
    }
}

/// Without a reference, the test only checks that they can be read.
#[test]
fn captures_without_an_expected_reading_are_read_to_their_end() {
    for (name, path) in &found().unread {
        let bytes = std::fs::read(path).expect("the capture can be read");
        let mut capture = Capture::new(&bytes).expect("it is a capture");
        let (mut frames, mut read, mut undescribed, mut wrong) = (0, 0, 0, 0);
        while let Some(packet) = capture.poll_packet() {
            frames += 1;
            let Ok(located) = packet else {
                wrong += 1;
                continue;
            };
            let Packet::Log(log) = located.packet else { continue };
            let decoded = record::decode(&log, &mut tree::Builder::new());
            match decoded.and_then(|()| Record::parse(&log).map(drop)) {
                Ok(()) => read += 1,
                Err(RecordError::Undescribed { .. } | RecordError::Unsupported { .. }) => {
                    undescribed += 1;
                }
                Err(_) => wrong += 1,
            }
        }
        say(&format!(
            "{name}: {frames} frames, {read} records read, {undescribed} not described, {wrong} wrong"
        ));
        assert!(frames > 0, "{name} has not a single frame");
        assert_eq!(capture.counts().frames.bytes, bytes.len() as u64, "{name}");
    }
}

/// `make agreement`: prints the comparison, code by code.
#[test]
#[ignore = "prints a table of what the other tests compare"]
fn agreement() {
    let mut rows = BTreeMap::<LogCode, (usize, Fields, usize)>::new();
    let mut frames = 0;
    for Outcome { pair, seen } in outcomes() {
        let seen = seen.as_ref().unwrap_or_else(|panic| panic!("{}: {panic}", pair.name));
        frames += seen.frames;
        for (code, count) in &seen.compared {
            rows.entry(*code).or_default().0 += count;
        }
        for (code, fields) in &seen.fields {
            rows.entry(*code).or_default().1 += *fields;
        }
        for (code, errors) in &seen.unexplained {
            rows.entry(*code).or_default().2 += errors.len();
        }
    }
    println!("                       fields                               records");
    println!("code    records      equal  explained  ours alone  unexplained  name");
    let mut total = (0, Fields::default(), 0);
    for (code, (records, fields, unexplained)) in &rows {
        let Fields { equal, explained, ours_alone } = fields;
        let name = code.name().unwrap_or("-");
        println!(
            "{code}  {records:>7} {equal:>10} {explained:>10} {ours_alone:>11} {unexplained:>12}  {name}"
        );
        total = (total.0 + records, total.1 + *fields, total.2 + unexplained);
    }
    let (records, Fields { equal, explained, ours_alone }, unexplained) = total;
    println!("total   {records:>7} {equal:>10} {explained:>10} {ours_alone:>11} {unexplained:>12}");
    println!("{} captures, {} codes, {frames} frames", outcomes().len(), rows.len());
    assert_eq!(unexplained, 0);
}
