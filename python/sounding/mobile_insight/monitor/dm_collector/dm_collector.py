"""Log records of a modem at a serial port."""

from __future__ import annotations

from typing import Any

from ..online_monitor import OnlineMonitor

__all__ = ["DMCollector"]


class DMCollector(OnlineMonitor):
    """The name of `OnlineMonitor` in scripts for a computer."""

    def __init__(self, prefs: dict[str, Any] | None = None) -> None:
        """Ignores `prefs`, the path of Wireshark, which is not needed here."""
        super().__init__()
        self._prefs = prefs or {}
