//! BlockSizes of a carrier's transport blocks.

use alloc::vec::Vec;

use sounding_kpi::Direction;
use sounding_phy::{lte, nr};
use sounding_units::Prb;

use crate::config::{CarrierConfig, Rat};

/// Bytes of a block by layers, I_MCS and resource blocks: looked up in every slot, so made once.
#[derive(Clone, Debug)]
pub(crate) struct BlockSizes {
    prb: u16,
    mcs: u8,
    bytes: Vec<u32>,
}

impl BlockSizes {
    pub(crate) fn new(config: &CarrierConfig, direction: Direction) -> Self {
        Self::of(config, direction, |prb| prb)
    }

    /// BlockSizes of the downlink in LTE's special subframes, whose blocks are those of fewer
    /// resource blocks (TS 36.213 §7.1.7).
    pub(crate) fn in_special(config: &CarrierConfig) -> Option<Self> {
        config.lte_tdd()?;
        // Ten symbols down, two of guard, two up: what networks next to NR's usual patterns have.
        const TEN_TWO_TWO: u8 = 7;
        let special = lte::SpecialSubframe::new(TEN_TWO_TWO)?;
        let column = |prb| special.tbs_column(Prb::new(prb)).map_or(0, Prb::count);
        Some(Self::of(config, Direction::Downlink, column))
    }

    fn of(config: &CarrierConfig, direction: Direction, column: impl Fn(u16) -> u16) -> Self {
        let layers = match direction {
            Direction::Downlink => config.layers.max(1),
            Direction::Uplink => 1,
        };
        let mcs = config.coding(direction).mcs_count() as u8;
        let mut bytes = Vec::new();
        for layer in 1..=layers {
            for index in 0..mcs {
                bytes.push(0);
                let bytes_of = |prb| size(config, direction, layer, index, column(prb));
                bytes.extend((1..=config.prb).map(bytes_of));
            }
        }
        Self { prb: config.prb, mcs, bytes }
    }

    fn row(&self, layers: u8, mcs: u8) -> &[u32] {
        let width = usize::from(self.prb) + 1;
        let row = usize::from(layers - 1) * usize::from(self.mcs) + usize::from(mcs);
        &self.bytes[row * width..][..width]
    }

    /// Bytes of a block.
    pub(crate) fn size(&self, layers: u8, mcs: u8, prb: u16) -> u32 {
        self.row(layers, mcs)[usize::from(prb.min(self.prb))]
    }

    /// Bytes that a resource block of a large block carries.
    #[inline]
    pub(crate) fn rate(&self, layers: u8, mcs: u8) -> f32 {
        self.size(layers, mcs, self.prb) as f32 / f32::from(self.prb)
    }

    /// The fewest resource blocks, `most` at most, that hold `bytes`.
    #[inline]
    pub(crate) fn prb_for(&self, layers: u8, mcs: u8, bytes: u64, most: u16) -> u16 {
        let row = &self.row(layers, mcs)[..=usize::from(most.min(self.prb))];
        let enough = row.partition_point(|&size| u64::from(size) < bytes);
        (enough as u16).clamp(1, most.max(1))
    }
}

fn size(config: &CarrierConfig, direction: Direction, layers: u8, mcs: u8, prb: u16) -> u32 {
    let bits = match config.rat {
        Rat::Lte => {
            let table = match direction {
                Direction::Uplink => lte::McsTable::Uplink,
                Direction::Downlink if config.qam256 => lte::McsTable::Downlink256Qam,
                Direction::Downlink => lte::McsTable::Downlink,
            };
            // Two layers are two codewords of the same coding (TS 36.211 §6.3.3.2).
            let codeword = lte::mcs(table, mcs)
                .and_then(|(_, index)| lte::tbs_bits(index, Prb::new(prb), 1))
                .unwrap_or(0);
            codeword * u32::from(layers)
        }
        Rat::Nr => nr_bits(config, layers, mcs, prb),
    };
    bits / 8
}

/// Symbols of a slot that carry data: all but the two of a control region (chosen; a live network's
/// grants have 12 and 13).
const SYMBOLS: u8 = 12;

/// One symbol of reference signals at the front and one more (TS 38.211 §7.4.1.1.2), with no data
/// between them.
const DMRS: nr::Dmrs = nr::Dmrs { kind: nr::DmrsType::One, symbols: 2, cdm_groups: 2 };

fn nr_bits(config: &CarrierConfig, layers: u8, mcs: u8, prb: u16) -> u32 {
    let table = if config.qam256 { nr::McsTable::Qam256 } else { nr::McsTable::Qam64 };
    let elements =
        nr::resource_elements(Prb::new(prb), SYMBOLS, DMRS.elements(), nr::Overhead::Xoh0);
    nr::mcs(table, mcs)
        .and_then(|scheme| nr::tbs_bits(elements, scheme, layers, nr::TbScaling::One))
        .unwrap_or(0)
}
