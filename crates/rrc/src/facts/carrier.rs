//! Cells and carriers that a device is given.

use serde::Serialize;

use super::number;
use crate::Value;

/// A cell that the device must move to, or that the network adds. A value that the message leaves
/// out does not change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Target {
    /// Physical cell identity.
    pub pci: Option<u16>,
    /// The carrier's number: EARFCN of LTE, NR-ARFCN of the synchronisation block of NR.
    pub arfcn: Option<u32>,
    /// The band.
    pub band: Option<u16>,
    /// Resource blocks of the downlink.
    pub bandwidth_prb: Option<u16>,
    /// The time limit for the attempt, T304, in milliseconds.
    pub timeout_ms: Option<u16>,
}

impl Target {
    /// `MobilityControlInfo`, TS 36.331 §6.3.4; without a carrier the cell is on the same one.
    pub(super) fn of_lte(value: &Value<'_>) -> Option<Self> {
        let later = value.at(&["carrierFreq-v9e0", "dl-CarrierFreq-v9e0"]);
        let target = Self {
            pci: value.get("targetPhysCellId").and_then(small),
            arfcn: later.or(value.at(&["carrierFreq", "dl-CarrierFreq"])).and_then(arfcn),
            band: None,
            bandwidth_prb: bandwidth(value.at(&["carrierBandwidth", "dl-Bandwidth"])),
            timeout_ms: number::at(value, &["t304"]).map(|ms| ms as u16),
        };
        (target != Self::default()).then_some(target)
    }

    /// `ReconfigurationWithSync`, TS 38.331 §6.3.2.
    pub(super) fn of_nr(value: &Value<'_>) -> Option<Self> {
        let common = value.get("spCellConfigCommon");
        let mut target = common.map_or(Self::default(), Self::of_common);
        target.timeout_ms = number::at(value, &["t304"]).map(|ms| ms as u16);
        (target != Self::default()).then_some(target)
    }

    /// `ServingCellConfigCommon`, TS 38.331 §6.3.2.
    fn of_common(common: &Value<'_>) -> Self {
        let frequency = common.at(&["downlinkConfigCommon", "frequencyInfoDL"]);
        let first = |list: &str| frequency?.get(list)?.items().first();
        Self {
            pci: common.get("physCellId").and_then(small),
            arfcn: frequency.and_then(|frequency| arfcn(frequency.get("absoluteFrequencySSB")?)),
            band: first("frequencyBandList").and_then(small),
            bandwidth_prb: first("scs-SpecificCarrierList")
                .and_then(|carrier| small(carrier.get("carrierBandwidth")?)),
            timeout_ms: None,
        }
    }

    /// `SCellToAddMod` of both.
    pub(super) fn of_scell(item: &Value<'_>) -> Option<Self> {
        if let Some(common) = item.get("sCellConfigCommon") {
            return Some(Self::of_common(common));
        }
        let either = |lists: [&str; 2]| lists.iter().find_map(|name| item.get(name));
        let identity = either(["cellIdentification-r10", "cellIdentification-r13"])?;
        let of = |names: [&str; 2]| names.iter().find_map(|name| identity.get(name));
        let later = item.at(&["dl-CarrierFreq-v1090"]);
        let common =
            either(["radioResourceConfigCommonSCell-r10", "radioResourceConfigCommonSCell-r13"]);
        let bandwidth_path = ["nonUL-Configuration-r10", "dl-Bandwidth-r10"];
        Some(Self {
            pci: of(["physCellId-r10", "physCellId-r13"]).and_then(small),
            arfcn: later.or(of(["dl-CarrierFreq-r10", "dl-CarrierFreq-r13"])).and_then(arfcn),
            band: None,
            bandwidth_prb: bandwidth(common.and_then(|common| common.at(&bandwidth_path))),
            timeout_ms: None,
        })
    }
}

fn small(value: &Value<'_>) -> Option<u16> {
    u16::try_from(value.integer()?).ok()
}

fn arfcn(value: &Value<'_>) -> Option<u32> {
    u32::try_from(value.integer()?).ok()
}

/// Resource blocks from a name such as `n50`.
fn bandwidth(value: Option<&Value<'_>>) -> Option<u16> {
    number::of_name(value?.name()?).map(|blocks| blocks as u16)
}

/// A carrier of NR with the subcarrier spacing it can be used with. TS 38.331 §6.3.2,
/// `SCS-SpecificCarrier`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Carrier {
    /// Subcarrier spacing, in kHz.
    pub spacing_khz: u16,
    /// Resource blocks.
    pub bandwidth_prb: u16,
}

impl Carrier {
    pub(super) fn of(value: &Value<'_>) -> Option<Self> {
        Some(Self {
            spacing_khz: number::at(value, &["subcarrierSpacing"])? as u16,
            bandwidth_prb: small(value.get("carrierBandwidth")?)?,
        })
    }
}

/// A part of a carrier of NR. TS 38.331 §6.3.2, `BWP`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BandwidthPart {
    /// Subcarrier spacing, in kHz.
    pub spacing_khz: u16,
    /// Its first resource block.
    pub start_prb: u16,
    /// Resource blocks.
    pub bandwidth_prb: u16,
}

impl BandwidthPart {
    pub(super) fn of(value: &Value<'_>) -> Option<Self> {
        let coded = arfcn(value.get("locationAndBandwidth")?)?;
        // TS 38.213 §12: coded as if there were 275.
        let (start, blocks) = number::start_and_length(coded, 275);
        Some(Self {
            spacing_khz: number::at(value, &["subcarrierSpacing"])? as u16,
            start_prb: start as u16,
            bandwidth_prb: blocks as u16,
        })
    }
}
