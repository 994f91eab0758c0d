"""0xB063, 0xB064, 0xB066, 0xB067."""

from __future__ import annotations

from typing import Any

from ..rules import UNKNOWN, Item, Record, Rule, Table, each, made, same, text
from .words import RNTI

KINDS = {
    0: "Config Type Subpacket",
    1: "DL Config SubPacket",
    2: "UL Config SubPacket",
    3: "RACH Config SubPacket",
    4: "LC Config SubPacket",
    7: "DL Transport Block",
    8: "UL Transport Block",
    10: "UL Buffer Status SubPacket",
    11: "UL Tx Statistics SubPacket",
    13: "eMBMS Config SubPacket",
    14: "All Rach Config SubPacket",
    18: "ELS SubPacket",
}
CHANNELS = {0: "CCCH", **{channel: str(channel) for channel in range(1, 11)}}
DOWN = CHANNELS | {
    26: "Long DRX Command",
    27: "Activation/Deactivation (1 octet)",
    28: "CRID",
    29: "TA",
    30: "DRX Command",
    31: "Padding",
}
UP = CHANNELS | {
    26: "PHR",
    27: "C-RNTI",
    28: "T-BSR",
    29: "S-BSR",
    30: "L-BSR",
    31: "Padding",
}
EVENTS = {0: "None", 1: "Periodic", 2: "High Data Arrival", 3: "Robustness BSR"}
TRIGGERS = {
    0: "No BSR",
    1: "Cancelled",
    2: "L-BSR",
    3: "S-BSR",
    4: "Pad L-BSR",
    5: "Pad S-BSR",
    6: "Pad T-BSR",
}
#: Bytes of the control elements of each direction; other channels carry data, and the last of them has no length.
DOWN_ELEMENTS = {26: 0, 27: 1, 28: 6, 29: 1, 30: 0, 31: -1}
UP_ELEMENTS = {26: 1, 27: 2, 28: 1, 29: 1, 30: 3, 31: -1}

#: The most that each index of a buffer status report stands for, in bytes (TS 36.321 Table 6.1.3.1-1); the last has no
#: upper end, for which MobileInsight writes the largest number.
# fmt: off
BUFFER_SIZES = (
    0, 10, 12, 14, 17, 19, 22, 26, 31, 36, 42, 49, 57, 67, 78, 91, 107, 125, 146, 171, 200, 234, 274, 321, 376, 440,
    515, 603, 706, 826, 967, 1132, 1326, 1552, 1817, 2127, 2490, 2915, 3413, 3995, 4677, 5476, 6411, 7505, 8787, 10287,
    12043, 14099, 16507, 19325, 22624, 26487, 31009, 36304, 42502, 49759, 58255, 68201, 79846, 93479, 109439, 128125,
    150000, 2147483647,
)
# fmt: on


def _header(item: Item, last: bool) -> int:
    """The octet of a subheader: another follows, sixteen bits of length follow, the channel (TS 36.321 §6.2.1)."""
    more = 0 if last else 0x20
    long = 0x40 if item.get("len_bytes", 0) > 0x7FFF else 0
    return long | more | int(item["channel"])


def _subheader(item: Item, last: bool, words: dict[int, str], elements: dict[int, int]) -> dict[str, Any]:
    channel = item["channel"]
    return {
        "Header Field": _header(item, last),
        "LC ID": words.get(channel, UNKNOWN),
        "Len": item.get("len_bytes", elements.get(channel, 0)),
    }


def _down(value: list[Item], item: Item, strange: set[str]) -> list[dict[str, Any]]:
    out = []
    for at, header in enumerate(value, 1):
        found = _subheader(header, at == len(value), DOWN, DOWN_ELEMENTS)
        if "timing_advance_command" in header:
            group, command = header["timing_advance_group"], header["timing_advance_command"]
            found["TA Field"] = group << 6 | command
            found["TAG Id"] = group
            found["TA Command"] = command
        out.append(found)
    return out


def _up(value: list[Item], item: Item, strange: set[str]) -> list[dict[str, Any]]:
    out = []
    for at, header in enumerate(value, 1):
        found = _subheader(header, at == len(value), UP, UP_ELEMENTS)
        if "bsr_index" in header:
            group, index = header["bsr_group"], header["bsr_index"]
            found["S/T-BSR Field"] = group << 6 | index
            found[f"BSR LCG {group}"] = index
            found[f"BSR LCG {group} (bytes)"] = BUFFER_SIZES[index]
        elif "bsr_index_group_0" in header:
            indexes = [header[f"bsr_index_group_{group}"] for group in range(4)]
            word = indexes[0] << 18 | indexes[1] << 12 | indexes[2] << 6 | indexes[3]
            for field, shift in ((1, 16), (2, 8), (3, 0)):
                found[f"L-BSR Field {field}"] = word >> shift & 255
            for group, index in enumerate(indexes):
                found[f"BSR LCG {group}"] = index
            for group, index in enumerate(indexes):
                found[f"BSR LCG {group} (bytes)"] = BUFFER_SIZES[index]
        elif "power_headroom_index" in header:
            found["PHR Field"] = found["PHR Ind"] = header["power_headroom_index"]
        out.append(found)
    return out


def sub_packets(count: str, own: Table) -> Table:
    """A record of sub-packets."""
    return Table(
        same("Version", "version"),
        same(count, "sub_packet_count"),
        each("Subpackets", "sub_packets", own),
    )


HEADER = (
    text("SubPacket ID", "id", KINDS),
    same("Version", "version"),
    same("SubPacket Size", "len_bytes"),
)


def samples(table: Table) -> Table:
    """A record whose sub-packets hold samples."""
    own = Table(HEADER, same("Num Samples", "sample_count"), each("Samples", "samples", table))
    return sub_packets("Num SubPkt", own)


DOWNLINK = samples(
    Table(
        same("Sub Id", "subscription"),
        same("Cell Id", "cell"),
        same("Sub-FN", "subframe"),
        same("SFN", "frame"),
        text("RNTI Type", "rnti", RNTI),
        same("HARQ ID", "harq"),
        same("Area ID", "area"),
        same("PMCH ID", "pmch"),
        same("DL TBS (bytes)", "tb_bytes"),
        same("RLC PDUs", "rlc_pdus"),
        same("Padding (bytes)", "padding_bytes"),
        same("HDR LEN", "header_len_bytes"),
        Rule("Mac Hdr + CE", "mac", _down),
        unmapped=("header",),
    )
)

UPLINK = samples(
    Table(
        same("Sub Id", "subscription"),
        same("Cell Id", "cell"),
        same("HARQ ID", "harq"),
        text("RNTI Type", "rnti", RNTI),
        same("Sub-FN", "subframe"),
        same("SFN", "frame"),
        same("Grant (bytes)", "grant_bytes"),
        same("RLC PDUs", "rlc_pdus"),
        same("Padding (bytes)", "padding_bytes"),
        text("BSR event", "bsr_event", EVENTS),
        text("BSR trig", "bsr_trigger", TRIGGERS),
        same("HDR LEN", "header_len_bytes"),
        Rule("Mac Hdr + CE", "mac", _up),
        unmapped=("header",),
    )
)


def _channels(value: list[Item], item: Item, strange: set[str]) -> list[dict[str, Any]]:
    """Versions that tell compressed from uncompressed bytes have another name for the former, and a sum."""
    tables = (CHANNEL, CHANNEL_COMPRESSED)
    return [tables["new_uncompressed_bytes" in found].apply(found, strange) for found in value]


def _total(item: Item) -> int:
    kinds = ("new_uncompressed_bytes", "new_bytes", "retx_bytes", "control_bytes")
    return sum(item[kind] for kind in kinds)


CHANNEL = Table(
    same("Ld Id", "channel"),
    same("Priority", "priority"),
    same("New bytes", "new_bytes"),
    same("Retx bytes", "retx_bytes"),
    same("Ctrl bytes", "control_bytes"),
)
CHANNEL_COMPRESSED = Table(
    same("Ld Id", "channel"),
    same("Priority", "priority"),
    same("New Uncompressed Bytes", "new_uncompressed_bytes"),
    same("New Compressed Bytes", "new_bytes"),
    same("Retx bytes", "retx_bytes"),
    same("Ctrl bytes", "control_bytes"),
    made("Total Bytes", "new_uncompressed_bytes", _total),
)
BUFFER = samples(
    Table(
        same("Sub Id", "subscription"),
        same("Sub FN", "subframe"),
        same("Sys FN", "frame"),
        same("Number of active LCID", "channel_count"),
        Rule("LCIDs", "channels", _channels),
    )
)


STATISTIC = (
    same("Sub Id", "subscription"),
    same("Number of samples", "sample_count"),
    same("Number of padding BSR", "padding_bsrs"),
    same("Number of regular BSR", "regular_bsrs"),
    same("Number of periodic BSR", "periodic_bsrs"),
    same("Number of cancel BSR", "cancelled_bsrs"),
    same("Grant received", "granted_bytes"),
    same("Grant utilized", "used_bytes"),
)
_STATISTIC = Table(STATISTIC)


def _sample(item: Item) -> dict[str, Any]:
    """The fields of the sub-packet itself, in a separate dict."""
    own = {name: value for name, value in item.items() if name in _STATISTIC.known}
    return _STATISTIC.apply(own, set())


STATISTICS = sub_packets(
    "Num SubPkt",
    Table(HEADER, made("Sample", "sample_count", _sample), unmapped=tuple(_STATISTIC.known)),
)

RECORDS = (
    Record(0xB063, {None: DOWNLINK}),
    Record(0xB064, {None: UPLINK}),
    Record(0xB066, {None: BUFFER}),
    Record(0xB067, {None: STATISTICS}),
)
