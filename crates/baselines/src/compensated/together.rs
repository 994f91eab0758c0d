use sounding_units::HostInstant;

/// Which of the packets that entered the modem at one time an acknowledgement tells of.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Together {
    /// The time of the last acknowledgement's packet, and how many acknowledgements of that time
    /// came before it.
    acks: Option<(HostInstant, u32)>,
    /// When the last delivered packet left, and how many of that time are delivered.
    delivered: Option<(HostInstant, u32)>,
}

fn count(of: Option<(HostInstant, u32)>, at: HostInstant, first: u32) -> (HostInstant, u32) {
    match of {
        Some((last, count)) if last == at => (last, count.saturating_add(1)),
        _ => (at, first),
    }
}

impl Together {
    /// A packet that left then is delivered.
    pub(super) fn handle_delivered(&mut self, sent: HostInstant) {
        self.delivered = Some(count(self.delivered, sent, 1));
    }

    /// How many packets came before that of the next acknowledgement, which entered the modem at
    /// this time.
    pub(super) fn before(&mut self, entered: HostInstant, is_upload: bool) -> u32 {
        let acks = count(self.acks, entered, 0);
        self.acks = Some(acks);
        // One acknowledgement may tell of several packets, and its times are those of the last.
        let delivered = self.delivered.filter(|(sent, _)| is_upload && *sent == entered);
        delivered.map_or(0, |(_, count)| count - 1).max(acks.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_acknowledgement_of_two_packets_belongs_to_the_second() {
        let at = HostInstant::from_nanos;
        let mut together = Together::default();
        for _ in 0..3 {
            together.handle_delivered(at(10));
        }
        assert_eq!(together.before(at(10), true), 2);
        together.handle_delivered(at(20));
        assert_eq!(together.before(at(20), true), 0);
        together.handle_delivered(at(20));
        assert_eq!(together.before(at(20), true), 1);
        // A download's acknowledgements are themselves what enters.
        assert_eq!([(); 3].map(|()| together.before(at(30), false)), [0, 1, 2]);
    }

    #[test]
    fn without_deliveries_acknowledgements_count() {
        let at = HostInstant::from_nanos;
        let mut together = Together::default();
        let found = [5, 5, 7].map(|time| together.before(at(time), true));
        assert_eq!(found, [0, 1, 0]);
    }
}
