//! When the bytes of a device's uplink entered its buffer, by its blocks and its reports.

use alloc::collections::VecDeque;

use sounding_units::ModemInstant;

/// Two curves of bytes over time. Blocks show the bytes that have left. A report, or padding, shows
/// what has entered by then: what has left and what waits. Between two of these points data is
/// taken to enter evenly.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries {
    /// Bytes that have left.
    left: u64,
    /// Points of the curve of entries: time and bytes. Both grow.
    entered: VecDeque<(ModemInstant, u64)>,
}

impl Entries {
    /// Points that are kept.
    const KEPT: usize = 256;

    /// A block took so many bytes.
    pub(crate) fn handle_sent(&mut self, bytes: u64) {
        self.left += bytes;
    }

    /// A block of `at` left so much behind, no less than `least` and at most `most`.
    pub(crate) fn handle_left(&mut self, at: ModemInstant, least: u64, most: u64) {
        if most == 0 {
            // The reading of earlier reports was too high.
            self.entered.iter_mut().for_each(|(_, bytes)| *bytes = (*bytes).min(self.left));
        }
        let entered = self.left + least.midpoint(most);
        let entered = self.entered.back().map_or(entered, |(_, before)| entered.max(*before));
        if self.entered.len() == Self::KEPT {
            self.entered.pop_front();
        }
        self.entered.push_back((at, entered));
    }

    /// Bytes that have left.
    pub(crate) const fn left(&self) -> u64 {
        self.left
    }

    /// When the byte after the first `bytes` entered, as far as is known at `now`.
    pub(crate) fn entry(&self, bytes: u64, now: ModemInstant) -> Option<ModemInstant> {
        let place = self.entered.partition_point(|(_, entered)| *entered <= bytes);
        let (since, low) = *self.entered.get(place.checked_sub(1)?)?;
        let (until, high) =
            self.entered.get(place).copied().unwrap_or((now, self.left.max(bytes + 1)));
        let part = (bytes - low) as f64 / high.saturating_sub(low).max(1) as f64;
        Some(since + (until - since).mul_f64(part.clamp(0.0, 1.0)))
    }

    /// Whether everything that reports have shown has left.
    pub(crate) fn is_all_left(&self) -> bool {
        self.entered.back().is_none_or(|(_, entered)| *entered <= self.left)
    }
}
