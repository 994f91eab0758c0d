//! The channel state feedback of LTE for the whole carrier, the same for 0xB14D and 0xB14E.

use super::csf::{APERIODIC_LAYOUTS, PERIODIC_LAYOUTS};
use super::{RecordError, checked};
use crate::LogCode;
use crate::layout::{Bits, Layout, Node, try_key};
use crate::radio::Tti;

/// A report of channel quality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LteCsi {
    /// When it was sent.
    pub tti: Option<Tti>,
    /// Component carrier, 0 for the primary.
    pub carrier: Option<u8>,
    /// The transmission mode, as the modem numbers it.
    pub mode: Option<u8>,
    /// Wideband CQI of the first codeword, 0..=15.
    pub cqi: u8,
    /// The same of the second codeword, which has a meaning with several layers only. Reports
    /// without a precoder have none (TS 36.213 §7.2.2).
    pub second: Option<u8>,
    /// Layers that it is for, 1..=4. If it is unknown, the last [`LteRank`] has it.
    pub rank: Option<u8>,
    /// Whether the CQI counts in the table up to 256QAM (TS 36.213 Table 7.2.3-2).
    pub alternative_table: Option<bool>,
}

/// A report of the rank, which the reports of quality after it are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LteRank {
    /// Component carrier, 0 for the primary.
    pub carrier: Option<u8>,
    /// The transmission mode, as the modem numbers it.
    pub mode: Option<u8>,
    /// Layers, 1..=4.
    pub rank: u8,
}

/// The contents of a periodic report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeriodicReport {
    /// Channel quality over the whole carrier.
    Quality(LteCsi),
    /// The rank alone.
    Rank(LteRank),
}

/// The bit paths of the fields of [`LteCsi`], in one version.
struct Keys {
    report_type: Option<Bits>,
    /// The version's number for reports of wideband CQI with a precoder. Those of rank and of
    /// wideband CQI alone follow.
    precoded: u64,
    subframe: Option<Bits>,
    frame: Option<Bits>,
    carrier: Option<Bits>,
    mode: Option<Bits>,
    cqi: [Option<Bits>; 2],
    rank: Option<Bits>,
    /// Reports of quality with a precoder have the rank too.
    ranked: bool,
    alternative: Option<Bits>,
}

impl Keys {
    const fn of(layout: &Layout, cqi: [&str; 2], precoded: u64, ranked: bool) -> Self {
        let parts = layout.parts;
        Self {
            report_type: try_key(parts, "report_type"),
            precoded,
            subframe: try_key(parts, "subframe"),
            frame: try_key(parts, "frame"),
            carrier: try_key(parts, "carrier"),
            mode: try_key(parts, "transmission_mode"),
            cqi: [try_key(parts, cqi[0]), try_key(parts, cqi[1])],
            rank: try_key(parts, "rank"),
            ranked,
            alternative: try_key(parts, "alternative_cqi_table"),
        }
    }

    /// A report of quality, with a precoder or without.
    fn read(&self, node: &Node<'_>, precoded: bool) -> LteCsi {
        let number = |bits: Bits| node.read(bits) as u8;
        let tti = match (self.frame, self.subframe) {
            (Some(frame), Some(subframe)) => {
                Tti::new(node.read(frame) as u16, node.read(subframe) as u8)
            }
            _ => None,
        };
        let rank = self.rank.filter(|_| precoded && self.ranked);
        LteCsi {
            tti,
            carrier: self.carrier.map(number),
            mode: self.mode.map(number),
            cqi: self.cqi[0].map_or(0, number),
            second: self.cqi[1].filter(|_| precoded).map(number),
            rank: rank.map(|bits| number(bits) + 1),
            alternative_table: self.alternative.map(|bits| node.read(bits) != 0),
        }
    }

    fn periodic(&self, node: &Node<'_>) -> Option<PeriodicReport> {
        let number = |bits: Bits| node.read(bits) as u8;
        let kind = self.report_type.map_or(self.precoded, |bits| node.read(bits));
        match kind.checked_sub(self.precoded)? {
            0 => Some(PeriodicReport::Quality(self.read(node, true))),
            1 => Some(PeriodicReport::Rank(LteRank {
                carrier: self.carrier.map(number),
                mode: self.mode.map(number),
                rank: number(self.rank?) + 1,
            })),
            2 => Some(PeriodicReport::Quality(self.read(node, false))),
            _ => None,
        }
    }
}

const PERIODIC: [&str; 2] = ["cqi_0", "cqi_1"];
const APERIODIC: [&str; 2] = ["wideband_cqi_0", "wideband_cqi_1"];

static PERIODIC_KEYS: [Keys; 7] = {
    let of = PERIODIC_LAYOUTS;
    [
        // The oldest version numbers its kinds of report one lower. The rank of the first three
        // and of 164 is in reports of rank.
        Keys::of(&of[0], PERIODIC, 1, false),
        Keys::of(&of[1], PERIODIC, 2, false),
        Keys::of(&of[2], PERIODIC, 2, false),
        Keys::of(&of[3], PERIODIC, 2, true),
        Keys::of(&of[4], PERIODIC, 2, true),
        Keys::of(&of[5], PERIODIC, 2, true),
        Keys::of(&of[6], PERIODIC, 2, false),
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
    ///
    /// # Errors
    ///
    /// [`RecordError::Unsupported`] if the version is not described; [`RecordError::Corrupt`] if
    /// the body is too short for it.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        let (node, version) = checked(Self::CODE, PERIODIC_LAYOUTS, body)?;
        Ok(Self { node, version })
    }

    /// The report, if it is one of the rank or of wideband CQI.
    pub fn report(&self) -> Option<PeriodicReport> {
        PERIODIC_KEYS[self.version].periodic(&self.node)
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
    ///
    /// # Errors
    ///
    /// [`RecordError::Unsupported`] if the version is not described; [`RecordError::Corrupt`] if
    /// the body is too short for it.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        let (node, version) = checked(Self::CODE, APERIODIC_LAYOUTS, body)?;
        Ok(Self { node, version })
    }

    /// The report.
    pub fn report(&self) -> LteCsi {
        APERIODIC_KEYS[self.version].read(&self.node, true)
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

    /// A body of version 101 or 102: two bits of kind from the second of byte 3 on, CQI in the word
    /// at 4, rank in byte 9.
    fn report(version: u8, kind: u8, cqi: [u32; 2], rank: u8) -> Option<PeriodicReport> {
        let mut body = [0_u8; 12];
        body[0] = version;
        body[3] = kind << 1;
        let word = cqi[0] << 10 | cqi[1] << 14 | 1 << 22 | 3 << 26;
        body[4..8].copy_from_slice(&word.to_le_bytes());
        body[9] = (rank - 1) << 2;
        PeriodicCsf::parse(&body).expect("described").report()
    }

    #[test]
    fn a_report_of_rank_is_none_of_cqi() {
        for version in [101, 102] {
            let Some(PeriodicReport::Quality(csi)) = report(version, 2, [7, 5], 1) else {
                panic!("of CQI")
            };
            assert_eq!(
                (csi.cqi, csi.second, csi.carrier, csi.rank),
                (7, Some(5), Some(1), Some(1))
            );
            let rank = LteRank { carrier: Some(1), mode: Some(3), rank: 2 };
            assert_eq!(report(version, 3, [0, 0], 2), Some(PeriodicReport::Rank(rank)));
            assert_eq!(report(version, 1, [7, 5], 1), None);
        }
    }

    #[test]
    fn wideband_cqi_without_a_precoder_has_the_first_codeword_and_the_last_rank() {
        let Some(PeriodicReport::Quality(csi)) = report(101, 4, [9, 0], 1) else {
            panic!("of CQI")
        };
        assert_eq!((csi.cqi, csi.second, csi.mode, csi.rank), (9, None, Some(3), None));
    }

    #[test]
    fn version_164_says_of_what_a_report_is() {
        let report = |kind: u32| {
            let mut body = [0; 14];
            body[0] = 164;
            body[1..5].copy_from_slice(&(7 | 300 << 4 | 1 << 14 | kind << 26).to_le_bytes());
            body[6..8].copy_from_slice(&(11u16 << 4 | 9 << 8 | 2 << 12).to_le_bytes());
            body[8] = 4;
            body[11] = 1;
            PeriodicCsf::parse(&body).expect("described").report()
        };
        let Some(PeriodicReport::Quality(csi)) = report(2) else { panic!("of CQI") };
        assert_eq!((csi.cqi, csi.second, csi.carrier, csi.rank), (11, Some(9), Some(1), None));
        assert_eq!(csi.tti, Tti::new(300, 7));
        let rank = LteRank { carrier: Some(1), mode: Some(4), rank: 2 };
        assert_eq!(report(3), Some(PeriodicReport::Rank(rank)));
    }
}
