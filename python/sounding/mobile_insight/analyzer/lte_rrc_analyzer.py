"""The cell, the connection and the measurements of LTE's RRC."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from xml.etree import ElementTree

from .analyzer import Analyzer, Event
from .messages import find, message_of

__all__ = ["LteRrcAnalyzer", "LteRrcConfig", "LteRrcStatus"]

OTA, SERVING, DRX = "LTE_RRC_OTA_Packet", "LTE_RRC_Serv_Cell_Info", "LTE_RRC_CDRX_Events_Info"
#: What the beginning of a state of discontinuous reception is called.
STATES = {
    "INACTIVITY_TIMER_START": "CRX",
    "INACTIVITY_TIMER_END": "CRX",
    "LONG_CYCLE_START": "LONG_DRX",
    "SHORT_CYCLE_START": "SHORT_DRX",
}
#: Handovers that are kept.
KEPT = 1 << 16


@dataclass
class LteRrcStatus:
    """A cell, and whether the device is connected."""

    id: int | None = None
    freq: int | None = None
    tac: int | None = None
    conn: bool = False

    def inited(self) -> bool:
        """Whether a cell is known."""
        return self.id is not None and self.freq is not None

    def dump_dict(self) -> dict[str, str]:
        """As text, by name."""
        named = {"cellID": self.id, "frequency": self.freq, "TAC": self.tac, "connected": self.conn}
        return {name: str(value) for name, value in named.items()}

    def dump(self) -> str:
        """As one line."""
        return "LteRrcStatus " + " ".join(f"{name}={value}" for name, value in self.dump_dict().items())


@dataclass
class LteRrcConfig:
    """What a cell told the device, by the specification's names."""

    #: By the name of the block: `sib3`.
    sibs: dict[str, Any] = field(default_factory=dict)
    #: Measurement objects and report configurations, by identifier.
    objects: dict[int, dict[str, Any]] = field(default_factory=dict)
    reports: dict[int, dict[str, Any]] = field(default_factory=dict)
    #: By measurement: the identifiers of its object and of its report configuration.
    measurements: dict[int, tuple[int, int]] = field(default_factory=dict)


class LteRrcAnalyzer(Analyzer):
    """Follows the cell; logs `LTE_RRC_STATUS`, `MEAS_PCELL` and `DRX`; sends each message as XML."""

    def __init__(self) -> None:
        super().__init__()
        self.add_source_callback(self._on_record)
        self._status = LteRrcStatus()
        self._history: dict[datetime, LteRrcStatus] = {}
        self._config: dict[tuple[int | None, int | None], LteRrcConfig] = {}

    def set_source(self, source: Any) -> None:
        """Receives the messages, the serving cells and the events of DRX from `source`."""
        super().set_source(source)
        source.enable_log([OTA, SERVING, DRX])

    def get_cell_list(self) -> list[tuple[int | None, int | None]]:
        """Each cell with a configuration, as a pair of its identity and its carrier."""
        return list(self._config)

    def get_cell_config(self, cell: tuple[int, int]) -> LteRrcConfig | None:
        """What this cell told the device."""
        return self._config.get(cell)

    def get_cur_cellid(self) -> int | None:
        """The physical identity of the cell."""
        return self._status.id

    def get_cur_freq(self) -> int | None:
        """The carrier of the cell."""
        return self._status.freq

    def get_cur_cell(self) -> LteRrcStatus:
        """The cell."""
        return self._status

    def get_cur_cell_config(self) -> LteRrcConfig | None:
        """What the cell told the device."""
        return self._config.get((self._status.id, self._status.freq))

    def get_mobility_history(self) -> dict[datetime, LteRrcStatus]:
        """The cells, by the time from which on the device was there."""
        return self._history

    def _on_record(self, event: Event) -> None:
        if event.type_id not in (OTA, SERVING, DRX):
            return
        decoded = event.data.decode()
        timestamp = decoded["timestamp"]
        if event.type_id == SERVING:
            cell = (decoded.get("Cell ID"), decoded.get("Downlink frequency"), decoded.get("TAC"))
            self._move(timestamp, *cell)
        elif event.type_id == DRX:
            for record in decoded.get("Records", []):
                if record["CDRX Event"] in STATES:
                    self._drx(timestamp, "CONNECTED", STATES[record["CDRX Event"]])
        else:
            message = message_of(event)
            if message:
                self._message(timestamp, message)
            if "Msg" in decoded:
                self.send(Event(event.timestamp, OTA, ElementTree.fromstring(decoded["Msg"])))

    def _move(self, timestamp: datetime, cell: Any, freq: Any, tac: Any) -> None:
        now = LteRrcStatus(cell, freq, tac, self._status.conn)
        if now == self._status:
            return
        if (cell, freq) == (self._status.id, self._status.freq):
            self._status.tac = tac
        else:
            self._status = now
            if len(self._history) < KEPT:
                self._history[timestamp] = now
        self.broadcast_info("LTE_RRC_STATUS", now.dump_dict())

    def _drx(self, timestamp: datetime, connection: str, state: str) -> None:
        values = {"Conn state": connection, "DRX state": state, "Timestamp": str(timestamp)}
        self.broadcast_info("DRX", values)

    def _message(self, timestamp: datetime, message: dict[str, Any]) -> None:
        for _ in find(message, "rrcConnectionSetupComplete"):
            self._status.conn = True
            self._drx(timestamp, "CONNECTED", "CRX")
        for _ in find(message, "rrcConnectionRelease"):
            self._status.conn = False
            self._drx(timestamp, "IDLE", "IDLE")
        for result in find(message, "measResultPCell"):
            rsrp = result["rsrpResult"]
            measured = {"timestamp": str(timestamp), "rsrp": rsrp, "rssi": rsrp - 141, "rsrq": result["rsrqResult"]}
            self.broadcast_info("MEAS_PCELL", measured)
        for control in find(message, "mobilityControlInfo"):
            # Without a carrier it is the same one. The next serving cell has the area.
            freq = control.get("carrierFreq", {}).get("dl-CarrierFreq", self._status.freq)
            if (control["targetPhysCellId"], freq) != (self._status.id, self._status.freq):
                self._move(timestamp, control["targetPhysCellId"], freq, None)
        # A message that moves the device configures the cell that it moves to.
        self._configure(message)

    def _configure(self, message: dict[str, Any]) -> None:
        blocks = [block for info in find(message, "sib-TypeAndInfo") for block in info]
        measurements = list(find(message, "measConfig"))
        if not blocks and not measurements:
            return
        config = self._config.setdefault((self._status.id, self._status.freq), LteRrcConfig())
        for block in blocks:
            config.sibs.update(block)
        for change in measurements:
            _apply(change, config)


def _apply(change: dict[str, Any], config: LteRrcConfig) -> None:
    """A change of measurements (TS 36.331 §5.5.2): first those that end, then those that begin or change."""
    for kept, name in (
        (config.objects, "measObjectToRemoveList"),
        (config.reports, "reportConfigToRemoveList"),
        (config.measurements, "measIdToRemoveList"),
    ):
        for number in change.get(name, []):
            kept.pop(number, None)
    for added in change.get("measObjectToAddModList", []):
        config.objects[added["measObjectId"]] = added["measObject"]
    for added in change.get("reportConfigToAddModList", []):
        config.reports[added["reportConfigId"]] = added["reportConfig"]
    for added in change.get("measIdToAddModList", []):
        config.measurements[added["measId"]] = (added["measObjectId"], added["reportConfigId"])
