use core::time::Duration;

/// How long after its subframe a grant is usually reported: the largest of the last few gaps between the modem's
/// clock and the newest grant known when the next report came in.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReportLag {
    gaps: [Duration; 16],
    next: usize,
}

impl ReportLag {
    /// Beyond this a gap is a pause of the link, not the lag of a report: MAC summaries come every 100 ms.
    const LONGEST: Duration = Duration::from_millis(150);

    /// The modem's clock was that far ahead of the newest grant when a report came in.
    pub(super) fn handle_gap(&mut self, gap: Duration) {
        if gap <= Self::LONGEST {
            self.gaps[self.next] = gap;
            self.next = (self.next + 1) % self.gaps.len();
        }
    }

    pub(super) fn usual(&self) -> Duration {
        self.gaps.iter().max().copied().unwrap_or_default()
    }
}
