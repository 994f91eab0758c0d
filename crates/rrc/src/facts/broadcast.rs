//! Facts from broadcast messages of cells.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use sounding_diag::record::RrcPdu;

use super::{Known, number};
use crate::{Pdu, Value};

/// The master information block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MasterInformation {
    /// In LTE, resource blocks of the downlink.
    pub bandwidth_prb: Option<u16>,
    /// In NR, the subcarrier spacing of the first messages, in kHz. Above 6 GHz the real spacing
    /// is four times this value.
    pub spacing_khz: Option<u16>,
    /// The high bits of the frame number: in LTE eight of ten, in NR six.
    pub frame_high: u8,
}

pub(super) fn master_information(pdu: Pdu, value: &Value<'_>) -> Option<Known> {
    let (block, bandwidth_prb, spacing_khz) = match pdu {
        Pdu::Record(RrcPdu::LteBcchBch) => {
            let block = value.get("message")?;
            (block, number::at(block, &["dl-Bandwidth"]), None)
        }
        Pdu::Record(RrcPdu::NrBcchBch) => {
            let block = value.at(&["message", "mib"])?;
            (block, None, number::at(block, &["subCarrierSpacingCommon"]))
        }
        _ => return None,
    };
    Some(Known::MasterInformation(MasterInformation {
        bandwidth_prb: bandwidth_prb.map(|blocks| blocks as u16),
        spacing_khz: spacing_khz.map(|spacing| spacing as u16),
        frame_high: block.get("systemFrameNumber")?.number()? as u8,
    }))
}

/// Identity and place of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SystemInformation {
    /// The networks it belongs to.
    pub networks: Vec<Network>,
    /// Tracking area code.
    pub tac: Option<u32>,
    /// Its identity within the first network.
    pub cell_identity: u64,
    /// Its band; NR has it elsewhere.
    pub band: Option<u16>,
}

/// A network's digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Network {
    /// Mobile country code; `None` means that of the previous network in the list.
    pub mcc: Option<String>,
    /// Mobile network code.
    pub mnc: String,
}

impl Network {
    fn of(value: &Value<'_>) -> Option<Self> {
        let digits = |list: &Value<'_>| -> Option<String> {
            list.items().iter().map(|digit| char::from_digit(digit.integer()? as u32, 10)).collect()
        };
        Some(Self { mcc: value.get("mcc").and_then(digits), mnc: digits(value.get("mnc")?)? })
    }
}

/// SIB1 of TS 36.331 and TS 38.331 §6.2.2.
pub(super) fn system_information(value: &Value<'_>) -> Option<SystemInformation> {
    let access = value.get("cellAccessRelatedInfo");
    if let Some(list) = access.and_then(|access| access.get("plmn-IdentityList")) {
        let networks =
            list.items().iter().filter_map(|item| Network::of(item.get("plmn-Identity")?));
        return Some(SystemInformation {
            networks: networks.collect(),
            tac: access?.get("trackingAreaCode")?.number().map(|tac| tac as u32),
            cell_identity: access?.get("cellIdentity")?.number()?,
            band: Some(value.get("freqBandIndicator")?.integer()? as u16),
        });
    }
    let first = access?.get("plmn-IdentityInfoList")?.items().first()?;
    let networks = first.get("plmn-IdentityList")?.items().iter().filter_map(Network::of);
    Some(SystemInformation {
        networks: networks.collect(),
        tac: first.get("trackingAreaCode").and_then(Value::number).map(|tac| tac as u32),
        cell_identity: first.get("cellIdentity")?.number()?,
        band: None,
    })
}
