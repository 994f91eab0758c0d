//! Products that are divided.

/// `a × b ÷ divisor`, rounded down and saturating. Real products fit into 64 bits, whose division
/// costs a fraction of that of 128.
#[inline]
pub(crate) fn ratio(a: u64, b: u64, divisor: u64) -> u64 {
    match a.checked_mul(b) {
        Some(product) => product / divisor,
        None => wide_ratio(a, b.into(), divisor.into()),
    }
}

pub(crate) fn wide_ratio(a: u64, b: u128, divisor: u128) -> u64 {
    saturated(u128::from(a).saturating_mul(b) / divisor)
}

pub(crate) fn saturated(wide: u128) -> u64 {
    u64::try_from(wide).unwrap_or(u64::MAX)
}
