"""Log records of a modem at a serial port."""

from __future__ import annotations

from typing import Any

from ..online_monitor import OnlineMonitor

__all__ = ["DMCollector"]


class DMCollector(OnlineMonitor):
    """What scripts for a computer call an `OnlineMonitor`."""

    def __init__(self, prefs: dict[str, Any] | None = None) -> None:
        """`prefs` said where Wireshark is, which is not needed."""
        super().__init__()
        self._prefs = prefs or {}
