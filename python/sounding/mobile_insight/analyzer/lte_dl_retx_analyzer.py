"""How long the downlink waited for blocks and PDUs that were sent again."""

from __future__ import annotations

from collections import deque
from datetime import datetime
from typing import Any, NamedTuple

from .analyzer import Analyzer, Event

__all__ = ["LteDlRetxAnalyzer"]

#: Sequence numbers of ten bits, and how far ahead of the highest one a new PDU may be.
NUMBERS, AHEAD = 1024, 150
#: Milliseconds of a cycle of the frame numbers.
CYCLE = 10240
#: What MAC sends again arrives within this time after the PDU that overtook it.
MAC_MS, MAC_S = 200, 0.2
#: What RLC sends again arrives within this time after the loss was seen; a report may come later than what it asks for.
RLC_S, REPORT_S = 1.0, 0.5
#: PDUs that are kept: four cycles of the sequence numbers.
KEPT = 4 * NUMBERS
#: Bearers from this index on carry signalling.
SIGNALLING = 30


def _before(first: int, second: int) -> bool:
    """Whether the second sequence number is a little ahead of the first."""
    return 0 < (second - first) % NUMBERS <= AHEAD


class Arrival(NamedTuple):
    """A PDU."""

    sn: int
    tti: int
    timestamp: datetime

    def waited(self, tti: int) -> int:
        """Milliseconds from `tti` until it came."""
        return (self.tti - tti) % CYCLE

    def since(self, other: datetime) -> float:
        """Seconds since `other`."""
        return (self.timestamp - other).total_seconds()


class Bearer:
    """The retransmissions of one bearer."""

    def __init__(self) -> None:
        #: `{'timestamp', 'sn', 'mac_retx'}`: by MAC, with milliseconds.
        self.mac_retx: list[dict[str, Any]] = []
        #: `{'timestamp', 'sn', 'rlc_retx'}`: by RLC, with milliseconds.
        self.rlc_retx: list[dict[str, Any]] = []
        #: PDUs that came before any later one.
        self._in_order: deque[Arrival] = deque(maxlen=KEPT)
        #: PDUs that came late, of the last half second.
        self._late: deque[Arrival] = deque(maxlen=KEPT)
        #: When each PDU was first reported missing.
        self._reported: dict[int, datetime] = {}
        #: The PDU that overtook a missing one.
        self._overtaken: dict[int, Arrival] = {}

    def receive(self, pdu: Arrival, segment: bool) -> None:
        """A PDU, or the last segment of one."""
        newest = self._in_order[-1].sn if self._in_order else None
        if not segment and (newest is None or _before(newest, pdu.sn)):
            self._in_order.append(pdu)
            return
        lost = self._overtaken.pop(pdu.sn, None)
        if lost is None:
            self._by_mac(pdu)
        elif pdu.since(lost.timestamp) < RLC_S:
            self._by_rlc(pdu, lost)
        self._late.append(pdu)

    def _by_mac(self, pdu: Arrival) -> None:
        """A PDU that no report asked for: its place among the last ones tells when it was due."""
        known = list(self._in_order)
        for before, after in zip(known[-2:0:-1], known[:1:-1]):
            if pdu.since(after.timestamp) > MAC_S:
                return
            if _before(before.sn, pdu.sn) and _before(pdu.sn, after.sn):
                waited = pdu.waited(after.tti)
                if 0 < waited < MAC_MS:
                    self.mac_retx.append({"timestamp": pdu.timestamp, "sn": pdu.sn, "mac_retx": waited})
                return

    def _by_rlc(self, pdu: Arrival, lost: Arrival) -> None:
        self.rlc_retx.append({"timestamp": pdu.timestamp, "sn": pdu.sn, "rlc_retx": pdu.waited(lost.tti)})

    def report(self, missing: list[int], timestamp: datetime) -> None:
        """The device reports PDUs as missing."""
        for sn in missing:
            known = self._reported.get(sn)
            if known is None or (timestamp - known).total_seconds() > RLC_S:
                self._reported[sn] = timestamp
                self._overtaken.pop(sn, None)
        for sn in self._reported.keys() - set(missing):
            del self._reported[sn]
            self._overtaken.pop(sn, None)
        self._find_overtaken()
        while self._late and abs((timestamp - self._late[0].timestamp).total_seconds()) > REPORT_S:
            self._late.popleft()
        for pdu in reversed(self._late):
            lost = self._overtaken.pop(pdu.sn, None)
            if lost is not None:
                self._by_rlc(pdu, lost)
                self._reported.pop(pdu.sn, None)

    def _find_overtaken(self) -> None:
        known = list(self._in_order)
        for sn in self._reported.keys() - self._overtaken.keys():
            for before, after in zip(known[-2::-1], known[:0:-1]):
                wraps = before.sn > after.sn
                if before.sn < sn < after.sn or (wraps and (sn > before.sn or sn < after.sn)):
                    self._overtaken[sn] = after
                    break


class LteDlRetxAnalyzer(Analyzer):
    """Delays of the downlink by retransmissions of MAC and of RLC, for each bearer in acknowledged mode."""

    def __init__(self) -> None:
        super().__init__()
        self.add_source_callback(self._on_record)
        #: By the index of the bearer's configuration.
        self.bearer_entity: dict[int, Bearer] = {}

    def set_source(self, source: Any) -> None:
        """Receives the PDUs of RLC from `source`."""
        super().set_source(source)
        source.enable_log(["LTE_RLC_UL_AM_All_PDU", "LTE_RLC_DL_AM_All_PDU"])

    def _on_record(self, event: Event) -> None:
        if event.type_id not in ("LTE_RLC_UL_AM_All_PDU", "LTE_RLC_DL_AM_All_PDU"):
            return
        decoded = event.data.decode()
        for packet in decoded.get("Subpackets", [])[:1]:
            index = packet.get("RB Cfg Idx", SIGNALLING)
            if index >= SIGNALLING:
                continue
            bearer = self.bearer_entity.setdefault(index, Bearer())
            for pdu in packet.get("RLCUL PDUs", []):
                if "RLC CTRL NACK" in pdu:
                    bearer.report([nack["NACK_SN"] for nack in pdu["RLC CTRL NACK"]], decoded["timestamp"])
            for pdu in packet.get("RLCDL PDUs", []):
                if pdu["PDU TYPE"] == "RLCDL DATA" and pdu.get("LSF", 1):
                    tti = pdu["sys_fn"] * 10 + pdu["sub_fn"]
                    bearer.receive(Arrival(pdu["SN"], tti, decoded["timestamp"]), "LSF" in pdu)
