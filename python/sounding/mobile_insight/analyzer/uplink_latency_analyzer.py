"""How long bytes of the uplink waited in the device's buffer, and how long sending them took."""

from __future__ import annotations

from collections import deque
from typing import Any

from .analyzer import Analyzer, Event

__all__ = ["UplinkLatencyAnalyzer"]

#: Subframes of a cycle of the frame numbers.
CYCLE = 10240
#: A block is sent again after so many subframes.
AGAIN = 8
#: Packets and subframes that are kept while they wait, more than a modem's buffer has.
KEPT = 1 << 16


class Waiting:
    """Bytes that entered the buffer together."""

    __slots__ = ("bytes", "entered", "started")

    def __init__(self, size: int, entered: int) -> None:
        self.bytes, self.entered = size, entered
        self.started: int | None = None


def _between(first: int, last: int) -> int:
    """Subframes from one to another; both count unless the cycle ended between them."""
    return last - first + 1 if first <= last else last + CYCLE - first


class UplinkLatencyAnalyzer(Analyzer):
    """Latency of the uplink by the buffer's states and the reports of transmissions."""

    def __init__(self) -> None:
        super().__init__()
        self.add_source_callback(self._on_record)
        #: Blocks of the uplink (0) that were sent first, and those that were sent again. Of the downlink (1) there are none.
        self.cum_block = {0: 0, 1: 0}
        self.cum_err_block = {0: 0, 1: 0}
        #: `{'Waiting Latency', 'Tx Latency', 'Retx Latency'}`, in subframes.
        self.all_packets: list[dict[str, int]] = []
        self._now: int | None = None
        self._buffered = 0
        self._queue: deque[Waiting] = deque(maxlen=KEPT)
        #: Packets whose last byte left, by subframe.
        self._left: dict[int, dict[str, int]] = {}

    def set_source(self, source: Any) -> None:
        """Receives the buffer's states and the transmissions of `source`."""
        super().set_source(source)
        source.enable_log(["LTE_PHY_PUSCH_Tx_Report", "LTE_MAC_UL_Buffer_Status_Internal"])

    def _on_record(self, event: Event) -> None:
        if event.type_id == "LTE_PHY_PUSCH_Tx_Report":
            for record in event.data.decode().get("Records", []):
                self._sent(record["Current SFN SF"], record["Re-tx Index"] != "First")
        elif event.type_id == "LTE_MAC_UL_Buffer_Status_Internal":
            for packet in event.data.decode().get("Subpackets", []):
                for sample in packet.get("Samples", []):
                    self._pass_to(sample["Sys FN"], sample["Sub FN"])
                    if sample["LCIDs"] and "Total Bytes" in sample["LCIDs"][-1] and self._now is not None:
                        self._holds(sample["LCIDs"][-1]["Total Bytes"], self._now)

    def _pass_to(self, frame: int, subframe: int) -> None:
        """A sample without a time of its own is one subframe later than that before it."""
        if subframe < 10:
            self._now = frame * 10 + subframe
        elif self._now is not None:
            self._now = (self._now + 1) % CYCLE

    def _holds(self, total: int, now: int) -> None:
        gone = self._buffered - total
        if gone < 0:
            self._queue.append(Waiting(-gone, now))
        while gone > 0 and self._queue:
            packet = self._queue[0]
            if packet.started is None:
                packet.started = now
            if packet.bytes > gone:
                packet.bytes -= gone
                break
            left = self._left.setdefault(now, {})
            left["Waiting Latency"] = _between(packet.entered, packet.started)
            left["Tx Latency"] = _between(packet.started, now)
            gone -= packet.bytes
            self._queue.popleft()
        self._buffered = total

    def _sent(self, tti: int, again: bool) -> None:
        if again:
            self.cum_err_block[0] += 1
            self._left.setdefault(tti, {})["Retx Latency"] = AGAIN
        else:
            self.cum_block[0] += 1
        for when in list(self._left):
            if when < tti or (when > 1000 and tti < 20):
                packet = self._left[when]
                packet.setdefault("Retx Latency", 0)
                if len(packet) == 3:
                    self.all_packets.append(self._left.pop(when))
