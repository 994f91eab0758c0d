//! Common code for the records of LTE's and NR's RRC messages: the message of each number, and
//! messages in segments.

use alloc::vec::Vec;

use super::{RecordError, Version};
use crate::LogRecord;

/// A kind of RRC message: the messages of a logical channel, or a part that is logged separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RrcPdu {
    /// LTE, master information block.
    LteBcchBch,
    /// LTE, system information.
    LteBcchDlSch,
    /// LTE, multicast control.
    LteMcch,
    /// LTE, paging.
    LtePcch,
    /// LTE, downlink before a connection.
    LteDlCcch,
    /// LTE, downlink of a connection.
    LteDlDcch,
    /// LTE, uplink before a connection.
    LteUlCcch,
    /// LTE, uplink of a connection.
    LteUlDcch,
    /// NB-IoT, master information block.
    NbBcchBch,
    /// NB-IoT, system information.
    NbBcchDlSch,
    /// NB-IoT, paging.
    NbPcch,
    /// NB-IoT, downlink before a connection.
    NbDlCcch,
    /// NB-IoT, downlink of a connection.
    NbDlDcch,
    /// NB-IoT, uplink before a connection.
    NbUlCcch,
    /// NB-IoT, uplink of a connection.
    NbUlDcch,
    /// NR, master information block.
    NrBcchBch,
    /// NR, system information.
    NrBcchDlSch,
    /// NR, downlink before a connection.
    NrDlCcch,
    /// NR, downlink of a connection.
    NrDlDcch,
    /// NR, multicast control.
    NrMcch,
    /// NR, paging.
    NrPcch,
    /// NR, uplink before a connection.
    NrUlCcch,
    /// NR, uplink before a connection, with a full identity.
    NrUlCcch1,
    /// NR, uplink of a connection.
    NrUlDcch,
    /// NR, a reconfiguration that came within a message of LTE.
    NrReconfiguration,
    /// NR, the answer to it.
    NrReconfigurationComplete,
    /// NR, a radio bearer configuration that came within a message of LTE.
    NrRadioBearerConfig,
    /// NR, capabilities of the device.
    NrCapability,
    /// Capabilities of the device with LTE and NR together.
    MrdcCapability,
}

impl RrcPdu {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LteBcchBch => "lte_bcch_bch",
            Self::LteBcchDlSch => "lte_bcch_dl_sch",
            Self::LteMcch => "lte_mcch",
            Self::LtePcch => "lte_pcch",
            Self::LteDlCcch => "lte_dl_ccch",
            Self::LteDlDcch => "lte_dl_dcch",
            Self::LteUlCcch => "lte_ul_ccch",
            Self::LteUlDcch => "lte_ul_dcch",
            Self::NbBcchBch => "nb_bcch_bch",
            Self::NbBcchDlSch => "nb_bcch_dl_sch",
            Self::NbPcch => "nb_pcch",
            Self::NbDlCcch => "nb_dl_ccch",
            Self::NbDlDcch => "nb_dl_dcch",
            Self::NbUlCcch => "nb_ul_ccch",
            Self::NbUlDcch => "nb_ul_dcch",
            Self::NrBcchBch => "nr_bcch_bch",
            Self::NrBcchDlSch => "nr_bcch_dl_sch",
            Self::NrDlCcch => "nr_dl_ccch",
            Self::NrDlDcch => "nr_dl_dcch",
            Self::NrMcch => "nr_mcch",
            Self::NrPcch => "nr_pcch",
            Self::NrUlCcch => "nr_ul_ccch",
            Self::NrUlCcch1 => "nr_ul_ccch1",
            Self::NrUlDcch => "nr_ul_dcch",
            Self::NrReconfiguration => "nr_reconfiguration",
            Self::NrReconfigurationComplete => "nr_reconfiguration_complete",
            Self::NrRadioBearerConfig => "nr_radio_bearer_config",
            Self::NrCapability => "nr_capability",
            Self::MrdcCapability => "mrdc_capability",
        }
    }
}

/// The numbers that a version of a record gives to kinds of messages.
pub(super) type Pdus = &'static [(u64, RrcPdu)];

/// The same numbers with names, for the tables.
pub(super) const fn pdu_names<const N: usize>(pdus: &[(u64, RrcPdu)]) -> [(u64, &'static str); N] {
    assert!(pdus.len() == N);
    let mut names = [(0, ""); N];
    let mut i = 0;
    while i < N {
        names[i] = (pdus[i].0, pdus[i].1.name());
        i += 1;
    }
    names
}

/// The kind of message with this number.
pub(super) fn pdu_of(pdus: Pdus, number: u64) -> Option<RrcPdu> {
    pdus.iter().find(|(found, _)| *found == number).map(|(_, pdu)| *pdu)
}

/// The kind of message and the part of it, if both are described. Versions differ in their numbers,
/// so an unknown number is an error, like an undescribed version.
pub(super) fn described(
    log: &LogRecord<'_>,
    pdu: Option<RrcPdu>,
    number: u8,
    segment: Option<Segment>,
) -> Result<(RrcPdu, Segment), RecordError> {
    let (code, len) = (log.code, log.body.len());
    let packet = code.version_of(log.body).unwrap_or_default();
    let (Some(pdu), Some(segment)) = (pdu, segment) else {
        let version = Version::Message { packet, number };
        return Err(RecordError::Unsupported { code, version, len });
    };
    Ok((pdu, segment))
}

/// The part of a message that a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// The whole message.
    Whole,
    /// A part with others after it: its number, 1..=6.
    Part(u8),
    /// The last part.
    Last,
}

impl Segment {
    /// From the number in a record; `None` for an unknown one.
    pub(super) const fn from_number(number: u64) -> Option<Self> {
        match number {
            0 => Some(Self::Whole),
            part @ 1..=6 => Some(Self::Part(part as u8)),
            7 => Some(Self::Last),
            _ => None,
        }
    }
}

/// Joins the segments of messages. Each radio and log code needs a separate value of this type.
///
/// ```text
///            Part(1)            Part(n + 1)
///    Empty ──────────▶ n parts ─────────────▶ n + 1 parts
///      ▲                  │ Last: a message
///      └──────────────────┘ anything else: the parts are dropped, and counted
/// ```
#[derive(Clone, Debug, Default)]
pub struct MessageSegments {
    message: Vec<u8>,
    parts: u8,
    dropped: u64,
}

impl MessageSegments {
    /// Takes the message of the next record, and returns the whole message that it completes. At
    /// most seven parts are kept.
    pub fn handle_segment<'a>(&'a mut self, segment: Segment, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let continues = match segment {
            Segment::Part(part) => part == self.parts + 1,
            Segment::Last => self.parts > 0,
            Segment::Whole => false,
        };
        if !continues {
            // A part without a beginning, unless it is a first one, is the rest of a message whose
            // beginning is lost.
            let begins = matches!(segment, Segment::Whole | Segment::Part(1));
            let lost = self.parts > 0 || !begins;
            self.dropped += u64::from(lost);
            self.parts = 0;
        }
        match segment {
            Segment::Whole => return Some(bytes),
            Segment::Part(1) => self.message.clear(),
            _ if !continues => return None,
            _ => {}
        }
        self.message.extend_from_slice(bytes);
        match segment {
            Segment::Part(part) => {
                self.parts = part;
                None
            }
            _ => {
                self.parts = 0;
                Some(&self.message)
            }
        }
    }

    /// Messages that lost a part.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_in_order_make_a_message() {
        let mut segments = MessageSegments::default();
        assert_eq!(segments.handle_segment(Segment::Whole, b"alone"), Some(&b"alone"[..]));
        for _ in 0..2 {
            assert_eq!(segments.handle_segment(Segment::Part(1), b"a"), None);
            assert_eq!(segments.handle_segment(Segment::Part(2), b"b"), None);
            assert_eq!(segments.handle_segment(Segment::Last, b"c"), Some(&b"abc"[..]));
        }
        assert_eq!(segments.dropped(), 0);
    }

    #[test]
    fn a_missing_segment_drops_its_message_and_no_other() {
        let mut segments = MessageSegments::default();
        assert_eq!(segments.handle_segment(Segment::Part(1), b"a"), None);
        assert_eq!(segments.handle_segment(Segment::Part(3), b"c"), None);
        assert_eq!(segments.dropped(), 1);
        assert_eq!(segments.handle_segment(Segment::Part(1), b"x"), None);
        assert_eq!(segments.handle_segment(Segment::Whole, b"alone"), Some(&b"alone"[..]));
        assert_eq!(segments.dropped(), 2);
        assert_eq!(segments.handle_segment(Segment::Part(1), b"x"), None);
        assert_eq!(segments.handle_segment(Segment::Last, b"y"), Some(&b"xy"[..]));
    }
}
