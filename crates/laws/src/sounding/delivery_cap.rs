/// The window is for at most this multiple of the measured delivery rate, headers included: BBR
/// starts with 2.885 (interpretation 12).
const GAIN: u64 = 3;
/// The maximum covers the deliveries of this round and this many earlier rounds, or twice as many:
/// BBR's filter has ten.
const ROUNDS: u32 = 5;

/// The path's delivered rate, bytes/s of payload: the one measurement that does not depend on a
/// publisher.
///
/// A flow that has not sent a round without limit, or not for ten rounds, has no measurement and
/// uses the whole estimate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DeliveryCap {
    /// The most of this round; 0 of one that the application held back.
    round: u64,
    /// Maximum of the current rounds, and of as many before.
    most: u64,
    before: u64,
    rounds: u32,
}

impl DeliveryCap {
    /// An acknowledgement that measured `rate`, if any. A rate that the application `limited` is
    /// only a lower bound for the path.
    pub(super) fn handle_ack(&mut self, over: bool, rate: Option<u64>, limited: bool) {
        // A limited round has no measurement, but earlier ones age. Otherwise a flow that starts
        // slowly and then has little to send would always be limited to its first round.
        if over {
            if self.rounds >= ROUNDS {
                (self.before, self.most, self.rounds) = (self.most, 0, 0);
            }
            self.most = self.most.max(self.round);
            self.rounds += 1;
            self.round = 0;
        }
        let known = self.most.max(self.before);
        if let Some(rate) = rate
            && (!limited || (known > 0 && rate > known))
        {
            self.round = self.round.max(rate);
        }
    }

    /// The part of a rate that may be used.
    pub(super) fn limit(&self, rate: u64) -> u64 {
        match self.most.max(self.before) {
            0 => rate,
            known => rate.min(known.max(self.round) * GAIN),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_held_against_a_flow_until_a_round_of_its_own_is_over() {
        let mut delivery_cap = DeliveryCap::default();
        for _ in 0..3 {
            delivery_cap.handle_ack(true, Some(10), true);
            assert_eq!(delivery_cap.limit(5_000), 5_000);
        }
        delivery_cap.handle_ack(true, Some(10), false);
        delivery_cap.handle_ack(false, Some(1_000), false);
        assert_eq!(delivery_cap.limit(5_000), 5_000);
        delivery_cap.handle_ack(true, Some(1_000), false);
        assert_eq!(delivery_cap.limit(5_000), 3_000);
    }

    #[test]
    fn a_link_ten_times_as_fast_is_full_after_three_rounds() {
        let mut delivery_cap = DeliveryCap::default();
        let rounds = |delivery_cap: &mut DeliveryCap, wanted: u64| {
            let mut rate = 1_000;
            (0..).find(|_| {
                delivery_cap.handle_ack(true, Some(rate), false);
                rate = delivery_cap.limit(wanted);
                rate == wanted
            })
        };
        rounds(&mut delivery_cap, 1_000);
        assert_eq!(rounds(&mut delivery_cap, 10_000), Some(2));
    }

    #[test]
    fn what_was_seen_is_forgotten_after_ten_rounds() {
        for (limited, limit) in [(false, 300), (true, 10_000)] {
            let mut delivery_cap = DeliveryCap::default();
            delivery_cap.handle_ack(true, Some(1_000), false);
            for _ in 0..5 {
                delivery_cap.handle_ack(true, Some(100), limited);
            }
            assert_eq!(delivery_cap.limit(10_000), 3_000);
            for _ in 0..6 {
                delivery_cap.handle_ack(true, Some(100), limited);
            }
            assert_eq!(delivery_cap.limit(10_000), limit);
        }
    }
}
