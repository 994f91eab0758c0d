//! Delay profiles: how much echoes of the signal spread in time. A larger spread makes the fading
//! of sub-bands less alike.

use serde::Deserialize;

/// A tapped delay line of TS 36.101 Annex B.2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DelayProfile {
    /// No fading.
    None,
    /// One path: every sub-band fades alike.
    Flat,
    /// Extended Pedestrian A, 43 ns r.m.s. (Table B.2.1-2).
    Epa,
    /// Extended Vehicular A, 357 ns r.m.s. (Table B.2.1-3).
    #[default]
    Eva,
    /// Extended Typical Urban, 991 ns r.m.s. (Table B.2.1-4).
    Etu,
}

/// One echo.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tap {
    /// Nanoseconds after the first.
    pub delay_ns: f32,
    /// dB relative to the others; the powers of a profile do not add up to one.
    pub power_db: f32,
}

const fn tap(delay_ns: f32, power_db: f32) -> Tap {
    Tap { delay_ns, power_db }
}

const FLAT: [Tap; 1] = [tap(0.0, 0.0)];

const EPA: [Tap; 7] = [
    tap(0.0, 0.0),
    tap(30.0, -1.0),
    tap(70.0, -2.0),
    tap(90.0, -3.0),
    tap(110.0, -8.0),
    tap(190.0, -17.2),
    tap(410.0, -20.8),
];

const EVA: [Tap; 9] = [
    tap(0.0, 0.0),
    tap(30.0, -1.5),
    tap(150.0, -1.4),
    tap(310.0, -3.6),
    tap(370.0, -0.6),
    tap(710.0, -9.1),
    tap(1090.0, -7.0),
    tap(1730.0, -12.0),
    tap(2510.0, -16.9),
];

const ETU: [Tap; 9] = [
    tap(0.0, -1.0),
    tap(50.0, -1.0),
    tap(120.0, -1.0),
    tap(200.0, 0.0),
    tap(230.0, 0.0),
    tap(500.0, 0.0),
    tap(1600.0, -3.0),
    tap(2300.0, -5.0),
    tap(5000.0, -7.0),
];

impl DelayProfile {
    /// The echoes, in the order of their delays.
    pub const fn taps(self) -> &'static [Tap] {
        match self {
            Self::None => &[],
            Self::Flat => &FLAT,
            Self::Epa => &EPA,
            Self::Eva => &EVA,
            Self::Etu => &ETU,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rms_ns(profile: DelayProfile) -> f64 {
        let (mut total, mut mean, mut square) = (0.0, 0.0, 0.0);
        for tap in profile.taps() {
            let power = libm::pow(10.0, f64::from(tap.power_db) / 10.0);
            let delay = f64::from(tap.delay_ns);
            total += power;
            mean += power * delay;
            square += power * delay * delay;
        }
        libm::sqrt(square / total - (mean / total) * (mean / total))
    }

    #[test]
    fn the_delay_spreads_are_those_the_specification_states() {
        // TS 36.101 Table B.2.1-1.
        for (profile, expected) in
            [(DelayProfile::Epa, 43.0), (DelayProfile::Eva, 357.0), (DelayProfile::Etu, 991.0)]
        {
            let rms = rms_ns(profile);
            assert!((rms - expected).abs() < 1.0, "{profile:?}: {rms} ns");
        }
    }
}
