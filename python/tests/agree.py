"""Compares what `decode()` gives with what MobileInsight gives for the same record, name by name, both ways.

A difference is explained if it is one of MobileInsight's known mistakes, and only if MobileInsight has exactly what that
mistake makes of our value.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Any

from sounding import Record
from sounding.mobile_insight.names import gsm, lte_mac_config
from sounding.mobile_insight.names.lte_mac import BUFFER_SIZES
from sounding.mobile_insight.packet import MARK
from sounding.mobile_insight.rules import UNKNOWN


Item = dict[str, Any]
#: Entries of its table of buffer sizes that are not those of TS 36.321 Table 6.1.3.1-1, by index.
MISSPELT = {46: 12403, 51: 24687}
#: MobileInsight's wrong reading of our item, by code and name; None if the mistake is not in this item.
Mistake = Callable[[Item, Record], Any]


def _long_group_1(item: Item, record: Record) -> Any:
    """C binds `+` before `&`: `(x << 4) & (0x30 + (y >> 4))`."""
    if "L-BSR Field 1" not in item:
        return None
    x, y = item["L-BSR Field 1"], item["L-BSR Field 2"]
    return (x << 4) & (0x30 + (y >> 4))


def _long_group_2(item: Item, record: Record) -> Any:
    if "L-BSR Field 1" not in item:
        return None
    x, y = item["L-BSR Field 2"], item["L-BSR Field 3"]
    return (x << 2) & (0x3C + (y >> 6))


def _bytes_of(group: int, index_of: Mistake | None = None) -> Mistake:
    """The bytes of an index. The index may already be wrong, and two entries of the table are misspelt."""

    def make(item: Item, record: Record) -> Any:
        index = index_of(item, record) if index_of else None
        if index is None:
            index = item[f"BSR LCG {group}"]
        return MISSPELT.get(index, BUFFER_SIZES[index])

    return make


def _operating_mode(item: Item, record: Record) -> Any:
    """The mode is cut out with 0x15, which is not four bits."""
    fields = record.decode(numbers=True)
    word = fields["operating_mode"] | fields["strong_interferer_pci"] << 4
    return "TILE0_4RX" if word & 0x15 == 1 else "(MI)Unknown"


def _power(item: Item, record: Record) -> Any:
    """Seven bits of two's complement, read as a plain number, or always less 128."""
    less = 128 if record.version == 102 else 0
    return (item["PUSCH Tx Power (dBm)"] & 127) - less


def _byte(name: str) -> Mistake:
    """A number below zero, read without its sign."""
    return lambda item, record: item[name] & 255


def _no_plmn(name: str) -> Mistake:
    """Digits that are not set."""
    return lambda item, record: "151515-1515" if item[name] == "fff-ff" else None


def _time_and_carrier(item: Item, record: Record) -> Any:
    """Two bytes early: the word begins with the upper half of the carrier's number."""
    return item["SysFrameNum/SubFrameNum"] << 16 | item["Freq"] >> 16 if record.version == 26 else None


def _length(item: Item, record: Record) -> Any:
    return item["Msg Length"] & 255 if record.version == 7 else None


def _sib_mask(item: Item, record: Record) -> Any:
    """The upper byte of the length, or the lower byte of the mask."""
    return item["Msg Length"] >> 8 if record.version == 7 else item["SIB Mask in SI"] & 255


def _g(item: Item, record: Record) -> Any:
    """Less 65535 in place of 65536, for zero too."""
    g = item["g(i)"]
    return -65535 if g == 0 else g + 1 if g < 0 else None


def _of_version_2(value: Mistake) -> Mistake:
    """Of a sub-packet of version 2 alone."""
    return lambda item, record: value(item, record) if item.get("Subpacket Version") == 2 else None


def _matching(item: Item, record: Record) -> Any:
    """With the two bytes after it: whether there is contention, and the preamble."""
    contention = next(number for number, word in lte_mac_config.CONTENTION.items() if word == item["RACH Contention"])
    return f"{item['Maching ID']}{contention:02x}{item['Preamble']:02x}"


def _attempt(record: Record) -> Item:
    """Its reading of the messages of random access: it takes their bits in reverse, and the grant a byte late."""
    raw = record.raw
    version, at = raw[5], 14 if raw[5] == 3 else 12
    sent, found = raw[at - 1], {}
    if sent & 4:
        at += 5 if version == 4 else 4
    if sent & 2:
        found["Backoff Value (ms)"] = int.from_bytes(raw[at : at + 2], "little")
        found["TCRNTI"] = int.from_bytes(raw[at + 3 : at + 5], "little")
        found["TA value"] = int.from_bytes(raw[at + 5 : at + 7], "little")
        at += 7
    if sent & 1:
        grant = raw[at + 1 : at + 4]
        # In version 4 four bits of one byte, and a last one that it never sets.
        found["Grant Raw"] = f"0x{grant[0] & 15:02x}{grant[1]:02x}00" if version == 4 else f"0x{grant.hex()}"
    return found


def _of_attempt(name: str) -> Mistake:
    return lambda item, record: _attempt(record).get(name)


#: By code and name.
MISTAKES: dict[tuple[int, str], Mistake] = {
    # A byte late: it takes the first one for a subscription.
    (0x512F, "Channel Type"): lambda item, record: gsm.CHANNELS.get(record.raw[1] & 127, UNKNOWN),
    (0x512F, "Direction"): lambda item, record: gsm.DIRECTIONS[record.raw[1] >> 7],
    (0x512F, "Message Type"): lambda item, record: gsm.KINDS.get(record.raw[2], UNKNOWN),
    (0x512F, "Message Length in bytes"): lambda item, record: record.raw[3],
    (0x7135, "PLMN"): _no_plmn("PLMN"),
    (0xB061, "Preamble initial power (dB)"): lambda item, record: -256,
    # A number of three bytes, which it reads as zero and goes on after.
    (0xB061, "PRACH Freq Offset"): _of_version_2(lambda item, record: 0),
    (0xB061, "High speed flag"): _of_version_2(lambda item, record: record.raw[30]),
    (0xB061, "Max retx Msg3"): _of_version_2(lambda item, record: record.raw[31]),
    (0xB061, "RA rsp win size"): _of_version_2(lambda item, record: record.raw[32]),
    (0xB061, "Maching ID"): _of_version_2(_matching),
    (0xB061, "RACH Contention"): _of_version_2(lambda item, record: lte_mac_config.CONTENTION[0]),
    **{
        (0xB062, name): _of_attempt(name)
        for name in ("Backoff Value (ms)", "TCRNTI", "TA value", "Grant Raw")
    },
    # A number below zero, read without its sign.
    (0xB062, "Preamble power offset"): lambda item, record: item["Preamble power offset"] & 65535,
    # The reason is compared together with the mask after it.
    (0xB060, "Config reason"): lambda item, record: "NORMAL",
    # A number below zero, read without its sign; and zero as the least that it can be.
    (0xB060, "Preamble initial power"): lambda item, record: item["Preamble initial power"] & 65535,
    (0xB060, "Preamble initial power (dB)"): lambda item, record: -256,
    # The type is cut out of other bits.
    (0xB0A2, "type"): lambda item, record: "STATUS REPORT",
    (0xB0C0, "SysFrameNum/SubFrameNum"): _time_and_carrier,
    (0xB0C0, "Msg Length"): _length,
    (0xB0C0, "SIB Mask in SI"): _sib_mask,
    (0xB0EE, "PLMN"): _no_plmn("PLMN"),
    (0xB0EE, "GUTI PLMN"): _no_plmn("GUTI PLMN"),
    # Six bits without their sign.
    (0xB13C, "PUCCH Tx Power (dBm)"): lambda item, record: item["PUCCH Tx Power (dBm)"] & 63,
    (0xB16E, "PUSCH Tx Power (dBm)"): _byte("PUSCH Tx Power (dBm)"),
    (0xB16E, "PUSCH Actual Tx Power"): _byte("PUSCH Actual Tx Power"),
    (0xB16F, "PUCCH Tx Power (dBm)"): _byte("PUCCH Tx Power (dBm)"),
    (0xB16F, "PUCCH Actual Tx Power"): _byte("PUCCH Actual Tx Power"),
    (0xB16F, "g(i)"): _g,
    (0xB064, "BSR LCG 1"): _long_group_1,
    (0xB064, "BSR LCG 2"): _long_group_2,
    (0xB064, "BSR LCG 0 (bytes)"): _bytes_of(0),
    (0xB064, "BSR LCG 1 (bytes)"): _bytes_of(1, _long_group_1),
    (0xB064, "BSR LCG 2 (bytes)"): _bytes_of(2, _long_group_2),
    (0xB064, "BSR LCG 3 (bytes)"): _bytes_of(3),
    (0xB126, "Op Mode"): _operating_mode,
    (0xB139, "PUSCH Tx Power (dBm)"): _power,
    # Twelve bits, cut out with 4096; the bit after them is the next field.
    (0xB139, "Ack Nack Index"): lambda item, record: item["Ack Nack Late"] * 4096,
    # The border between the start and the width of the second cluster is one bit too high, and the
    # width is multiplied with its mask.
    (0xB139, "Start RB Cluster1"): lambda item, record: (
        item["Start RB Cluster1"] | (item["Num RB Cluster1"] & 1) << 7
    ),
    (0xB139, "Num RB Cluster1"): lambda item, record: (item["Num RB Cluster1"] >> 1) * 63,
    # Six bits, cut out with 47.
    (0xB173, "QED Iteration"): lambda item, record: item["QED Iteration"] & 47,
    # That of antenna 1, or of antenna 0, in place of the better.
    (0xB193, "RSSI"): lambda item, record: (
        item["RSSI Rx[1]"] if item["SubPacket Version"] == 18 else None
    ),
    (0xB193, "RSRQ"): lambda item, record: (
        item["RSRQ Rx[0]"] if item["SubPacket Version"] == 36 else None
    ),
}

#: Names that only we have, by code: MobileInsight leaves out what is there.
OMITTED: dict[int, set[str]] = {
    # All channels but the last; sub-packets after one that it does not know.
    0xB060: {"Records", "Subpackets"},
    # Headers of blocks that were not for the device's own identity.
    0xB063: {"Mac Hdr + CE"},
    # Two messages of three have each other's bit.
    0xB062: {"Msg1"},
    # A counter that its format for one version does not have.
    0xB0B4: {"Num ue Udc Ctrl Pdus"},
    # All assignments but the last.
    0xB126: {"Records"},
    # Only two of four antennas, and no RSSI or SNR at all.
    0xB193: {
        *(f"{level} Rx[{antenna}]" for level in ("RSRP", "RSRQ") for antenna in (2, 3)),
        *(f"{level} Rx[{antenna}]" for level in ("RSSI", "FTL SNR") for antenna in range(4)),
        "RSSI",
    },
}

#: Names that only they have, by code: messages that nothing here decodes, and bits without a meaning.
LEFT_OUT: dict[int, set[str]] = {
    0x412F: {"Msg"},
    0x512F: {"Subscription ID"},
    0xB061: {"Preamble Format"},
    0x713A: {"Msg"},
    # A message that was not sent.
    0xB062: {"Msg3"},
    0xB0A5: {"Msg"},
    0xB0B5: {"Msg"},
    0xB244: {"Reserved", "Reserved2"},
    0xB245: {"Reserved"},
}

#: Mistakes that are in its source and change no value of the captures.
UNSEEN = {
    (0xB064, "BSR LCG 0 (bytes)"),
    (0xB064, "BSR LCG 1"),
    (0xB064, "BSR LCG 1 (bytes)"),
    (0xB064, "BSR LCG 2"),
    (0xB139, "Start RB Cluster1"),
    (0xB173, "QED Iteration"),
}


class Comparison:
    """How many fields are equal, explained, and neither."""

    def __init__(self) -> None:
        self.equal: Counter[int] = Counter()
        self.explained: Counter[int] = Counter()
        self.records: Counter[int] = Counter()
        self.unexplained: list[str] = []
        #: Mistakes that were met, by code and name.
        self.met: Counter[tuple[int, str]] = Counter()

    def compare(self, record: Record, ours: Item, theirs: Item) -> None:
        """One record."""
        self.records[record.code] += 1
        self._timestamp(record, ours, theirs)
        apart = {"timestamp"}
        if record.code not in LEFT_OUT:
            apart.add("Msg")
        rest = {name: value for name, value in ours.items() if name not in apart}
        expected = {name: value for name, value in theirs.items() if name not in apart}
        self._items(record, rest, expected, f"0x{record.code:04X} at {record.offset}")

    def _timestamp(self, record: Record, ours: Item, theirs: Item) -> None:
        """MobileInsight takes a unit of 1.25 ms for 65536 parts; it has 49152, so its times fall up to 0.32 ms short."""
        mine, expected = ours["timestamp"], datetime.fromisoformat(theirs["timestamp"])
        if mine == expected:
            self.equal[record.code] += 1
            return
        short = (record.stamp & 0xFFFF) * 1250 * (1 / 49152 - 1 / 65536)
        gap = (mine - expected).total_seconds() * 1e6
        if abs(gap - short) <= 2:
            self._explained(record, "timestamp")
        else:
            self.unexplained.append(f"{record!r}: time {mine}, theirs {expected}")

    def _explained(self, record: Record, name: str) -> None:
        self.explained[record.code] += 1
        self.met[record.code, name] += 1

    def _items(self, record: Record, ours: Item, theirs: Item, at: str) -> None:
        if MARK in ours:
            self.unexplained.append(f"{at}: {MARK} {ours[MARK]}")
        for name in theirs.keys() - ours.keys():
            if name in LEFT_OUT.get(record.code, ()):
                self._explained(record, name)
                continue
            self.unexplained.append(f"{at}: only they have {name!r}: {theirs[name]!r}")
        for name, value in ours.items():
            if name not in theirs:
                if name in OMITTED.get(record.code, ()):
                    self._explained(record, name)
                elif name != MARK:
                    self.unexplained.append(f"{at}: only we have {name!r}: {value!r}")
                continue
            self._values(record, ours, name, theirs[name], f"{at}, {name}")

    def _values(self, record: Record, item: Item, name: str, theirs: Any, at: str) -> None:
        ours = item[name]
        if isinstance(ours, list) and isinstance(theirs, list):
            # MobileInsight may go on into room that is not in use.
            if len(theirs) < len(ours) and name in OMITTED.get(record.code, ()):
                self._explained(record, name)
            elif len(theirs) < len(ours):
                self.unexplained.append(f"{at}: {len(ours)} items, theirs {len(theirs)}")
            for number, (mine, expected) in enumerate(zip(ours, theirs)):
                self._items(record, mine, expected, f"{at}[{number}]")
        elif isinstance(ours, dict) and isinstance(theirs, dict):
            self._items(record, ours, theirs, at)
        elif same(ours, theirs):
            self.equal[record.code] += 1
        else:
            mistake = MISTAKES.get((record.code, name))
            wrong = mistake(item, record) if mistake else None
            if wrong is not None and same(wrong, theirs):
                self._explained(record, name)
            else:
                self.unexplained.append(f"{at}: {ours!r}, theirs {theirs!r}")

    def report(self) -> str:
        """A table by code."""
        lines = [f"{'code':<8} {'records':>8} {'equal':>10} {'explained':>10}"]
        for code in sorted(self.records):
            numbers = (self.records[code], self.equal[code], self.explained[code])
            lines.append("0x{:04X}   {:>8} {:>10} {:>10}".format(code, *numbers))
        lines.append(f"unexplained: {len(self.unexplained)}")
        return "\n".join(lines)


def same(ours: Any, theirs: Any) -> bool:
    """Equal value and type. MobileInsight stores fractions in 32 bits."""
    if isinstance(ours, float) and isinstance(theirs, float):
        return struct.pack("f", ours) == struct.pack("f", theirs) or abs(ours - theirs) <= 1e-6 * abs(
            theirs
        )
    return type(ours) is type(theirs) and ours == theirs
