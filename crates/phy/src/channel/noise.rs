use libm::{log10, pow};

/// Density of thermal noise at 290 K, dBm/Hz.
const THERMAL_DBM_PER_HZ: f64 = -174.0;

/// Noise in a bandwidth as a receiver sees it, dBm. Noise figures are 7 to 9 dB in devices.
pub fn noise_dbm(bandwidth_hz: f64, noise_figure_db: f64) -> f64 {
    THERMAL_DBM_PER_HZ + 10.0 * log10(bandwidth_hz) + noise_figure_db
}

/// A ratio in dB.
pub fn db(linear: f64) -> f64 {
    10.0 * log10(linear)
}

/// A ratio that is given in dB.
pub fn linear(db: f64) -> f64 {
    pow(10.0, db / 10.0)
}

/// Powers added, dBm; minus infinity for none.
pub fn combined_dbm(powers: impl IntoIterator<Item = f64>) -> f64 {
    db(powers.into_iter().map(linear).sum())
}

/// Signal to interference and noise, dB.
pub fn sinr_db(
    signal_dbm: f64,
    interference_dbm: impl IntoIterator<Item = f64>,
    noise_dbm: f64,
) -> f64 {
    signal_dbm - combined_dbm(interference_dbm.into_iter().chain([noise_dbm]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_block_of_lte_has_noise_of_minus_114_dbm() {
        let noise = noise_dbm(180_000.0, 7.0);
        assert!((noise - -114.447).abs() < 0.001, "{noise}");
    }

    #[test]
    fn two_equal_powers_are_three_decibels_more() {
        assert!((combined_dbm([-90.0, -90.0]) - -86.99).abs() < 0.001);
        assert_eq!(combined_dbm([]), f64::NEG_INFINITY);
        assert!((linear(db(42.0)) - 42.0).abs() < 1e-9);
    }

    #[test]
    fn interference_as_strong_as_noise_halves_the_ratio() {
        assert!((sinr_db(-80.0, [], -100.0) - 20.0).abs() < 1e-9);
        assert!((sinr_db(-80.0, [-100.0], -100.0) - 16.99).abs() < 0.001);
    }
}
