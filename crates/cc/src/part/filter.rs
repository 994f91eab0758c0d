use core::cmp::Ordering;

/// The best value of a sliding window, with memory for three values.
///
/// It keeps the best value, the best one after it, and the best after that. When one leaves
/// the window, the next replaces it. So a best value is forgotten at the right time, but the next
/// may then be smaller than the true one (Nichols's algorithm; BBR draft §4.1.1.5 and Linux
/// `lib/win_minmax.c` use it for the same purpose).
///
/// Time is any count that never decreases: nanoseconds, or rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windowed<T> {
    best: [Sample<T>; 3],
    window: u64,
    wanted: Ordering,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sample<T> {
    at: u64,
    value: T,
}

impl<T: Copy + Ord> Windowed<T> {
    /// A maximum over `window`, which begins with `value`.
    pub fn max(window: u64, at: u64, value: T) -> Self {
        Self { best: [Sample { at, value }; 3], window, wanted: Ordering::Greater }
    }

    /// A minimum over `window`, which begins with `value`.
    pub fn min(window: u64, at: u64, value: T) -> Self {
        Self { best: [Sample { at, value }; 3], window, wanted: Ordering::Less }
    }

    /// The best value at the last update.
    #[inline]
    pub fn best(&self) -> T {
        self.best[0].value
    }

    /// Remembers for this long from the next update on.
    #[inline]
    pub fn set_window(&mut self, window: u64) {
        self.window = window;
    }

    /// Folds a value in.
    #[inline]
    pub fn update(&mut self, at: u64, value: T) {
        let new = Sample { at, value };
        let [first, second, third] = self.best;
        if self.beats(value, first.value) || at.saturating_sub(third.at) > self.window {
            self.best = [new; 3];
            return;
        }
        if self.beats(value, second.value) {
            self.best = [first, new, new];
        } else if self.beats(value, third.value) {
            self.best[2] = new;
        }
        self.age(new);
    }

    /// Limits all values to `limit`.
    pub fn cap(&mut self, limit: T) {
        for sample in &mut self.best {
            if sample.value.cmp(&limit) == self.wanted {
                sample.value = limit;
            }
        }
    }

    /// At least as good: an equal value is as good and newer.
    fn beats(&self, value: T, than: T) -> bool {
        value == than || value.cmp(&than) == self.wanted
    }

    fn age(&mut self, new: Sample<T>) {
        let [first, second, third] = self.best;
        let age = new.at.saturating_sub(first.at);
        if age > self.window {
            self.best = [second, third, new];
            if new.at.saturating_sub(second.at) > self.window {
                self.best = [third, new, new];
            }
        } else if second.at == first.at && age > self.window / 4 {
            // A quarter passed without a second best: better a recent one than none.
            self.best = [first, new, new];
        } else if third.at == second.at && age > self.window / 2 {
            self.best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn a_maximum_is_forgotten_when_it_leaves_the_window() {
        let mut filter = Windowed::max(10, 0, 100);
        for at in 1..=10 {
            filter.update(at, 50 + at);
        }
        assert_eq!(filter.best(), 100);
        filter.update(11, 40);
        assert!((57..=60).contains(&filter.best()), "{}", filter.best());
    }

    #[test]
    fn a_cap_lowers_what_is_remembered() {
        let mut filter = Windowed::max(10, 0, 100);
        filter.update(5, 80);
        filter.cap(60);
        assert_eq!(filter.best(), 60);
    }

    proptest! {
        #[test]
        fn the_best_is_one_of_the_window_and_no_worse_than_the_newest(
            values in proptest::collection::vec((0..4_u64, 0..1000_u32), 1..200),
        ) {
            let mut at = 0;
            let mut seen: Vec<(u64, u32)> = Vec::new();
            let mut least = Windowed::min(16, 0, values[0].1);
            let mut most = Windowed::max(16, 0, values[0].1);
            seen.push((0, values[0].1));
            for (gap, value) in values {
                at += gap;
                seen.push((at, value));
                least.update(at, value);
                most.update(at, value);
                let window = || seen.iter().filter(|(then, _)| at - then <= 16).map(|&(_, value)| value);
                prop_assert!(window().any(|value| value == least.best()));
                prop_assert!(window().any(|value| value == most.best()));
                prop_assert!(least.best() <= value && most.best() >= value);
            }
        }
    }
}
