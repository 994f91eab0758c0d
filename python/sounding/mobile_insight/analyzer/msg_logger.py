"""Writes records down."""

from __future__ import annotations

from typing import TextIO

from .analyzer import Analyzer, Event

__all__ = ["MsgLogger"]


class MsgLogger(Analyzer):
    """Writes every record of its source to a file, to standard output, or to both."""

    # The format of decoded records.
    NO_DECODING = 0
    XML = 1
    JSON = 2
    DICT = 3

    # The output file.
    STDIO_ONLY = 4
    FILE_ONLY = 5
    ALL = 6

    def __init__(self) -> None:
        super().__init__()
        self.decode_type = self.NO_DECODING
        self._dump_type = self.ALL
        self._save_file: TextIO | None = None
        self.add_source_callback(self._dump)

    def set_decode_format(self, msg_format: int) -> None:
        """`XML`, `JSON`, `DICT`, or `NO_DECODING`, with which nothing is written."""
        if msg_format in (self.NO_DECODING, self.XML, self.JSON, self.DICT):
            self.decode_type = msg_format

    def set_decoding(self, decode_type: int) -> None:
        """An older name of `set_decode_format`."""
        self.set_decode_format(decode_type)

    def set_dump_type(self, dump_type: int) -> None:
        """`STDIO_ONLY`, `FILE_ONLY`, or `ALL`."""
        if dump_type in (self.STDIO_ONLY, self.FILE_ONLY, self.ALL):
            self._dump_type = dump_type

    def save_decoded_msg_as(self, filepath: str) -> None:
        """The file to write, one record a line."""
        self._close()
        self._save_file = open(filepath, "w")

    def _dump(self, event: Event) -> None:
        if event.type_id == "Monitor.STOP":
            self._close()
        if not event.data or self.decode_type == self.NO_DECODING:
            return
        text = {
            self.XML: event.data.decode_xml,
            self.JSON: event.data.decode_json,
            self.DICT: lambda: str(event.data.decode()),
        }[self.decode_type]()
        if self._dump_type in (self.STDIO_ONLY, self.ALL):
            print(text)
        if self._dump_type in (self.FILE_ONLY, self.ALL) and self._save_file is not None:
            self._save_file.write(text + "\n")

    def _close(self) -> None:
        if self._save_file is not None:
            self._save_file.close()
            self._save_file = None

    def __del__(self) -> None:
        self._close()
