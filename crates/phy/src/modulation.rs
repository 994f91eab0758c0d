/// Modulation of a transport block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Modulation {
    /// 1 bit per symbol: π/2-BPSK of NR uplinks.
    Bpsk,
    /// 2 bits per symbol.
    Qpsk,
    /// 4 bits per symbol.
    Qam16,
    /// 6 bits per symbol.
    Qam64,
    /// 8 bits per symbol.
    Qam256,
    /// 10 bits per symbol: NR downlinks of Release 17.
    Qam1024,
}

impl Modulation {
    /// Bits per symbol, Q_m.
    pub const fn order(self) -> u8 {
        match self {
            Self::Bpsk => 1,
            Self::Qpsk => 2,
            Self::Qam16 => 4,
            Self::Qam64 => 6,
            Self::Qam256 => 8,
            Self::Qam1024 => 10,
        }
    }

    /// The modulation with this Q_m.
    pub const fn of_order(order: u8) -> Option<Self> {
        match order {
            1 => Some(Self::Bpsk),
            2 => Some(Self::Qpsk),
            4 => Some(Self::Qam16),
            6 => Some(Self::Qam64),
            8 => Some(Self::Qam256),
            10 => Some(Self::Qam1024),
            _ => None,
        }
    }
}

/// Modulation and target code rate: a row of a CQI table, or of an MCS table of NR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scheme {
    /// Modulation.
    pub modulation: Modulation,
    /// Target code rate in units of 1/2048. All rates of the tables are whole in this unit. Range
    /// 60..=2048.
    pub rate_2048: u16,
}

impl Scheme {
    /// Data bits per symbol in units of 1/2048.
    pub const fn bits_2048(self) -> u32 {
        self.modulation.order() as u32 * self.rate_2048 as u32
    }

    /// Data bits per symbol: the spectral efficiency of the tables.
    pub fn efficiency(self) -> f32 {
        self.bits_2048() as f32 / 2048.0
    }

    /// The scheme of a device that is not configured for π/2-BPSK: QPSK at half the rate (TS 38.214
    /// §6.1.4.1, q = 2).
    pub const fn without_bpsk(self) -> Self {
        match self.modulation {
            Modulation::Bpsk => {
                Self { modulation: Modulation::Qpsk, rate_2048: self.rate_2048 / 2 }
            }
            _ => self,
        }
    }

    pub(crate) const fn of_row(row: (u8, u16)) -> Self {
        match Modulation::of_order(row.0) {
            Some(modulation) => Self { modulation, rate_2048: row.1 },
            None => panic!("a table has a modulation order that does not exist"),
        }
    }
}
