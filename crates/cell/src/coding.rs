//! Sizes of a carrier's transport blocks.

use alloc::vec::Vec;

use sounding_phy::lte;
use sounding_units::Prb;

use crate::config::{CarrierConfig, Rat};
use crate::event::Direction;

/// Bytes of a block by layers, I_MCS and resource blocks: looked up in every slot, so made once.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    prb: u16,
    mcs: u8,
    bytes: Vec<u32>,
}

impl Sizes {
    pub(crate) fn new(config: &CarrierConfig, direction: Direction) -> Self {
        let layers = match direction {
            Direction::Downlink => config.layers.max(1),
            Direction::Uplink => 1,
        };
        let mcs = top_mcs(config, direction) + 1;
        let mut bytes = Vec::new();
        for layer in 1..=layers {
            for index in 0..mcs {
                bytes.push(0);
                bytes
                    .extend((1..=config.prb).map(|prb| size(config, direction, layer, index, prb)));
            }
        }
        Self { prb: config.prb, mcs, bytes }
    }

    /// The highest I_MCS that new data is sent with.
    pub(crate) const fn top_mcs(&self) -> u8 {
        self.mcs - 1
    }

    fn row(&self, layers: u8, mcs: u8) -> &[u32] {
        let width = usize::from(self.prb) + 1;
        let row =
            usize::from(layers - 1) * usize::from(self.mcs) + usize::from(mcs.min(self.mcs - 1));
        &self.bytes[row * width..][..width]
    }

    /// Bytes of a block.
    pub(crate) fn size(&self, layers: u8, mcs: u8, prb: u16) -> u32 {
        self.row(layers, mcs)[usize::from(prb.min(self.prb))]
    }

    /// The fewest resource blocks, `most` at most, that hold `bytes`.
    pub(crate) fn prb_for(&self, layers: u8, mcs: u8, bytes: u64, most: u16) -> u16 {
        let row = &self.row(layers, mcs)[..=usize::from(most.min(self.prb))];
        let enough = row.partition_point(|&size| u64::from(size) < bytes);
        (enough as u16).clamp(1, most.max(1))
    }
}

fn top_mcs(config: &CarrierConfig, direction: Direction) -> u8 {
    match (config.rat, config.qam256 && direction == Direction::Downlink) {
        (Rat::Lte, false) | (Rat::Nr, false) => 28,
        (Rat::Lte, true) | (Rat::Nr, true) => 27,
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
        Rat::Nr => nr_bits(config, direction, layers, mcs, prb),
    };
    bits / 8
}

/// PENDING phy
fn nr_bits(_c: &CarrierConfig, _d: Direction, layers: u8, mcs: u8, prb: u16) -> u32 {
    u32::from(prb) * 132 * (u32::from(mcs) + 2) / 5 * u32::from(layers) / 8 * 8
}
