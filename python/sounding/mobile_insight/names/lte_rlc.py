"""0xB082, 0xB092."""

from __future__ import annotations

from typing import Any

from ..rules import UNKNOWN, Item, Record, Rule, Table, each, made, same, text

MODE = {1: "AM"}
HEADER = (
    same("Subpacket ID", "id"),
    same("Subpacket Version", "version"),
    same("Subpacket Size", "len_bytes"),
)
#: Names of the records that a modem was asked for, one a bit from bit 1 on, with the first digits of their codes.
LOGGED = (
    "{} Config (0x{}1)",
    "{} AM ALL PDU (0x{}2)",
    "{} AM CONTROL PDU (0x{}3)",
    "{} AM POLLING PDU (0x{}4)",
    "{} AM SIGNALING PDU (0x{}5)",
    "{} UM DATA PDU (0x{}6)",
    "{} STATISTICS (0x{}7)",
    "{} AM STATE (0x{}8)",
    "{} UM STATE (0x{}9)",
)


def _first_byte(item: Item) -> int:
    """The first byte of the PDU's header (TS 36.322 §6.2.1)."""
    if item["control"]:
        return int(item["control_type"]) << 4 | int(item["ack_sn"]) >> 6
    flags = 0x80 | item["segment"] << 6 | item["poll"] << 5 | item["framing"] << 3
    return int(flags | bool(item["lengths"]) << 2 | item["sn"] >> 8)


def _pdu(name: str, rb_config: int, item: Item) -> dict[str, Any]:
    kind = "CTRL" if item["control"] else "DATA"
    out: dict[str, Any] = {"PDU TYPE": f"{name} {kind}", "rb_cfg_idx": rb_config}
    if "status" in item:
        out["Status"] = "PDU CTRL" if item["status"] == 1 else "PDU DATA"
    out |= {
        "sys_fn": item["frame"],
        "sub_fn": item["subframe"],
        "pdu_bytes": item["pdu_bytes"],
        "logged_bytes": item["logged_bytes"],
        "D/C LookAhead": _first_byte(item),
    }
    if item["control"]:
        out["SN"] = f"ACK_SN = {item['ack_sn']}"
        out["cpt"] = "STATUS(0)" if item["control_type"] == 0 else UNKNOWN
        if item["nacks"]:
            out["RLC CTRL NACK"] = [{"NACK_SN": nack["sn"]} for nack in item["nacks"]]
        return out
    out |= {
        "SN": item["sn"],
        "RF": str(item["segment"]),
        "P": str(item["poll"]),
        "FI": f"{item['framing']:02b}",
        "E": str(int(bool(item["lengths"]))),
    }
    if "last_segment" in item:
        out |= {"LSF": item["last_segment"], "SO": item["segment_offset"]}
    if item["lengths"]:
        out["RLC DATA LI"] = [{"LI": length["len_bytes"]} for length in item["lengths"]]
    return out


def _pdus(name: str, digits: str, *counters: Rule) -> Table:
    def logged(item: Item) -> str:
        words = [form.format(name, digits) for at, form in enumerate(LOGGED, 1) if item["enabled_logs"] >> at & 1]
        return ", ".join(words) + "." if words else ""

    def pdus(value: list[Item], item: Item, strange: set[str]) -> list[dict[str, Any]]:
        return [_pdu(name, item["rb_config"], found) for found in value]

    own = Table(
        HEADER,
        same("RB Cfg Idx", "rb_config"),
        text("RB Mode", "mode", MODE),
        same("SN Length", "sn_bits"),
        made("Enabled PDU Log Packets", "enabled_logs", logged),
        counters,
        same("Number of PDUs", "pdu_count"),
        Rule(f"{name} PDUs", "pdus", pdus),
    )
    return sub_packets("Number of Subpackets", own)


def sub_packets(count: str, own: Table) -> Table:
    """A record of sub-packets."""
    return Table(same("Version", "version"), same(count, "sub_packet_count"), each("Subpackets", "sub_packets", own))


DOWN = _pdus(
    "RLCDL",
    "B08",
    same("VR(R)", "vr_r"),
    same("VR(X)", "vr_x"),
    same("VR(MS)", "vr_ms"),
    same("VR(H)", "vr_h"),
)
UP = _pdus(
    "RLCUL",
    "B09",
    same("VT(A)", "vt_a"),
    same("VT(S)", "vt_s"),
    same("PDU Without Poll", "pdus_without_poll"),
    same("Byte Without Poll", "bytes_without_poll"),
    same("Poll SN", "poll_sn"),
)

RECORDS = (Record(0xB082, {None: DOWN}), Record(0xB092, {None: UP}))
