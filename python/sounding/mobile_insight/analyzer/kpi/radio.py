"""Indicators of the radio and of throughput."""

from __future__ import annotations

from datetime import datetime

from ..analyzer import Event
from .kpi_analyzer import KpiAnalyzer

__all__ = ["IpDlTputAnalyzer", "PhyRlmAnalyzer"]


class IpDlTputAnalyzer(KpiAnalyzer):
    """Bits a second of the downlink's PDCP, over at least a second."""

    KPIS = ("KPI.Integrity.DL_TPUT",)
    TYPES = ("LTE_PDCP_DL_Cipher_Data_PDU",)

    def __init__(self) -> None:
        super().__init__()
        self._since: datetime | None = None
        self._bytes = 0

    def on_record(self, event: Event) -> None:
        """Adds the PDUs of a record."""
        decoded = event.data.decode()
        for packet in decoded.get("Subpackets", [])[:1]:
            self._bytes += sum(pdu["PDU Size"] for pdu in packet.get("PDCPDL CIPH DATA", []))
        now = decoded["timestamp"]
        if self._since is None:
            self._since = now
            return
        seconds = (now - self._since).total_seconds()
        if seconds > 1:
            self.store_kpi(self.KPIS[0], round(self._bytes * 8 / seconds, 2), now)
            self._since, self._bytes = now, 0


class PhyRlmAnalyzer(KpiAnalyzer):
    """The larger of the block error rates by which the modem monitors its link."""

    KPIS = ("KPI.Wireless.BLER",)
    TYPES = ("LTE_PHY_RLM_Report",)

    def __init__(self) -> None:
        super().__init__()
        self._last = (0.0, 0.0)

    def on_record(self, event: Event) -> None:
        """Reads the rates of a record."""
        decoded = event.data.decode()
        for record in decoded.get("Records", []):
            rates = (record["In Sync BLER (%)"], record["Out of Sync BLER (%)"])
            if (self._last[0] == 0 or rates != self._last) and max(rates) > 0:
                self.store_kpi(self.KPIS[0], round(max(rates), 2), decoded["timestamp"])
            self._last = rates
