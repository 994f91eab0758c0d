use libm::{log10f, powf};

/// The combined gain of transmissions of a block at equal SINR, in dB over the first: chase
/// combining adds their powers. About 3 dB for the second.
pub const REPEAT_GAIN_DB: [f32; 8] =
    [0.0, 3.010_3, 4.771_213, 6.020_6, 6.989_7, 7.781_513, 8.450_98, 9.030_9];

/// The transmissions of one block, combined: their SINR add up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Combining {
    linear: f32,
}

impl Combining {
    /// Adds another transmission. Returns the combined SINR of all transmissions, in dB.
    pub fn handle_transmission(&mut self, sinr_db: f32) -> f32 {
        self.linear += powf(10.0, sinr_db / 10.0);
        10.0 * log10f(self.linear)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_transmissions_gain_what_the_list_says() {
        let mut combining = Combining::default();
        for gain in REPEAT_GAIN_DB {
            let found = combining.handle_transmission(5.0);
            assert!((found - 5.0 - gain).abs() < 1e-3, "{found} {gain}");
        }
    }

    #[test]
    fn a_weak_repeat_adds_little_and_never_takes_away() {
        let mut combining = Combining::default();
        let first = combining.handle_transmission(12.0);
        let second = combining.handle_transmission(-20.0);
        assert!((first - 12.0).abs() < 1e-3);
        assert!(second >= first && second < first + 0.01);
    }
}
