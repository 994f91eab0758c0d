//! Free resource blocks of a slot.

use crate::config::SUB_BANDS;

/// The free resource blocks of a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FreePrbs {
    pub(crate) bands: [u16; SUB_BANDS],
    /// The first free resource block of each sub-band.
    pub(crate) first: [u16; SUB_BANDS],
    /// DCIs that the PDCCH still has room for.
    pub(crate) dcis: u8,
}

impl FreePrbs {
    /// All resource blocks of a carrier with sub-bands of these sizes.
    pub(crate) fn new(bands: [u16; SUB_BANDS], dcis: u8) -> Self {
        let mut first = [0; SUB_BANDS];
        for band in 1..SUB_BANDS {
            first[band] = first[band - 1] + bands[band - 1];
        }
        Self { bands, first, dcis }
    }

    /// Number of free resource blocks.
    pub(crate) fn count(&self) -> u16 {
        self.bands.iter().sum()
    }

    /// Takes `prb` resource blocks from the lowest sub-bands that have some; the sub-bands and the
    /// first block.
    pub(crate) fn take(&mut self, prb: u16) -> Option<(u32, u16)> {
        if self.count() < prb || self.dcis == 0 {
            return None;
        }
        self.dcis -= 1;
        let (mut left, mut bands, mut from) = (prb, 0, None);
        for band in 0..SUB_BANDS {
            let take = self.bands[band].min(left);
            if take > 0 {
                from.get_or_insert(self.first[band]);
                self.bands[band] -= take;
                self.first[band] += take;
                bands |= 1 << band;
                left -= take;
            }
        }
        Some((bands, from.unwrap_or(0)))
    }
}
