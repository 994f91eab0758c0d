//! What the fuzz target does with its input. The test `corpus` does the same with its seeds.

use std::time::Duration;

use sounding_rtc::rtp::RtpHeader;
use sounding_rtc::{Feedback, Rewriter, Tick};
use sounding_units::HostInstant;

/// A peer's datagram after decryption: compound RTCP or RTP. Returns how many arrivals its feedback
/// has.
pub(crate) fn rtc(data: &[u8]) -> u64 {
    if let Some(header) = RtpHeader::parse(data) {
        header.sent(3, HostInstant::from_nanos(1 << 40));
    }
    if let Ok(feedback) = Feedback::parse(data) {
        // Its bytes, written again, say the same.
        assert_eq!(Feedback::parse(&feedback.emit()).as_ref(), Ok(&feedback));
    }
    let mut arrivals = 0;
    let same = Rewriter::default().rewrite(data, |_, at| {
        arrivals += 1;
        at
    });
    // Written once, nothing changes any more.
    assert_eq!(Rewriter::default().rewrite(&same, |_, at| at), same);
    let mut rewriter = Rewriter::default();
    let mut last: Option<(Tick, Tick)> = None;
    for _ in 0..2 {
        rewriter.rewrite(data, |sequence, at| {
            let given = at.without(Duration::from_millis(u64::from(sequence % 64)));
            last = last.max(Some((at, given)));
            given
        });
    }
    assert!(last.is_none_or(|(at, given)| given <= at || given == Tick::MIN));
    arrivals
}
