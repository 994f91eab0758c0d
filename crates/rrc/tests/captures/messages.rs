//! The RRC messages of the captures, and published ones.

use std::collections::BTreeMap;

use sounding_diag::capture::Capture;
use sounding_diag::packet::Packet;
use sounding_diag::record::{LteRrc, MessageSegments, NrRrc, RrcPdu};
use sounding_diag::{LogCode, LogRecord};
use sounding_testdata::{shared, shared_files};

/// A message, with the values of its record.
#[allow(dead_code, reason = "each user of this file needs its own part")]
pub(crate) struct Located<'a> {
    pub file: &'a str,
    pub pdu: Option<RrcPdu>,
    pub pci: u16,
    pub arfcn: u32,
    pub message: &'a [u8],
}

/// Calls `check` with every RRC message of every capture.
pub(crate) fn for_each_message(mut check: impl FnMut(&Located<'_>)) {
    for path in shared_files("captures") {
        let bytes = std::fs::read(&path).expect("a capture can be read");
        let file = path.to_string_lossy();
        // Beside the captures are indexes, and files of other formats.
        let Ok(mut capture) = Capture::new(&bytes) else { continue };
        let mut segments: BTreeMap<(LogCode, Option<u32>), MessageSegments> = BTreeMap::new();
        while let Some(found) = capture.poll_packet() {
            let Ok(located) = found else { continue };
            let Packet::Log(log) = located.packet else { continue };
            let Some((mut located, segment)) = locate(&log) else { continue };
            let segment = segment.unwrap_or_else(|| panic!("{file}: an unknown segment"));
            let parts = segments.entry((log.code, log.radio)).or_default();
            if let Some(message) = parts.handle_segment(segment, located.message) {
                (located.file, located.message) = (&file, message);
                check(&located);
            }
        }
    }
}

fn locate<'a>(
    log: &LogRecord<'a>,
) -> Option<(Located<'a>, Option<sounding_diag::record::Segment>)> {
    match log.code {
        LteRrc::CODE => {
            let LteRrc { pdu, pci, earfcn: arfcn, message, segment, .. } =
                LteRrc::parse(log.body).ok()?;
            Some((Located { file: "", pdu, pci, arfcn, message }, segment))
        }
        NrRrc::CODE => {
            let NrRrc { pdu, pci, nr_arfcn: arfcn, message, segment, .. } =
                NrRrc::parse(log.body).ok()?;
            Some((Located { file: "", pdu, pci, arfcn, message }, segment))
        }
        _ => None,
    }
}

/// A published message, if it is present.
#[allow(dead_code, reason = "each user of this file needs its own part")]
pub(crate) fn published(file: &str) -> Option<Vec<u8>> {
    let text = std::fs::read_to_string(shared(&format!("rrc/{file}"))?).expect("it can be read");
    let digits = text.trim();
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).expect("it is written in hex");
    Some((0..digits.len()).step_by(2).map(byte).collect())
}
