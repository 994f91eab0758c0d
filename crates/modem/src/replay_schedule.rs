//! When each byte of a capture left the modem.

use std::ops::Range;
use std::time::Duration;

use sounding_diag::hdlc::Deframer;
use sounding_diag::packet::Packet;
use sounding_units::ModemInstant;

/// The bytes of a capture, cut where its frames end, each with the time at which it is due.
///
/// All bytes are kept, including corrupt frames and bytes between frames: a reader of the replay gets exactly the bytes that
/// the reader of the modem got.
#[derive(Clone, Debug)]
pub struct ReplaySchedule {
    chunks: Vec<Chunk>,
    records: u64,
    shortened: u64,
}

/// A stretch of the capture and when it is due, from the start of the replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) bytes: Range<usize>,
    pub(crate) due: Duration,
}

/// A jump ahead beyond this is a clock that was set, or two captures in one file. It is replayed as one second.
const MAX_PAUSE: Duration = Duration::from_secs(60);
const PAUSE_INSTEAD: Duration = Duration::from_secs(1);

impl ReplaySchedule {
    /// Reads the time stamps of a capture.
    pub fn of(capture: &[u8]) -> Self {
        Self::since(capture, ModemInstant::default())
    }

    /// Like [`of`](Self::of), without the bytes before `begin`, which is the start of the replay.
    pub fn since(capture: &[u8], begin: ModemInstant) -> Self {
        let mut pacing = Self { chunks: Vec::new(), records: 0, shortened: 0 };
        let mut deframer = Deframer::new();
        let mut input = capture;
        let mut clock = ReplayClock::new(begin);
        let mut start = 0;
        while let Some(frame) = deframer.poll_frame(&mut input) {
            let stamp = frame.ok().and_then(|frame| match Packet::parse(frame.payload) {
                Ok(Packet::Log(record)) => Some(record.at),
                _ => None,
            });
            let end = capture.len() - input.len();
            let bytes = std::mem::replace(&mut start, end)..end;
            if stamp.is_some_and(|at| at < begin) {
                continue;
            }
            pacing.records += u64::from(stamp.is_some());
            pacing.shortened += u64::from(clock.handle_stamp(stamp));
            pacing.push(bytes, clock.due);
        }
        if start < capture.len() {
            pacing.push(start..capture.len(), clock.due);
        }
        pacing
    }

    /// Without the bytes that are due `span` after the start or later.
    pub fn until(mut self, span: Duration) -> Self {
        self.chunks.retain(|chunk| chunk.due < span);
        self
    }

    fn push(&mut self, bytes: Range<usize>, due: Duration) {
        match self.chunks.last_mut() {
            // Bytes that are due together are written together.
            Some(last) if last.due == due && last.bytes.end == bytes.start => {
                last.bytes.end = bytes.end;
            }
            _ => self.chunks.push(Chunk { bytes, due }),
        }
    }

    pub(crate) fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// Stretches of the capture and when each is due, from the start of the replay.
    pub fn pieces(&self) -> impl Iterator<Item = (Range<usize>, Duration)> + '_ {
        self.chunks.iter().map(|chunk| (chunk.bytes.clone(), chunk.due))
    }

    /// Duration of the replay at the modem's speed.
    pub fn duration(&self) -> Duration {
        self.chunks.last().map_or(Duration::ZERO, |chunk| chunk.due)
    }

    /// Log records that carry a time stamp.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Pauses that were cut short because the modem's clock jumped.
    pub fn shortened(&self) -> u64 {
        self.shortened
    }
}

/// Computes the replay time from time stamps that may repeat, go back or jump.
pub(crate) struct ReplayClock {
    newest: Option<ModemInstant>,
    due: Duration,
}

impl ReplayClock {
    pub(crate) fn new(begin: ModemInstant) -> Self {
        let newest = (begin != ModemInstant::default()).then_some(begin);
        Self { newest, due: Duration::ZERO }
    }

    /// When the last stamped record is due.
    pub(crate) fn due(&self) -> Duration {
        self.due
    }

    /// Moves on to a time stamp; whether a pause was cut short. Stamps of different modem tasks overtake each other,
    /// so one that is older than the newest is due at once.
    pub(crate) fn handle_stamp(&mut self, stamp: Option<ModemInstant>) -> bool {
        let Some(stamp) = stamp else { return false };
        let Some(newest) = self.newest.replace(stamp) else { return false };
        if newest - stamp > MAX_PAUSE {
            return true;
        }
        self.newest = Some(newest.max(stamp));
        let pause = stamp - newest;
        let jumped = pause > MAX_PAUSE;
        self.due += if jumped { PAUSE_INSTEAD } else { pause };
        jumped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sounding_diag::hdlc::encode;
    use sounding_diag::{LogCode, LogRecord};

    fn capture(stamps_ms: &[u64]) -> Vec<u8> {
        let mut capture = Vec::new();
        for &ms in stamps_ms {
            let at = ModemInstant::from_nanos(1_000_000_000_000_000 + ms * 1_000_000);
            let mut payload = Vec::new();
            let record = LogRecord {
                code: LogCode::new(0xB173),
                at,
                stamp: at.to_diag(),
                radio: None,
                body: &[0; 4],
            };
            record.emit(&mut payload).expect("short");
            encode(&payload, &mut capture);
        }
        capture
    }

    fn dues(pacing: &ReplaySchedule) -> Vec<u128> {
        // Diag stamps count in 25 ns, which is rounded away here.
        pacing.chunks().iter().map(|c| (c.due.as_nanos() + 500_000) / 1_000_000).collect()
    }

    #[test]
    fn records_are_due_as_far_apart_as_they_were_made() {
        let pacing = ReplaySchedule::of(&capture(&[5, 15, 15, 45]));
        assert_eq!(dues(&pacing), [0, 10, 40]);
        assert_eq!(pacing.records(), 4);
    }

    #[test]
    fn a_record_that_was_overtaken_is_due_at_once() {
        assert_eq!(dues(&ReplaySchedule::of(&capture(&[5, 15, 14, 25]))), [0, 10, 20]);
    }

    #[test]
    fn a_clock_that_jumps_makes_a_short_pause() {
        let pacing = ReplaySchedule::of(&capture(&[0, 10, 3_600_000, 3_600_010, 20, 30]));
        assert_eq!(dues(&pacing), [0, 10, 1010, 1020, 1030]);
        assert_eq!(pacing.shortened(), 2);
    }

    #[test]
    fn no_byte_is_left_out_not_even_a_broken_one() {
        let mut bytes = b"\x01garbage".to_vec();
        bytes.extend(capture(&[5, 15]));
        bytes.extend(b"tail without an end");
        let pacing = ReplaySchedule::of(&bytes);
        let total: usize = pacing.chunks().iter().map(|c| c.bytes.len()).sum();
        assert_eq!(total, bytes.len());
    }

    #[test]
    fn a_replay_can_begin_in_the_middle() {
        let begin = ModemInstant::from_nanos(1_000_000_000_000_000 + 12 * 1_000_000);
        let pacing = ReplaySchedule::since(&capture(&[5, 15, 25]), begin);
        assert_eq!(dues(&pacing), [3, 13]);
    }
}
