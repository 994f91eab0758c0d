"""Use of the uplink's grants, delays in the device's buffer, and retransmissions of the downlink."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

from .analyzer import Analyzer, Event

__all__ = ["LteMacAnalyzer"]

#: Subframes of a cycle of the frame numbers.
CYCLE = 10240
#: Samples that are further apart belong to another busy time.
GAP = 2
#: Of a control PDU the buffer holds so many bytes.
CONTROL = 2
#: Packets that are kept while they wait, more than a modem's buffer has.
KEPT = 1 << 16


class Channel:
    """What waits on one logical channel."""

    def __init__(self) -> None:
        self.bytes = 0
        #: `[subframe, bytes]` of each packet.
        self.packets: deque[list[int]] = deque(maxlen=KEPT)
        #: When a control PDU came that still waits.
        self.control: int | None = None

    def holds(self, now: int, new: int, control: int, total: int) -> tuple[list[int], list[int]]:
        """The delays of packets and of control PDUs that are gone with this state of the buffer."""
        packets, controls = [], []
        if new > self.bytes:
            self.packets.append([now, new - self.bytes])
        if control:
            total -= CONTROL
            self.control = now if self.control is None else self.control
        elif self.control is not None:
            controls.append((now - self.control) % CYCLE)
            self.control = None
        gone = self.bytes - total
        while gone > 0 and self.packets:
            entered, size = self.packets[0]
            if size > gone:
                self.packets[0][1] -= gone
                break
            packets.append((now - entered) % CYCLE)
            gone -= size
            self.packets.popleft()
        self.bytes = total
        return packets, controls


class LteMacAnalyzer(Analyzer):
    """Logs and sends `MAC_UL_GRANT`, `UL_PKT_DELAY`, `UL_CTRL_PKT_DELAY`, `UL_QUEUE_LENGTH`, `MAC_RETX` and `RLC_RETX`."""

    def __init__(self) -> None:
        super().__init__()
        self.add_source_callback(self._on_record)
        #: Bytes in the device's buffer.
        self.queue_length = 0
        #: How many events of each name there were, and the sum of their delays, lengths or used bytes.
        self.counts: Counter[str] = Counter()
        self.sums: Counter[str] = Counter()
        self._channels: dict[int, Channel] = {}
        self._now: int | None = None
        #: Blocks that failed, by cell, HARQ process and place: when, and how large.
        self._failed: dict[tuple[Any, int, int], tuple[int, int]] = {}

    def set_source(self, source: Any) -> None:
        """Receives grants, buffer states and blocks from `source`."""
        super().set_source(source)
        source.enable_log(
            ["LTE_MAC_UL_Tx_Statistics", "LTE_MAC_UL_Buffer_Status_Internal", "LTE_PHY_PDSCH_Stat_Indication"]
        )

    def _on_record(self, event: Event) -> None:
        if event.type_id == "LTE_MAC_UL_Tx_Statistics":
            self._grants(event.data.decode())
        elif event.type_id == "LTE_MAC_UL_Buffer_Status_Internal":
            decoded = event.data.decode()
            for packet in decoded.get("Subpackets", []):
                for sample in packet.get("Samples", []):
                    self._buffer(str(decoded["timestamp"]), sample)
        elif event.type_id == "LTE_PHY_PDSCH_Stat_Indication":
            decoded = event.data.decode()
            for record in decoded.get("Records", []):
                for block in record.get("Transport Blocks", []):
                    self._block(str(decoded["timestamp"]), record, block)

    def _say(self, name: str, amount: int, values: dict[str, Any]) -> None:
        self.counts[name] += 1
        self.sums[name] += amount
        self.broadcast_info(name, values)

    def _grants(self, decoded: dict[str, Any]) -> None:
        samples = [packet["Sample"] for packet in decoded.get("Subpackets", []) if "Sample" in packet]
        received = sum(sample["Grant received"] for sample in samples)
        used = sum(sample["Grant utilized"] for sample in samples)
        if received:
            utilization = round(100 * used / received, 2)
            values = {"received": str(received), "used": str(used), "utilization": str(utilization)}
            self._say("MAC_UL_GRANT", used, {"timestamp": str(decoded["timestamp"])} | values)

    def _buffer(self, timestamp: str, sample: dict[str, Any]) -> None:
        frame, subframe = sample["Sys FN"], sample["Sub FN"]
        if frame < 1023 or subframe < 9:
            now = frame * 10 + subframe
            if self._now is not None and (now - self._now > GAP or 2 - CYCLE < now - self._now < 0):
                self._channels.clear()
            self._now = now
        elif self._now is not None:
            # A sample without a time is one subframe later than that before it.
            self._now = (self._now + 1) % CYCLE
        if self._now is None:
            return
        for state in sample["LCIDs"]:
            if "Total Bytes" not in state:
                continue
            channel = self._channels.setdefault(state["Ld Id"], Channel())
            new, control, total = state["New Compressed Bytes"], state["Ctrl bytes"], state["Total Bytes"]
            packets, controls = channel.holds(self._now, new, control, total)
            for name, delays in (("UL_CTRL_PKT_DELAY", controls), ("UL_PKT_DELAY", packets)):
                for delay in delays:
                    self._say(name, delay, {"timestamp": timestamp, "delay": str(delay)})
        length = sum(channel.bytes for channel in self._channels.values())
        if length > 0 and length != self.queue_length:
            self.queue_length = length
            self._say("UL_QUEUE_LENGTH", length, {"timestamp": timestamp, "length": str(length)})

    def _block(self, timestamp: str, record: dict[str, Any], block: dict[str, Any]) -> None:
        tti = record["Frame Num"] * 10 + record["Subframe Num"]
        key = (record.get("Serving Cell Index"), block["HARQ ID"], block["TB Index"])
        failed = self._failed.get(key)
        if block["CRC Result"] != "Pass":
            if failed is None and block["RV"] == 0:
                self._failed[key] = (tti, block["TB Size"])
            if failed is None or block["RV"] > 0:
                return
            name = "RLC_RETX"
        elif failed is None:
            return
        else:
            name = "MAC_RETX" if block["RV"] > 0 or block["Did Recombining"] == "Yes" else "RLC_RETX"
        del self._failed[key]
        delay = (tti - failed[0]) % CYCLE
        self._say(name, delay, {"pkt size": failed[1], "timestamp": timestamp, "delay": delay})
