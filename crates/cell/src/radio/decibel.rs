//! Decibels. The conversions to and from linear are short series instead of `libm`'s functions:
//! they run once per sub-band and step, and the compiler vectorizes this form. They use only exact
//! operations of IEEE 754, so their bits are the same on every machine.

use core::f32::consts::{LN_2, SQRT_2};

/// 10 log10(2).
const DB_PER_OCTAVE: f32 = 3.010_3;

/// Stands for zero power: below any noise, above the smallest normal number.
const SMALLEST: f32 = 1e-30;

/// 10 log10 of a power; a power of zero is -300 dB. Error below 0.0001 dB.
#[inline]
pub(super) fn decibels(power: f32) -> f32 {
    let power = if power > SMALLEST { power } else { SMALLEST };
    let bits = power.to_bits();
    // Mantissa into [sqrt(1/2), sqrt(2)), where the series is short.
    let exponent = ((bits >> 23) as i32) - 127;
    let mantissa = f32::from_bits((bits & 0x007F_FFFF) | 0x3F80_0000);
    let above = mantissa > SQRT_2;
    let mantissa = if above { mantissa * 0.5 } else { mantissa };
    let exponent = if above { exponent + 1 } else { exponent } as f32;
    // log2(m) = 2/ln 2 · atanh((m − 1)/(m + 1)).
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let square = t * t;
    let series = 1.0 + square * (1.0 / 3.0 + square * (1.0 / 5.0 + square * (1.0 / 7.0)));
    DB_PER_OCTAVE * (exponent + (2.0 / LN_2) * t * series)
}

/// log2(10) / 10.
const OCTAVES_PER_DB: f32 = 0.332_192_8;

/// The power of a level in dB, -370 to 370. Error below 1 in 100 000.
#[inline]
pub(super) fn power(decibels: f32) -> f32 {
    exp2(decibels * OCTAVES_PER_DB)
}

/// Two to the power of x, with x limited to -126..=126.
#[inline]
pub(super) fn exp2(exponent: f32) -> f32 {
    /// Added and taken away, it leaves a number rounded to a whole one: the last bit of its
    /// mantissa is worth 1.
    const ROUNDER: f32 = 12_582_912.0;
    let exponent = if exponent > -126.0 { exponent } else { -126.0 };
    let exponent = if exponent < 126.0 { exponent } else { 126.0 };
    let whole = (exponent + ROUNDER) - ROUNDER;
    let x = (exponent - whole) * LN_2;
    let part = 1.0
        + x * (1.0
            + x * (1.0 / 2.0
                + x * (1.0 / 6.0 + x * (1.0 / 24.0 + x * (1.0 / 120.0 + x * (1.0 / 720.0))))));
    part * f32::from_bits(((whole as i32 + 127) as u32) << 23)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decibels_are_ten_times_the_logarithm() {
        for step in -2900..3000_i16 {
            let power = libm::pow(10.0, f64::from(step) / 100.0) as f32;
            let expected = 10.0 * libm::log10(f64::from(power));
            let error = (f64::from(decibels(power)) - expected).abs();
            assert!(error < 1e-4, "{power}: {error}");
        }
    }

    #[test]
    fn a_level_comes_back_from_its_power() {
        for step in -1500..500_i16 {
            let level = f32::from(step) / 10.0;
            assert!((decibels(power(level)) - level).abs() < 1e-3, "{level}");
        }
    }

    #[test]
    fn powers_of_two_are_those_of_libm_and_end_where_numbers_do() {
        for step in -12_500..12_500_i16 {
            let exponent = f32::from(step) / 100.0;
            let error = exp2(exponent) / libm::exp2f(exponent) - 1.0;
            assert!(error.abs() < 1e-6, "{exponent}: {error}");
        }
        for (exponent, end) in
            [(f32::NEG_INFINITY, -126.0), (f32::NAN, -126.0), (1e30, 126.0), (f32::INFINITY, 126.0)]
        {
            assert_eq!(exp2(exponent), libm::exp2f(end), "{exponent}");
        }
    }

    #[test]
    fn no_power_is_a_very_low_level() {
        for nothing in [0.0, -1.0, f32::NAN, f32::MIN_POSITIVE / 2.0] {
            assert!((decibels(nothing) + 300.0).abs() < 1e-3, "{nothing}");
        }
    }
}
