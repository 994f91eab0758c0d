//! The parts of a message that do not identify a person.
//!
//! The lists are of safe contents, not of unsafe ones. A value is shown if it is a number, a flag
//! or one of the specification's names, and if it is within one of the [`ROOMS`], which hold only
//! configuration of the radio, or has a name in [`OPEN`]. Strings of bits and bytes are never
//! shown: identities, positions, areas, keys and messages of the layer above are such strings, or
//! digits outside the rooms. A part without any shown value is one word, because a
//! device's capabilities would identify it by their mere presence.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::Value;

/// The replacement for every hidden value.
const REDACTED: Value<'static> = Value::Name("redacted");

/// Members within which every number is one of the radio's; a test walks all that can be in them.
const ROOMS: &[&str] = &[
    // LTE.
    "antennaInfo",
    "drx-Config",
    "mac-MainConfig",
    "physicalConfigDedicated",
    "radioResourceConfigCommon",
    "radioResourceConfigDedicated",
    "radioResourceConfigDedicatedSCell-r10",
    "radioResourceConfigCommonSCell-r10",
    "securityAlgorithmConfig",
    "tdd-Config",
    // NR.
    "downlinkConfigCommon",
    "mac-CellGroupConfig",
    "physicalCellGroupConfig",
    "rlc-BearerToAddModList",
    "servingCellConfigCommon",
    "spCellConfigCommon",
    "spCellConfigDedicated",
    "sCellConfigCommon",
    "sCellConfigDedicated",
    "tdd-UL-DL-ConfigurationCommon",
    "uplinkConfigCommon",
    // Both.
    "measGapConfig",
    "measIdToAddModList",
    "measIdToRemoveList",
    "quantityConfig",
    "reportConfigToAddModList",
    "sCellToReleaseList",
    "sCellToReleaseList-r10",
];

/// Members that are in a room and none of it: where a satellite is.
const CLOSED: &[&str] = &["ntn-Config-r17", "ephemerisInfo-r17"];

/// Values that may be shown wherever they are.
const OPEN: &[&str] = &[
    "absoluteFrequencySSB",
    "additionalSpectrumEmission",
    "allowedMeasBandwidth",
    "carrierFreq",
    "cellBarred",
    "cn-Domain",
    "dl-Bandwidth",
    "dl-CarrierFreq",
    "dl-CarrierFreq-r10",
    "dl-CarrierFreq-v1090",
    "dl-CarrierFreq-v9e0",
    "drb-Identity",
    "eps-BearerIdentity",
    "establishmentCause",
    "failureType",
    "freqBandIndicator",
    "hysteresis",
    "measId",
    "measObjectId",
    "nextHopChainingCount",
    "physCellId",
    "physCellId-r10",
    "reestablishmentCause",
    "releaseCause",
    "resumeCause",
    "rrc-TransactionIdentifier",
    "rsrp",
    "rsrpResult",
    "rsrpResult-r15",
    "rsrq",
    "rsrqResult",
    "rsrqResult-r15",
    "s-Measure",
    "sCellIndex",
    "sCellIndex-r10",
    "servCellId",
    "si-Periodicity",
    "si-WindowLength",
    "sinr",
    "subCarrierSpacingCommon",
    "t304",
    "targetPhysCellId",
    "timeToTrigger",
    "waitTime",
];

impl<'a> Value<'a> {
    /// The same value without the parts that may identify a person.
    pub fn redacted(&self) -> Value<'a> {
        shown(self, false).unwrap_or(REDACTED)
    }
}

/// The visible part of a value; `None` if nothing is visible.
fn shown<'a>(value: &Value<'a>, safe: bool) -> Option<Value<'a>> {
    match value {
        Value::Null | Value::Boolean(_) | Value::Integer(_) | Value::Name(_) => {
            safe.then(|| value.clone())
        }
        Value::Later(_) | Value::Bits(_) | Value::Octets(_) => None,
        // A message that is encoded within another is treated as a message.
        Value::Contains(value) => Some(Value::Contains(Box::new(shown(value, false)?))),
        Value::Sequence(members) => {
            let members = members.iter().map(|(name, value)| (*name, member(name, value, safe)));
            let members: Vec<_> = members.collect();
            // An empty one shows its presence.
            if !safe && members.iter().all(|(_, value)| value.is_none()) {
                return None;
            }
            let hidden = |value: Option<_>| value.unwrap_or(REDACTED);
            let members = members.into_iter().map(|(name, value)| (name, hidden(value)));
            Some(Value::Sequence(members.collect()))
        }
        Value::List(items) => {
            let items: Vec<_> = items.iter().map(|item| shown(item, safe)).collect();
            if !safe && items.iter().all(Option::is_none) {
                return None;
            }
            let items = items.into_iter().map(|item| item.unwrap_or(REDACTED));
            Some(Value::List(items.collect()))
        }
        Value::Choice(name, value) => match member(name, value, safe) {
            Some(value) => Some(Value::Choice(name, Box::new(value))),
            None => safe.then(|| Value::Choice(name, Box::new(REDACTED))),
        },
    }
}

fn member<'a>(name: &str, value: &Value<'a>, safe: bool) -> Option<Value<'a>> {
    let is_scalar =
        matches!(value, Value::Null | Value::Boolean(_) | Value::Integer(_) | Value::Name(_));
    let is_safe = safe || ROOMS.contains(&name) || is_scalar && OPEN.contains(&name);
    shown(value, is_safe && !CLOSED.contains(&name))
}

#[cfg(test)]
mod tests;
