"""Real captures, as `decode()` gives them, beside MobileInsight's own reading of each record."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agree import MISTAKES, OMITTED, UNSEEN, Comparison

import sounding
from sounding.mobile_insight import DMLogPacket
from sounding.mobile_insight.names import RECORDS
from sounding.mobile_insight.types import type_of

zstandard = pytest.importorskip("zstandard")

#: How many records of a code are compared in each capture, unless all of them are.
ENOUGH = 40

def captures(data: Path) -> Iterator[tuple[Path, Path]]:
    """Every capture, with MobileInsight's reading of it."""
    for folder in sorted((data / "captures").iterdir()):
        for capture in sorted(folder.iterdir()) if folder.is_dir() else ():
            readings = data / "expected" / f"{folder.name}_{capture.name}.jsonl.zst"
            if readings.is_file():
                yield capture, readings


def read(packed: Path) -> Iterator[str]:
    """MobileInsight's reading of each record with a table, in order, as JSON."""
    codes = {f"0x{code:04X}" for code in RECORDS}
    with packed.open("rb") as file:
        unpacked = zstandard.ZstdDecompressor().stream_reader(file)
        for line in io.TextIOWrapper(unpacked):
            at = line.find('"code": "')
            if at > 0 and line[at + 9 : at + 15] in codes:
                yield line


def types(packed: Path) -> set[tuple[str, str]]:
    """Every pair of a code and its type in a capture."""
    pair = re.compile(r'"code": "(0x[0-9A-F]{4})".*?"type_id": "([^"]+)"')
    with packed.open("rb") as file:
        lines = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file))
        return {found.groups() for line in lines if (found := pair.search(line))}


def reads_no_more_than_the_header(theirs: dict[str, Any]) -> bool:
    """MobileInsight says version and counts of what it does not know, and nothing of what is in it."""
    return len(theirs) <= 8 and all(not value for value in theirs.values() if isinstance(value, list | dict)) and not any(
        isinstance(value, str)
        for name, value in theirs.items()
        if name not in ("type_id", "timestamp")
    )


@pytest.fixture(scope="module")
def every_record(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--every-record"))


@pytest.fixture(scope="module")
def comparison(data: Path, every_record: bool) -> Comparison:
    comparison = Comparison()
    headers = 0
    for capture, readings in captures(data):
        records = sounding.open(capture, codes=sorted(RECORDS))
        seen: Counter[int] = Counter()
        for record, line in zip(records, read(readings), strict=True):
            seen[record.code] += 1
            if seen[record.code] > ENOUGH and not every_record:
                continue
            reading = json.loads(line)
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


def test_every_mistake_that_is_listed_is_met(comparison: Comparison, every_record: bool) -> None:
    """A mistake that no capture shows any more would be an excuse."""
    if not every_record:
        pytest.skip("some are rare: --every-record shows them")
    listed = set(MISTAKES) | {(code, name) for code, names in OMITTED.items() for name in names}
    shown = {found for found in comparison.met if found[1] != "timestamp"}
    assert listed - shown == UNSEEN


def test_every_code_has_the_type_that_mobile_insight_gives_it(data: Path) -> None:
    seen = set().union(*(types(readings) for _, readings in captures(data)))
    assert len(seen) > 50
    assert {(code, name) for code, name in seen if type_of(int(code, 16)) != name} == set()
