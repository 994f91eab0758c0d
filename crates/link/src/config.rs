use core::time::Duration;

use sounding_kpi::Direction;

use crate::Bound;

/// How granted bytes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The sizes of the granted transport blocks (BISCAY §3.2.2): from PHY records that tell new data from repeated,
    /// because they come every few milliseconds; else from MAC records, which come every 100 ms; else from any.
    Grants,
    /// Equation 1 of BISCAY §3.2.2, from PRB, I_TBS and layers of PHY records; the size that the record itself
    /// states is not looked at.
    Formula,
}

/// What an [`Estimator`] looks at and how it judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Which way.
    pub direction: Direction,
    /// How granted bytes are counted.
    pub method: Method,
    /// Span of modem time that grants are summed over. 100 ms is the MAC summary of BISCAY §3.2.2, and its Fig. 6
    /// finds nothing to gain below.
    pub window: Duration,
    /// Age of the newest record up to which an estimate may be used. 200 ms, chosen; pinned by the staleness tests
    /// of the kernel side.
    pub valid_for: Duration,
    /// Part of a transport block that is IP, in 1/1000: MAC, RLC and PDCP take 2–6 %. 950, chosen.
    pub ip_share_permille: u32,
    /// What to say of the bound instead of judging it: an experiment whose link *is* the capture's grants knows that
    /// they are its capacity.
    pub assume: Option<Bound>,
}

impl Config {
    /// The defaults for one direction.
    pub const fn new(direction: Direction) -> Self {
        Self {
            direction,
            method: Method::Grants,
            window: Duration::from_millis(100),
            valid_for: Duration::from_millis(200),
            ip_share_permille: 950,
            assume: None,
        }
    }
}
