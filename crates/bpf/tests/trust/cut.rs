//! A claim after heavy losses.

use super::*;

/// Rounds of 40 ms, one step each, of a connection whose claim heavy losses cut, and the counters
/// so far.
struct Cut {
    steps: Vec<Step>,
    delivered: u32,
    lost: u32,
    now_ns: u64,
}

impl Cut {
    /// Segments of a round, and what arrives then.
    const SEGMENTS: u32 = 100;
    const ARRIVES: u64 = 100 * MSS * 25;
    const LIE: u64 = 125_000_000;

    /// Four rounds under a lie, and in the next half as much is lost as arrives.
    fn new() -> Self {
        let mut cut = Self { steps: Vec::new(), delivered: 0, lost: 0, now_ns: 0 };
        (0..4).for_each(|_| cut.round(Self::SEGMENTS, Self::LIE));
        cut.lost += 50;
        cut.now_ns += 1_000_000;
        let prior_delivered = cut.delivered - 1;
        cut.steps.push(Step { prior_delivered, ..cut.step(Self::LIE) });
        cut
    }

    fn step(&self, claimed: u64) -> Step {
        Step {
            delivered: self.delivered,
            prior_delivered: self.delivered,
            lost: self.lost,
            now_ns: self.now_ns,
            ..round(0, claimed, Self::ARRIVES, USED)
        }
    }

    fn round(&mut self, segments: u32, claimed: u64) {
        self.now_ns = (self.now_ns / 40_000_000 + 1) * 40_000_000;
        let prior_delivered = self.delivered;
        self.delivered += segments;
        self.steps.push(Step { prior_delivered, ..self.step(claimed) });
    }

    /// What is believed in each of the last rounds, in eighths of what arrives.
    fn believed(&self, last: usize) -> Vec<u64> {
        let answers = ask(&self.steps);
        let of = |answer: &[u64; 3]| (answer[0] * 8 + 4) / whole(Self::ARRIVES);
        answers[answers.len() - last..].iter().map(of).collect()
    }
}

#[test]
fn a_claim_that_heavy_losses_cut_stays_cut_until_deliveries_show_more() {
    let mut cut = Cut::new();
    assert_eq!(cut.believed(2), [24, 4]);
    // The queue drains, an eighth more is tried, and that shows nothing.
    (0..8).for_each(|_| cut.round(Cut::SEGMENTS, Cut::LIE));
    assert_eq!(cut.believed(8), [4, 9, 9, 9, 9, 9, 9, 4]);
    // So the next try is two cycles later, and the one after that four.
    (0..40).for_each(|_| cut.round(Cut::SEGMENTS, Cut::LIE));
    let expected = [&[4][..], &[8; 6], &[8; 8], &[9; 8], &[4; 2], &[8; 6], &[8; 8]];
    assert_eq!(cut.believed(40)[..39], expected.concat()[..39]);
    // A pause of the application changes nothing.
    cut.steps.push(Step { verb: FORGET, delivered: cut.delivered, ..Step::default() });
    cut.round(Cut::SEGMENTS, Cut::LIE);
    assert!(cut.believed(1)[0] <= 9);
}

#[test]
fn what_deliveries_show_of_a_cut_claim_is_believed_ever_faster() {
    let mut cut = Cut::new();
    cut.round(Cut::SEGMENTS, Cut::LIE);
    let mut most = 0;
    for _ in 0..50 {
        // All that is believed arrives in the next round.
        let believed = cut.believed(1)[0].min(24 * 8);
        cut.round((u64::from(Cut::SEGMENTS) * believed / 8) as u32, Cut::LIE);
        most = most.max(believed);
    }
    // The kernel's own delivery rate, which stays the same here, limits it to three times.
    assert_eq!(most, 24);
}

#[test]
fn a_device_that_claims_what_arrives_for_eight_rounds_is_believed_again() {
    let mut cut = Cut::new();
    cut.round(Cut::SEGMENTS, Cut::LIE);
    (0..9).for_each(|_| cut.round(Cut::SEGMENTS, whole(Cut::ARRIVES) / 2));
    assert_eq!(cut.believed(9), [4; 9]);
    cut.round(Cut::SEGMENTS, Cut::LIE);
    assert_eq!(cut.believed(1), [24]);
    // After the second time eight rounds are not enough.
    cut.lost += 50;
    let prior_delivered = cut.delivered - 1;
    cut.steps.push(Step { prior_delivered, ..cut.step(Cut::LIE) });
    cut.round(Cut::SEGMENTS, Cut::LIE);
    (0..9).for_each(|_| cut.round(Cut::SEGMENTS, whole(Cut::ARRIVES) / 2));
    cut.round(Cut::SEGMENTS, Cut::LIE);
    assert!(cut.believed(1)[0] <= 9);
}

#[test]
fn losses_cut_no_claim_that_was_delivered_lately() {
    let mut cut = Cut { steps: Vec::new(), delivered: 0, lost: 0, now_ns: 0 };
    let honest = whole(Cut::ARRIVES);
    for _ in 0..20 {
        cut.round(Cut::SEGMENTS, honest);
        cut.lost += 50;
        let prior_delivered = cut.delivered - 1;
        cut.steps.push(Step { prior_delivered, ..cut.step(honest) });
    }
    assert_eq!(cut.believed(40), [8; 40]);
}
