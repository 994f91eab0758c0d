"""From our fields to MobileInsight's: one engine for the tables in `names`.

A table is a tuple of rules in MobileInsight's order. A rule is MobileInsight's name, the name of our field that it is
made from, and how; it says nothing where a version of the record lacks our field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

#: A record, or an item of one of its lists: our fields, choices and flags by number.
Item = Mapping[str, Any]

UNKNOWN = "(MI)Unknown"


class Rule(NamedTuple):
    """One field or list of MobileInsight's."""

    #: Its name there; None for a dict whose fields stand among those around it.
    theirs: str | None
    #: The name here of what it is made from.
    ours: str
    #: The function that makes it from our value, the item it is in, and a set for unmapped names; None to copy.
    make: Callable[[Any, Item, set[str]], Any] | None = None


class Table:
    """The rules for the fields of a record, or of an item of a list."""

    __slots__ = ("known", "rules")

    def __init__(self, *rules: Rule | tuple[Rule, ...], unmapped: tuple[str, ...] = ()) -> None:
        """`unmapped` are fields of ours that MobileInsight has no name for, and that are left out."""
        flat: list[Rule] = []
        for rule in rules:
            flat.extend([rule] if isinstance(rule, Rule) else rule)
        self.rules = tuple(flat)
        self.known = frozenset(rule.ours for rule in flat) | set(unmapped)

    def apply(self, item: Item, strange: set[str]) -> dict[str, Any]:
        """MobileInsight's fields. A field without a rule keeps our name, and the name is added to `strange`."""
        out: dict[str, Any] = {}
        for theirs, ours, make in self.rules:
            if ours not in item:
                continue
            value = item[ours]
            if make is not None:
                value = make(value, item, strange)
            if theirs is None:
                out.update(value)
            else:
                out[theirs] = value
        if not item.keys() <= self.known:
            for name in item.keys() - self.known:
                out[name] = item[name]
                strange.add(name)
        return out


def same(theirs: str, ours: str) -> Rule:
    """The same number."""
    return Rule(theirs, ours)


def text(theirs: str, ours: str, words: Mapping[int, str]) -> Rule:
    """The word for our number."""
    return Rule(theirs, ours, lambda value, item, strange: words.get(value, UNKNOWN))


def made(theirs: str, ours: str, make: Callable[[Item], Any]) -> Rule:
    """Made from the item, if it has the field `ours`."""
    return Rule(theirs, ours, lambda value, item, strange: make(item))


def hexadecimal(theirs: str, ours: str, digits: int = 0) -> Rule:
    """Bytes in hex, or a number in so many hex digits."""
    if digits:
        return Rule(theirs, ours, lambda value, item, strange: f"0x{value:0{digits}x}")
    return Rule(theirs, ours, lambda value, item, strange: "0x" + value.hex())


def counted(theirs: str, ours: str) -> Rule:
    """How many items a list has."""
    return Rule(theirs, ours, lambda value, item, strange: len(value))


def each(theirs: str, ours: str, table: Table) -> Rule:
    """A list, item by item."""

    def make(value: list[Item], item: Item, strange: set[str]) -> list[dict[str, Any]]:
        return [table.apply(found, strange) for found in value]

    return Rule(theirs, ours, make)


def chosen(ours: str, table: Table, at: int) -> Rule:
    """One item of a list, whose fields stand where the list would."""

    def make(value: list[Item], item: Item, strange: set[str]) -> dict[str, Any]:
        return table.apply(value[at], strange) if value else {}

    return Rule(None, ours, make)


class Record(NamedTuple):
    """How MobileInsight names a record."""

    code: int
    #: By the version of the record; None for any other.
    tables: Mapping[int | None, Table]

    def table(self, version: int | None) -> Table:
        """The table of a version."""
        found = self.tables.get(version)
        return found if found is not None else self.tables[None]
