"""Analyzers of log records."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable
from typing import Any, ClassVar

from ..element import Element, Event

__all__ = ["Analyzer", "Element", "Event", "logging"]


class Analyzer(Element):
    """Receives the records of a monitor and the events of other analyzers.

    An analyzer is one of its name: another that includes it by name gets the same.
    """

    _by_name: ClassVar[dict[str, Analyzer]] = {}

    def __init__(self) -> None:
        super().__init__()
        #: The monitor.
        self.source: Any = None
        #: Functions that are called with each record of the monitor.
        self.source_callback: list[Callable[[Event], Any]] = []
        Analyzer._by_name.setdefault(type(self).__name__, self)

    @staticmethod
    def forget_all() -> None:
        """Forgets all analyzers, so that a program can run one analysis after another."""
        Analyzer._by_name.clear()

    def set_source(self, source: Any) -> None:
        """Receives the records of `source` from now on. Included analyzers receive each record first."""
        for analyzer in self.from_list:
            if isinstance(analyzer, Analyzer):
                analyzer.set_source(source)
        if self.source is not None:
            self.source.deregister(self)
        self.source = source
        source.register(self)

    def add_source_callback(self, callback: Callable[[Event], Any]) -> None:
        """Calls `callback` with each record."""
        if callback not in self.source_callback:
            self.source_callback.append(callback)

    def rm_source_callback(self, callback: Callable[[Event], Any]) -> None:
        """Removes `callback`."""
        if callback in self.source_callback:
            self.source_callback.remove(callback)

    def include_analyzer(
        self, analyzer_name: str, callback_list: list[Callable[[Event], Any]]
    ) -> None:
        """Calls these with the events of the analyzer of that name, and makes that analyzer if necessary."""
        found = self._by_name.get(analyzer_name)
        if found is None:
            found = _class_of(analyzer_name)()
            Analyzer._by_name[analyzer_name] = found
        self.from_list[found] = callback_list
        if self not in found.to_list:
            found.to_list.append(self)
        if self.source is not None and found.source is not self.source:
            found.set_source(self.source)

    def exclude_analyzer(self, analyzer_name: str) -> None:
        """Stops receiving events of the analyzer of that name."""
        found = self._by_name.get(analyzer_name)
        if found is not None and found in self.from_list:
            del self.from_list[found]
            found.to_list.remove(self)

    def get_analyzer(self, analyzer_name: str) -> Analyzer | None:
        """The analyzer of that name, if this one includes it."""
        found = self._by_name.get(analyzer_name)
        return found if found in self.from_list else None

    def recv(self, module: Element, event: Event) -> None:
        """Receives an event of the monitor or of an included analyzer."""
        called = self.source_callback if module is self.source else self.from_list.get(module, [])
        for callback in list(called):
            callback(event)


def _class_of(name: str) -> type[Analyzer]:
    """The class of that name, from the script or from the package."""
    todo = list(Analyzer.__subclasses__())
    while todo:
        known = todo.pop()
        if known.__name__ == name:
            return known
        todo.extend(known.__subclasses__())
    found: type[Analyzer] = getattr(importlib.import_module(__package__ or ""), name)
    return found
