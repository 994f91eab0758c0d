"""The rate feed of `sounding run`, as an iterator of lines."""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields
from types import TracebackType
from typing import Any

from ._sounding import SoundingError

#: The version of the lines that this reader knows. A version gains fields, and loses none.
_VERSION = 1

#: Longer lines are not the feed's.
_LONGEST_BYTES = 4096


class FeedError(SoundingError):
    """The feed is not there, it ended, or it is no feed."""


@dataclass(frozen=True)
class FeedLine:
    """One direction of one modem at one time. None is unknown, and never zero; docs/reference/feed.md has the units."""

    number: int
    modem: str
    direction: str
    made_at_ns: int
    valid_for_ms: float
    advice_bits_per_sec: int | None = None
    advice_cause: str | None = None
    rate_bits_per_sec: int | None = None
    bound: str | None = None
    state: str | None = None
    source: str | None = None
    age_ms: float | None = None
    backlog_bytes: int | None = None
    users: int | None = None

    @property
    def is_valid(self) -> bool:
        """Whether the rate and the advice may be used now: until they are older than they may be."""
        age_ms = (self.age_ms or 0.0) + (time.monotonic_ns() - self.made_at_ns) / 1e6
        return age_ms <= self.valid_for_ms


_FIELDS = {field.name for field in fields(FeedLine)}


class Feed:
    """Lines of a feed, until its daemon ends or falls silent: then a `FeedError` is raised.

    `feed` is a name, or the path of a socket. Use it with `with`, or close it.
    """

    def __init__(self, feed: str | os.PathLike[str]) -> None:
        self._path = _socket_of(os.fspath(feed))
        self._count = 0
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.settimeout(5)
            self._socket.connect(self._path)
            self._file = self._socket.makefile("rb")
            greeting = self._object()
            if greeting.get("version") != _VERSION:
                said, known = greeting.get("version"), _VERSION
                raise FeedError(f"{self._path}: the feed has version {said}, and this reader knows {known}: update it")
            #: Longest time between two lines of a direction, in ms.
            self.longest_gap_ms: int = int(greeting["longest_gap_ms"])
        except OSError as error:
            self.close()
            hint = "is `sounding run` with a [feed] there, and may this user read it?"
            raise FeedError(f"{self._path}: {error.strerror or error}: {hint}") from error
        except (KeyError, TypeError, ValueError) as error:
            self.close()
            raise FeedError(f"{self._path}: it is no feed: {error!r}") from error
        except BaseException:
            self.close()
            raise
        # Ten gaps without a line: the daemon is dead.
        self._socket.settimeout(min(max(self.longest_gap_ms, 1), 10_000) / 100)

    def __iter__(self) -> Iterator[FeedLine]:
        return self

    def __next__(self) -> FeedLine:
        said = self._object()
        try:
            return FeedLine(**{name: value for name, value in said.items() if name in _FIELDS})
        except TypeError as error:
            raise self._foreign(str(error)) from error

    def close(self) -> None:
        """Ends the connection."""
        self._socket.close()

    def __enter__(self) -> Feed:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _object(self) -> dict[str, Any]:
        try:
            text = self._file.readline(_LONGEST_BYTES)
        except TimeoutError as error:
            raise FeedError(f"{self._path}: the feed is silent: its daemon is dead, or hangs") from error
        except OSError as error:
            raise FeedError(f"{self._path}: the feed ended: {error.strerror or error}") from error
        self._count += 1
        if not text.endswith(b"\n"):
            if len(text) == _LONGEST_BYTES:
                raise self._foreign(f"it is longer than {_LONGEST_BYTES} bytes")
            raise FeedError(f"{self._path}: the feed ended: its daemon closed it")
        try:
            said = json.loads(text)
        except ValueError as error:
            raise self._foreign(str(error)) from error
        if not isinstance(said, dict):
            raise self._foreign("it is no object")
        return said

    def _foreign(self, why: str) -> FeedError:
        return FeedError(f"{self._path}: line {self._count} is not one of the feed's: {why}")


def _socket_of(feed: str) -> str:
    if "/" in feed:
        return feed
    if not re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}", feed):
        raise FeedError(f"{feed!r}: a name is 1 to 64 letters, digits, -, _ or dots, and begins with none")
    chosen = os.environ.get("SOUNDING_BOARD_DIR")
    if chosen is not None:
        return os.path.join(chosen, feed + ".rate")
    own = os.path.join(os.environ.get("XDG_RUNTIME_DIR", "/nowhere"), "sounding", feed + ".rate")
    return own if os.path.exists(own) else f"/run/sounding/{feed}.rate"
