use core::time::Duration;

/// How long after its subframe a grant is reported, from the last few gaps between the modem's clock and the newest grant
/// known when the next report came in.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReportLag {
    gaps: [Duration; 16],
    /// How many gaps there were.
    seen: usize,
}

impl ReportLag {
    /// Beyond this a gap is a pause of the link, not the lag of a report: MAC summaries come every 100 ms.
    const LONGEST: Duration = Duration::from_millis(150);

    /// The modem's clock was that far ahead of the newest grant when a report came in.
    pub(super) fn handle_gap(&mut self, gap: Duration) {
        if gap <= Self::LONGEST {
            self.gaps[self.seen % self.gaps.len()] = gap;
            self.seen = self.seen.wrapping_add(1);
        }
    }

    /// The longest: what is missing after it was not granted.
    pub(super) fn usual(&self) -> Duration {
        self.gaps.iter().max().copied().unwrap_or_default()
    }

    /// That which half of them exceed.
    pub(super) fn typical(&self) -> Duration {
        let mut sorted = self.gaps;
        let known = &mut sorted[..self.seen.min(self.gaps.len())];
        known.sort_unstable();
        known.get(known.len() / 2).copied().unwrap_or_default()
    }
}
