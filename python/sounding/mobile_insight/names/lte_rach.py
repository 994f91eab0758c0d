"""0xB062."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..rules import UNKNOWN, Item, Record, Rule, Table, each, made, same, text

RESULTS = {0: "Success", 1: "Failure at MSG2", 4: "Aborted"}
CONTENTION = {0: "Contention Free RACH Procedure", 1: "Contention Based RACH procedure"}
LEVELS = {0: "CE_LEVEL_0"}


def _message(theirs: str, sent: str, fields: Callable[[Item], dict[str, Any]]) -> Rule:
    """A message, if the attempt reached it."""
    return Rule(None, sent, lambda value, item, strange: {theirs: fields(item)} if value else {})


def _first(item: Item) -> dict[str, Any]:
    level = item.get("coverage_level")
    fields = {
        "Preamble Index": item["preamble"],
        "Preamble index mask": f"0x{item['preamble_mask']:02x}" if level is None else item["preamble_mask"],
        "Preamble power offset": item["preamble_power_dbm"],
    }
    return fields if level is None else fields | {"CE Level": LEVELS.get(level, UNKNOWN)}


def _second(item: Item) -> dict[str, Any]:
    return {
        "Backoff Value (ms)": item["backoff_ms"],
        "Result": str(bool(item["response_received"])),
        "TCRNTI": item["temporary_c_rnti"],
        "TA value": item["timing_advance"],
    }


def _third(item: Item) -> dict[str, Any]:
    grant = item["grant"]
    # Version 50 has the bytes as they are.
    raw = grant if isinstance(grant, bytes) else grant.to_bytes(3, "little")
    return {
        "Grant Raw": f"0x{raw.hex()}",
        "Grant": item["grant_bytes"],
        "Harq ID": item["harq"],
        "MAC PDUs": [{"MAC PDU": f"0x{byte:02x}"} for byte in item["msg3"][: item["grant_bytes"]]],
    }


ATTEMPT = Table(
    same("Version", "version"),
    same("Number of Subpackets", "sub_packet_count"),
    each(
        "Subpackets",
        "sub_packets",
        Table(
            same("Subpacket ID", "id"),
            same("Subpacket Version", "version"),
            same("Subpacket Size", "len_bytes"),
            same("Sub Id", "subscription"),
            same("Cell Id", "cell"),
            same("Retx counter", "attempt"),
            text("Rach result", "result", RESULTS),
            text("Contention procedure", "contention", CONTENTION),
            made(
                "Rach msg bmasks",
                "msg1_sent",
                lambda item: item["msg1_sent"] | item["msg2_received"] << 1 | item["msg3_sent"] << 2,
            ),
            _message("Msg1", "msg1_sent", _first),
            _message("Msg2", "msg2_received", _second),
            _message("Msg3", "msg3_sent", _third),
            unmapped=(
                *("preamble", "preamble_mask", "preamble_power_dbm", "coverage_level", "group"),
                *("backoff_ms", "response_received", "temporary_c_rnti", "timing_advance"),
                *("grant", "grant_bytes", "harq", "msg3", "ul_earfcn", "p_max_dbm", "unsupported"),
            ),
        ),
    ),
)

RECORDS = (Record(0xB062, {None: ATTEMPT}),)
