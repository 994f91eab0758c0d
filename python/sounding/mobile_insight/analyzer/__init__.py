"""Analyzers, which process log records."""

import sys
from importlib.abc import MetaPathFinder
from typing import Any

from .analyzer import Analyzer
from .kpi import (
    AttachSrAnalyzer,
    DedicatedBearerSrAnalyzer,
    HoSrAnalyzer,
    IpDlTputAnalyzer,
    KpiAnalyzer,
    KPIManager,
    PhyRlmAnalyzer,
    RrcSrAnalyzer,
    ServiceReqSrAnalyzer,
    TauSrAnalyzer,
)
from .lte_dl_retx_analyzer import LteDlRetxAnalyzer
from .lte_mac_analyzer import LteMacAnalyzer
from .lte_measurement_analyzer import LteMeasurementAnalyzer
from .lte_nas_analyzer import LteNasAnalyzer
from .lte_rrc_analyzer import LteRrcAnalyzer
from .msg_logger import MsgLogger
from .msg_statistics import MsgStatistics
from .nr_rrc_analyzer import NrRrcAnalyzer
from .uplink_latency_analyzer import UplinkLatencyAnalyzer

__all__ = [
    "Analyzer",
    "AttachSrAnalyzer",
    "DedicatedBearerSrAnalyzer",
    "HoSrAnalyzer",
    "IpDlTputAnalyzer",
    "KPIManager",
    "KpiAnalyzer",
    "LteDlRetxAnalyzer",
    "LteMacAnalyzer",
    "LteMeasurementAnalyzer",
    "LteNasAnalyzer",
    "LteRrcAnalyzer",
    "MsgLogger",
    "MsgStatistics",
    "NrRrcAnalyzer",
    "PhyRlmAnalyzer",
    "RrcSrAnalyzer",
    "ServiceReqSrAnalyzer",
    "TauSrAnalyzer",
    "UplinkLatencyAnalyzer",
]



def _absent(name: str) -> str:
    return (
        f"{__name__} has no {name}; if MobileInsight has it, run the script with python -m sounding.mobile_insight "
        "--analyzers DIR, with the folder of a mobileinsight-core checkout"
    )


class _Absent(MetaPathFinder):
    """The last finder: it says what to do about an import that only MobileInsight has."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        package, _, name = fullname.partition(".analyzer.")
        # A checkout's package may have taken this one's place.
        if name and sys.modules.get(f"{package}.analyzer") is _SELF:
            raise ModuleNotFoundError(_absent(name))


_SELF = sys.modules[__name__]
sys.meta_path.append(_Absent())


def __getattr__(name: str) -> Any:
    raise AttributeError(_absent(name))
