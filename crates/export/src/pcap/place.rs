//! Where Wireshark finds a kind of message: its numbers in GSMTAP, and its dissector's name.

use sounding_diag::record::RrcPdu;

use crate::message::{Channel, Message};

/// The places of a kind of message. One without any is left out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// Type and subtype of GSMTAP version 2, as its registry and Wireshark have them.
    pub(super) v2: Option<(u8, u8)>,
    /// Type and subtype of version 3, as its public proposal has them.
    pub(super) v3: Option<(u16, u16)>,
    /// The dissector, by a name that Wireshark 4.0 and later versions know.
    pub(super) dissector: Option<&'static str>,
}

impl Place {
    pub(super) fn of(message: &Message<'_>) -> Self {
        match message.channel {
            Channel::Rrc(pdu) => Self::of_rrc(pdu),
            Channel::NasPlain => Self::lte_nas(0),
            Channel::NasProtected => Self::lte_nas(1),
            Channel::NasNr => {
                // The second octet is the type of protection (TS 24.501 §9.3); 0 is none.
                let protected = message.bytes.get(1).is_some_and(|octet| octet & 0xF > 0);
                let v3 = Some((0x504, u16::from(protected)));
                Self { v2: None, v3, dissector: Some("nas-5gs") }
            }
            Channel::UmtsRrc(channel) => match channel {
                "dl_dcch" => Self::umts(0),
                "ul_dcch" => Self::umts(1),
                "dl_ccch" => Self::umts(2),
                "ul_ccch" => Self::umts(3),
                "pcch" => Self::umts(4),
                "bcch_fach" => Self::umts(7),
                "bcch_bch" => Self::umts(8),
                "mcch" => Self::umts(9),
                "msch" => Self::umts(10),
                _ => Self::default(),
            },
            Channel::UmtsNas => Self::abis(),
            Channel::GsmRr(channel) => match channel {
                "bcch" => Self::um(1),
                "ccch" => Self::um(2),
                "dcch" | "sacch" | "sdcch" | "facch" => Self::abis(),
                _ => Self::default(),
            },
            Channel::GprsMac => Self::um(11),
        }
    }

    fn of_rrc(pdu: RrcPdu) -> Self {
        match pdu {
            RrcPdu::LteDlCcch => Self::lte(0, 8, "lte_rrc.dl_ccch"),
            RrcPdu::LteDlDcch => Self::lte(1, 9, "lte_rrc.dl_dcch"),
            RrcPdu::LteUlCcch => Self::lte(2, 10, "lte_rrc.ul_ccch"),
            RrcPdu::LteUlDcch => Self::lte(3, 11, "lte_rrc.ul_dcch"),
            RrcPdu::LteBcchBch => Self::lte(4, 1, "lte_rrc.bcch_bch"),
            RrcPdu::LteBcchDlSch => Self::lte(5, 3, "lte_rrc.bcch_dl_sch"),
            RrcPdu::LtePcch => Self::lte(6, 7, "lte_rrc.pcch"),
            RrcPdu::LteMcch => Self::lte(7, 6, "lte_rrc.mcch"),
            RrcPdu::NbDlCcch => Self::lte(14, 0x205, "lte_rrc.dl_ccch.nb"),
            RrcPdu::NbDlDcch => Self::lte(15, 0x206, "lte_rrc.dl_dcch.nb"),
            RrcPdu::NbUlCcch => Self::lte(16, 0x207, "lte_rrc.ul_ccch.nb"),
            RrcPdu::NbUlDcch => Self::lte(17, 0x209, "lte_rrc.ul_dcch.nb"),
            RrcPdu::NbBcchBch => Self::lte(18, 0x201, "lte_rrc.bcch_bch.nb"),
            RrcPdu::NbBcchDlSch => Self::lte(20, 0x203, "lte_rrc.bcch_dl_sch.nb"),
            RrcPdu::NbPcch => Self::lte(21, 0x204, "lte_rrc.pcch.nb"),
            RrcPdu::NrBcchBch => Self::nr(1, "nr-rrc.bcch.bch"),
            RrcPdu::NrBcchDlSch => Self::nr(2, "nr-rrc.bcch.dl.sch"),
            RrcPdu::NrDlCcch => Self::nr(3, "nr-rrc.dl.ccch"),
            RrcPdu::NrDlDcch => Self::nr(4, "nr-rrc.dl.dcch"),
            RrcPdu::NrMcch => Self::nr(5, "nr-rrc.mcch"),
            RrcPdu::NrPcch => Self::nr(6, "nr-rrc.pcch"),
            RrcPdu::NrUlCcch => Self::nr(7, "nr-rrc.ul.ccch"),
            RrcPdu::NrUlCcch1 => Self::nr(8, "nr-rrc.ul.ccch1"),
            RrcPdu::NrUlDcch => Self::nr(9, "nr-rrc.ul.dcch"),
            RrcPdu::NrReconfiguration => Self::nr(0x201, "nr-rrc.rrc_reconf"),
            // Wireshark 4.0 has no dissector for it.
            RrcPdu::NrReconfigurationComplete => {
                Self { v3: Some((NR_RRC, 0x202)), ..Self::default() }
            }
            RrcPdu::MrdcCapability => Self::nr(0x203, "nr-rrc.ue_mrdc_cap"),
            RrcPdu::NrCapability => Self::nr(0x204, "nr-rrc.ue_nr_cap"),
            // The proposal has no number for it.
            RrcPdu::NrRadioBearerConfig => {
                Self { dissector: Some("nr-rrc.radiobearerconfig"), ..Self::default() }
            }
        }
    }

    fn lte(v2: u8, v3: u16, dissector: &'static str) -> Self {
        Self { v2: Some((13, v2)), v3: Some((0x403, v3)), dissector: Some(dissector) }
    }

    fn nr(v3: u16, dissector: &'static str) -> Self {
        Self { v2: None, v3: Some((NR_RRC, v3)), dissector: Some(dissector) }
    }

    fn lte_nas(protection: u8) -> Self {
        let v3 = Some((0x404, u16::from(protection)));
        Self { v2: Some((18, protection)), v3, dissector: None }
    }

    /// Version 3 counts the channels of UMTS from 1.
    fn umts(channel: u8) -> Self {
        let v3 = Some((0x303, u16::from(channel) + 1));
        Self { v2: Some((12, channel)), v3, dissector: None }
    }

    fn um(channel: u8) -> Self {
        Self { v2: Some((1, channel)), v3: Some((0x200, u16::from(channel))), dissector: None }
    }

    fn abis() -> Self {
        Self { v2: Some((2, 0)), v3: Some((0x205, 0)), dissector: None }
    }
}

const NR_RRC: u16 = 0x503;
