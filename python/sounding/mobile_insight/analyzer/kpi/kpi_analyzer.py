"""An analyzer that makes indicators."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from datetime import datetime
from typing import Any, ClassVar, NamedTuple

from ..analyzer import Analyzer, Event

__all__ = ["KpiAnalyzer"]

#: What an indicator's value is in, by the end of its name.
UNITS = {"BLER": "%", "_SR": "%", "_TPUT": "bps"}
#: Seconds in a unit of a period.
PERIODS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
#: Values of an indicator that are kept.
KEPT = 1 << 16


class Value(NamedTuple):
    """An indicator at one time."""

    timestamp: datetime
    cell: str | None
    value: float


class KpiAnalyzer(Analyzer):
    """Counts what happens, and logs each enabled indicator when it changes."""

    #: The indicators: counts, and for each success rate the counts of successes and of attempts.
    KPIS: ClassVar[tuple[str, ...]] = ()
    RATES: ClassVar[dict[str, tuple[str, str]]] = {}
    #: The rates whose first count has failures.
    OF_FAILURES: ClassVar[frozenset[str]] = frozenset()
    #: The record types that it needs, besides that of the serving cell.
    TYPES: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        super().__init__()
        #: By indicator.
        self.counts: Counter[str] = Counter()
        self._periods: dict[str, float] = {}
        self._cells: dict[str, str | None] = {}
        self._said: dict[str, datetime] = {}
        self._values: defaultdict[str, deque[Value]] = defaultdict(lambda: deque(maxlen=KEPT))
        self._stored = True
        self._cell: str | None = None
        self.add_source_callback(self._on_record)

    def set_source(self, source: Any) -> None:
        """Receives what the indicators need from `source`."""
        super().set_source(source)
        source.enable_log([*self.TYPES, "LTE_RRC_Serv_Cell_Info"])

    def list_kpis(self) -> list[str]:
        """The full names of its indicators."""
        return [*self.KPIS, *self.RATES]

    def enable_local_storage(self, enable_storage: bool) -> None:
        """Keeps the values in memory, for `local_query_kpi`."""
        self._stored = enable_storage

    def set_periodicity(self, kpi_showname: str, periodicity: str) -> bool:
        """Logs the indicator at most once in a period: `10m`, `1h`. Until this is called it is not logged."""
        number, unit = periodicity[:-1], periodicity[-1:]
        if unit not in PERIODS or not number.isdigit():
            self.log_warning(f"{kpi_showname}: the period {periodicity!r} is no number with s, m, h or d")
            return False
        self._periods[kpi_showname] = int(number) * PERIODS[unit]
        return True

    def set_cell(self, kpi_showname: str, cell: str | None) -> None:
        """Logs the indicator only in the cell of this identity."""
        self._cells[kpi_showname] = cell

    def local_query_kpi(
        self, kpi_name: str, cell_id: str | None = None, timestamp: datetime | None = None
    ) -> float | None:
        """The indicator's last value, or its last one before `timestamp`; of all cells, or of one."""
        for value in reversed(self._values[kpi_name]):
            if (timestamp is None or value.timestamp < timestamp) and cell_id in (None, "cell", value.cell):
                return value.value
        return None

    def count(self, kpi_name: str, timestamp: datetime) -> None:
        """One more, and the rates that follow from it."""
        self.counts[kpi_name] += 1
        self.store_kpi(kpi_name, self.counts[kpi_name], timestamp)
        for rate, (part, whole) in self.RATES.items():
            if kpi_name == part and self.counts[whole]:
                share = 100 * self.counts[part] / self.counts[whole]
                self.store_kpi(rate, round(100 - share if rate in self.OF_FAILURES else share, 2), timestamp)

    def store_kpi(self, kpi_name: str, kpi_value: float, timestamp: datetime) -> None:
        """Keeps a value, and logs it if that is due."""
        if self._stored:
            self._values[kpi_name].append(Value(timestamp, self._cell, kpi_value))
        cell = self._cells.get(kpi_name)
        if kpi_name not in self._periods or cell not in (None, self._cell):
            return
        last = self._said.get(kpi_name)
        if last is not None and (timestamp - last).total_seconds() <= self._periods[kpi_name]:
            return
        self._said[kpi_name] = timestamp
        unit = next((unit for end, unit in UNITS.items() if kpi_name.endswith(end)), "")
        self.log_info(f"{timestamp}: {kpi_name.replace('_', '.')}={kpi_value}{unit}")

    def _on_record(self, event: Event) -> None:
        if event.data is None:
            return
        if event.type_id == "LTE_RRC_Serv_Cell_Info":
            self._cell = str(event.data.decode().get("Cell Identity"))
        elif event.type_id in self.TYPES:
            self.on_record(event)

    def on_record(self, event: Event) -> None:
        """A record of one of its types."""
