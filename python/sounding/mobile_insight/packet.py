"""A log record as MobileInsight hands it to a script."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from xml.etree import ElementTree

from .. import Record, UnreadError
from . import wireshark
from .names import RECORDS
from .types import type_of

#: The key for fields without a name in MobileInsight, or for the reason why there are no others.
MARK = "(Sounding)"


#: MobileInsight's time of a record without one; scripts compute with it.
NO_TIME = datetime(1980, 1, 6)


def time_of(record: Record) -> datetime:
    """When a record was stamped, as MobileInsight has it: without a zone."""
    time = record.modem_time
    return NO_TIME if time is None else time.replace(tzinfo=None)


class FormatError(RuntimeError):
    """A record cannot be read. Decoding marks such records instead of raising this."""


class _Encoder(json.JSONEncoder):
    def default(self, o: Any) -> Any:
        if isinstance(o, datetime):
            return str(o)
        if isinstance(o, bytes):
            return "0x" + o.hex()
        return super().default(o)


class DMLogPacket:
    """A log record, decoded on access."""

    __slots__ = ("_decoded", "_skip", "record")

    def __init__(self, record: Record, skip_decoding: bool = False) -> None:
        #: The record as `sounding` has it.
        self.record = record
        self._skip = skip_decoding
        self._decoded: dict[str, Any] | None = None

    def get_type_id(self) -> str:
        """MobileInsight's name for what it logs."""
        return type_of(self.record.code)

    def decode(self) -> dict[str, Any]:
        """Its fields by MobileInsight's names.

        The key `(Sounding)` is there only if a record is not as MobileInsight would have it: it lists the names that
        are ours because MobileInsight has none, or says why there are no fields.
        """
        if self._decoded is None:
            self._decoded = self._decode()
        # Scripts may change the object that they receive.
        return dict(self._decoded)

    def _decode(self) -> dict[str, Any]:
        record = self.record
        out: dict[str, Any] = {
            "log_msg_len": len(record.raw) + 12,
            "type_id": self.get_type_id(),
            "timestamp": time_of(record),
        }
        if self._skip:
            return out
        named = RECORDS.get(record.code)
        strange: set[str] = set()
        try:
            fields = record.decode(numbers=named is not None)
        except UnreadError:
            if named is not None:
                out["Version"] = record.version
            return out | {MARK: record.unread}
        if named is None:
            strange.update(fields)
            out |= fields
        else:
            out |= named.table(record.version).apply(fields, strange)
            self._add_message(out)
        if strange:
            out[MARK] = sorted(strange)
        return out

    def _add_message(self, out: dict[str, Any]) -> None:
        """The message in the record as XML, as `Msg`; a message that cannot be decoded has none."""
        message = self.record.message
        if message is None:
            return
        try:
            text = wireshark.xml(message)
        except UnreadError:
            return
        if text is not None:
            out["Msg"] = text

    def decode_xml(self) -> str:
        """Its fields as MobileInsight's XML."""
        root = _element("dict", self.decode())
        root.tag = "dm_log_packet"
        return ElementTree.tostring(root, encoding="unicode")

    def decode_json(self) -> str:
        """Its fields as a JSON object."""
        return json.dumps(self.decode(), cls=_Encoder)


def _element(tag: str, values: dict[str, Any] | list[Any]) -> ElementTree.Element:
    root = ElementTree.Element(tag)
    pairs = values.items() if isinstance(values, dict) else ((None, value) for value in values)
    for name, value in pairs:
        attributes = {} if name is None else {"key": name}
        inner = ElementTree.SubElement(root, "item" if name is None else "pair", attributes)
        if name == "Msg":
            inner.set("type", "list")
            inner.append(ElementTree.fromstring(value))
        elif isinstance(value, dict | list):
            kind = "dict" if isinstance(value, dict) else "list"
            inner.set("type", kind)
            if value:
                inner.append(_element(kind, value))
        else:
            inner.text = "0x" + value.hex() if isinstance(value, bytes) else str(value)
    return root
