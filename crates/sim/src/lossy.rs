//! Losses at the entry of a network, as `mm-loss` and `mm-onoff` make them.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use sounding_kpi::Direction;
use sounding_trace::dci::Heard;
use sounding_units::{Bytes, HostInstant};

use crate::{Diag, LinkEvent, Lost, Network, Output, Port};

/// Which packets a direction loses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Losses {
    /// None.
    #[default]
    None,
    /// Each with this probability, 0 to 1.
    Share(f64),
    /// All, in times that begin and end at random: the direction works and rests for times with
    /// these means, both exponentially distributed. It begins with work.
    Outages {
        /// Mean time of work.
        on: Duration,
        /// Mean time of rest.
        off: Duration,
    },
}

/// A network that loses packets at its entry.
#[derive(Debug)]
pub struct Lossy<N, P> {
    network: N,
    /// Up and down.
    ways: [Way; 2],
    lost: VecDeque<(Port, Output<P>)>,
}

#[derive(Debug)]
struct Way {
    losses: Losses,
    rng: ChaCha8Rng,
    works: bool,
    /// When that changes.
    until: Option<HostInstant>,
}

impl Way {
    fn loses(&mut self, now: HostInstant) -> bool {
        match self.losses {
            Losses::None => false,
            Losses::Share(share) => self.rng.random::<f64>() < share,
            Losses::Outages { on, off } => {
                let mut until = self.until.unwrap_or_default();
                if self.until.is_none() {
                    until = now + self.time(on);
                }
                while until <= now {
                    self.works = !self.works;
                    let mean = if self.works { on } else { off };
                    until = until + self.time(mean);
                }
                self.until = Some(until);
                !self.works
            }
        }
    }

    /// An exponential time. It is never zero, so that two zero means end the loop above.
    fn time(&mut self, mean: Duration) -> Duration {
        let share = 1.0 - self.rng.random::<f64>();
        mean.mul_f64(-libm::log(share)).max(Duration::from_micros(1))
    }
}

impl<N, P> Lossy<N, P> {
    /// Loses packets on their way up and down. The generators are seeded by the caller.
    pub fn new(network: N, losses: [Losses; 2], rngs: [ChaCha8Rng; 2]) -> Self {
        let mut rngs = rngs.into_iter();
        let ways = losses.map(|losses| Way {
            losses,
            rng: rngs.next().expect("there are two"),
            works: true,
            until: None,
        });
        Self { network, ways, lost: VecDeque::new() }
    }
}

impl<P, N: Network<P>> Network<P> for Lossy<N, P> {
    fn handle_packet(&mut self, now: HostInstant, port: Port, size: Bytes, payload: P) {
        let way = &mut self.ways[usize::from(port.direction == Direction::Downlink)];
        if way.loses(now) {
            let lost = Lost { payload, size, entered: now, dropped: now };
            self.lost.push_back((port, Output::Lost(lost)));
        } else {
            self.network.handle_packet(now, port, size, payload);
        }
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.network.handle_time(now);
    }

    fn poll_output(&mut self) -> Option<(Port, Output<P>)> {
        self.lost.pop_front().or_else(|| self.network.poll_output())
    }

    fn wakeup(&self) -> Option<HostInstant> {
        let lost = self.lost.front().map(|(_, output)| match output {
            Output::Lost(lost) => lost.dropped,
            Output::Carried(carried) => carried.exits,
        });
        lost.or_else(|| self.network.wakeup())
    }

    fn no_output_before(&self, at: HostInstant) -> HostInstant {
        // A loss is an output at once.
        at
    }

    fn poll_diag(&mut self) -> Option<Diag> {
        self.network.poll_diag()
    }

    fn poll_heard(&mut self) -> Option<(HostInstant, Heard)> {
        self.network.poll_heard()
    }

    fn drain_events(&mut self, port: Port, into: &mut Vec<LinkEvent>) {
        self.network.drain_events(port, into);
    }

    fn is_finished(&self, now: HostInstant) -> bool {
        self.network.is_finished(now)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use sounding_units::Rate;

    use super::*;
    use crate::{Device, Links, PathConfig};

    fn lossy(losses: Losses) -> Lossy<Links<crate::Path<u64>>, u64> {
        let way = PathConfig::new(Rate::from_bits_per_sec(1_000_000_000));
        let links = Links::one(&way, &way, HostInstant::default());
        let rngs = [1, 2].map(ChaCha8Rng::seed_from_u64);
        Lossy::new(links, [losses, Losses::None], rngs)
    }

    /// Sends a packet a millisecond up and down, and returns the times of the losses up.
    fn run(mut network: Lossy<Links<crate::Path<u64>>, u64>) -> Vec<u64> {
        let mut lost = Vec::new();
        let mut carried = 0;
        for millis in 0..100_000 {
            let now = HostInstant::from_nanos(millis * 1_000_000);
            for port in [Port::up(Device(0)), Port::down(Device(0))] {
                network.handle_packet(now, port, Bytes::new(100), millis);
            }
            network.handle_time(now + Duration::from_micros(500));
            while let Some((port, output)) = network.poll_output() {
                match output {
                    Output::Lost(packet) => {
                        assert_eq!(port, Port::up(Device(0)));
                        lost.push(packet.payload);
                    }
                    Output::Carried(_) => carried += 1,
                }
            }
        }
        assert_eq!(carried + lost.len(), 200_000);
        lost
    }

    #[test]
    fn a_share_of_the_packets_of_one_direction_is_lost() {
        let lost = run(lossy(Losses::Share(0.1))).len();
        assert!((9_600..10_400).contains(&lost), "{lost}");
        assert_eq!(run(lossy(Losses::Share(1.0))).len(), 100_000);
        assert_eq!(run(lossy(Losses::Share(0.0))), []);
    }

    #[test]
    fn an_outage_loses_all_packets_and_has_its_mean_time() {
        let (on, off) = (Duration::from_millis(300), Duration::from_millis(100));
        let lost = run(lossy(Losses::Outages { on, off }));
        let outages = 1 + lost.windows(2).filter(|pair| pair[1] > pair[0] + 1).count();
        let mean = lost.len() as f64 / outages as f64;
        assert!((85.0..115.0).contains(&mean), "{mean} ms");
        assert!((200..300).contains(&outages), "{outages}");
    }
}
