//! Flows that come and go.

use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sounding_emu::{Direction, Emulation, monotonic_now};
use sounding_laws::RadioController;
use sounding_sim::world::Traffic;
use sounding_units::{Bytes, HostInstant, Rate};

use super::Summary;
use crate::flow::{FlowError, RunningTcp, RunningUdp, TcpFlow, UdpFlow};

/// At most this many at once.
const MOST: usize = 5;
/// A flow without deliveries for this time is stalled: outages of the link last at most half a
/// second.
const STANDS_STILL: Duration = Duration::from_secs(10);

/// Random decisions.
pub(super) struct Dice(ChaCha8Rng);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// One of the numbers below `count`.
    pub(super) fn below(&mut self, count: u32) -> u32 {
        ((u64::from(self.0.next_u32()) * u64::from(count)) >> 32) as u32
    }

    /// A time from `least` to `most`.
    pub(super) fn between(&mut self, least: Duration, most: Duration) -> Duration {
        least + (most - least).mul_f64(f64::from(self.0.next_u32()) / f64::from(u32::MAX))
    }
}

enum Sends {
    Ours(RadioController, RunningTcp),
    Cubic(RunningTcp),
    Download(RunningTcp),
    Datagrams(RunningUdp),
}

impl Sends {
    /// Its kind in [`Summary::flows`].
    const fn kind(&self) -> &'static str {
        match self {
            Self::Ours(listener, _) => listener.law.name(),
            Self::Cubic(_) => super::CUBIC,
            Self::Download(_) => super::DOWNLOADS,
            Self::Datagrams(_) => super::DATAGRAMS,
        }
    }
}

struct Member {
    sends: Sends,
    began: HostInstant,
    until: HostInstant,
}

/// The flows of a round.
#[derive(Default)]
pub(super) struct Crowd(Vec<Member>);

impl Crowd {
    /// Sometimes adds a flow over the radio in this direction. `ours` is the flow that a daemon
    /// feeds, with its name in the kernel, while there is one. Downloads come from an
    /// unmodified sender.
    pub(super) fn grow(
        &mut self,
        emulation: &Emulation,
        direction: Direction,
        ours: Option<(&str, RadioController)>,
        dice: &mut Dice,
        summary: &mut Summary,
    ) -> Result<(), FlowError> {
        if self.0.len() >= MOST || dice.below(20) > 0 {
            return Ok(());
        }
        let began = monotonic_now();
        let lasts = dice.between(Duration::from_millis(500), Duration::from_secs(30));
        let sends = match (dice.below(8), direction, ours) {
            (0, ..) => {
                let rate = Rate::from_bits_per_sec(u64::from(dice.below(3_000_000) + 100_000));
                let drain = Duration::from_millis(100);
                let flow = UdpFlow { drain, ..UdpFlow::new(direction, rate, lasts) };
                Sends::Datagrams(flow.start(emulation)?)
            }
            (_, Direction::Downlink, _) => {
                Sends::Download(tcp("cubic", direction, dice).start(emulation)?)
            }
            (1 | 2, ..) | (_, _, None) => {
                Sends::Cubic(tcp("cubic", direction, dice).start(emulation)?)
            }
            (_, _, Some((name, listener))) => {
                Sends::Ours(listener, tcp(name, direction, dice).start(emulation)?)
            }
        };
        *summary.flows.entry(sends.kind()).or_default() += 1;
        self.0.push(Member { sends, began, until: began + lasts });
        Ok(())
    }

    /// Ends the flows whose time has come, or all.
    pub(super) fn shrink(&mut self, all: bool, summary: &mut Summary) -> Result<(), FlowError> {
        let now = monotonic_now();
        let is_over = |member: &mut Member| all || member.until <= now;
        for Member { sends, began, .. } in self.0.extract_if(.., is_over) {
            let is_download = matches!(sends, Sends::Download(_));
            let (who, running) = match sends {
                Sends::Ours(listener, running) => (listener.name, running),
                Sends::Cubic(running) | Sends::Download(running) => ("cubic", running),
                Sends::Datagrams(running) => {
                    running.stop()?;
                    continue;
                }
            };
            let had_something = !running.has_ended();
            // The network goes with the round: a connection that is closed in good order would wait
            // for it.
            let result = if all || had_something { running.abort()? } else { running.stop()? };
            summary.megabytes += result.received.count() as f64 / 1e6;
            let lived = monotonic_now() - began;
            let is_held = is_download && result.last.receive_window_limited > lived / 10;
            summary.held += u32::from(is_held);
            if had_something && lived > STANDS_STILL && result.received == Bytes::ZERO {
                summary.faults.push(format!("a flow of {who} brought nothing over in {lived:?}"));
            }
        }
        Ok(())
    }
}

/// A stream: one of all that have to do with sharing.
fn tcp(name: &str, direction: Direction, dice: &mut Dice) -> TcpFlow {
    let traffic = match dice.below(4) {
        0 => Traffic::Finite(Bytes::new(u64::from(dice.below(3_000_000) + 1))),
        1 => Traffic::Steady(Rate::from_bits_per_sec(u64::from(dice.below(2_000_000) + 50_000))),
        2 => Traffic::OnOff {
            on: dice.between(Duration::from_millis(100), Duration::from_secs(2)),
            off: dice.between(Duration::from_millis(100), Duration::from_secs(2)),
        },
        _ => Traffic::Bulk,
    };
    TcpFlow { congestion: Some(name.into()), traffic, ..TcpFlow::new(direction) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dice_stay_within_what_they_are_asked_for_and_repeat_with_their_seed() {
        let roll = |seed| {
            let mut dice = Dice::new(seed);
            let (least, most) = (Duration::from_secs(1), Duration::from_secs(2));
            (0..1000).map(|_| (dice.below(7), dice.between(least, most))).collect::<Vec<_>>()
        };
        assert_eq!(roll(1), roll(1));
        assert_ne!(roll(1), roll(2));
        for (number, time) in roll(3) {
            assert!(number < 7 && (1.0..=2.0).contains(&time.as_secs_f64()), "{number} {time:?}");
        }
    }
}
