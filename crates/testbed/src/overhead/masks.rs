//! Diagnostic data per second, by log mask.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use sounding_diag::LogCode;
use sounding_diag::capture::Reader;
use sounding_diag::packet::Packet;
use sounding_diag::session::Wanted;
use sounding_modem::{Behaviour, Bytes, Place, Pump, Script, Source, Turn, monotonic_now};

use super::OverheadError;
use crate::served::ServedModem;

/// The log mask of a modem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mask {
    /// The records of BISCAY's uplink estimate.
    Biscay,
    /// Gandalf's Table 8.
    Gandalf,
    /// Everything that the captures have.
    Everything,
}

/// Received data with one mask.
#[derive(Clone, Debug, Serialize)]
pub struct MaskRow {
    /// The mask.
    pub mask: Mask,
    /// Number of kinds of records.
    pub codes: usize,
    /// Records that came.
    pub records: u64,
    /// Data on the port, by the modem's own time.
    pub kbit_per_sec: f64,
    /// Part of the data of all records.
    pub share_percent: f64,
}

/// Gandalf Table 8, in its order: PDSCH status, PUSCH transmissions, DCI, RLC status and data both
/// ways, MAC uplink blocks, transmissions by ML1, PDCCH decoding, and RRC for its two messages. The
/// codes are those that docs/reference/diag.md and the record tables name for these messages.
pub const TABLE_8: [u16; 11] =
    [0xB173, 0xB139, 0xB16C, 0xB083, 0xB092, 0xB093, 0xB082, 0xB064, 0xB16D, 0xB130, 0xB0C0];

/// Replay speed: the data is the same, and the modem waits for its reader if necessary.
const SPEED: f64 = 20.0;

/// A replay has ended when no data arrives for this time.
const SILENCE: Duration = Duration::from_millis(200);

pub(super) fn run(
    captures: &[Vec<u8>],
    progress: impl Fn(&str),
) -> Result<Vec<MaskRow>, OverheadError> {
    let mut codes = Vec::new();
    captures.iter().for_each(|capture| each_code(capture, |code| codes.push(code)));
    codes.sort_unstable();
    codes.dedup();
    let span: Duration = captures.iter().map(|capture| Script::of(capture).duration()).sum();
    let mut rows = Vec::new();
    for (mask, codes) in [
        (Mask::Everything, codes),
        (Mask::Gandalf, TABLE_8.map(LogCode::new).to_vec()),
        (Mask::Biscay, sounding_kpi::codes(sounding_kpi::Direction::Uplink).to_vec()),
    ] {
        let (mut records, mut bytes) = (0, 0);
        for capture in captures {
            let came = replay(capture, &codes)?;
            records += came.records;
            bytes += came.bytes;
        }
        let kbit_per_sec = bytes as f64 * 8.0 / 1e3 / span.as_secs_f64();
        let everything = rows.first().map_or(kbit_per_sec, |row: &MaskRow| row.kbit_per_sec);
        let share_percent = 100.0 * kbit_per_sec / everything;
        progress(&format!("{mask}: {kbit_per_sec:.0} kbit/s over {:.0} s", span.as_secs_f64()));
        rows.push(MaskRow { mask, codes: codes.len(), records, kbit_per_sec, share_percent });
    }
    Ok(rows)
}

fn each_code(mut capture: &[u8], mut found: impl FnMut(LogCode)) {
    let mut reader = Reader::new();
    while let Some(packet) = reader.poll_packet(&mut capture) {
        if let Ok(located) = packet
            && let Packet::Log(log) = located.packet
        {
            found(log.code);
        }
    }
}

/// Data of one capture.
#[derive(Clone, Copy, Debug, Default)]
struct Came {
    records: u64,
    /// Bytes on the port: frames of log records with escapes and checks.
    bytes: u64,
}

/// Replays a capture's records with a simulated modem and a mask of these codes, and reads it to
/// its end.
fn replay(capture: &[u8], codes: &[LogCode]) -> Result<Came, OverheadError> {
    let behaviour = Behaviour { speed: SPEED, ..Behaviour::default() };
    let script = Script::of(capture);
    let length = script.duration();
    let modem =
        ServedModem::start(script, behaviour, Place::Pty(None)).map_err(OverheadError::Modem)?;
    let source: Source = modem.source.parse()?;
    let wanted = Wanted { codes: codes.to_vec(), budget_bytes_per_sec: None };
    read(Pump::open(source, Some(wanted))?, || modem.elapsed() >= length)
}

fn read(mut pump: Pump, is_over: impl Fn() -> bool) -> Result<Came, OverheadError> {
    let mut reader = Reader::new();
    let mut came = Came::default();
    let mut frames_end = 0;
    // With a mask without records in the capture, the replay never begins. This is known when the
    // session is ready.
    let begin = monotonic_now();
    let mut heard = begin;
    loop {
        let now = monotonic_now();
        let over = is_over();
        let nothing = !over && came.records == 0 && now - begin > Duration::from_secs(3);
        if nothing || over && now - heard > SILENCE {
            return Ok(came);
        }
        let turn = pump.turn(Duration::from_millis(5)).map_err(OverheadError::Read)?;
        let Turn::Bytes(Bytes { now, bytes, mut session, .. }) = turn else { continue };
        heard = now;
        let mut rest = bytes;
        while let Some(found) = reader.poll_packet(&mut rest) {
            let packet = found.map(|located| located.packet);
            packet.iter().for_each(|packet| session.handle(packet));
            let is_log = matches!(packet, Ok(Packet::Log(_)));
            let end = reader.counts().frames.bytes;
            let frame = end - std::mem::replace(&mut frames_end, end);
            if is_log {
                came.records += 1;
                came.bytes += frame;
            }
        }
    }
}

impl fmt::Display for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Biscay => "BISCAY's uplink",
            Self::Gandalf => "Gandalf Table 8",
            Self::Everything => "everything",
        })
    }
}
