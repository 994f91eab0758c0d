//! The name of the message, and the change of the connection.

use serde::Serialize;

use sounding_diag::record::RrcPdu;

use crate::{Pdu, Value};

/// What a message does to the connection between device and network.
///
/// ```text
///          Request, Setup, SetupComplete            Suspend
///   idle ─────────────────────────────▶ connected ──────────▶ inactive
///     ▲  ◀───────────────────────────── │  ▲  ◀────────────── │
///     │     Release                     │  │  ResumeRequest, Resume, ResumeComplete
///     │                                 ▼  │
///     └──── ReestablishmentReject ──── Reestablishment…
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The network calls devices.
    Paging,
    /// The device asks for a connection.
    Request,
    /// The network gives one.
    Setup,
    /// The device has it.
    SetupComplete,
    /// The network refuses.
    Reject,
    /// The network changes the connection.
    Reconfiguration,
    /// The network changes the connection, and with it the cell.
    Handover,
    /// The device has followed.
    ReconfigurationComplete,
    /// The device has lost the connection and asks to re-establish it.
    ReestablishmentRequest,
    /// It may.
    Reestablishment,
    /// It does.
    ReestablishmentComplete,
    /// It may not.
    ReestablishmentReject,
    /// The network ends the connection.
    Release,
    /// The network ends the connection so that it can be taken up again.
    Suspend,
    /// The device asks to resume it.
    ResumeRequest,
    /// It may.
    Resume,
    /// It does.
    ResumeComplete,
    /// Encryption and integrity begin.
    SecurityMode,
    /// The device reports measurements.
    MeasurementReport,
    /// The secondary group of cells has failed.
    SecondaryFailure,
}

/// The message's name: the last of the alternatives that select the message.
pub(super) fn message(pdu: Pdu, value: &Value<'_>) -> &'static str {
    match pdu {
        Pdu::Record(RrcPdu::LteBcchBch | RrcPdu::NbBcchBch) => return "masterInformationBlock",
        Pdu::Record(RrcPdu::NrReconfiguration) => return "rrcReconfiguration",
        Pdu::Record(RrcPdu::NrReconfigurationComplete) => return "rrcReconfigurationComplete",
        Pdu::Record(RrcPdu::NrRadioBearerConfig) => return "radioBearerConfig",
        Pdu::Record(RrcPdu::NrCapability) => return "ue-NR-Capability",
        Pdu::Record(RrcPdu::MrdcCapability) => return "ue-MRDC-Capability",
        Pdu::NrCellGroupConfig => return "cellGroupConfig",
        Pdu::LteCapability => return "ue-EUTRA-Capability",
        Pdu::Record(_) => {}
    }
    let mut name = "";
    let mut here = value.get("message").and_then(Value::chosen);
    while let Some((chosen, value)) = here {
        name = chosen;
        let is_class = matches!(chosen, "c1" | "c2") || chosen.starts_with("messageClassExtension");
        here = if is_class { value.chosen() } else { None };
    }
    name
}

pub(super) fn event(message: &str, value: &Value<'_>) -> Option<Event> {
    // NB-IoT's names end in the release that brought them.
    let plain = message.strip_suffix("-r13").unwrap_or(message);
    Some(match plain {
        "paging" => Event::Paging,
        "rrcConnectionRequest" | "rrcSetupRequest" => Event::Request,
        "rrcConnectionSetup" | "rrcSetup" => Event::Setup,
        "rrcConnectionSetupComplete" | "rrcSetupComplete" => Event::SetupComplete,
        "rrcConnectionReject" | "rrcReject" => Event::Reject,
        "rrcConnectionReconfiguration" if value.find("mobilityControlInfo").is_some() => {
            Event::Handover
        }
        "rrcReconfiguration" if master_changes(value) => Event::Handover,
        "rrcConnectionReconfiguration" | "rrcReconfiguration" => Event::Reconfiguration,
        "rrcConnectionReconfigurationComplete" | "rrcReconfigurationComplete" => {
            Event::ReconfigurationComplete
        }
        "rrcConnectionReestablishmentRequest" | "rrcReestablishmentRequest" => {
            Event::ReestablishmentRequest
        }
        "rrcConnectionReestablishment" | "rrcReestablishment" => Event::Reestablishment,
        "rrcConnectionReestablishmentComplete" | "rrcReestablishmentComplete" => {
            Event::ReestablishmentComplete
        }
        "rrcConnectionReestablishmentReject" => Event::ReestablishmentReject,
        "rrcConnectionRelease" | "rrcRelease" => {
            let cause = value.find("releaseCause").or(value.find("releaseCause-r13"));
            let suspends =
                cause.and_then(Value::name).is_some_and(|cause| cause.contains("suspend"));
            match suspends || cause.is_none() && value.find("suspendConfig").is_some() {
                true => Event::Suspend,
                false => Event::Release,
            }
        }
        "rrcConnectionResumeRequest" | "rrcResumeRequest" | "rrcResumeRequest1" => {
            Event::ResumeRequest
        }
        "rrcConnectionResume" | "rrcResume" => Event::Resume,
        "rrcConnectionResumeComplete" | "rrcResumeComplete" => Event::ResumeComplete,
        "securityModeCommand" => Event::SecurityMode,
        "measurementReport" => Event::MeasurementReport,
        "scgFailureInformation-r12" | "scgFailureInformationNR-r15" | "scgFailureInformation" => {
            Event::SecondaryFailure
        }
        // The other way of saying that a device goes to another network's cell.
        "mobilityFromEUTRACommand" | "mobilityFromNRCommand" => Event::Handover,
        _ => return None,
    })
}

/// Whether the first cell of the master group changes; a change of the secondary group's keeps the
/// connection.
fn master_changes(value: &Value<'_>) -> bool {
    value
        .find("masterCellGroup")
        .is_some_and(|group| group.find("reconfigurationWithSync").is_some())
}
