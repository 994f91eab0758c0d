//! From what a link sends to what a transport gets: PBE-CC's Equation 5.
//!
//! C_p = C_t + C_t · (1 − (1 − p)^L) + γ · C_p: of what is sent, a part repeats blocks that were
//! lost, and a part is headers. γ is 6.8 % up to the payload of a UDP packet of 1500 bytes
//! (§4.2.1); up to its IP header, which is how rates count here, that is 5.0 %: the share that is
//! configured.

/// Share of transport blocks that are lost, as link adaptation leaves it at most where nothing was
/// measured: it aims at 10 % (TS 36.213 §7.2.3).
const MAX_LOST: f64 = 0.12;

/// Rate of bit errors at a SINR, the three curves that PBE-CC's Figure 6(b) fits to its places.
/// Where they change over is chosen: the figure's places are 10 and 25 dB apart from the edge of a
/// cell.
pub(super) fn bit_error_rate(sinr_db: Option<f32>) -> f64 {
    match sinr_db {
        Some(db) if db >= 15.0 => 1e-6,
        Some(db) if db < 5.0 => 5e-6,
        Some(_) | None => 3e-6,
    }
}

/// The rate of bit errors at which so large a share of blocks of `bits` is lost.
pub(super) fn bit_error_rate_of(lost: f64, bits: f64) -> f64 {
    1.0 - libm::exp(libm::log(1.0 - lost.clamp(0.0, 0.99)) / bits.max(1.0))
}

/// Share of blocks of `bits` that are lost, 1 − (1 − p)^L.
fn lost(p: f64, bits: f64) -> f64 {
    1.0 - libm::exp(libm::log(1.0 - p) * bits)
}

/// C_t of a C_p, in the same unit. `block` gives the bits of a block at a C_t; `p` is the rate of
/// bit errors, which is not bounded where it was measured.
pub(super) fn transport(
    physical: f64,
    headers: f64,
    p: f64,
    measured: bool,
    block: impl Fn(f64) -> f64,
) -> f64 {
    let carried = physical * (1.0 - headers);
    let most = if measured { 1.0 } else { MAX_LOST };
    // The share lost changes slowly with the size: each round leaves at most a tenth of the error.
    let mut transport = carried;
    for _ in 0..4 {
        transport = carried / (1.0 + lost(p, block(transport)).min(most));
    }
    transport
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C_t/C_p at 6.8 % of headers, a block a subframe, from solving Equation 5 by bisection.
    fn by_bisection(physical: f64, p: f64) -> f64 {
        let excess = |transport: f64| {
            transport * (2.0 - (1.0 - p).powf(transport * 1e-3)) - physical * (1.0 - 0.068)
        };
        let (mut low, mut high) = (0.0, physical);
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            if excess(middle) > 0.0 { high = middle } else { low = middle }
        }
        low
    }

    #[test]
    fn equation_5_is_solved() {
        for physical in [1e6, 2e7, 1e8] {
            for p in [1e-6, 3e-6, 5e-6] {
                let found = transport(physical, 0.068, p, true, |rate| rate * 1e-3);
                let wanted = by_bisection(physical, p);
                assert!((found / wanted - 1.0).abs() < 2e-3, "{physical} {p}: {found} {wanted}");
            }
        }
    }

    #[test]
    fn without_a_measurement_no_more_is_lost_than_link_adaptation_allows() {
        let found = transport(4e8, 0.0, 5e-6, false, |rate| rate * 1e-3);
        assert!((found - 4e8 / 1.12).abs() < 1.0);
    }

    #[test]
    fn a_measured_loss_is_the_bit_error_rate_that_causes_it() {
        for (share, bits) in [(0.0, 1e4), (0.1, 5e4), (0.3, 1e5)] {
            let p = bit_error_rate_of(share, bits);
            assert!((lost(p, bits) - share).abs() < 1e-9);
        }
        assert!(bit_error_rate_of(1.0, 0.0).is_finite());
    }
}
