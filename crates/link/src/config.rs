use core::fmt;
use core::time::Duration;

use sounding_diag::LogCode;
use sounding_estimate::{Bound, Direction, LinkEstimate, Source};

/// What the rate is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The sizes of the granted transport blocks (BISCAY §3.2.2): from PHY records that mark
    /// repeats, because they come every few milliseconds; else from MAC records, which come
    /// every 100 ms; else from any.
    Grants,
    /// Equation 1 of BISCAY §3.2.2, from PRB, I_TBS and layers of PHY records. The size in the
    /// record is used only to find the configuration of an NR cell.
    Formula,
    /// The rate of a CQI, times the share of the carrier that was served (CQIC §3.3). Downlink
    /// only: no device reports the channel that it sends on.
    Cqi,
    /// The device's resource blocks and its part of the idle ones, over the last round trip
    /// (`window`), reduced to what reaches a transport (PBE-CC §4.2.1). The idle ones are known
    /// only with a sniffer.
    Cell,
    /// Resource blocks alone, by a line that is fitted in the first 20 s: BISCAY §5.2's comparison.
    Prb,
    /// I_MCS alone, by a linear fit too.
    Mcs,
    /// RSRP alone, by a linear fit too.
    Rsrp,
}

/// Configuration of an [`Estimator`](crate::Estimator).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The direction.
    pub direction: Direction,
    /// The method behind the rate.
    pub method: Method,
    /// Span of modem time over which a rate is averaged. 100 ms is the MAC summary of BISCAY
    /// §3.2.2, and its Fig. 6 finds no gain below. If a shorter span is configured, granted
    /// rates still use 100 ms while grants come in bursts for which the longer mean predicts
    /// better.
    pub window: Duration,
    /// Age of the newest record up to which an estimate may be used.
    pub valid_for: Duration,
    /// Part of a transport block that is IP, in 1/1000: MAC, RLC and PDCP take 2–6 %. 950, chosen.
    pub ip_share_permille: u32,
    /// A fixed bound instead of a judged one. For experiments whose link *is* the capture's
    /// grants, which are then its capacity.
    pub assume: Option<Bound>,
}

impl Method {
    /// Every method.
    pub const ALL: [Self; 7] =
        [Self::Grants, Self::Formula, Self::Cqi, Self::Cell, Self::Prb, Self::Mcs, Self::Rsrp];

    /// Log records of the channel that it needs in addition to those of grants
    /// (`sounding_kpi::codes`).
    pub const fn channel_codes(self) -> &'static [LogCode] {
        match self {
            Self::Cqi | Self::Cell | Self::Rsrp => sounding_kpi::channel_codes(),
            Self::Grants | Self::Formula | Self::Prb | Self::Mcs => &[],
        }
    }
}

impl Config {
    /// The defaults for one direction.
    pub const fn new(direction: Direction) -> Self {
        Self {
            direction,
            method: Method::Grants,
            window: Duration::from_millis(100),
            valid_for: LinkEstimate::VALID_FOR,
            ip_share_permille: 950,
            assume: None,
        }
    }

    /// The same with rates over `span`, if it is given.
    pub fn over(self, span: Option<Duration>) -> Self {
        Self { window: span.unwrap_or(self.window), ..self }
    }

    /// The same with rates by this method, if one is given and exists.
    pub fn by(self, source: Option<Source>) -> Self {
        let wanted = Method::ALL.into_iter().find(|method| Some(Source::from(*method)) == source);
        Self { method: wanted.unwrap_or(self.method), ..self }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Source::from(*self).fmt(f)
    }
}

impl From<Method> for Source {
    fn from(method: Method) -> Self {
        match method {
            Method::Grants => Self::Grants,
            Method::Formula => Self::Formula,
            Method::Cqi => Self::Cqi,
            Method::Cell => Self::Cell,
            Method::Prb => Self::Prb,
            Method::Mcs => Self::Mcs,
            Method::Rsrp => Self::Rsrp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_by_the_method_that_is_wanted_if_there_is_one() {
        let usual = Config::new(Direction::Downlink);
        assert_eq!(usual.by(Some(Source::Cell)).method, Method::Cell);
        for nothing in [None, Some(Source::None)] {
            assert_eq!(usual.by(nothing), usual, "{nothing:?}");
        }
    }
}
