"""Key performance indicators of a device, by MobileInsight's names."""

from .kpi_analyzer import KpiAnalyzer
from .kpi_manager import KPIManager
from .radio import IpDlTputAnalyzer, PhyRlmAnalyzer
from .signalling import (
    AttachSrAnalyzer,
    DedicatedBearerSrAnalyzer,
    HoSrAnalyzer,
    RrcSrAnalyzer,
    ServiceReqSrAnalyzer,
    TauSrAnalyzer,
)

__all__ = [
    "AttachSrAnalyzer",
    "DedicatedBearerSrAnalyzer",
    "HoSrAnalyzer",
    "IpDlTputAnalyzer",
    "KPIManager",
    "KpiAnalyzer",
    "PhyRlmAnalyzer",
    "RrcSrAnalyzer",
    "ServiceReqSrAnalyzer",
    "TauSrAnalyzer",
]
