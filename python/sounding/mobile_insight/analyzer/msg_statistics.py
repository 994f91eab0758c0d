"""Counts records."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ..packet import time_of
from .analyzer import Analyzer, Event

__all__ = ["MsgStatistics"]


class MsgStatistics(Analyzer):
    """How many records there are of each type, when they came, and how long they are."""

    def __init__(self) -> None:
        super().__init__()
        self.reset()
        self.add_source_callback(self._count)

    def reset(self) -> None:
        """Starts over."""
        #: By type, how many.
        self.msg_type_statistics: dict[str, int] = {}
        #: By type, the modem's time of each.
        self.msg_arrival_rate: dict[str, list[datetime]] = {}
        #: By type, the length of each.
        self.msg_length: dict[str, list[int]] = {}
        #: As scripts spell it.
        self.msg_lengh = self.msg_length

    def set_source(self, source: Any) -> None:
        """Takes the records of `source` from here on, of all types."""
        super().set_source(source)
        source.enable_log_all()

    def _count(self, event: Event) -> None:
        if not event.data:
            return
        record, name = event.data.record, event.type_id
        self.msg_type_statistics[name] = self.msg_type_statistics.get(name, 0) + 1
        time = time_of(record)
        self.msg_arrival_rate.setdefault(name, []).append(time)
        self.msg_length.setdefault(name, []).append(len(record.raw) + 12)
