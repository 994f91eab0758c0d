//! The channel state feedback of LTE for the whole carrier, the same for 0xB14D and 0xB14E.

use super::csf::{APERIODIC_LAYOUTS, PERIODIC_LAYOUTS};
use super::{RecordError, checked};
use crate::LogCode;
use crate::layout::{Bits, Layout, Node, try_key};
use crate::radio::Tti;

/// A report of channel state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LteCsi {
    /// When it was sent; its place in version 164 is unknown.
    pub tti: Option<Tti>,
    /// Component carrier, 0 for the primary.
    pub carrier: Option<u8>,
    /// Wideband CQI of each codeword, 0..=15. With one layer the second has no meaning.
    pub cqi: [u8; 2],
    /// Layers that it is for, 1..=4. In older versions only reports of rank have it.
    pub rank: Option<u8>,
    /// Whether the CQI counts in the table up to 256QAM (TS 36.213 Table 7.2.3-2).
    pub alternative_table: Option<bool>,
}

/// The bit paths of the fields of [`LteCsi`], in one version.
struct Keys {
    report_type: Option<Bits>,
    /// The version's number for reports of wideband CQI.
    wideband: u64,
    subframe: Option<Bits>,
    frame: Option<Bits>,
    carrier: Option<Bits>,
    cqi: [Option<Bits>; 2],
    rank: Option<Bits>,
    alternative: Option<Bits>,
}

impl Keys {
    const fn of(layout: &Layout, cqi: [&str; 2], wideband: u64, ranked: bool) -> Self {
        let parts = layout.parts;
        Self {
            report_type: try_key(parts, "report_type"),
            wideband,
            subframe: try_key(parts, "subframe"),
            frame: try_key(parts, "frame"),
            carrier: try_key(parts, "carrier"),
            cqi: [try_key(parts, cqi[0]), try_key(parts, cqi[1])],
            rank: if ranked { try_key(parts, "rank") } else { None },
            alternative: try_key(parts, "alternative_cqi_table"),
        }
    }

    fn read(&self, node: &Node<'_>) -> LteCsi {
        let number = |bits: Bits| node.read(bits) as u8;
        let tti = match (self.frame, self.subframe) {
            (Some(frame), Some(subframe)) => {
                Tti::new(node.read(frame) as u16, node.read(subframe) as u8)
            }
            _ => None,
        };
        LteCsi {
            tti,
            carrier: self.carrier.map(number),
            cqi: self.cqi.map(|bits| bits.map_or(0, number)),
            rank: self.rank.map(|bits| number(bits) + 1),
            alternative_table: self.alternative.map(|bits| node.read(bits) != 0),
        }
    }

    fn is_wideband(&self, node: &Node<'_>) -> bool {
        self.report_type.is_none_or(|bits| node.read(bits) == self.wideband)
    }
}

const PERIODIC: [&str; 2] = ["cqi_0", "cqi_1"];
const APERIODIC: [&str; 2] = ["wideband_cqi_0", "wideband_cqi_1"];

static PERIODIC_KEYS: [Keys; 7] = {
    let of = PERIODIC_LAYOUTS;
    [
        // The oldest version numbers its kinds of report one lower. The rank of the first three is in reports
        // of rank.
        Keys::of(&of[0], PERIODIC, 1, false),
        Keys::of(&of[1], PERIODIC, 2, false),
        Keys::of(&of[2], PERIODIC, 2, false),
        Keys::of(&of[3], PERIODIC, 2, true),
        Keys::of(&of[4], PERIODIC, 2, true),
        Keys::of(&of[5], PERIODIC, 2, true),
        Keys::of(&of[6], PERIODIC, 2, true),
    ]
};

static APERIODIC_KEYS: [Keys; 8] = {
    let of = APERIODIC_LAYOUTS;
    [
        Keys::of(&of[0], APERIODIC, 0, true),
        Keys::of(&of[1], APERIODIC, 0, true),
        Keys::of(&of[2], APERIODIC, 0, true),
        Keys::of(&of[3], APERIODIC, 0, true),
        Keys::of(&of[4], APERIODIC, 0, true),
        Keys::of(&of[5], APERIODIC, 0, true),
        Keys::of(&of[6], APERIODIC, 0, true),
        Keys::of(&of[7], APERIODIC, 0, true),
    ]
};

/// Channel state feedback on the uplink control channel.
#[derive(Clone, Copy, Debug)]
pub struct PeriodicCsf<'a> {
    node: Node<'a>,
    version: usize,
}

impl<'a> PeriodicCsf<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB14D);

    /// Reads the body of a record.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        let (node, version) = checked(Self::CODE, PERIODIC_LAYOUTS, body)?;
        Ok(Self { node, version })
    }

    /// The report, if it is one of wideband CQI.
    pub fn report(&self) -> Option<LteCsi> {
        let keys = &PERIODIC_KEYS[self.version];
        keys.is_wideband(&self.node).then(|| keys.read(&self.node))
    }
}

/// Channel state feedback among the data.
#[derive(Clone, Copy, Debug)]
pub struct AperiodicCsf<'a> {
    node: Node<'a>,
    version: usize,
}

impl<'a> AperiodicCsf<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB14E);

    /// Reads the body of a record.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        let (node, version) = checked(Self::CODE, APERIODIC_LAYOUTS, body)?;
        Ok(Self { node, version })
    }

    /// The report.
    pub fn report(&self) -> LteCsi {
        APERIODIC_KEYS[self.version].read(&self.node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_says_the_cqi_of_both_codewords() {
        assert_eq!(PERIODIC_LAYOUTS.len(), PERIODIC_KEYS.len());
        assert_eq!(APERIODIC_LAYOUTS.len(), APERIODIC_KEYS.len());
        for keys in PERIODIC_KEYS.iter().chain(&APERIODIC_KEYS) {
            assert!(keys.cqi.iter().all(Option::is_some));
        }
    }

    #[test]
    fn a_report_of_rank_is_none_of_cqi() {
        // Version 102: two bits of kind from the second of byte 3 on, CQI in the word at 4.
        let mut body = [0_u8; 12];
        body[0] = 102;
        body[3] = 2 << 1;
        body[4..8].copy_from_slice(&(7_u32 << 10 | 5 << 14 | 1 << 22).to_le_bytes());
        let report = PeriodicCsf::parse(&body).expect("described").report().expect("of CQI");
        assert_eq!((report.cqi, report.carrier, report.rank), ([7, 5], Some(1), Some(1)));
        body[3] = 3 << 1;
        assert_eq!(PeriodicCsf::parse(&body).expect("described").report(), None);
    }
}
