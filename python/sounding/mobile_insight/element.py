"""What monitors and analyzers have in common: they send events to each other."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

_LOG = logging.getLogger("sounding.mobile_insight")


class Event(NamedTuple):
    """An event: a log record, or an analyzer's result."""

    #: When it was handed over, on a clock of the host that only goes forward.
    timestamp: float
    #: The kind of event.
    type_id: str
    #: A `DMLogPacket` from a monitor; an analyzer sends any type.
    data: Any


class Element:
    """A sender and receiver of events."""

    def __init__(self) -> None:
        #: The elements that it receives from, with the callbacks for each.
        self.from_list: dict[Element, list[Callable[[Event], Any]]] = {}
        #: The elements that it sends to.
        self.to_list: list[Element] = []
        self.logger = _LOG
        if not _LOG.hasHandlers():
            # Scripts report their results through the log, so the log goes to the terminal.
            self.set_log()
            _LOG.addHandler(logging.StreamHandler())

    def send(self, event: Event) -> None:
        """Passes an event to every receiver."""
        for module in list(self.to_list):
            module.recv(self, event)

    def recv(self, module: Element, event: Event) -> None:
        """Takes an event from `module`."""

    def set_log(self, logpath: str = "", loglevel: int = logging.INFO) -> None:
        """Sets the log level and an additional log file. All elements share one log."""
        _LOG.setLevel(loglevel)
        if logpath:
            _LOG.addHandler(logging.FileHandler(logpath, mode="w"))

    def log_debug(self, message: object) -> None:
        """Logs for debugging."""
        _LOG.debug("%s", message)

    def log_info(self, message: object) -> None:
        """Logs what happens."""
        _LOG.info("%s", message)

    def log_warning(self, message: object) -> None:
        """Logs what may be a mistake."""
        _LOG.warning("%s", message)

    def log_error(self, message: object) -> None:
        """Logs what went wrong."""
        _LOG.error("%s", message)

    def log_critical(self, message: object) -> None:
        """Logs what went very wrong."""
        _LOG.critical("%s", message)

    def broadcast_info(self, method: str, msg_dict: dict[str, Any]) -> None:
        """Logs a message that other programs could take; on a phone, MobileInsight's plugins do."""
        _LOG.info("%s.%s: %s", type(self).__name__, method, msg_dict)
