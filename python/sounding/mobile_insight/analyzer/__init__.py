"""Analyzers, which process log records."""

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

THEIRS = ("KPIManager", "MobilityMngt", "MsgSerializer", "Profile", "ProfileHierarchy", "StateMachine")


def __getattr__(name: str) -> Any:
    if name.endswith("Analyzer") or name in THEIRS:
        # Not an AttributeError: `from … import` would replace its text.
        raise ImportError(
            f"{name} is part of MobileInsight and not of {__package__}: run the script with python -m "
            "sounding.mobile_insight --analyzers DIR, with the folder of a mobileinsight-core checkout"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
