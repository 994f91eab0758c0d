use alloc::collections::VecDeque;

use sounding_units::HostInstant;

use super::{DelayKind, RanDelay};

/// Events in the order of their begin, each with a mark of its keeper. One of the same begin and
/// kind replaces the earlier one: its block was sent once more. Of more than 512 the earliest goes.
///
/// Both directions may begin an event at one time, so each direction needs its own.
#[derive(Clone, Debug)]
pub struct Events<M = ()> {
    kept: VecDeque<(RanDelay, M)>,
}

impl<M> Default for Events<M> {
    fn default() -> Self {
        Self { kept: VecDeque::with_capacity(Self::MOST) }
    }
}

fn key(event: &RanDelay) -> (HostInstant, DelayKind) {
    (event.from, event.kind)
}

impl<M> Events<M> {
    /// Those of half a second at one a millisecond.
    pub const MOST: usize = 512;

    /// Keeps an event. One that is earlier than all of a full list is not kept.
    pub fn insert(&mut self, event: RanDelay, mark: M) {
        // Events come nearly in order, so the place is near the end.
        let place = self.kept.iter().rposition(|(kept, _)| key(kept) <= key(&event));
        match place {
            Some(place) if key(&self.kept[place].0) == key(&event) => {
                self.kept[place] = (event, mark);
            }
            None if self.kept.len() == Self::MOST => {}
            _ => {
                let mut after = place.map_or(0, |place| place + 1);
                if self.kept.len() == Self::MOST {
                    self.kept.pop_front();
                    after -= 1;
                }
                self.kept.insert(after, (event, mark));
            }
        }
    }

    /// The kept event that this one would replace.
    pub fn same(&self, event: &RanDelay) -> Option<&(RanDelay, M)> {
        self.kept.iter().rev().find(|(kept, _)| key(kept) == key(event))
    }

    /// The latest event that began by then.
    pub fn began_by(&self, at: HostInstant) -> Option<&RanDelay> {
        let after = self.kept.partition_point(|(kept, _)| kept.from <= at);
        Some(&self.kept.get(after.checked_sub(1)?)?.0)
    }

    /// The latest event.
    pub fn last(&self) -> Option<&RanDelay> {
        self.kept.back().map(|(last, _)| last)
    }

    /// Forgets the events that began before this time.
    pub fn forget_before(&mut self, at: HostInstant) {
        while self.kept.front().is_some_and(|(first, _)| first.from < at) {
            self.kept.pop_front();
        }
    }

    /// All of them, the earliest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &(RanDelay, M)> {
        self.kept.iter()
    }

    /// The same, with marks that can be changed.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (&RanDelay, &mut M)> {
        self.kept.iter_mut().map(|(event, mark)| (&*event, mark))
    }

    /// What these events add, at most, to data that reached their point then: one of several that
    /// overlap contains the others. An event may begin up to `slack` after that time.
    pub(super) fn held(
        &self,
        at: HostInstant,
        slack: core::time::Duration,
    ) -> core::time::Duration {
        let holds = |event: &&RanDelay| event.from <= at + slack && at <= event.to;
        let held = self.kept.iter().map(|(event, _)| event).filter(holds);
        held.map(|event| event.amount.saturating_sub(at - event.from)).max().unwrap_or_default()
    }
}
