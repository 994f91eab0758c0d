//! Transport block size determination (TS 38.214 §5.1.3.2, §6.1.4.2) and code blocks (TS 38.212
//! §5.2.2, §7.2.2).
//!
//! The procedure is the same in both directions and needs only integers. Code rates are multiples
//! of 1/2048, and the scaling of paging and random access is in quarters. So all values are
//! multiples of 1/8192 bit.

use sounding_units::Prb;

use super::tables;
use crate::Scheme;

/// xOverhead: resource elements of a block that are lost to other signals (TS 38.331
/// PDSCH-ServingCellConfig).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Overhead {
    /// None, the default.
    #[default]
    Xoh0,
    /// 6.
    Xoh6,
    /// 12.
    Xoh12,
    /// 18.
    Xoh18,
}

/// Scaling of the size under RA-RNTI, P-RNTI or MsgB-RNTI (TS 38.214 Table 5.1.3.2-2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TbScaling {
    /// S = 1: all other RNTIs.
    #[default]
    One,
    /// S = 0.5.
    Half,
    /// S = 0.25.
    Quarter,
}

/// Resource elements for data, N_RE. Per resource block these are the elements of the allocated
/// symbols without reference signals and overhead, at most 156. `dmrs_elements` is the result of
/// [`Dmrs::elements`](super::Dmrs::elements).
pub const fn resource_elements(
    prb: Prb,
    symbols: u8,
    dmrs_elements: u16,
    overhead: Overhead,
) -> u32 {
    let lost = dmrs_elements.saturating_add(6 * overhead as u16);
    let each = (12 * symbols as u16).saturating_sub(lost);
    let most = 156;
    (if each < most { each } else { most }) as u32 * prb.count() as u32
}

/// Transport block size in bits, in both directions; `None` without resource elements or layers, or
/// with more than four layers.
pub const fn tbs_bits(
    elements: u32,
    scheme: Scheme,
    layers: u8,
    scaling: TbScaling,
) -> Option<u32> {
    if elements == 0 || elements > MAX_ELEMENTS || layers == 0 || layers > 4 {
        return None;
    }
    // N_info in 1/8192 bit: the rate is in 1/2048, the scaling in quarters.
    let quarters = match scaling {
        TbScaling::One => 4,
        TbScaling::Half => 2,
        TbScaling::Quarter => 1,
    };
    let info = elements as u64 * scheme.bits_2048() as u64 * layers as u64 * quarters;
    Some(if info <= (SMALL as u64) << FRACTION { small(info) } else { large(info, scheme) })
}

/// 156 resource elements in each of 275 blocks.
const MAX_ELEMENTS: u32 = 156 * 275;
/// Fractional bits of N_info.
const FRACTION: u32 = 13;
/// The largest size in the table.
const SMALL: u32 = 3824;

/// Step 3: N_info is rounded down to a multiple of a power of two, and the next larger size of the
/// table taken.
const fn small(info: u64) -> u32 {
    // Below one bit the logarithm of N_info is negative. The minimum is three in any case.
    let log2 = info.ilog2().saturating_sub(FRACTION);
    let n = if log2 > 3 + 6 { log2 - 6 } else { 3 };
    let rounded = (info >> (FRACTION + n)) << n;
    // The index is inside the table: N_info is at most 3824, and so is the rounded value.
    NEXT_SIZE[(rounded as usize).div_ceil(8)] as u32
}

/// Step 4: N_info without the CRC is rounded to the nearest multiple of a power of two, ties
/// upwards, and filled up to code blocks of equal size.
const fn large(info: u64, scheme: Scheme) -> u32 {
    const CRC: u64 = 24;
    let info = info - (CRC << FRACTION);
    let n = info.ilog2() - FRACTION - 5;
    let rounded = ((info + (1 << (FRACTION + n - 1))) >> (FRACTION + n)) << n;
    let bits = if rounded < 3840 { 3840 } else { rounded } + CRC;
    let blocks = if scheme.rate_2048 <= QUARTER {
        bits.div_ceil(3816)
    } else if bits > 8424 + CRC {
        bits.div_ceil(8424)
    } else {
        1
    };
    (8 * blocks * bits.div_ceil(8 * blocks) - CRC) as u32
}

/// A code rate of 1/4 in 1/2048.
const QUARTER: u16 = 512;

/// The smallest size of TS 38.214 Table 5.1.3.2-1 that is at least eight times the index; the
/// minimum is 24.
static NEXT_SIZE: [u16; SMALL as usize / 8 + 1] = {
    let mut next = [0; SMALL as usize / 8 + 1];
    let mut at = 0;
    let mut row = 0;
    while at < next.len() {
        if at * 8 > tables::TBS[row] as usize {
            row += 1;
        }
        next[at] = tables::TBS[row];
        at += 1;
    }
    next
};

/// Which of the two LDPC codes a block is sent with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BaseGraph {
    /// For large blocks and high rates: code blocks of 8448 bits at most.
    One,
    /// For small blocks and low rates: code blocks of 3840 bits at most.
    Two,
}

/// The base graph of a block by its size and target code rate (TS 38.212 §7.2.2, §6.2.2).
pub const fn base_graph(tbs_bits: u32, rate_2048: u16) -> BaseGraph {
    // R <= 0.67 in 1/2048.
    const TWO_THIRDS: u16 = 1372;
    if tbs_bits <= 292 || (tbs_bits <= SMALL && rate_2048 <= TWO_THIRDS) || rate_2048 <= QUARTER {
        BaseGraph::Two
    } else {
        BaseGraph::One
    }
}

/// How a transport block is cut for coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodeBlocks {
    /// Number of code blocks.
    pub count: u32,
    /// Bits of each, its CRC included.
    pub bits: u32,
}

/// The code blocks of a transport block (TS 38.212 §5.1, §5.2.2, §7.2.1).
pub const fn code_blocks(tbs_bits: u32, rate_2048: u16) -> CodeBlocks {
    let with_crc = tbs_bits.saturating_add(if tbs_bits > SMALL { 24 } else { 16 });
    let longest = match base_graph(tbs_bits, rate_2048) {
        BaseGraph::One => 8448,
        BaseGraph::Two => 3840,
    };
    if with_crc <= longest {
        return CodeBlocks { count: 1, bits: with_crc };
    }
    let count = with_crc.div_ceil(longest - 24);
    CodeBlocks { count, bits: with_crc.div_ceil(count) + 24 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nr::{Dmrs, DmrsType, McsTable, mcs};
    use proptest::prelude::{Strategy, prop, prop_assert, prop_assert_eq, proptest};

    /// Three symbols of reference signals in a whole block.
    const THREE: u16 = Dmrs { kind: DmrsType::One, symbols: 3, cdm_groups: 2 }.elements();

    #[test]
    fn worked_examples_of_both_directions_match() {
        // 52 blocks of 13 symbols downlink and 14 uplink at I_MCS 28, as a real stack granted them.
        let scheme = mcs(McsTable::Qam64, 28).expect("not reserved");
        let downlink = resource_elements(Prb::new(52), 13, THREE, Overhead::Xoh0);
        assert_eq!(downlink, 6240);
        assert_eq!(tbs_bits(downlink, scheme, 1, TbScaling::One), Some(34_816));
        let uplink = resource_elements(Prb::new(52), 14, THREE, Overhead::Xoh0);
        assert_eq!(uplink, 6864);
        assert_eq!(tbs_bits(uplink, scheme, 1, TbScaling::One), Some(37_896));
        assert_eq!(code_blocks(34_816, scheme.rate_2048).count, 5);
    }

    #[test]
    fn no_more_than_156_elements_of_a_block_are_counted() {
        assert_eq!(resource_elements(Prb::new(10), 14, 0, Overhead::Xoh0), 1560);
        assert_eq!(resource_elements(Prb::new(10), 14, 12, Overhead::Xoh18), 1380);
        assert_eq!(resource_elements(Prb::new(10), 1, 12, Overhead::Xoh6), 0);
    }

    #[test]
    fn grants_outside_the_procedure_have_no_size() {
        let scheme = mcs(McsTable::Qam64, 0).expect("not reserved");
        for (elements, layers) in [(0, 1), (100, 0), (100, 5), (MAX_ELEMENTS + 1, 1)] {
            assert_eq!(tbs_bits(elements, scheme, layers, TbScaling::One), None);
        }
    }

    #[test]
    fn sizes_that_no_grant_has_are_segmented_too() {
        assert!(code_blocks(u32::MAX, 2000).bits <= 8448);
        assert_eq!(code_blocks(0, 0), CodeBlocks { count: 1, bits: 16 });
        assert_eq!(resource_elements(Prb::new(1), 14, u16::MAX, Overhead::Xoh18), 0);
    }

    #[test]
    fn low_rates_are_cut_into_short_code_blocks() {
        let low = mcs(McsTable::Qam64, 0).expect("not reserved");
        assert!(low.rate_2048 <= QUARTER);
        let bits = tbs_bits(MAX_ELEMENTS, low, 1, TbScaling::One).expect("a size");
        assert_eq!(base_graph(bits, low.rate_2048), BaseGraph::Two);
        assert_eq!(code_blocks(bits, low.rate_2048).count, (bits + 24).div_ceil(3816));
        assert_eq!(base_graph(292, 2000), BaseGraph::Two);
        assert_eq!(base_graph(3824, 1372), BaseGraph::Two);
        assert_eq!(base_graph(3824, 1373), BaseGraph::One);
    }

    /// The procedure as in the text of the specification, in floating point and with a search in
    /// the table.
    fn by_the_words(elements: u32, scheme: Scheme, layers: u8, scaling: f64) -> u32 {
        let rate = f64::from(scheme.rate_2048) / 2048.0;
        let info = scaling
            * f64::from(elements)
            * rate
            * f64::from(scheme.modulation.order())
            * f64::from(layers);
        if info <= 3824.0 {
            let n = (info.log2().floor() - 6.0).max(3.0).exp2();
            let rounded = (n * (info / n).floor()).max(24.0);
            let at = tables::TBS.iter().find(|size| f64::from(**size) >= rounded);
            return u32::from(*at.expect("the table goes on to 3824"));
        }
        let n = ((info - 24.0).log2().floor() - 5.0).exp2();
        let rounded = (n * ((info - 24.0) / n + 0.5).floor()).max(3840.0);
        let blocks = if rate <= 0.25 {
            ((rounded + 24.0) / 3816.0).ceil()
        } else if rounded > 8424.0 {
            ((rounded + 24.0) / 8424.0).ceil()
        } else {
            1.0
        };
        (8.0 * blocks * ((rounded + 24.0) / (8.0 * blocks)).ceil() - 24.0) as u32
    }

    fn schemes() -> impl Strategy<Value = Scheme> {
        (prop::sample::select(&McsTable::ALL[..]), 0..=27u8)
            .prop_filter_map("reserved", |(table, i_mcs)| mcs(table, i_mcs))
    }

    proptest! {
        #[test]
        fn integers_give_what_the_specification_says_in_words(
            elements in 1..=MAX_ELEMENTS, scheme in schemes(), layers in 1..=4u8, s in 0..3usize,
        ) {
            let scalings = [(TbScaling::One, 1.0), (TbScaling::Half, 0.5), (TbScaling::Quarter, 0.25)];
            let (scaling, factor) = scalings[s];
            let bits = tbs_bits(elements, scheme, layers, scaling);
            prop_assert_eq!(bits, Some(by_the_words(elements, scheme, layers, factor)));
        }

        #[test]
        fn small_grants_too(elements in 1..=2000u32, scheme in schemes()) {
            let bits = tbs_bits(elements, scheme, 1, TbScaling::One);
            prop_assert_eq!(bits, Some(by_the_words(elements, scheme, 1, 1.0)));
        }

        #[test]
        fn more_elements_never_make_a_smaller_block(
            elements in 1..MAX_ELEMENTS, scheme in schemes(), layers in 1..=4u8,
        ) {
            let size = |elements| tbs_bits(elements, scheme, layers, TbScaling::One);
            prop_assert!(size(elements) <= size(elements + 1));
        }

        #[test]
        fn code_blocks_are_equal_and_fit_their_graph(
            elements in 1..=MAX_ELEMENTS, scheme in schemes(), layers in 1..=4u8,
        ) {
            let bits = tbs_bits(elements, scheme, layers, TbScaling::One).expect("a size");
            let blocks = code_blocks(bits, scheme.rate_2048);
            let longest = match base_graph(bits, scheme.rate_2048) {
                BaseGraph::One => 8448,
                BaseGraph::Two => 3840,
            };
            prop_assert!(blocks.bits <= longest);
            let crcs = if blocks.count > 1 { 24 * blocks.count } else { 0 };
            let crc = if bits > 3824 { 24 } else { 16 };
            prop_assert_eq!(blocks.bits * blocks.count, bits + crc + crcs);
        }
    }
}
