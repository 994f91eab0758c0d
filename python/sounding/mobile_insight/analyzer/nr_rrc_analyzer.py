"""The cell and the measurements of NR's RRC."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from xml.etree import ElementTree

from .analyzer import Analyzer, Event
from .messages import find, message_of

__all__ = ["NrRrcAnalyzer", "NrRrcConfig", "NrRrcStatus"]

OTA = "5G_NR_RRC_OTA_Packet"
#: Channels that name no cell of the device's own: broadcast, and bearers that came within a message of LTE.
ELSEWHERE = ("nr_bcch_bch", "nr_radio_bearer_config")
#: Changes of the cell that are kept.
KEPT = 1 << 16


@dataclass
class NrRrcStatus:
    """A cell."""

    id: int | None = None
    freq: int | None = None

    def inited(self) -> bool:
        """Whether a cell is known."""
        return self.id is not None and self.freq is not None


@dataclass
class NrRrcConfig:
    """What a cell told the device, by the specification's names."""

    #: Measurement objects and report configurations, by identifier.
    objects: dict[int, dict[str, Any]] = field(default_factory=dict)
    reports: dict[int, dict[str, Any]] = field(default_factory=dict)
    #: By measurement: the identifiers of its object and of its report configuration.
    measurements: dict[int, tuple[int, int]] = field(default_factory=dict)


class NrRrcAnalyzer(Analyzer):
    """Follows the cell and its measurements; sends each message as XML."""

    def __init__(self) -> None:
        super().__init__()
        self.add_source_callback(self._on_record)
        self._status = NrRrcStatus()
        self._history: dict[datetime, NrRrcStatus] = {}
        self._config: dict[tuple[int | None, int | None], NrRrcConfig] = {}

    def set_source(self, source: Any) -> None:
        """Receives the messages of `source`."""
        super().set_source(source)
        source.enable_log(OTA)

    def get_cell_list(self) -> list[tuple[int | None, int | None]]:
        """Each cell with a configuration, as a pair of its identity and its carrier."""
        return list(self._config)

    def get_cell_config(self, cell: tuple[int, int]) -> NrRrcConfig | None:
        """What this cell told the device."""
        return self._config.get(cell)

    def get_cur_cellid(self) -> int | None:
        """The physical identity of the cell."""
        return self._status.id

    def get_cur_freq(self) -> int | None:
        """The carrier of the cell."""
        return self._status.freq

    def get_cur_cell_status(self) -> NrRrcStatus:
        """The cell."""
        return self._status

    def get_cur_cell_config(self) -> NrRrcConfig | None:
        """What the cell told the device."""
        return self._config.get((self._status.id, self._status.freq))

    def get_mobility_history(self) -> dict[datetime, NrRrcStatus]:
        """The cells, by the time from which on the device was there."""
        return self._history

    def _on_record(self, event: Event) -> None:
        if event.type_id != OTA:
            return
        decoded = event.data.decode()
        own = event.data.record.message
        if own is None:
            return
        # Other messages that came within one of LTE have no carrier.
        if own.channel not in ELSEWHERE and decoded["Freq"]:
            self._move(decoded["timestamp"], decoded["Physical Cell ID"], decoded["Freq"])
        message = message_of(event)
        for cell in find(message, "spCellConfigCommon"):
            for freq in find(cell, "absoluteFrequencySSB"):
                self._move(decoded["timestamp"], cell.get("physCellId"), freq)
        for change in find(message, "measConfig"):
            config = self._config.setdefault((self._status.id, self._status.freq), NrRrcConfig())
            for added in change.get("measObjectToAddModList", []):
                config.objects[added["measObjectId"]] = added["measObject"]
            for added in change.get("reportConfigToAddModList", []):
                config.reports[added["reportConfigId"]] = added["reportConfig"]
            for added in change.get("measIdToAddModList", []):
                config.measurements[added["measId"]] = (added["measObjectId"], added["reportConfigId"])
        if "Msg" in decoded:
            self.send(Event(event.timestamp, OTA, ElementTree.fromstring(decoded["Msg"])))

    def _move(self, timestamp: datetime, cell: int | None, freq: int) -> None:
        status = NrRrcStatus(cell, freq)
        if status != self._status:
            self._status = status
            if len(self._history) < KEPT:
                self._history[timestamp] = status
