//! Many readers, and one that reads nothing.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::Duration;

use sounding_diag::LogCode;
use sounding_diag::session::Beside;
use sounding_host::monotonic_now;
use sounding_modem::beside::{Decoder, Frame, Request};
use sounding_testdata::steadily;

use crate::rig::{OWN, Rig};

/// The modem's most frequent record. The daemon does not ask for it.
const OTHER: LogCode = LogCode::new(0xB139);

/// Connects and asks for records.
fn connect(socket: &Path) -> UnixStream {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.write_all(&Request::new(Some(&[OWN, OTHER])).line()).unwrap();
    stream
}

/// Packets that came and records that were lost, until the other end closes.
fn read(mut stream: UnixStream) -> (u64, u64) {
    let (mut decoder, mut bytes) = (Decoder::default(), vec![0; 1 << 16]);
    let (mut packets, mut lost) = (0, 0);
    loop {
        while let Some(frame) = decoder.poll().unwrap() {
            match frame {
                Frame::Packet(..) => packets += 1,
                Frame::News(Beside::Lost { records }) => lost += records,
                _ => {}
            }
        }
        match stream.read(&mut bytes) {
            Ok(0) | Err(_) => return (packets, lost),
            Ok(count) => decoder.handle(&bytes[..count]),
        }
    }
}

#[test]
fn ten_readers_and_one_that_never_reads_cost_the_daemon_no_heartbeat() {
    steadily(|| {
        let mut rig = Rig::plain();
        let socket = rig.socket();
        let began = monotonic_now();
        let never = connect(&socket);
        let readers: Vec<_> = (0..10)
            .map(|_| {
                let stream = connect(&socket);
                thread::spawn(move || read(stream))
            })
            .collect();
        rig.wait_for_readers(11);
        thread::sleep(Duration::from_secs(4));
        let events = rig.stop();
        let late: Vec<_> = events.iter().filter(|event| event["event"] == "late").collect();
        assert!(late.is_empty(), "since {began:?}: {late:?}");
        for reader in readers {
            let (packets, lost) = reader.join().unwrap();
            assert!(packets > 100 && lost == 0, "{packets} packets and {lost} lost");
        }
        drop(never);
    });
}

#[test]
fn one_more_reader_than_there_is_room_for_is_refused() {
    let rig = Rig::plain();
    let socket = rig.socket();
    let _readers: Vec<_> = (0..12).map(|_| connect(&socket)).collect();
    rig.wait_for_readers(12);
    let mut line = String::new();
    // Without a request, which a daemon that has refused it no longer takes.
    BufReader::new(UnixStream::connect(&socket).unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains(r#""refused":"full""#), "{line}");
    let output = rig.command(&["record", "modem", "out.qmdl"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("as many readers as it takes"), "{said}");
    assert!(!rig.path("out.qmdl").exists());
}
