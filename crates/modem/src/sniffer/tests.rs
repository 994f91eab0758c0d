use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::net::UdpSocket;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use sounding_trace::dci::{Block, Dci, Format, Moment, REQUEST, Remote};

use super::*;

fn dci(slot: u8) -> Dci {
    let time = Duration::from_micros(1_700_000_000_000_000);
    let block = Block { rv: Some(0), ndi: Some(false), bits: 18_336, ..Block::default() };
    Dci {
        moment: Moment { time, cell: 0, frame: 1, slot },
        rnti: 61,
        direction: Direction::Downlink,
        prb: 20,
        cell_prb: Some(50),
        blocks: [Some(block), None],
        harq: Some(3),
    }
}

fn line(format: Format, slot: u8) -> String {
    let mut text = String::new();
    assert!(format.write(&Heard::Dci(dci(slot)), &mut text));
    text
}

fn start(text: &str) -> Sniffer {
    let source = text.parse().expect("a sniffer");
    Sniffer::start(&source, 0, Direction::Downlink).expect("a thread")
}

const DCI_LOG: Format = Format::DciLog(Direction::Downlink);

/// Waits until something is so.
fn until(
    sniffer: &mut Sniffer,
    slots: &mut Vec<u8>,
    is_so: impl Fn(&SnifferStatus, &[u8]) -> bool,
) {
    let began = Instant::now();
    loop {
        while let Some((_, heard)) = sniffer.poll() {
            if let Heard::Dci(dci) = heard {
                slots.push(dci.moment.slot);
            }
        }
        if is_so(sniffer.status(), slots) {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{slots:?} {:?}", sniffer.status());
        thread::sleep(Duration::from_millis(1));
    }
}

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new().append(true).create(true).open(path).expect("it opens");
    file.write_all(text.as_bytes()).expect("it is written");
}

/// A log to which one line at a time is added until one comes: only then is the log known to be
/// open.
fn grow_until_read(sniffer: &mut Sniffer, path: &Path, format: Format, slot: u8) -> Vec<u8> {
    let began = Instant::now();
    let mut slots = Vec::new();
    while slots.is_empty() {
        append(path, &line(format, slot));
        thread::sleep(Duration::from_millis(3));
        until(sniffer, &mut slots, |_, _| true);
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", sniffer.status());
    }
    slots
}

#[test]
fn what_a_log_had_before_is_left_out_but_its_header() {
    let folder = tempfile::tempdir().expect("a folder");
    for (format, name) in [(DCI_LOG, "dcilog"), (Format::NrScope, "nr-scope")] {
        let path = folder.path().join(name);
        let header = format.header();
        append(&path, &format!("{header}{}", if header.is_empty() { "" } else { "\n" }));
        // The last line is half written.
        append(&path, &line(format, 7));
        append(&path, "9");
        let mut sniffer = start(&format!("{name}:{}", path.display()));
        thread::sleep(Duration::from_millis(100));
        append(&path, "\t9\n");
        let slots = grow_until_read(&mut sniffer, &path, format, 3);
        assert!(slots.iter().all(|&slot| slot == 3), "{name}: {slots:?}");
        assert_eq!(sniffer.status().counts.bad, 0, "{name}: {:?}", sniffer.status().bad);
    }
}

#[test]
fn a_log_that_is_replaced_cut_or_comes_later_is_read_from_its_beginning() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log");
    let mut sniffer = start(&format!("dcilog:{}", path.display()));
    let mut slots = Vec::new();
    until(&mut sniffer, &mut slots, |status, _| status.problem.is_some());
    append(&path, &line(DCI_LOG, 1).repeat(3));
    until(&mut sniffer, &mut slots, |status, slots| slots.len() == 3 && status.problem.is_none());
    let next = folder.path().join("next");
    append(&next, &line(DCI_LOG, 2).repeat(5));
    fs::rename(&next, &path).expect("it is renamed");
    until(&mut sniffer, &mut slots, |_, slots| slots.len() == 8);
    fs::write(&path, line(DCI_LOG, 4)).expect("it is cut");
    until(&mut sniffer, &mut slots, |_, slots| slots.len() == 9);
    assert_eq!(slots, [1, 1, 1, 2, 2, 2, 2, 2, 4]);
}

#[test]
fn a_fifo_has_one_writer_after_the_other_and_bad_lines_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fifo");
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).expect("a FIFO");
    let mut sniffer = start(&format!("nr-scope:{}", path.display()));
    let mut slots = Vec::new();
    for turn in 1..=2 {
        // Opening it waits for a reader.
        let mut writer = OpenOptions::new().write(true).open(&path).expect("it opens");
        let text =
            format!("{}\n{}no such line\n", Format::NrScope.header(), line(Format::NrScope, turn));
        writer.write_all(text.as_bytes()).expect("it is written");
        drop(writer);
        until(&mut sniffer, &mut slots, |_, slots| slots.len() == usize::from(turn));
    }
    until(&mut sniffer, &mut slots, |status, _| status.counts.bad == 2);
    assert_eq!(slots, [1, 2]);
    assert!(sniffer.status().bad.as_ref().is_some_and(|bad| bad.contains("columns")));
}

#[test]
fn what_is_no_log_is_said_and_not_opened() {
    let mut sniffer = start("falcon:/dev/zero");
    until(&mut sniffer, &mut Vec::new(), |status, _| {
        status.problem.as_deref() == Some("neither a file nor a FIFO")
    });
}

#[test]
fn nothing_is_kept_for_a_reader_that_does_not_come() {
    let shared = Arc::new(Mutex::new(Shared::default()));
    let outlet = Outlet(Arc::downgrade(&shared));
    let heard = vec![Heard::Dci(dci(1)); 2 * CAPACITY];
    assert!(outlet.pass(&mut Batch { heard, ..Batch::default() }));
    let shared = shared.lock().expect("not poisoned");
    assert_eq!((shared.queue.len(), shared.status.dropped), (CAPACITY, CAPACITY as u64));
}

#[test]
fn a_service_is_asked_until_it_answers_and_no_other_is_received() {
    let service = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let address = service.local_addr().expect("bound");
    let mut sniffer = start(&format!("udp:{address}"));
    service.set_read_timeout(Some(Duration::from_secs(20))).expect("set");
    let mut request = [0; 16];
    let (count, client) = service.recv_from(&mut request).expect("a request");
    assert_eq!(request[..count], REQUEST);
    assert!(client.ip().is_loopback());
    let subframe = |slot| Remote::emit_subframe(dci(slot).moment, &[dci(slot)]);
    let stranger = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let _ = stranger.send_to(&subframe(9), client);
    service.send_to(&[0xAA; 4], client).expect("sent");
    service.send_to(&Remote::emit_config(&[50]), client).expect("sent");
    service.send_to(b"what is this?", client).expect("sent");
    service.send_to(&subframe(5), client).expect("sent");
    let mut slots = Vec::new();
    until(&mut sniffer, &mut slots, |_, slots| !slots.is_empty());
    until(&mut sniffer, &mut slots, |status, _| status.counts.bad == 1);
    assert_eq!(slots, [5]);
    // It is silent, and so asked again.
    let (count, again) = service.recv_from(&mut request).expect("another request");
    assert_eq!((&request[..count], again), (&REQUEST[..], client));
}
