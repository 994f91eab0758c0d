"""Analyzers, which process log records."""

from typing import Any

from .analyzer import Analyzer
from .msg_logger import MsgLogger
from .msg_statistics import MsgStatistics

__all__ = ["Analyzer", "MsgLogger", "MsgStatistics"]


def __getattr__(name: str) -> Any:
    if name.endswith("Analyzer") or name in ("KPIManager", "MobilityMngt", "Profile", "StateMachine"):
        raise AttributeError(
            f"{name} is part of MobileInsight and not of {__package__}: a copy of its file beside the script works if "
            "all it needs is Analyzer and decoded records"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
