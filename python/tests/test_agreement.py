"""Real captures, as `decode()` gives them, beside MobileInsight's own reading of each record."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agree import MISTAKES, OMITTED, UNSEEN, Comparison

import sounding
from sounding.mobile_insight import DMLogPacket
from sounding.mobile_insight.names import RECORDS

zstandard = pytest.importorskip("zstandard")

def captures(data: Path) -> Iterator[tuple[Path, Path]]:
    """Every capture, with MobileInsight's reading of it."""
    for folder in sorted((data / "captures").iterdir()):
        for capture in sorted(folder.iterdir()) if folder.is_dir() else ():
            readings = data / "expected" / f"{folder.name}_{capture.name}.jsonl.zst"
            if readings.is_file():
                yield capture, readings


def read(packed: Path) -> Iterator[dict[str, Any]]:
    """MobileInsight's reading of each record with a table, in order."""
    codes = {f"0x{code:04X}" for code in RECORDS}
    with packed.open("rb") as file:
        unpacked = zstandard.ZstdDecompressor().stream_reader(file)
        for line in io.TextIOWrapper(unpacked):
            # Most lines are of other codes, and parsing is what takes the time.
            at = line.find('"code": "')
            if at > 0 and line[at + 9 : at + 15] in codes:
                yield json.loads(line)


def reads_no_more_than_the_header(theirs: dict[str, Any]) -> bool:
    """MobileInsight says version and counts of what it does not know, and nothing of what is in it."""
    return all(not value for value in theirs.values() if isinstance(value, list | dict)) and not any(
        isinstance(value, str)
        for name, value in theirs.items()
        if name not in ("type_id", "timestamp")
    )


@pytest.fixture(scope="module")
def comparison(data: Path) -> Comparison:
    comparison = Comparison()
    headers = 0
    for capture, readings in captures(data):
        records = sounding.open(capture, codes=sorted(RECORDS))
        for record, reading in zip(records, read(readings), strict=True):
            assert (record.offset, record.stamp) == (reading["off"], reading["ts"])
            theirs = reading["mi"]
            if reads_no_more_than_the_header(theirs):
                headers += 1
                continue
            comparison.compare(record, DMLogPacket(record).decode(), theirs)
    print(comparison.report())
    print(f"of {headers} records MobileInsight reads no more than the header")
    return comparison


def test_nothing_differs_without_a_reason(comparison: Comparison) -> None:
    assert not comparison.unexplained, "\n".join(comparison.unexplained[:20])


def test_every_table_is_compared(comparison: Comparison) -> None:
    assert comparison.records.keys() == RECORDS.keys()


def test_every_mistake_that_is_listed_is_met(comparison: Comparison) -> None:
    """A mistake that no capture shows any more would be an excuse."""
    listed = set(MISTAKES) | {(code, name) for code, names in OMITTED.items() for name in names}
    shown = {found for found in comparison.met if found[1] != "timestamp"}
    assert listed - shown == UNSEEN
