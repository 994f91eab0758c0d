use core::time::Duration;

use sounding_cc::part::{Gap, Windowed};

/// Longer gaps are holes of HARQ. Gaps are counted in ticks of the receiver's clock.
const LONGEST: usize = 6;
/// A reading of fewer segments may be all that a TTI carries, so that the gap before it is an
/// acknowledgement's.
const SEGMENTS: u64 = 3;
/// With fewer gaps no turns are seen.
const FEW: u32 = 8;
/// With fewer they are no proof of turns that are not strict.
const MANY: u32 = 24;
/// A flow that never counts so many in a sample has too low a rate to see turns.
const UNSEEN: u32 = 16;
/// In thousandths: with fewer neighbouring readings than this, turns may be strict.
const STRICT: u32 = 125;
/// Neighbouring readings that a rival leaves, in thousandths of the most.
const LESS: u32 = 800;
/// And a flow with this share has no rival.
const FREE: u64 = 800;
const REMEMBERED: Duration = Duration::from_secs(60);
/// A receiver that had this part of neighbours within that time can have them: without, strict
/// turns are its own way of reading.
const ALONE: u32 = 500;
const KNOWN_FOR: Duration = Duration::from_secs(600);

/// The rhythm in which readings of the receiver's clock bring data: a cell that serves users in
/// turn leaves regular gaps, and a flow that is alone has hardly any (interpretation 41).
#[derive(Clone, Copy, Debug)]
pub(super) struct Turns {
    mss: u64,
    /// Of this sample, by their length in ticks.
    gaps: [u32; LONGEST + 1],
    /// The most neighbouring readings of a sample, in thousandths.
    even: Option<Windowed<u32>>,
    /// The most gaps of a sample.
    most: Option<Windowed<u32>>,
}

impl Turns {
    pub(super) fn new(mss: u64) -> Self {
        Self { mss, gaps: [0; LONGEST + 1], even: None, most: None }
    }

    /// A new sample begins.
    pub(super) fn begin(&mut self) {
        self.gaps = [0; LONGEST + 1];
    }

    pub(super) fn handle_slot(&mut self, gap: Gap, bytes: u64) {
        if let Some(count) = self.gaps.get_mut(gap.ticks as usize)
            && bytes >= SEGMENTS * self.mss
        {
            *count += 1;
        }
    }

    fn count(&self) -> u32 {
        self.gaps.iter().sum()
    }

    /// A long sample ends.
    pub(super) fn end(&mut self, now: u64) {
        let count = self.count();
        update(&mut self.most, REMEMBERED, now, count);
        self.begin();
    }

    /// Whether the flow's rate is too low to see turns.
    pub(super) fn are_unseen(&self) -> bool {
        self.most.is_some_and(|most| most.best() < UNSEEN)
    }

    /// Of how many turns the flow has one. `batch` is the shortest gap that the receiver has, and
    /// `share` what rates say.
    pub(super) fn of(&mut self, now: u64, batch: u32, share: u64) -> Option<u64> {
        let count = self.count();
        if count < FEW {
            return None;
        }
        let batch = (batch as usize).min(LONGEST);
        let neighbours = 1000 * self.gaps[..=batch].iter().sum::<u32>() / count;
        let (gap, most) =
            (0..).zip(self.gaps).fold((0, 0), |most, one| if one.1 > most.1 { one } else { most });
        let is_strict = neighbours < STRICT && gap > batch && 4 * most >= 3 * count;
        if is_strict && self.even.is_some_and(|even| even.best() >= ALONE) {
            return Some(gap as u64);
        }
        if count < MANY {
            return None;
        }
        let even = update(&mut self.even, KNOWN_FOR, now, neighbours);
        (u64::from(neighbours) * 1000 < u64::from(even) * u64::from(LESS) && share < FREE)
            .then_some(2)
    }
}

/// The most of so long.
fn update(most: &mut Option<Windowed<u32>>, window: Duration, now: u64, value: u32) -> u32 {
    let window = window.as_nanos() as u64;
    let most = most.get_or_insert(Windowed::max(window, now, value));
    most.update(now, value);
    most.best()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1448;

    /// A sample whose gaps repeat these, of so many segments each.
    fn sample(turns: &mut Turns, gaps: &[u32], segments: u64) -> Option<u64> {
        turns.begin();
        for ticks in gaps.iter().cycle().take(48) {
            turns.handle_slot(Gap { ticks: *ticks, backlogged: true }, segments * MSS);
        }
        turns.of(0, 1, 500)
    }

    #[test]
    fn strict_turns_show_their_number_and_neighbours_show_none() {
        let mut turns = Turns::new(MSS);
        assert_eq!(sample(&mut turns, &[2], 4), None);
        assert_eq!(sample(&mut turns, &[1], 4), None);
        assert_eq!(sample(&mut turns, &[2], 4), Some(2));
        assert_eq!(sample(&mut turns, &[3], 4), Some(3));
        assert_eq!(sample(&mut turns, &[1, 1, 1, 8], 4), None);
    }

    #[test]
    fn a_receiver_that_reads_now_and_then_shows_no_turns() {
        assert_eq!(sample(&mut Turns::new(MSS), &[2, 3, 4, 3], 4), None);
        let mut turns = Turns::new(MSS);
        turns.begin();
        (0..48).for_each(|_| turns.handle_slot(Gap { ticks: 2, backlogged: true }, 4 * MSS));
        assert_eq!(turns.of(0, 2, 500), None);
    }

    #[test]
    fn fewer_neighbours_than_alone_are_turns_only_where_the_share_is_small() {
        let mut turns = Turns::new(MSS);
        assert_eq!(sample(&mut turns, &[1, 1, 2], 4), None);
        assert_eq!(sample(&mut turns, &[1], 4), None);
        assert_eq!(sample(&mut turns, &[1, 1, 2], 4), Some(2));
        assert_eq!(turns.of(0, 1, 800), None);
    }

    #[test]
    fn small_readings_show_nothing() {
        let mut turns = Turns::new(MSS);
        assert_eq!(sample(&mut turns, &[2], 2), None);
        turns.end(0);
        assert!(turns.are_unseen());
        sample(&mut turns, &[1], 4);
        turns.end(0);
        assert!(!turns.are_unseen());
    }
}
