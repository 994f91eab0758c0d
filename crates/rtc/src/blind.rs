use std::collections::VecDeque;
use std::time::Duration;

use sounding_units::HostInstant;

use crate::{Corrected, Corrections, Way};

/// Packets of a window that count: those of 10 ms at 100 000 a second.
const MOST: usize = 1_024;

/// A correction without a modem: the mean delay of the last packets instead of each one's. It is
/// the control of experiments.
///
/// It removes what is faster than its window, whether the radio or a queue made it.
#[derive(Clone, Debug)]
pub struct Blind {
    window: Duration,
    /// The sending times and arrivals of the window's packets.
    packets: VecDeque<(HostInstant, HostInstant)>,
}

impl Blind {
    /// A mean over this time.
    pub fn new(window: Duration) -> Self {
        Self { window, packets: VecDeque::with_capacity(MOST) }
    }
}

impl Corrections for Blind {
    fn corrected(&mut self, _: HostInstant, way: &Way) -> Corrected {
        let Some(sent) = way.sent else { return Corrected::Unknown };
        let newest = (sent, way.arrived);
        if self.packets.back() != Some(&newest) {
            if self.packets.len() == MOST {
                self.packets.pop_front();
            }
            self.packets.push_back(newest);
        }
        while self.packets.front().is_some_and(|first| way.arrived - first.1 > self.window) {
            self.packets.pop_front();
        }
        // The clocks may differ by anything: signed differences, relative to this packet's.
        let delay = |(sent, arrived): &(HostInstant, HostInstant)| {
            i128::from(arrived.as_nanos()) - i128::from(sent.as_nanos())
        };
        let sum: i128 = self.packets.iter().map(delay).sum();
        let mean = sum / i128::try_from(self.packets.len().max(1)).unwrap_or(1);
        let at = i128::from(sent.as_nanos()).saturating_add(mean);
        Corrected::At(HostInstant::from_nanos(u64::try_from(at).unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn each_packet_has_the_mean_delay_of_the_window_whatever_the_clocks_are() {
        for origin in [0, 1_000_000] {
            let mut blind = Blind::new(Duration::from_millis(10));
            let mut correct = |sent: u64, arrived: u64| {
                let way = Way { sent: Some(at(origin + sent)), arrived: at(500_000 + arrived) };
                blind.corrected(way.arrived, &way)
            };
            assert_eq!(correct(0, 10), Corrected::At(at(500_010)));
            assert_eq!(correct(4, 18), Corrected::At(at(500_016)));
            // The first has left the window.
            assert_eq!(correct(10, 22), Corrected::At(at(500_023)));
        }
    }

    #[test]
    fn a_packet_that_does_not_say_when_it_was_sent_is_not_corrected() {
        let mut blind = Blind::new(Duration::from_millis(10));
        let way = Way { sent: None, arrived: at(3) };
        assert_eq!(blind.corrected(at(3), &way), Corrected::Unknown);
    }
}
