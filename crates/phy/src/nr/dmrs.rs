/// The pattern of demodulation reference signals over subcarriers (TS 38.211 §7.4.1.1.2,
/// §6.4.1.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DmrsType {
    /// Every second subcarrier: six resource elements in a block for each of the two CDM groups.
    One,
    /// Pairs of subcarriers: four resource elements in a block for each of the three CDM groups.
    Two,
}

/// The demodulation reference signals of an allocation, and the elements beside them that stay
/// free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dmrs {
    /// Configuration type.
    pub kind: DmrsType,
    /// Symbols of the allocation that contain them.
    pub symbols: u8,
    /// CDM groups without data, one at least.
    pub cdm_groups: u8,
}

impl Dmrs {
    /// Resource elements of a block that are not for data, N_DMRS^PRB (TS 38.214 §5.1.3.2).
    pub const fn elements(self) -> u16 {
        let (each, most) = match self.kind {
            DmrsType::One => (6, 2),
            DmrsType::Two => (4, 3),
        };
        let groups = if self.cdm_groups < most { self.cdm_groups } else { most };
        self.symbols as u16 * groups as u16 * each
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_data_beside_them_signals_fill_whole_symbols() {
        for (kind, cdm_groups) in [(DmrsType::One, 2), (DmrsType::Two, 3)] {
            assert_eq!(Dmrs { kind, symbols: 3, cdm_groups }.elements(), 36);
        }
        assert_eq!(Dmrs { kind: DmrsType::One, symbols: 1, cdm_groups: 1 }.elements(), 6);
        assert_eq!(Dmrs { kind: DmrsType::Two, symbols: 2, cdm_groups: 1 }.elements(), 8);
    }
}
