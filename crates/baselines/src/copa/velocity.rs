/// Rounds in one direction before the steps grow.
const STEADY_ROUNDS: u32 = 3;
/// No window is so far from its target; it bounds what follows from absurd samples.
const MOST: f64 = (1 << 16) as f64;

/// The direction of the window's change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trend {
    Up,
    Down,
}

/// Change of the window in a round, in segments ÷ δ. It is one until the window has moved in one
/// direction for three rounds. Then it doubles with each round. A single flow at its target changes
/// direction every two and a half rounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Velocity {
    value: f64,
    direction: Option<Trend>,
    rounds: u32,
    /// The window when the round began.
    cwnd: Option<f64>,
}

impl Default for Velocity {
    fn default() -> Self {
        Self { value: 1.0, direction: None, rounds: 0, cwnd: None }
    }
}

impl Velocity {
    /// For a step in this direction. One against that in which steps have grown is small at once:
    /// until the round is over is too late, and the window would swing ever wider. Not the
    /// paper's rule, which looks once a window; deployed Copa has it (mvfst).
    pub(super) fn step(&mut self, direction: Trend) -> f64 {
        if self.value > 1.0 && self.direction != Some(direction) {
            (self.direction, self.rounds, self.value) = (Some(direction), 0, 1.0);
        }
        self.value
    }

    /// A round began with this window.
    pub(super) fn handle_round(&mut self, cwnd: f64) {
        let Some(before) = self.cwnd.replace(cwnd) else { return };
        let direction = if cwnd > before { Trend::Up } else { Trend::Down };
        if self.direction == Some(direction) {
            self.rounds += 1;
            if self.rounds >= STEADY_ROUNDS {
                self.value = (self.value * 2.0).min(MOST);
            }
        } else {
            (self.direction, self.rounds, self.value) = (Some(direction), 1, 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_double_from_the_third_round_of_one_direction_and_begin_over_at_a_turn() {
        let mut velocity = Velocity::default();
        let windows = [10.0, 12.0, 14.0, 16.0, 20.0, 28.0, 20.0, 19.0];
        let values = windows.map(|cwnd| {
            velocity.handle_round(cwnd);
            velocity.value
        });
        assert_eq!(values, [1.0, 1.0, 1.0, 2.0, 4.0, 8.0, 1.0, 1.0]);
    }

    #[test]
    fn a_step_back_is_small_before_the_round_is_over() {
        let mut velocity = Velocity::default();
        [10.0, 12.0, 14.0, 16.0, 20.0].iter().for_each(|&cwnd| velocity.handle_round(cwnd));
        assert_eq!([Trend::Up, Trend::Down].map(|way| velocity.step(way)), [4.0, 1.0]);
    }
}
