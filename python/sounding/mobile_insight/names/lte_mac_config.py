"""0xB060, 0xB061."""

from __future__ import annotations

from typing import Any

from ..rules import Item, Record, Rule, Table, each, hexadecimal, made, same, text
from .lte_mac import HEADER, sub_packets

REASON = {0: "NORMAL", 2: "CONNECTION RELEASE"}
INFINITE = 65535


def _timer(theirs: str, ours: str) -> Rule:
    """Milliseconds, or no end."""
    return Rule(theirs, ours, lambda value, item, strange: "Infinity" if value == INFINITE else value)


def _random_access(power: str, step: str, contention: str, highest: str) -> tuple[Rule, ...]:
    """The settings of random access; two places have units in some names."""
    return (
        same(power, "preamble_power_dbm"),
        same(step, "power_ramping_step_db"),
        same("RA index1", "ra_index_1"),
        same("RA index2", "ra_index_2"),
        same("Preamble trans max", "max_preambles"),
        same(contention, "contention_timer_ms"),
        same("Message size Group_A", "message_size_group_a"),
        same("Power offset Group_B", "power_offset_group_b"),
        same(highest, "p_max_dbm"),
        same("Delta preamble Msg3", "delta_preamble_msg3"),
        same("PRACH config", "prach_config"),
        same("CS zone length", "zone_length"),
        same("Root seq index", "root_sequence"),
        same("PRACH Freq Offset", "prach_frequency_offset"),
        same("High speed flag", "high_speed"),
        same("Max retx Msg3", "max_msg3"),
        same("RA rsp win size", "response_window"),
    )


WITH_UNITS = _random_access(
    "Preamble initial power (dB)",
    "Power ramping step (dB)",
    "Contention resolution timer (ms)",
    "PMax (dBm)",
)
CHANNEL = Table(
    same("LC ID", "channel"),
    same("PBR(KBytes/s)", "prioritised_kbytes_per_sec"),
    same("Priority", "priority"),
    same("LC group", "group"),
    same("Token bucket size (bytes)", "bucket_bytes"),
)


def _channels(value: list[Item], item: Item, strange: set[str]) -> dict[str, Any]:
    """MobileInsight writes each channel over the one before. All of them are here too, as `Records`."""
    if not value:
        return {}
    channels = [CHANNEL.apply(found, strange) for found in value]
    return {"added/modified LC": channels[-1], "Records": channels}


CONFIGURATION = sub_packets(
    "Num SubPkt",
    Table(
        HEADER,
        text("Config reason", "reason", REASON),
        same("Sub Id", "subscription"),
        _timer("TA Timer", "ta_timer_ms"),
        same("Num Active Stag", "group_count"),
        each(
            "Scell Tag Info",
            "groups",
            Table(
                same("STAG Id", "group"),
                same("Scell Id Mask", "scells"),
                same("Ta Timer Present", "ta_timer_present"),
                _timer("TA Timer", "ta_timer_ms"),
            ),
        ),
        same("SR resource present", "sr_present"),
        same("SR periodicity", "sr_period_ms"),
        _timer("BSR timer", "bsr_timer_ms"),
        same("SPS Number of Tx released", "sps_releases"),
        _timer("Retx BSR timer", "retx_bsr_timer_ms"),
        _random_access("Preamble initial power", "Power ramping step", "Contention resolution timer", "PMax"),
        same("Number of deleted LC", "deleted_count"),
        same("Number of added/modified LC", "channel_count"),
        Rule(None, "channels", _channels),
        same("Num eMBMS Active LCs", "active_channels"),
        hexadecimal("Valid Cell Cfg Mask", "valid_cells", 2),
        hexadecimal("New Cell Cfg Mask", "new_cells", 2),
        each(
            "Cells",
            "cells",
            Table(same("Scell Id", "cell"), WITH_UNITS),
        ),
        same("ELS UL LC Id", "ul_channel"),
        same("ELS DL LC Id", "dl_channel"),
        same("ELS MCE ReTx TMR Length", "retx_timer"),
        unmapped=("config_mask", "deleted_channels", "unsupported"),
    ),
)

REASONS = {0: "CONNECTION_REQ", 1: "RLF", 2: "UL_DATA", 3: "DL_DATA", 4: "HO"}
CONTENTION = {0: "NonContention Based RACH procedure", 1: "Contention Based RACH procedure"}


def _matching(item: Item) -> str:
    if item["version"] == 1:
        return ",".join(f"0x{byte:02x}" for byte in item["matching_id"])
    return "0x" + str(item["matching_id"].hex())


TRIGGER = Table(
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
            same("Num Active Cells", "cell_count"),
            same("Cell Id", "cell"),
            WITH_UNITS,
            each("Cells", "cells", Table(same("Cell Id", "cell"), WITH_UNITS)),
            text("Rach reason", "reason", REASONS),
            made("Maching ID", "matching_id", _matching),
            text("RACH Contention", "contention", CONTENTION),
            same("Preamble", "preamble"),
            hexadecimal("Preamble RA mask", "preamble_mask", 2),
            same("Msg3 size", "msg3_bytes"),
            # A word in one version.
            made("Group chosen", "group", lambda item: "Group A(0)" if (item["version"], item["group"]) == (1, 0) else item["group"]),
            same("Radio condn (dB)", "radio_condition_db"),
            hexadecimal("CRNTI", "c_rnti", 4),
            unmapped=("unsupported",),
        ),
    ),
)

RECORDS = (Record(0xB060, {None: CONFIGURATION}), Record(0xB061, {None: TRIGGER}))
