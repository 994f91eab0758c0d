"""The radio's own delays as columns."""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path

import pytest
from conftest import built_program
from test_reader import STATISTICS, log

import sounding

COLUMNS = [
    "modem_time_ns",
    "from_modem_time_ns",
    "time_s",
    "direction",
    "kind",
    "amount_s",
    "age_s",
    "confidence",
]


@pytest.fixture
def busy(data: Path) -> Path:
    """Uploads over LTE."""
    return data / "captures/lgs96__mobileinsight_core/diag_log_20211220_004729.mi2log"


def test_every_event_has_its_ends_its_kind_and_how_it_is_known(busy: Path) -> None:
    table = sounding.delays(busy)
    assert list(table) == COLUMNS
    assert table.rows > 1_000
    assert set(table["direction"]) <= {"uplink", "downlink"}
    assert {"harq", "scheduling"} <= set(table["kind"]) <= {"harq", "scheduling", "rlc"}
    first = min(record.modem_time_ns for record in sounding.open(busy))
    for end, begin, since, direction, kind, amount, age, known in zip(*table.values()):
        span = (end - begin) / 1e9
        assert 0 <= amount <= span + 1e-9 and age >= 0
        assert since == pytest.approx(max(end - first, 0) / 1e9, abs=1e-6)
        if kind == "scheduling":
            # Only uplink data waits for a grant, and what a report covers is a range.
            assert (direction, known) == ("uplink", "inferred")
        elif kind == "harq":
            # The downlink's blocks are followed until they are decoded.
            assert known == ("decoded" if direction == "downlink" else "inferred")
    assert (table.counts["corrupt_frames"], table.counts["corrupt"]) == (0, 0)


def test_a_direction_is_a_part_of_both(busy: Path) -> None:
    rows = list(zip(*sounding.delays(busy).values()))
    for way in ("uplink", "downlink"):
        assert list(zip(*sounding.delays(busy, direction=way).values())) == [row for row in rows if row[3] == way]
    with pytest.raises(ValueError, match="direction"):
        sounding.delays(busy, direction="sideways")  # type: ignore[arg-type]


def test_the_command_line_prints_the_same_events(busy: Path) -> None:
    program = built_program()
    printed = subprocess.run(
        [program, "link", busy, "--delays", "--csv"], capture_output=True, text=True, check=True
    ).stdout
    theirs = [
        (row["unix_ns"], row["direction"], row["kind"], row["amount_ms"], row["age_ms"], row["confidence"])
        for row in csv.DictReader(printed.splitlines())
    ]
    ours = [
        (str(end), direction, kind, f"{amount * 1e3:.3f}", f"{age * 1e3:.3f}", known)
        for end, _, _, direction, kind, amount, age, known in zip(*sounding.delays(busy).values())
    ]
    assert ours == theirs and len(ours) > 1_000


def test_a_capture_without_grants_has_no_events_and_a_cut_one_says_so(busy: Path) -> None:
    assert sounding.delays(log(0xB067, STATISTICS)).rows == 0
    whole = busy.read_bytes()
    cut = sounding.delays(whole[:-5])
    assert cut.counts["cut_at"] is not None
    assert sounding.delays(whole).counts["cut_at"] is None
    assert 0 < cut.rows <= sounding.delays(busy).rows


def test_events_are_a_data_frame(busy: Path) -> None:
    pytest.importorskip("pandas")
    frame = sounding.delays(busy, direction="uplink").to_pandas()
    held = frame[frame["kind"] == "harq"]["amount_s"]
    # A repeat of LTE's uplink comes 8 ms later (Gandalf, B.3.1).
    assert held.median() == pytest.approx(0.008, abs=1e-4)
    assert str(frame.index.tz) == "UTC"
