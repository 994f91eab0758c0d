"""The levels of the serving cell and of its neighbours."""

from __future__ import annotations

from typing import Any

from .analyzer import Analyzer, Event

__all__ = ["LteMeasurementAnalyzer"]

INTRA = "LTE_PHY_Connected_Mode_Intra_Freq_Meas"


class LteMeasurementAnalyzer(Analyzer):
    """Logs each measurement in connected mode."""

    def __init__(self) -> None:
        super().__init__()
        self.add_source_callback(self._on_record)
        #: RSRP in dBm and RSRQ in dB, of each measurement.
        self.serv_cell_rsrp: list[float] = []
        self.serv_cell_rsrq: list[float] = []

    def set_source(self, source: Any) -> None:
        """Receives the measurements of `source`."""
        super().set_source(source)
        source.enable_log(INTRA)

    def get_rsrp_list(self) -> list[float]:
        """RSRP in dBm of the serving cell."""
        return self.serv_cell_rsrp

    def get_rsrq_list(self) -> list[float]:
        """RSRQ in dB of the serving cell."""
        return self.serv_cell_rsrq

    def _on_record(self, event: Event) -> None:
        if event.type_id != INTRA:
            return
        decoded = event.data.decode()
        if "RSRP(dBm)" not in decoded:
            return
        self.serv_cell_rsrp.append(decoded["RSRP(dBm)"])
        self.serv_cell_rsrq.append(decoded["RSRQ(dB)"])
        cells = [(decoded["Serving Physical Cell ID"], decoded)]
        cells += [(cell["Physical Cell ID"], cell) for cell in decoded["Neighbor Cells"]]
        lines = [f"Cell_ID={pci} RSRP={cell['RSRP(dBm)']}dBm RSRQ={cell['RSRQ(dB)']}dB" for pci, cell in cells]
        self.log_info(f"{decoded['timestamp']}: " + "\n    ".join(lines))
