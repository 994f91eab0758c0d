/// The number of smallest units in a decimal number of larger ones, rounded to the nearest: `1.5`
/// of a `scale` of 1000 is 1500. `None` if the text is not a plain decimal number, or if the result
/// does not fit.
///
/// Does not use floating point, which cannot represent every nanosecond of a year.
pub fn scaled_decimal(number: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_number = whole.len() + fraction.len() > 0;
    if !is_number || !(whole.bytes().chain(fraction.bytes())).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    // Nineteen digits are all that 64 bits have room for, and more than any unit here has.
    let digits = fraction.bytes().take(19);
    let (part, ten) = digits.fold((0u128, 1u128), |(part, ten), digit| {
        (part * 10 + u128::from(digit - b'0'), ten * 10)
    });
    let part = (part * u128::from(scale) + ten / 2) / ten;
    whole.checked_mul(scale)?.checked_add(u64::try_from(part).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_to_the_smallest_unit() {
        for (number, scale, units) in [
            ("1.5", 1000, 1500),
            ("0.3", 1_000_000_000, 300_000_000),
            (".25", 100, 25),
            ("7.", 10, 70),
            ("18446744073.709551615", 1_000_000_000, u64::MAX),
            ("9007199254740993", 1, 9_007_199_254_740_993),
            ("0.4999", 1, 0),
            ("0.5", 1, 1),
        ] {
            assert_eq!(scaled_decimal(number, scale), Some(units), "{number}");
        }
    }

    #[test]
    fn what_is_no_number_or_does_not_fit_is_none() {
        for number in ["", ".", "1.2.3", "-1", "+1", "1e3", " 1", "18446744073.709551616"] {
            assert_eq!(scaled_decimal(number, 1_000_000_000), None, "{number:?}");
        }
    }
}
