//! Processing times and fixed delays, and the values that timers can have.

use super::Numerology;

pub use super::tables::{PERIODIC_BSR, RETX_BSR, SR_DELAY, SR_PERIOD_SLOTS};

/// HARQ processes of a downlink unless more are configured (TS 38.214 §5.1).
pub const HARQ_PROCESSES: u8 = 8;
/// HARQ processes that can be configured before Release 17 (TS 38.214 §5.1).
pub const HARQ_PROCESSES_MOST: u8 = 16;
/// K1 under DCI format 1_0: the field counts through these (TS 38.213 §9.2.3).
pub const K1_FALLBACK: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
/// The largest K1 that dl-DataToUL-ACK can list for DCI format 1_1.
pub const K1_MOST: u8 = 15;
/// The largest K0 and K2 that can be configured (TS 38.331).
pub const K0_K2_MOST: u8 = 32;
/// Redundancy versions in the order in which they are sent (TS 38.214 §5.1.2.1, §6.1.2.1).
pub const REDUNDANCY_VERSIONS: [u8; 4] = [0, 2, 3, 1];
/// Period of synchronisation signal blocks that a device assumes before it knows, in ms (TS 38.213
/// §4.1).
pub const SSB_PERIOD_MS: u8 = 20;
/// Period of SIB1 in ms (TS 38.331 §5.2.1).
pub const SIB1_PERIOD_MS: u8 = 160;

/// Symbols a device needs from a downlink block to its acknowledgement, N1 of processing capability
/// 1; `None` above numerology 3 (TS 38.214 Table 5.3-1).
pub const fn processing_symbols(numerology: Numerology, additional_dmrs: bool) -> Option<u8> {
    let (plain, additional) = match numerology.mu() {
        0 => (8, 13),
        1 => (10, 13),
        2 => (17, 20),
        3 => (20, 24),
        _ => return None,
    };
    Some(if additional_dmrs { additional } else { plain })
}

/// Symbols a device needs from a grant to its uplink block, N2 of timing capability 1; `None` above
/// numerology 3 (TS 38.214 Table 6.4-1).
pub const fn preparation_symbols(numerology: Numerology) -> Option<u8> {
    match numerology.mu() {
        0 => Some(10),
        1 => Some(12),
        2 => Some(23),
        3 => Some(36),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nr::{SYMBOLS_PER_SLOT, pusch_default};

    #[test]
    fn the_default_uplink_delay_leaves_time_to_prepare() {
        for numerology in (0..=3).filter_map(Numerology::new) {
            let needed = preparation_symbols(numerology).expect("it is known");
            let row = pusch_default(numerology, 1).expect("a row");
            assert!(row.delay * SYMBOLS_PER_SLOT >= needed, "{numerology:?}");
        }
    }

    #[test]
    fn more_reference_signals_never_make_a_device_faster() {
        for numerology in (0..=3).filter_map(Numerology::new) {
            let of = |additional| processing_symbols(numerology, additional);
            assert!(of(false) <= of(true), "{numerology:?}");
        }
        let wide = Numerology::new(4).expect("a numerology");
        assert_eq!((processing_symbols(wide, true), preparation_symbols(wide)), (None, None));
    }
}
