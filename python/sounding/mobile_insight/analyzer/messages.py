"""The message of a record, as analyzers read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ... import UnreadError
from ..wireshark import OTHER
from .analyzer import Event

#: Record types of NAS, with whether the device sent the message.
NAS = {
    "LTE_NAS_EMM_OTA_Incoming_Packet": False,
    "LTE_NAS_EMM_OTA_Outgoing_Packet": True,
    "LTE_NAS_ESM_OTA_Incoming_Packet": False,
    "LTE_NAS_ESM_OTA_Outgoing_Packet": True,
}


def message_of(event: Event) -> dict[str, Any]:
    """The members of a record's message; none if it has no message, or one that cannot be decoded."""
    message = event.data.record.message
    if message is None:
        return {}
    try:
        return dict(message.decode())
    except UnreadError:
        return {}


def find(value: Any, name: str) -> Iterator[Any]:
    """Every member of that name, anywhere in a message, but not in a message of the other system that it carries."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == name:
                yield inner
            if key not in OTHER:
                yield from find(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from find(inner, name)
