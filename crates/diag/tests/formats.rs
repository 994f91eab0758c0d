//! Real captures in every format.

use sounding_diag::capture::{Capture, Format, Kind, Located, recognise};
use sounding_diag::packet::Packet;
use sounding_testdata::{shared, shared_files};

/// Every log record's stamp, code and body, in order.
fn records(bytes: &[u8]) -> Vec<(u64, u16, Vec<u8>)> {
    let mut capture = Capture::new(bytes).expect("it is a capture");
    let mut records = Vec::new();
    while let Some(found) = capture.poll_packet() {
        if let Ok(Located { packet: Packet::Log(log), .. }) = found {
            records.push((log.stamp, log.code.number(), log.body.to_vec()));
        }
    }
    records
}

/// The log records of a capture, written in another format.
fn written(bytes: &[u8], format: Format) -> Vec<u8> {
    let mut capture = Capture::new(bytes).expect("it is a capture");
    let mut out = Vec::new();
    while let Some(found) = capture.poll_packet() {
        if let Ok(Located { packet: packet @ Packet::Log(_), .. }) = found {
            format.emit(&packet, &mut out).expect("what was read can be written");
        }
    }
    out
}

#[test]
fn a_real_dlf_is_its_one_record() {
    let Some(path) = shared("captures/HandyMenny__uecapabilityparser/scat.dlf") else { return };
    let bytes = std::fs::read(path).expect("the capture can be read");
    assert_eq!(recognise(&bytes), Ok(Kind::of(Format::Dlf)));
    let records = records(&bytes);
    assert_eq!(records.len(), 1);
    let (_, code, body) = &records[0];
    assert_eq!((*code, body.len() + 12), (0xB0C0, bytes.len()));
}

#[test]
fn a_real_capture_holds_the_same_records_in_every_format() {
    let files = shared_files("captures").into_iter();
    let of_diag =
        files.filter(|path| path.extension().is_some_and(|end| end == "qmdl" || end == "mi2log"));
    for path in of_diag {
        let bytes = std::fs::read(&path).expect("the capture can be read");
        // One of them is known for not holding a single frame.
        let Ok(kind) = recognise(&bytes) else {
            assert!(path.ends_with("offline_log_example.mi2log"), "{}", path.display());
            continue;
        };
        assert_eq!(kind, Kind::of(Format::Hdlc), "{}", path.display());
        let expected = records(&bytes);
        if expected.is_empty() {
            continue;
        }
        for format in [Format::Hdlc, Format::NonHdlc, Format::Hdf, Format::Dlf] {
            let other = written(&bytes, format);
            assert_eq!(recognise(&other), Ok(Kind::of(format)), "{} {format}", path.display());
            assert!(records(&other) == expected, "{} {format}", path.display());
        }
    }
}
