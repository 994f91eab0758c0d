"""Sources of log records."""

from __future__ import annotations

import timeit
from collections.abc import Iterable
from typing import Any, BinaryIO

from ... import open as open_source
from ..element import Element, Event
from ..packet import DMLogPacket
from ..types import CODES, NAMES, codes_of, type_of

__all__ = ["Event", "Monitor"]


class Monitor(Element):
    """A source of log records, which sends each to its analyzers."""

    #: MobileInsight's names of all types.
    SUPPORTED_TYPES = set(CODES)

    def __init__(self) -> None:
        super().__init__()
        self._type_names: list[str] = []
        self._skip_decoding = False
        self._sampling_rate = 100
        self._save_log_path: str | None = None
        self._save_file: BinaryIO | None = None

    def available_log_types(self) -> set[str]:
        """The names of all types."""
        return set(self.SUPPORTED_TYPES)

    def enable_log(self, type_name: str | Iterable[str]) -> None:
        """Sends records of this type, or of these, to the analyzers.

        Besides MobileInsight's names there are log codes in hex (`0xB0C8`), for types that have none.
        """
        for name in [type_name] if isinstance(type_name, str) else type_name:
            if name not in self.SUPPORTED_TYPES and not _is_code(name):
                self.log_warning(f"Unsupported log message type: {name}")
            elif name not in self._type_names:
                self._type_names.append(name)
                self.log_info(f"Enable {name}")

    def enable_log_all(self) -> None:
        """Sends records of all types that have a name."""
        self.enable_log(sorted(self.SUPPORTED_TYPES))

    def set_skip_decoding(self, decoding: bool) -> None:
        """With True, `decode()` returns only length, type and time."""
        self._skip_decoding = decoding

    def set_sampling_rate(self, sampling_rate: int) -> None:
        """Sends only this percentage of the records to the analyzers."""
        if not 0 <= sampling_rate <= 100:
            raise ValueError(f"the sampling rate is 0 to 100, not {sampling_rate}")
        self._sampling_rate = sampling_rate

    def save_log_as(self, path: str) -> None:
        """Writes the enabled records to a file that can be replayed."""
        self._save_log_path = path

    def register(self, analyzer: Element) -> None:
        """Sends records to `analyzer` from here on."""
        if analyzer not in self.to_list:
            self.to_list.append(analyzer)

    def deregister(self, analyzer: Element) -> None:
        """Sends no more records to `analyzer`."""
        if analyzer in self.to_list:
            self.to_list.remove(analyzer)

    def run(self) -> None:
        """Sends every record, and returns at the end of the source."""
        raise NotImplementedError("a monitor has to name the source of its records")

    def _replay(self, source: Any, **options: Any) -> None:
        """Sends the enabled records of one source."""
        if self._save_log_path is not None and self._save_file is None:
            self._save_file = open(self._save_log_path, "wb")
        codes = codes_of(self._type_names)
        # A budget of a hundred for each record sent spreads the chosen ones evenly.
        budget = 0
        with open_source(source, codes=codes, **options) as reader:
            for record in reader:
                if self._save_file is not None:
                    self._save_file.write(record.to_frame())
                budget += self._sampling_rate
                if budget < 100:
                    continue
                budget -= 100
                packet = DMLogPacket(record, self._skip_decoding)
                self.send(Event(timeit.default_timer(), type_of(record.code), packet))
            counts = reader.counts
        self.log_info(f"{source}: {counts!r}")

    def _end(self) -> None:
        if self._save_file is not None:
            self._save_file.close()
            self._save_file = None
        self.send(Event(timeit.default_timer(), "Monitor.STOP", None))


def _is_code(name: str) -> bool:
    try:
        return name.startswith("0x") and int(name, 16) not in NAMES
    except ValueError:
        return False
