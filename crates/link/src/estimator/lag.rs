use core::time::Duration;

/// The usual delay from a grant's subframe to its report: the largest of the last few gaps. A gap
/// is the difference between the modem's clock and the newest known grant when the next report
/// arrives.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReportLag {
    gaps: [Duration; 16],
    next: usize,
}

impl ReportLag {
    /// Beyond this a gap is a pause of the link, not the lag of a report: MAC summaries come every
    /// 100 ms.
    const LONGEST: Duration = Duration::from_millis(150);

    /// A report arrived; the modem's clock was this far ahead of the newest grant.
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
