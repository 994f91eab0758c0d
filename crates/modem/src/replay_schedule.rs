//! When each byte of a capture left the modem.

use std::ops::Range;
use std::time::Duration;

use sounding_diag::hdlc::Deframer;
use sounding_diag::packet::Packet;
use sounding_units::{Axis, ModemInstant};

use crate::stamps::{Stamp, believed};

/// The bytes of a capture, cut where its frames end, each with the time at which it is due.
///
/// All bytes are kept, including corrupt frames and bytes between frames: a reader of the replay
/// gets exactly the bytes that the reader of the modem got.
#[derive(Clone, Debug)]
pub struct ReplaySchedule {
    chunks: Vec<Chunk>,
    records: u64,
    undated: u64,
    shortened: u64,
}

/// A stretch of the capture and when it is due, from the start of the replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) bytes: Range<usize>,
    pub(crate) due: Duration,
}

/// A jump ahead beyond this is a clock that was set, or two captures in one file. It is replayed as
/// one second.
const MAX_PAUSE: Duration = Duration::from_secs(60);
const PAUSE_INSTEAD: Duration = Duration::from_secs(1);

impl ReplaySchedule {
    /// Reads the time stamps of a capture.
    pub fn of(capture: &[u8]) -> Self {
        Self::since(capture, ModemInstant::default())
    }

    /// Like [`of`](Self::of), without the bytes before `begin`, which is the start of the replay.
    pub fn since(capture: &[u8], begin: ModemInstant) -> Self {
        let mut pacing = Self { chunks: Vec::new(), records: 0, undated: 0, shortened: 0 };
        let frames = Frames::of(capture);
        let mut clock = ReplayClock::new(begin);
        let mut has_begun = !begin.is_known();
        let times = believed(&frames.stamps);
        for ((bytes, is_record), time) in frames.places.into_iter().zip(times) {
            has_begun |= time.is_some_and(|at| at >= begin);
            if time.is_some_and(|at| at < begin) || (is_record && !has_begun) {
                continue;
            }
            pacing.records += u64::from(is_record);
            pacing.undated += u64::from(is_record && time.is_none());
            pacing.shortened += u64::from(clock.handle_time(time));
            pacing.push(bytes, clock.due);
        }
        if frames.end < capture.len() {
            pacing.push(frames.end..capture.len(), clock.due);
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

    /// Log records.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Log records without a time, or with one that is far from the others'. Each is due with what
    /// is before it.
    pub fn undated(&self) -> u64 {
        self.undated
    }

    /// Pauses that were cut short because they are long, or because the modem's clock was set.
    pub fn shortened(&self) -> u64 {
        self.shortened
    }
}

/// The frames of a capture.
struct Frames {
    /// Where each is with the bytes before it, and whether it is a log record.
    places: Vec<(Range<usize>, bool)>,
    stamps: Vec<Option<Stamp>>,
    /// The end of the last.
    end: usize,
}

impl Frames {
    fn of(capture: &[u8]) -> Self {
        let mut frames = Self { places: Vec::new(), stamps: Vec::new(), end: 0 };
        let mut deframer = Deframer::new();
        let mut input = capture;
        while let Some(frame) = deframer.poll_frame(&mut input) {
            let packet = frame.ok().and_then(|frame| Packet::parse(frame.payload).ok());
            let record = match &packet {
                Some(Packet::Log(record)) => Some(record),
                _ => None,
            };
            let end = capture.len() - input.len();
            let bytes = std::mem::replace(&mut frames.end, end)..end;
            frames.stamps.push(record.and_then(Stamp::of));
            frames.places.push((bytes, record.is_some()));
        }
        frames
    }
}

/// Computes the replay time from times that are [believed].
pub(crate) struct ReplayClock {
    newest: Option<ModemInstant>,
    due: Duration,
}

impl ReplayClock {
    pub(crate) fn new(begin: ModemInstant) -> Self {
        Self { newest: Some(begin).filter(|begin| begin.is_known()), due: Duration::ZERO }
    }

    /// When the last record is due.
    pub(crate) fn due(&self) -> Duration {
        self.due
    }

    /// Moves on to a record's time; whether a pause was cut short. Stamps of different modem tasks
    /// overtake each other, so one that is a little older than the newest is due at once.
    pub(crate) fn handle_time(&mut self, time: Option<ModemInstant>) -> bool {
        let Some(time) = time else { return false };
        let Some(newest) = self.newest.replace(time) else { return false };
        if newest - time > Axis::OVERTAKEN {
            return true;
        }
        self.newest = Some(newest.max(time));
        let pause = time - newest;
        let is_long = pause > MAX_PAUSE;
        self.due += if is_long { PAUSE_INSTEAD } else { pause };
        is_long
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Script;
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
        let set = 3_600_000;
        let stamps = [0, 10, set, set + 10, set + 20, set + 30, 20, 30, 40, 50];
        let pacing = ReplaySchedule::of(&capture(&stamps));
        assert_eq!(dues(&pacing), [0, 10, 1010, 1020, 1030, 1040, 1050, 1060, 1070]);
        assert_eq!((pacing.shortened(), pacing.undated()), (2, 0));
    }

    #[test]
    fn records_without_a_time_or_with_a_wrong_one_make_no_pause() {
        let clean: Vec<u64> = (0..100).map(|record| record * 10).collect();
        let mut bytes = Vec::new();
        for (number, ms) in clean.iter().enumerate() {
            bytes.extend(capture(&[*ms]));
            if number % 5 == 1 {
                let mut payload = Vec::new();
                let code = LogCode::new(0xB173);
                let at = ModemInstant::from_diag([0, 1 << 60, 1 << 50][number % 3]);
                let record = LogRecord { code, at, stamp: at.to_diag(), radio: None, body: &[] };
                record.emit(&mut payload).expect("short");
                encode(&payload, &mut bytes);
            }
        }
        let pacing = ReplaySchedule::of(&bytes);
        assert_eq!(pacing.duration(), ReplaySchedule::of(&capture(&clean)).duration());
        assert_eq!((pacing.shortened(), pacing.undated(), pacing.records()), (0, 20, 120));
        assert_eq!(Script::of(&bytes).duration(), pacing.duration());
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
