//! The board between a writer and its readers: which processes are accepted and woken, and what
//! remains when one of them dies.

use std::os::fd::AsFd;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use sounding_board::{OpenError, Place, PublishError, Publisher, Reader, Writer};
use sounding_diag::layout::Item;
use sounding_kpi::{Reading, Subscription};
use sounding_units::{HostInstant, ModemInstant};

const START: HostInstant = HostInstant::from_nanos(1_000_000_000);

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn place(&self) -> Place {
        Place::new(self.0.path(), "modem").expect("a plain name")
    }

    fn publisher(&self) -> Publisher {
        self.try_publish().expect("it is free")
    }

    fn try_publish(&self) -> Result<Publisher, PublishError> {
        let names = ["lte.pusch.tbs", "lte.cell.rsrp"];
        let subscription = Subscription::new(names).expect("both are registered");
        Publisher::create(self.place(), subscription.kpis(), START)
    }
}

fn reading(slot: usize, value: f64) -> Reading {
    Reading { slot, value, item: Item::default(), at: ModemInstant::from_nanos(9) }
}

fn is_readable(reader: &Reader) -> bool {
    let mut fds = [PollFd::new(reader.as_fd(), PollFlags::POLLIN)];
    poll(&mut fds, PollTimeout::ZERO).expect("poll works") == 1
}

#[test]
fn a_reader_finds_and_reads_what_was_posted() {
    let folder = Folder::new();
    let mut publisher = folder.publisher();
    let reader = Reader::open(&folder.place()).expect("it is there");
    assert_eq!(reader.names(), ["lte.pusch.tbs", "lte.cell.rsrp"]);
    assert_eq!(reader.find("lte.cell.rsrp"), Some(1));
    assert_eq!(reader.read(1), Ok(None));
    publisher.handle(&reading(1, -98.5), START);
    publisher.post(START);
    let sample = reader.read(1).expect("no write is under way").expect("it was posted");
    assert_eq!((sample.value, sample.sequence, sample.received_at), (-98.5, 1, START));
}

#[test]
fn a_post_wakes_a_reader_once() {
    let folder = Folder::new();
    let mut publisher = folder.publisher();
    let mut reader = Reader::open(&folder.place()).expect("it is there");
    publisher.heartbeat(START);
    reader.rearm();
    assert!(!is_readable(&reader));
    publisher.post(START);
    assert!(!is_readable(&reader), "there was nothing to post");
    publisher.handle(&reading(0, 1.0), START);
    publisher.post(START);
    assert!(is_readable(&reader));
    reader.rearm();
    assert!(!is_readable(&reader));
    assert_eq!(reader.writer(START), Writer::Alive);
}

#[test]
fn a_post_between_connecting_and_being_let_in_is_not_slept_through() {
    let folder = Folder::new();
    let mut publisher = folder.publisher();
    let reader = Reader::open(&folder.place()).expect("it is there");
    assert_eq!(reader.read(0), Ok(None));
    publisher.handle(&reading(0, 1.0), START);
    publisher.post(START);
    publisher.heartbeat(START);
    assert!(is_readable(&reader));
}

#[test]
fn a_sleeping_reader_delays_neither_writer_nor_readers() {
    let folder = Folder::new();
    let mut publisher = folder.publisher();
    let mut reader = Reader::open(&folder.place()).expect("it is there");
    publisher.heartbeat(START);
    // More wake-ups than any socket buffer has room for.
    for number in 0..300_000u32 {
        publisher.handle(&reading(0, f64::from(number)), START);
        publisher.post(START);
    }
    assert!(is_readable(&reader));
    reader.rearm();
    let sample = reader.read(0).expect("no write is under way").expect("it was posted");
    assert_eq!((sample.value, sample.sequence), (299_999.0, 300_000));
}

#[test]
fn a_writer_that_ends_leaves_its_values_and_marks_its_end() {
    let folder = Folder::new();
    let mut publisher = folder.publisher();
    let mut reader = Reader::open(&folder.place()).expect("it is there");
    publisher.heartbeat(START);
    publisher.handle(&reading(0, 5.0), START);
    drop(publisher);
    assert!(is_readable(&reader));
    reader.rearm();
    assert_eq!(reader.writer(START), Writer::Ended);
    assert_eq!(
        reader.read(0).expect("no write is under way").map(|sample| sample.value),
        Some(5.0)
    );
    let again = Reader::open(&folder.place()).map(|_| ());
    assert!(matches!(again, Err(OpenError::Missing { .. })), "{again:?}");
}

#[test]
fn a_writer_that_falls_silent_is_lost() {
    let folder = Folder::new();
    let mut publisher = folder.publisher();
    let reader = Reader::open(&folder.place()).expect("it is there");
    publisher.heartbeat(START);
    assert_eq!(reader.writer(START + Duration::from_millis(900)), Writer::Alive);
    assert_eq!(reader.writer(START + Duration::from_millis(1_100)), Writer::Lost);
}

#[test]
fn a_second_writer_is_refused_while_the_first_lives() {
    let folder = Folder::new();
    let first = folder.publisher();
    assert!(matches!(folder.try_publish(), Err(PublishError::Taken { .. })));
    drop(first);
    assert!(folder.try_publish().is_ok());
}

/// A writer in a separate process: this process, started with this test's name.
#[test]
fn a_writer_that_is_killed_leaves_a_value_that_gets_older() {
    const ROLE: &str = "SOUNDING_TEST_WRITER";
    if let Some(folder) = std::env::var_os(ROLE) {
        let place = Place::new(folder.as_ref(), "modem").expect("a plain name");
        let subscription = Subscription::new(["lte.pusch.tbs"]).expect("it is registered");
        let mut publisher =
            Publisher::create(place, subscription.kpis(), START).expect("it is free");
        publisher.handle(&reading(0, 42.0), START);
        publisher.post(START);
        loop {
            publisher.heartbeat(START);
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let folder = Folder::new();
    let name = "a_writer_that_is_killed_leaves_a_value_that_gets_older";
    let mut child = std::process::Command::new(std::env::current_exe().expect("this test"))
        .args([name, "--exact", "--nocapture"])
        .env(ROLE, folder.0.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("this test runs");
    let mut reader = loop {
        match Reader::open(&folder.place()) {
            Ok(reader) => break reader,
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    while reader.read(0).expect("one writer").is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let mut fds = [PollFd::new(reader.as_fd(), PollFlags::POLLIN)];
    assert_eq!(poll(&mut fds, PollTimeout::from(10_000u16)), Ok(1), "the reader is woken");
    reader.rearm();
    assert_eq!(reader.writer(START), Writer::Lost);
    let sample = reader.read(0).expect("no write is under way").expect("it stays");
    let later = START + Duration::from_secs(3);
    assert_eq!((sample.value, later - sample.received_at), (42.0, Duration::from_secs(3)));
    // And its place is free.
    let abandoned = Reader::open(&folder.place()).map(|_| ());
    assert!(matches!(abandoned, Err(OpenError::Abandoned { .. })), "{abandoned:?}");
    assert!(folder.try_publish().is_ok());
}
