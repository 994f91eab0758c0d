//! Numbers in the specifications' names of values.

use crate::Value;

/// The number in a name such as `sf10`, `ms5` or `kHz30`; `None` without a number, as in
/// `infinity`.
pub(super) fn of_name(name: &str) -> Option<u32> {
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

/// The number in the name at the end of a path.
pub(super) fn at(value: &Value<'_>, path: &[&str]) -> Option<u32> {
    of_name(value.at(path)?.name()?)
}

/// A time in milliseconds with a `p` as decimal point, such as `ms0p625`, converted to
/// microseconds.
pub(super) fn micros_of_name(name: &str) -> Option<u32> {
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let (whole, part) = digits.split_once('p').unwrap_or((digits, ""));
    let whole: u32 = whole.parse().ok()?;
    let mut part_micros = 0;
    for (digit, worth) in part.bytes().zip([100, 10, 1]) {
        part_micros += u32::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?) * worth;
    }
    Some(whole * 1000 + part_micros)
}

/// Decodes a start and a length from one number: TS 38.214 §5.1.2.1 for the 14 symbols of a slot,
/// §5.1.2.2.2 for resource blocks.
pub(super) fn start_and_length(coded: u32, of: u32) -> (u32, u32) {
    let (start, length) = (coded % of, coded / of + 1);
    // A length above half is coded from the other end.
    if start + length > of { (of - 1 - start, of + 2 - length) } else { (start, length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hold_numbers() {
        assert_eq!(of_name("sf10"), Some(10));
        assert_eq!(of_name("infinity"), None);
        assert_eq!(of_name("scs30or120"), Some(30));
        assert_eq!(micros_of_name("ms0p625"), Some(625));
        assert_eq!(micros_of_name("ms2p5"), Some(2500));
        assert_eq!(micros_of_name("ms10"), Some(10_000));
    }

    /// TS 38.214 §5.1.2.1: with L − 1 up to 7 the number is 14·(L − 1) + S, above 14·(14 − L + 1) +
    /// (14 − 1 − S).
    #[test]
    fn start_and_length_are_those_that_were_coded() {
        for length in 1..=14 {
            for start in 0..=14 - length {
                let coded = match length - 1 {
                    short @ ..=7 => 14 * short + start,
                    _ => 14 * (14 - length + 1) + (14 - 1 - start),
                };
                assert_eq!(start_and_length(coded, 14), (start, length), "{coded}");
            }
        }
    }
}
