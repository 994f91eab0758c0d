use sounding_units::Bytes;

use crate::controller::{Ack, Recovery};

/// Congestion marks, answered once a round as one loss would be (RFC 3168 §6.1.2).
#[derive(Clone, Copy, Debug, Default)]
pub struct Marks {
    /// The sender has already reacted to marks on packets that left before this number of
    /// delivered bytes.
    answered: Bytes,
}

impl Marks {
    /// Whether the window must be cut because of this acknowledgement's marks.
    #[inline]
    pub fn handle_ack(&mut self, ack: &Ack) -> bool {
        let cut = ack.ce > Bytes::ZERO
            && ack.sent.delivered >= self.answered
            && ack.recovery == Recovery::None;
        if cut {
            self.answered = ack.delivered;
        }
        cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::Departure;

    fn marked(left_at: u64, delivered: u64) -> Ack {
        Ack {
            ce: Bytes::new(1),
            delivered: Bytes::new(delivered),
            sent: Departure { delivered: Bytes::new(left_at), ..Departure::default() },
            ..Ack::default()
        }
    }

    #[test]
    fn marks_of_one_round_are_answered_once() {
        let mut marks = Marks::default();
        let answers = [marked(0, 10), marked(5, 11), marked(9, 19), marked(10, 20)];
        assert_eq!(answers.map(|ack| marks.handle_ack(&ack)), [true, false, false, true]);
    }

    #[test]
    fn a_mark_while_a_loss_is_repaired_was_answered_by_the_loss() {
        let mut marks = Marks::default();
        assert!(!marks.handle_ack(&Ack { recovery: Recovery::Fast, ..marked(0, 10) }));
    }
}
