"""The rate feed's iterator, beside a daemon of a few lines."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import sounding

GREETING = {"feed": "rate", "version": 1, "longest_gap_ms": 100}


def line(number: int, **more: object) -> dict[str, object]:
    made_at_ns = time.monotonic_ns()
    must = {"number": number, "modem": "wan", "direction": "uplink", "made_at_ns": made_at_ns, "valid_for_ms": 200.0}
    return {**must, **more}


Says = Callable[..., Path]


@pytest.fixture
def says(tmp_path: Path) -> Says:
    """Starts a daemon that says this, and then ends or hangs."""

    def start(*said: object, hangs: bool = False) -> Path:
        path = tmp_path / "wan.rate"
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen()

        def run() -> None:
            with listener, listener.accept()[0] as connection:
                for one in said:
                    text = one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n"
                    connection.sendall(text)
                if hangs:
                    connection.recv(1)

        threading.Thread(target=run, daemon=True).start()
        return path

    return start


def test_lines_are_those_of_the_feed_and_unknown_values_are_none(says: Says) -> None:
    first = line(1, advice_bits_per_sec=4_000_000, advice_cause="climbing", age_ms=3.5, mood="a later version's")
    path = says(GREETING, first, line(2, state="stale"))
    with sounding.feed(path) as feed:
        assert feed.longest_gap_ms == 100
        one, two = next(feed), next(feed)
        assert (one.advice_bits_per_sec, one.advice_cause, one.age_ms) == (4_000_000, "climbing", 3.5)
        assert (one.rate_bits_per_sec, one.users) == (None, None)
        assert (two.number, two.state, two.advice_bits_per_sec) == (2, "stale", None)
        with pytest.raises(sounding.FeedError, match="ended"):
            next(feed)


def test_a_line_is_valid_until_it_has_to_be_heard_again(says: Says) -> None:
    old = line(2, made_at_ns=time.monotonic_ns() - 201_000_000)
    with sounding.feed(says(GREETING, line(1, valid_for_ms=60_000.0), old)) as feed:
        assert [one.is_valid for one in (next(feed), next(feed))] == [True, False]


def test_a_daemon_that_hangs_is_an_error(says: Says) -> None:
    with sounding.feed(says({**GREETING, "longest_gap_ms": 10}, line(1), hangs=True)) as feed:
        assert next(feed).number == 1
        with pytest.raises(sounding.FeedError, match="silent"):
            next(feed)


def test_a_feed_is_found_by_its_name(says: Says, monkeypatch: pytest.MonkeyPatch) -> None:
    path = says(GREETING, line(7))
    monkeypatch.setenv("SOUNDING_BOARD_DIR", str(path.parent))
    with sounding.feed("wan") as feed:
        assert next(feed).number == 7
    with pytest.raises(sounding.FeedError, match="is `sounding run` with a"):
        sounding.feed("elsewhere")
    with pytest.raises(sounding.FeedError, match="a name is"):
        sounding.feed("..")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ([{**GREETING, "version": 2}], "version 2"),
        ([{"version": 1}], "no feed"),
        ([{**GREETING, "longest_gap_ms": "often"}], "no feed"),
        ([b"HTTP/1.1 400\n"], "line 1"),
        ([[1]], "no object"),
        ([], "ended"),
        ([b"x" * 5000], "longer"),
    ],
)
def test_what_is_no_feed_is_an_error_at_once(says: Says, said: list[object], why: str) -> None:
    with pytest.raises(sounding.FeedError, match=why):
        sounding.feed(says(*said))


def test_a_foreign_line_is_named_by_its_number(says: Says) -> None:
    with sounding.feed(says(GREETING, line(1), {"number": 2})) as feed:
        next(feed)
        with pytest.raises(sounding.FeedError, match="line 3 is not one of the feed's"):
            next(feed)
