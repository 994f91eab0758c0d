//! 0xB061, 0xB062.

use serde_json::{Map, Value as Json, json};

use super::{Texts, differently, error, list, ours, record, same, text, theirs};
use crate::agree::Rule;
use crate::tree::Item;

/// Random access configuration, whose names differ in their units only.
pub(super) fn configuration(cell: &'static str) -> Vec<Rule> {
    vec![
        same("cell", cell),
        // The low byte, as if the other were always full of ones.
        error("preamble_power_dbm", "Preamble initial power (dB)", |item| {
            json!(item.number("preamble_power_dbm").map(|dbm| (dbm & 0xFF) - 0x100))
        }),
        same("power_ramping_step_db", "Power ramping step (dB)"),
        same("power_ramping_step_db", "Power ramping step"),
        same("ra_index_1", "RA index1"),
        same("ra_index_2", "RA index2"),
        same("max_preambles", "Preamble trans max"),
        same("contention_timer_ms", "Contention resolution timer (ms)"),
        same("contention_timer_ms", "Contention resolution timer"),
        same("message_size_group_a", "Message size Group_A"),
        same("power_offset_group_b", "Power offset Group_B"),
        same("p_max_dbm", "PMax (dBm)"),
        same("p_max_dbm", "PMax"),
        same("delta_preamble_msg3", "Delta preamble Msg3"),
        same("prach_config", "PRACH config"),
        same("zone_length", "CS zone length"),
        same("root_sequence", "Root seq index"),
        same("prach_frequency_offset", "PRACH Freq Offset"),
        theirs("Preamble Format"),
        same("high_speed", "High speed flag"),
        same("max_msg3", "Max retx Msg3"),
        same("response_window", "RA rsp win size"),
    ]
}

const REASON: Texts =
    &[(0, "CONNECTION_REQ"), (1, "RLF"), (2, "UL_DATA"), (3, "DL_DATA"), (4, "HO")];
const CONTENTION: Texts =
    &[(0, "NonContention Based RACH procedure"), (1, "Contention Based RACH procedure")];

/// Of version 2 the reference takes two bytes more for the identity, and the preamble for the kind
/// of procedure.
pub(super) fn trigger(config: u8, version: u8) -> Vec<Rule> {
    let (matching_id, contention) = match version {
        2 => (
            error("matching_id", "Maching ID", |item| {
                let mut id = item.bytes("matching_id").unwrap_or_default().to_vec();
                id.extend(
                    ["contention", "preamble"]
                        .map(|name| item.number(name).unwrap_or_default() as u8),
                );
                json!(format!(
                    "0x{}",
                    id.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
                ))
            }),
            error("contention", "RACH Contention", |item| {
                let preamble = item.number("preamble");
                let found = CONTENTION.iter().find(|(number, _)| Some(*number) == preamble);
                json!(found.map_or("(MI)Unknown", |(_, text)| text))
            }),
        ),
        _ => (
            differently("matching_id", "Maching ID", |item| {
                let text = |byte: &u8| format!("0x{byte:02x}");
                let all = item.bytes("matching_id").unwrap_or_default().iter().map(text);
                json!(all.collect::<Vec<_>>().join(","))
            }),
            text("contention", "RACH Contention", CONTENTION),
        ),
    };
    let mut packet = vec![
        same("id", "Subpacket ID"),
        same("version", "Subpacket Version"),
        same("len_bytes", "Subpacket Size"),
        ours("unsupported"),
        same("subscription", "Sub Id"),
        same("cell_count", "Num Active Cells"),
        list("cells", "Cells", configuration("Cell Id")),
        text("reason", "Rach reason", REASON),
        matching_id,
        same("preamble", "Preamble"),
        contention,
        same("preamble_mask", "Preamble RA mask"),
        same("msg3_bytes", "Msg3 size"),
        match version {
            2 => same("group", "Group chosen"),
            _ => text("group", "Group chosen", &[(0, "Group A(0)")]),
        },
        same("radio_condition_db", "Radio condn (dB)"),
        same("c_rnti", "CRNTI"),
    ];
    packet.extend(if config == 2 { long_configuration() } else { configuration("Cell Id") });
    record(vec![
        same("sub_packet_count", "Number of Subpackets"),
        list("sub_packets", "Subpackets", packet),
    ])
}

/// Of version 2 the reference takes the frequency offset for three bytes, which it cannot read, and
/// everything after it for two bytes further on, where padding and the next sub-packet are.
fn long_configuration() -> Vec<Rule> {
    let moved = ["prach_frequency_offset", "high_speed", "max_msg3", "response_window"];
    let mut rules = configuration("Cell Id");
    rules.retain(|rule| !moved.contains(&rule.ours));
    rules.extend([
        error("prach_frequency_offset", "PRACH Freq Offset", |_| json!(0)),
        ours("high_speed"),
        ours("max_msg3"),
        error("response_window", "High speed flag", |item| json!(item.number("response_window"))),
        theirs("Max retx Msg3"),
        theirs("RA rsp win size"),
    ]);
    rules
}

/// Where the second message begins if the first is taken for absent: at the first.
const MESSAGES: usize = 14;

/// Without a third message the reference skips the first, and reads the second and third where the
/// first begins.
fn misplaced(body: &[u8]) -> Json {
    let word = |at: usize| u16::from_le_bytes([body[at], body[at + 1]]);
    let at = MESSAGES;
    let grant = word(at + 11);
    let pdus = &body[at + 14..=at + 14 + usize::from(grant)];
    let pdus: Vec<_> =
        pdus.iter().map(|byte| json!({ "MAC PDU": format!("0x{byte:02x}") })).collect();
    let raw = body[at + 8..at + 11].iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    json!({
        "Msg2": {
            "Backoff Value (ms)": word(at),
            "Result": if body[at + 2] == 1 { "True" } else { "False" },
            "TCRNTI": word(at + 3),
            "TA value": word(at + 5),
        },
        "Msg3": {
            "Grant Raw": format!("0x{raw}"),
            "Grant": grant,
            "Harq ID": body[at + 13],
            "MAC PDUs": pdus,
        },
    })
}

/// Puts the fields of the messages among those of the attempt.
fn flatten(packet: &mut Map<String, Json>) {
    for message in ["Msg1", "Msg2", "Msg3"] {
        if let Some(Json::Object(fields)) = packet.remove(message) {
            packet.extend(fields);
        }
    }
    if let Some(Json::Array(pdus)) = packet.remove("MAC PDUs") {
        let byte = |pdu: &Json| {
            pdu["MAC PDU"].as_str().and_then(|text| text.strip_prefix("0x")).map(str::to_owned)
        };
        let hex: String = pdus.iter().take(10).filter_map(byte).collect();
        packet.insert("MAC PDUs".into(), json!(hex));
    }
}

pub(super) fn attempt(
    mine: &mut Item,
    reference: &mut Map<String, Json>,
    body: &[u8],
) -> Result<Vec<Rule>, String> {
    let theirs_of = reference["Subpackets"].as_array_mut().into_iter().flatten();
    let packets = mine.list_mut("sub_packets").into_iter().flatten();
    for (packet, theirs) in packets.zip(theirs_of) {
        let theirs = theirs.as_object_mut().ok_or("their sub-packet is no object")?;
        if theirs.contains_key("Msg1") {
            flatten(theirs);
            continue;
        }
        let wanted = misplaced(body);
        let found = json!({ "Msg2": theirs.remove("Msg2"), "Msg3": theirs.remove("Msg3") });
        if found != wanted {
            return Err(format!("misplaced messages should be {wanted}, are {found}"));
        }
        let messages = packet.0.iter().position(|(name, _)| *name == "preamble");
        packet.0.truncate(messages.ok_or("we have no messages")?);
    }
    let packet = vec![
        same("id", "Subpacket ID"),
        same("version", "Subpacket Version"),
        same("len_bytes", "Subpacket Size"),
        same("subscription", "Sub Id"),
        same("cell", "Cell Id"),
        same("attempt", "Retx counter"),
        text("result", "Rach result", &[(0, "Success"), (1, "Failure at MSG2"), (4, "Aborted")]),
        text(
            "contention",
            "Contention procedure",
            &[(0, "Contention Free RACH Procedure"), (1, "Contention Based RACH procedure")],
        ),
        differently("msg1_sent", "Rach msg bmasks", |item| {
            let bit = |name, shift: i64| item.number(name).map_or(0, |set| set << shift);
            json!(bit("msg1_sent", 0) | bit("msg2_received", 1) | bit("msg3_sent", 2))
        }),
        ours("msg2_received"),
        ours("msg3_sent"),
        same("preamble", "Preamble Index"),
        same("preamble_mask", "Preamble index mask"),
        // In two versions the reference takes a two's complement number for a plain one.
        error("preamble_power_dbm", "Preamble power offset", |item| {
            let plain = !item.0.iter().any(|(name, _)| *name == "subscription")
                && item.number("coverage_level").is_none();
            json!(item.number("preamble_power_dbm").map(|dbm| if plain {
                dbm
            } else {
                dbm & 0xFFFF
            }))
        }),
        text("coverage_level", "CE Level", &[(0, "CE_LEVEL_0")]),
        same("backoff_ms", "Backoff Value (ms)"),
        text("response_received", "Result", &[(0, "False"), (1, "True")]),
        same("temporary_c_rnti", "TCRNTI"),
        same("timing_advance", "TA value"),
        // The reference leaves out the lowest byte, or writes another number altogether.
        ours("grant"),
        theirs("Grant Raw"),
        same("grant_bytes", "Grant"),
        same("harq", "Harq ID"),
        differently("msg3", "MAC PDUs", |item| {
            let count = item.number("grant_bytes").map_or(0, |count| count as usize + 1);
            let bytes = item.bytes("msg3").unwrap_or_default();
            let hex = bytes.iter().take(count).map(|byte| format!("{byte:02x}"));
            json!(hex.collect::<String>())
        }),
    ];
    Ok(record(vec![
        same("sub_packet_count", "Number of Subpackets"),
        list("sub_packets", "Subpackets", packet),
    ]))
}
