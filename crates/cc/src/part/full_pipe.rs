use sounding_units::Rate;

/// Rounds without a quarter more bandwidth that fill the pipe (BBR v1 §4.3.2.2, v3 §5.3.1.2).
const FULL_ROUNDS: u32 = 3;

/// Whether sending faster still brings more.
#[derive(Clone, Copy, Debug, Default)]
pub struct FullPipe {
    best: Rate,
    rounds: u32,
}

impl FullPipe {
    /// Looks again, for more than this.
    pub fn beyond(best: Rate) -> Self {
        Self { best, rounds: 0 }
    }

    /// Three rounds brought no more.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.rounds >= FULL_ROUNDS
    }

    /// A round delivered as fast as this.
    #[inline]
    pub fn handle_round(&mut self, bandwidth: Rate) {
        if self.is_full() {
            return;
        }
        if bandwidth >= self.best.scaled(5, 4) {
            *self = Self::beyond(bandwidth);
        } else {
            self.rounds += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_rounds_without_a_quarter_more_fill_the_pipe() {
        let mut pipe = FullPipe::default();
        let full = [10, 20, 24, 24, 24].map(|mbit| {
            pipe.handle_round(Rate::from_bits_per_sec(mbit * 1_000_000));
            pipe.is_full()
        });
        assert_eq!(full, [false, false, false, false, true]);
    }
}
