//! RRC and NAS: 0xB0C0, 0xB821, 0xB0E0 to 0xB0EE, 0x412F, 0x512F, 0x7130 to 0x713A.

use serde_json::{Map, Value as Json, json};
use sounding_diag::LogRecord;
use sounding_diag::record::{LteRrc, NrRrc, RrcPdu};

use super::{Texts, differently, error, ours, same, text, theirs};
use crate::agree::Rule;
use crate::tree::Item;

/// A record without a version.
fn unversioned(own: Vec<Rule>) -> Vec<Rule> {
    let mut rules = vec![theirs("log_msg_len"), theirs("type_id"), theirs("timestamp")];
    rules.extend(own);
    rules
}

/// Takes the message out of the reference's object for it: its bytes go where the object was, and
/// what the reference takes it for is returned.
fn unpack(theirs: &mut Map<String, Json>) -> Option<String> {
    let message = theirs.get_mut("Msg")?;
    let kind = message["proto"].as_str()?.to_owned();
    let hex = message["hex"].as_str()?.to_owned();
    *message = json!(format!("0x{hex}"));
    Some(kind)
}

/// The message, where the reference has one.
fn message(theirs: &Map<String, Json>) -> Rule {
    if theirs.contains_key("Msg") { same("message", "Msg") } else { ours("message") }
}

/// What the reference calls a kind of message.
fn reference_name(pdu: RrcPdu) -> String {
    let name = pdu.name();
    match (name.split_at(3), pdu) {
        (("lte", channel), _) => format!("LTE-RRC{}", channel.to_uppercase()),
        (("nb_", channel), _) => format!("LTE-RRC_{}_NB", channel.to_uppercase()),
        // It takes the answer for the message of the channel it could have come by.
        (_, RrcPdu::NrReconfigurationComplete) => "nr-rrc.ul.dcch".to_owned(),
        (_, RrcPdu::NrReconfiguration) => "nr-rrc.rrc_reconf".to_owned(),
        (_, RrcPdu::NrRadioBearerConfig) => "nr-rrc.radio_bearer_conf".to_owned(),
        (("nr_", channel), _) => format!("nr-rrc.{}", channel.replace('_', ".")),
        _ => name.to_owned(),
    }
}

fn same_kind(pdu: Option<RrcPdu>, kind: Option<String>) -> Result<(), String> {
    let own = pdu.map(reference_name);
    if own == kind { Ok(()) } else { Err(format!("we take it for {own:?}, they for {kind:?}")) }
}

pub(super) fn lte_rrc(
    log: &LogRecord<'_>,
    reference: &mut Map<String, Json>,
) -> Result<Vec<Rule>, String> {
    let pdu = LteRrc::parse(log.body).map_err(|error| error.to_string())?.pdu;
    same_kind(pdu, unpack(reference))?;
    let mut rules = unversioned(vec![
        same("version", "Pkt Version"),
        same("release", "RRC Release Number"),
        same("radio_bearer", "Radio Bearer ID"),
        same("pci", "Physical Cell ID"),
        ours("subframe"),
        ours("above_frame"),
        same("pdu", "PDU Number"),
    ]);
    rules.extend(match log.body[0] {
        26 => vec![
            same("release_version", "RRC Version Number"),
            same("nr_release", "NR RRC Release Number"),
            same("nr_release_version", "NR RRC Version Number"),
            error("earfcn", "Freq", |item| json!(number(item, "earfcn") & 0xFFFF)),
            error("frame", "SysFrameNum/SubFrameNum", |item| {
                json!(number(item, "earfcn") >> 16 | time(item) << 16)
            }),
        ],
        _ => vec![
            same("release_version", "Major/minor"),
            same("earfcn", "Freq"),
            differently("frame", "SysFrameNum/SubFrameNum", |item| json!(time(item))),
        ],
    });
    rules.extend(match log.body[0] {
        7 => vec![
            error("sib_mask", "SIB Mask in SI", |item| json!(number(item, "len_bytes") >> 8)),
            error("len_bytes", "Msg Length", |item| json!(number(item, "len_bytes") & 255)),
            error("message", "Msg", |item| {
                let bytes = item.bytes("message").unwrap_or_default();
                json!(hex(&bytes[..bytes.len() & 255]))
            }),
        ],
        _ => vec![
            differently("sib_mask", "SIB Mask in SI", |item| json!(number(item, "sib_mask") & 255)),
            same("len_bytes", "Msg Length"),
            message(reference),
        ],
    });
    Ok(rules)
}

/// Frame, subframe and what is above them, as one number.
fn time(item: &Item) -> i64 {
    number(item, "above_frame") << 14 | number(item, "frame") << 4 | number(item, "subframe")
}

pub(super) fn nr_rrc(
    log: &LogRecord<'_>,
    reference: &mut Map<String, Json>,
) -> Result<Vec<Rule>, String> {
    let pdu = NrRrc::parse(log.body).map_err(|error| error.to_string())?.pdu;
    same_kind(pdu, unpack(reference))?;
    Ok(unversioned(vec![
        same("version", "Pkt Version"),
        theirs("Unknown"),
        same("release", "RRC Release Number"),
        same("release_version", "RRC Version Number"),
        same("radio_bearer", "Radio Bearer ID"),
        same("pci", "Physical Cell ID"),
        same("nr_arfcn", "Freq"),
        same("time", "SysFrameNum/SubFrameNum"),
        same("pdu", "PDU Number"),
        differently("sib_mask", "SIB Mask in SI", |item| json!(number(item, "sib_mask") & 255)),
        same("len_bytes", "Msg Length"),
        match pdu {
            Some(RrcPdu::NrReconfigurationComplete) => differently("message", "Msg", |item| {
                json!(hex(&as_channel_message(item.bytes("message").unwrap_or_default())))
            }),
            _ => message(reference),
        },
    ]))
}

/// The reference makes a message of the channel of the answer by putting five bits before it: which
/// alternative it is, and which message of those.
fn as_channel_message(answer: &[u8]) -> Vec<u8> {
    let mut above = 1;
    let mut message: Vec<u8> = Vec::new();
    for byte in answer {
        message.push(above << 3 | byte >> 5);
        above = byte & 31;
    }
    message.push(above << 3);
    message
}

pub(super) fn lte_nas(reference: &mut Map<String, Json>) -> Vec<Rule> {
    unpack(reference);
    unversioned(vec![
        same("version", "Pkt Version"),
        same("release", "RRC Release Number"),
        same("release_major", "Major Version"),
        same("release_minor", "Minor Version"),
        message(reference),
    ])
}

pub(super) fn bearer() -> Vec<Rule> {
    unversioned(vec![
        same("version", "Version"),
        same("bearer_kind", "EPS bearer type"),
        same("bearer", "EPS bearer ID"),
        same("bearer_state", "EPS bearer state"),
        ours("unknown"),
        same("qos_len_bytes", "Len"),
        same("qci", "QCI"),
        same("max_rate_up_raw", "UL MBR"),
        same("max_rate_down_raw", "DL MBR"),
        same("guaranteed_rate_up_raw", "UL GBR"),
        same("guaranteed_rate_down_raw", "DL GBR"),
        same("max_rate_up_ext_raw", "UL MBR ext"),
        same("max_rate_down_ext_raw", "DL MBR ext"),
        same("guaranteed_rate_up_ext_raw", "UL GBR ext"),
        same("guaranteed_rate_down_ext_raw", "DL GBR ext"),
    ])
}

const EMM: Texts = &[
    (0, "EMM_NULL"),
    (1, "EMM_DEREGISTERED"),
    (2, "EMM_REGISTERED_INITIATED"),
    (3, "EMM_REGISTERED"),
    (4, "EMM_TRACKING_AREA_UPDATING_INITIATED"),
    (5, "EMM_SERVICE_REQUEST_INITIATED"),
    (6, "EMM_DEREGISTERED_INITIATED"),
];

pub(super) fn emm_state() -> Vec<Rule> {
    unversioned(vec![
        same("version", "Version"),
        text("emm_state", "EMM State", EMM),
        differently("emm_substate", "EMM Substate", emm_substate),
        differently("plmn", "PLMN", |item| network(item, "plmn")),
        same("guti_valid", "GUTI Valid"),
        same("guti_kind", "GUTI UE Id"),
        differently("guti_plmn", "GUTI PLMN", |item| network(item, "guti_plmn")),
        same("guti_mme_group", "GUTI MME Group ID"),
        same("guti_mme_code", "GUTI MME Code"),
        same("guti_m_tmsi", "GUTI M-TMSI"),
    ])
}

/// The reference names substates of some states.
fn emm_substate(item: &Item) -> Json {
    const DEREGISTERED: &[&str] = &[
        "NO_IMSI",
        "PLMN_SEARCH",
        "ATTACH_NEEDED",
        "NO_CELL_AVAILABLE",
        "ATTEMPTING_TO_ATTACH",
        "NORMAL_SERVICE",
        "LIMITED_SERVICE",
    ];
    const REGISTERED: &[&str] = &[
        "NORMAL_SERVICE",
        "UPDATE_NEEDED",
        "ATTEMPTING_TO_UPDATE",
        "NO_CELL_AVAILABLE",
        "PLMN_SEARCH",
        "LIMITED_SERVICE",
    ];
    const INITIATED: &[&str] = &["EMM_WAITING_FOR_NW_RESPONSE", "EMM_WAITING_FOR_ESM_RESPONSE"];
    let (prefix, names) = match number(item, "emm_state") {
        1 => ("EMM_DEREGISTERED_", DEREGISTERED),
        2 => ("", INITIATED),
        // Updates and requests start from being registered and keep its substates.
        3..=5 => ("EMM_REGISTERED_", REGISTERED),
        _ => return json!("Undefined"),
    };
    let substate = number(item, "emm_substate");
    let name = names.get(substate as usize);
    name.map_or(json!(format!("EMM sub-state = {substate}")), |name| {
        json!(format!("{prefix}{name}"))
    })
}

/// The reference prints half an octet in decimal, also if it is no digit.
fn network(item: &Item, name: &str) -> Json {
    json!(item.plmn(name).map(|plmn| plmn.replace('f', "15")))
}

pub(super) fn wcdma_rrc(channel: u8, reference: &mut Map<String, Json>) -> Vec<Rule> {
    unpack(reference);
    let theirs_has_extension = reference.contains_key("Extension SIB Type");
    unversioned(vec![
        same("channel", "Channel Type"),
        same("radio_bearer", "Radio Bearer ID"),
        same("len_bytes", "Message Length"),
        same("sib", if theirs_has_extension { "Extension SIB Type" } else { "Extra SIB Type" }),
        ours("uarfcn"),
        ours("scrambling_code"),
        match channel {
            0x80..=0x8F => error("message", "Msg", message_of_its_length),
            _ => same("message", "Msg"),
        },
    ])
}

/// The reference takes carrier and scrambling code for the beginning of the message, and leaves out
/// as much at its end.
fn message_of_its_length(item: &Item) -> Json {
    let mut bytes = Vec::new();
    bytes.extend((number(item, "uarfcn") as u16).to_le_bytes());
    bytes.extend((number(item, "scrambling_code") as u16).to_le_bytes());
    let message = item.bytes("message").unwrap_or_default();
    bytes.extend(&message[..message.len().saturating_sub(4)]);
    json!(hex(&bytes))
}

pub(super) fn umts_nas(reference: &mut Map<String, Json>) -> Vec<Rule> {
    unpack(reference);
    unversioned(vec![
        text("direction", "Message Direction", &[(0, "TO_UE"), (1, "FROM_UE")]),
        same("len_bytes", "Message Length"),
        message(reference),
    ])
}

pub(super) fn registration() -> Vec<Rule> {
    unversioned(vec![
        same("network_operation_mode", "Network operation mode"),
        same("service_kind", "CS/PS service type"),
        differently("plmn", "PLMN", |item| network(item, "plmn")),
        same("lac", "LAC"),
        same("rac", "RAC"),
        same("available_plmns", "Available PLMN count"),
        same("csg", "CSG"),
    ])
}

const GMM: Texts = &[
    (0, "GMM_NULL"),
    (1, "GMM_DEREGISTERED"),
    (2, "GMM_REGISTERED_INITIATED"),
    (3, "GMM_REGISTERED"),
    (4, "GMM_DEREGISTERED_INITIATED"),
    (5, "GMM_ROUTING_AREA_UPDATING_INITIATED"),
    (6, "GMM_SERVICE_REQUEST_INITIATED"),
];
const GMM_SUBSTATES: Texts = &[
    (0, "GMM_NORMAL_SERVICE"),
    (1, "GMM_LIMITED_SERVICE"),
    (2, "GMM_ATTACH_NEEDED"),
    (3, "GMM_ATTEMPTING_TO_ATTACH"),
    (4, "GMM_NO_IMSI"),
    (5, "GMM_NO_CELL_AVAILABLE"),
    (6, "GMM_PLMN_SEARCH"),
    (7, "GMM_SUSPENDED"),
    (8, "GMM_UPDATE_NEEDED"),
    (9, "GMM_ATTEMPTING_TO_UPDATE"),
    (10, "GMM_ATTEMPTING_TO_UPDATE_MM"),
    (11, "GMM_IMSI_DETACH_INITIATED"),
    (12, "GMM Substate = 12"),
];
const GMM_UPDATES: Texts = &[
    (0, "GMM_GU1_UPDATED"),
    (1, "GMM_GU2_NOT_UPDATED"),
    (2, "GMM_GU3_PLMN_NOT_ALLOWED"),
    (3, "GMM_GU3_ROUTING_AREA_NOT_ALLOWED"),
];

pub(super) fn gmm_state() -> Vec<Rule> {
    unversioned(vec![
        text("gmm_state", "GMM State", GMM),
        text("gmm_substate", "GMM Substate", GMM_SUBSTATES),
        text("gmm_update_status", "GMM Update Status", GMM_UPDATES),
    ])
}

const MM: Texts = &[
    (0, "MM_NULL"),
    (3, "MM_LOCATION_UPDATE_INITIATED"),
    (5, "MM_WAIT_FOR_OUTGOING_MM_CONNECTION"),
    (6, "MM_CONNECTION_ACTIVE"),
    (7, "MM_IMSI_DETACH_INITIATED"),
    (9, "MM_WAIT_FOR_NETWORK_COMMAND"),
    (10, "MM_LOCATION_UPDATE_REJECTED"),
    (13, "MM_WAIT_FOR_RR_CONNECTION_UL"),
    (14, "MM_WAIT_FOR_RR_CONNECTION_MM"),
    (15, "MM_WAIT_FOR_RR_CONNECTION_IMSI_DETACH"),
    (17, "MM_REESTABLISHMENT_INITIATED"),
    (18, "MM_WAIT_FOR_RR_ACTIVE"),
    (19, "MM_IDLE"),
    (20, "MM_WAIT_FOR_ADDITIONAL_OUTGOING_MM_CONNECTION"),
    (21, "MM_WAIT_FOR_RR_CONNECTION_REESTABLISHMENT"),
    (22, "MM_WAIT_FOR_REESTABLISH_DECISION"),
];
const MM_SUBSTATES: Texts = &[
    (0, "MM_NULL_SUBSTATE"),
    (1, "MM_NO_IMSI"),
    (2, "MM_PLMN_SEARCH"),
    (3, "MM_LIMITED_SERVICE"),
    (4, "MM_ATTEMPTING_TO_UPDATE"),
    (5, "MM_LOCATION_UPDATE_NEEDED"),
    (6, "MM_NO_CELL_AVAILABLE"),
    (7, "MM_PLMN_SEARCH_NORMAL_SERVICE"),
    (8, "MM_NORMAL_SERVICE"),
];
const MM_UPDATES: Texts = &[(0, "UPDATED"), (1, "NOT_UPDATED"), (2, "ROAMING_NOT_ALLOWED")];

pub(super) fn mm_state() -> Vec<Rule> {
    unversioned(vec![
        text("mm_state", "MM State", MM),
        text("mm_substate", "MM Substate", MM_SUBSTATES),
        text("mm_update_status", "MM Update Status", MM_UPDATES),
    ])
}

/// The reference reads another record, which has a subscription before what is here: all it has is
/// one byte on.
pub(super) fn gsm_rr(log: &LogRecord<'_>, ours_read: &Item) -> Result<Vec<Rule>, String> {
    let (len, rest) = (number(ours_read, "len_bytes"), log.body.len() as i64 - 3);
    if len != rest {
        return Err(format!("the length is {len}, there are {rest} bytes"));
    }
    Ok(unversioned(vec![
        error("channel", "Subscription ID", |item| {
            json!(number(item, "direction") << 7 | number(item, "channel"))
        }),
        ours("direction"),
        ours("message_kind"),
        ours("len_bytes"),
        theirs("Channel Type"),
        theirs("Direction"),
        theirs("Message Type"),
        error("message", "Message Length in bytes", |item| {
            json!(item.bytes("message").and_then(<[u8]>::first))
        }),
    ]))
}

fn number(item: &Item, name: &str) -> i64 {
    item.number(name).unwrap_or_else(|| panic!("there is no {name}"))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}
