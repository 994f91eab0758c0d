"""Log records of files."""

from __future__ import annotations

import os

from .monitor import Monitor

__all__ = ["OfflineReplayer"]

ENDINGS = (".mi2log", ".qmdl")


class OfflineReplayer(Monitor):
    """Sends the records of a capture, or of all captures of a folder."""

    def __init__(self) -> None:
        super().__init__()
        self._input_path: str | None = None

    def set_input_path(self, path: str | os.PathLike[str]) -> None:
        """A capture, or a folder of captures, which are read in the order of their names; not of those within."""
        self._input_path = os.fspath(path)

    def run(self) -> None:
        """Sends every enabled record, then an event `Monitor.STOP`."""
        if self._input_path is None:
            raise ValueError("set_input_path says what to replay")
        self.broadcast_info("STARTED", {})
        try:
            for path in self._captures(self._input_path):
                self._replay(path)
        finally:
            self._end()
        self.log_info("Offline replay is completed.")

    @staticmethod
    def _captures(path: str) -> list[str]:
        if not os.path.isdir(path):
            return [path]
        names = sorted(name for name in os.listdir(path) if name.endswith(ENDINGS))
        return [os.path.join(path, name) for name in names]
