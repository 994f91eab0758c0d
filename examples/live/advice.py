# SPDX-License-Identifier: MIT OR Apache-2.0
"""Follows the rate feed of `sounding run` (docs/reference/feed.md). Copy this file beside a sender."""

import json
import os
import socket
import sys
import threading
import time


def socket_of(feed):
    """The socket of a feed, by its name or path."""
    if "/" in feed:
        return feed
    own = os.path.join(os.environ.get("XDG_RUNTIME_DIR", "/run"), "sounding", feed + ".rate")
    folder = os.environ.get("SOUNDING_BOARD_DIR", "/run/sounding")
    return own if os.path.exists(own) else os.path.join(folder, feed + ".rate")


class Advice:
    """What a sender should take now. It follows the feed until the program ends, and over the daemon's death."""

    def __init__(self, feed, direction="uplink"):
        self._path, self._direction, self._lines = socket_of(feed), direction, {}
        threading.Thread(target=self._follow, daemon=True).start()

    def bits_per_sec(self, modem=None):
        """Bits of IP packets per second, of this modem or of the feed's first. None: go on by your own rules."""
        lines = self._lines
        line = lines.get(modem) if modem else next(iter(lines.values()), None)
        if line is None:
            return None
        age_ms = line.get("age_ms", 0) + (time.monotonic_ns() - line["made_at_ns"]) / 1e6
        if age_ms > line["valid_for_ms"]:
            return None
        return line.get("advice_bits_per_sec")

    def _follow(self):
        while True:
            try:
                with socket.socket(socket.AF_UNIX) as connection:
                    connection.settimeout(1)
                    connection.connect(self._path)
                    self._read(connection.makefile())
            except (OSError, ValueError, KeyError):
                pass  # No daemon, or a foreign one: it is looked for again.
            self._lines = {}
            time.sleep(0.5)

    def _read(self, lines):
        if json.loads(next(lines, "{}")).get("version") != 1:
            return
        for line in map(json.loads, lines):
            if line["direction"] == self._direction:
                self._lines = {**self._lines, line["modem"]: line}


def run(main):
    """Runs a sender with this command's arguments until Ctrl-C."""
    if len(sys.argv) < 4:
        sys.exit(sys.modules["__main__"].__doc__)
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        pass
