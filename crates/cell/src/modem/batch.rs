//! Items that a modem collects for a record.

use alloc::vec::Vec;
use core::time::Duration;

use sounding_units::HostInstant;

/// Items of the next record.
#[derive(Clone, Debug)]
pub(super) struct Batch<T> {
    items: Vec<T>,
    /// The modem writes a record after this many items.
    most: usize,
    /// And at the latest when a multiple of this has passed since the network began.
    every: Duration,
    due: HostInstant,
}

/// Modems write their records at multiples of this; every interval in this module is one.
pub(super) const BEAT: Duration = Duration::from_millis(5);

impl<T> Batch<T> {
    pub(super) fn new(most: usize, every_ms: u64, origin: HostInstant) -> Self {
        let every = Duration::from_millis(every_ms);
        Self { items: Vec::new(), most, every, due: origin + every }
    }

    /// Adds an item. Returns the items of a record, if it completes one.
    pub(super) fn push(&mut self, item: T) -> Option<Vec<T>> {
        self.items.push(item);
        (self.items.len() >= self.most).then(|| core::mem::take(&mut self.items))
    }

    /// Whether the interval is over.
    pub(super) fn is_due(&mut self, now: HostInstant) -> bool {
        let due = self.due <= now;
        while self.due <= now {
            self.due = self.due + self.every;
        }
        due
    }

    /// The items of the record that is due, if there are any.
    pub(super) fn due(&mut self, now: HostInstant) -> Option<Vec<T>> {
        let due = self.is_due(now) && !self.items.is_empty();
        due.then(|| core::mem::take(&mut self.items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_written_when_it_is_full_or_its_time_has_come() {
        let at = |ms| HostInstant::from_nanos(0) + Duration::from_millis(ms);
        let mut batch = Batch::new(3, 40, at(0));
        assert_eq!(batch.push(1), None);
        assert_eq!(batch.due(at(35)), None);
        assert_eq!(batch.due(at(40)), Some(Vec::from([1])));
        assert_eq!((batch.push(2), batch.push(3)), (None, None));
        assert_eq!(batch.push(4), Some(Vec::from([2, 3, 4])));
        assert_eq!(batch.due(at(80)), None);
    }
}
