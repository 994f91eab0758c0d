use std::time::Duration;

use sounding_units::HostInstant;

use super::Frame;

/// A gap between frames is a freeze if it is longer than the mean gap by this, and three times as
/// long (W3C, Identifiers for WebRTC's Statistics API, `freezeCount`).
const FREEZE: Duration = Duration::from_millis(150);
/// The mean is over as many frames.
const FRAMES_OF_MEAN: usize = 30;
/// Delays that are kept: those of an hour at 60 frames a second.
const KEPT: usize = 216_000;

/// Frames of a call, and the gaps between them.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    last: Option<HostInstant>,
    gaps: std::collections::VecDeque<Duration>,
    delays: Vec<Duration>,
    counts: FrameCounts,
}

/// Sums of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCounts {
    /// Complete frames.
    pub frames: u64,
    /// Those with a frame missing before them.
    pub gaps: u64,
    /// Freezes.
    pub freezes: u64,
    /// Their total length.
    pub frozen: Duration,
    /// Bytes of the frames.
    pub bytes: u64,
}

impl Frames {
    /// A frame is complete.
    pub fn handle_frame(&mut self, frame: &Frame) {
        self.counts.frames += 1;
        self.counts.gaps += u64::from(!frame.is_contiguous);
        self.counts.bytes = self.counts.bytes.saturating_add(frame.bytes as u64);
        if let Some(sent) = frame.sent
            && self.delays.len() < KEPT
        {
            self.delays.push(frame.complete - sent);
        }
        let last = self.last.replace(frame.complete);
        let Some(gap) = last.map(|last| frame.complete - last) else { return };
        if self.gaps.len() == FRAMES_OF_MEAN {
            let mean = self.gaps.iter().sum::<Duration>() / FRAMES_OF_MEAN as u32;
            if gap > (mean * 3).max(mean + FREEZE) {
                self.counts.freezes += 1;
                self.counts.frozen += gap;
            }
            self.gaps.pop_front();
        }
        self.gaps.push_back(gap);
    }

    /// Sums so far.
    pub fn counts(&self) -> FrameCounts {
        self.counts
    }

    /// From the sending of a frame's first packet to the arrival of its last one, at these shares
    /// of all frames (0 to 1). `None` if no frame says when it was sent.
    pub fn delays<const N: usize>(&self, shares: [f64; N]) -> Option<[Duration; N]> {
        let mut sorted = self.delays.clone();
        sorted.sort_unstable();
        let last = sorted.len().checked_sub(1)?;
        Some(shares.map(|share| sorted[((last as f64 * share).round() as usize).min(last)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(sent: u64, complete: u64) -> Frame {
        let at = |ms| HostInstant::from_nanos(ms * 1_000_000);
        Frame {
            sent: Some(at(sent)),
            complete: at(complete),
            media_time: 0,
            bytes: 100,
            is_contiguous: true,
        }
    }

    #[test]
    fn a_long_gap_is_a_freeze_and_delays_have_their_shares() {
        let mut frames = Frames::default();
        assert_eq!(frames.delays([0.5]), None);
        for at in 0..=40 {
            frames.handle_frame(&frame(at * 33, at * 33 + at));
        }
        assert_eq!(frames.counts().freezes, 0);
        // The mean gap is 34 ms: 184 ms are the limit.
        frames.handle_frame(&frame(1_500, 1_360 + 180));
        assert_eq!(frames.counts().freezes, 0);
        frames.handle_frame(&frame(1_700, 1_540 + 300));
        let counts = frames.counts();
        assert_eq!((counts.freezes, counts.frozen), (1, Duration::from_millis(300)));
        assert_eq!((counts.frames, counts.bytes), (43, 4_300));
        let delays = frames.delays([0.0, 0.5, 1.0]);
        assert_eq!(delays, Some([0, 21, 140].map(Duration::from_millis)));
    }
}
