"""All indicators by their names."""

from __future__ import annotations

from datetime import datetime
from ..analyzer import Analyzer
from .kpi_analyzer import KpiAnalyzer
from .radio import IpDlTputAnalyzer, PhyRlmAnalyzer
from .signalling import (
    AttachSrAnalyzer,
    DedicatedBearerSrAnalyzer,
    HoSrAnalyzer,
    RrcSrAnalyzer,
    ServiceReqSrAnalyzer,
    TauSrAnalyzer,
)

__all__ = ["KPIManager"]

ANALYZERS: tuple[type[KpiAnalyzer], ...] = (
    AttachSrAnalyzer,
    DedicatedBearerSrAnalyzer,
    HoSrAnalyzer,
    IpDlTputAnalyzer,
    PhyRlmAnalyzer,
    RrcSrAnalyzer,
    ServiceReqSrAnalyzer,
    TauSrAnalyzer,
)


class KPIManager(Analyzer):
    """Enables and reads indicators."""

    #: The analyzer's name of each indicator.
    supported_kpis = {kpi: kind.__name__ for kind in ANALYZERS for kpi in (*kind.KPIS, *kind.RATES)}

    def list_kpis(self) -> list[str]:
        """The names of all indicators."""
        return list(self.supported_kpis)

    def enable_kpi(
        self, kpi_name: str, periodicity: str = "0s", cell: str | None = None, enable_storage: bool = True
    ) -> bool:
        """Logs an indicator, at most once in a period and only in one cell; False if there is none of that name."""
        analyzer = self._analyzer(kpi_name)
        if analyzer is None:
            return False
        analyzer.enable_local_storage(enable_storage)
        analyzer.set_cell(kpi_name, cell)
        return analyzer.set_periodicity(kpi_name, periodicity)

    def enable_all_kpis(self, enable_storage: bool = False) -> None:
        """Logs all indicators."""
        for name in self.list_kpis():
            self.enable_kpi(name, enable_storage=enable_storage)

    def local_query_kpi(
        self, kpi_name: str, mode: str = "cell", timestamp: datetime | None = None
    ) -> float | None:
        """The last value of an indicator, or that before `timestamp`; None if there is none."""
        analyzer = self._analyzer(kpi_name)
        return None if analyzer is None else analyzer.local_query_kpi(kpi_name, mode, timestamp)

    def _analyzer(self, kpi_name: str) -> KpiAnalyzer | None:
        if kpi_name not in self.supported_kpis:
            self.log_warning(
                f"{kpi_name}: there is no such KPI in this package; with --analyzers DIR those of a "
                "mobileinsight-core checkout are used"
            )
            return None
        name = self.supported_kpis[kpi_name]
        if self.get_analyzer(name) is None:
            self.include_analyzer(name, [])
        found = self.get_analyzer(name)
        return found if isinstance(found, KpiAnalyzer) else None
