"""libOD gives C programs the rows of `sounding.link` and `sounding.delays`."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import sounding

Rows = Callable[[str, Path], list[dict[str, str]]]


def find_library() -> Path | None:
    """The library: $SOUNDING_LIBOD, or the one that was built last beside the sources."""
    named = os.environ.get("SOUNDING_LIBOD")
    if named is not None:
        return Path(named)
    built = [ROOT / "target" / kind / "libod.so" for kind in ("debug", "release")]
    return max((path for path in built if path.exists()), key=lambda path: path.stat().st_mtime, default=None)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """The lines of `examples/libod/radio.c` about a capture."""
    library, compiler = find_library(), shutil.which("cc")
    if library is None or compiler is None:
        why = "libOD is not built: cargo build --package sounding-libod" if compiler else "there is no C compiler"
        print(f"skipped: {why}", file=sys.stderr)
        pytest.skip(why)
    folder = tmp_path_factory.mktemp("libod")
    (folder / "libod.so.1").symlink_to(library)
    program = folder / "radio"
    header = ROOT / "crates/libod/include"
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-D_POSIX_C_SOURCE=200809L", f"-Wl,-rpath,{folder}"]
    source = ROOT / "examples/libod/radio.c"
    subprocess.run([compiler, *flags, "-I", header, source, library, "-o", program], check=True)

    def run(what: str, capture: Path) -> list[dict[str, str]]:
        told = subprocess.run([program, what, f"capture:{capture}"], check=True, capture_output=True, text=True)
        return list(csv.DictReader(told.stdout.splitlines()))

    return run


def known(text: str, scale: float = 1.0) -> Any:
    """A number of C as Python has it: approximately, because seconds are no whole nanoseconds; NaN where it is unknown."""
    return pytest.approx(float(text or "nan") / scale, rel=1e-12, abs=1e-9, nan_ok=True)


@pytest.fixture(
    params=["diag_log_20211220_004729.mi2log", "diag_log_20211220_111534.mi2log", "overlink_500KB.mi2log"],
)
def capture(request: pytest.FixtureRequest, data: Path) -> Path:
    return data / "captures/lgs96__mobileinsight_core" / str(request.param)


@pytest.mark.parametrize("direction", ["uplink", "downlink"])
def test_the_rows_of_the_link_are_the_same(rows: Rows, capture: Path, direction: Any) -> None:
    ours = sounding.link(capture, direction=direction)
    theirs = rows(direction, capture)
    assert len(theirs) == ours.rows > 5
    for row, values in zip(theirs, zip(*ours.values())):
        have = dict(zip(ours, values))
        assert int(row["modem_unix_ns"]) == have["modem_time_ns"]
        assert have["time_s"] == known(row["time_ns"], 1e9)
        assert have["span_s"] == known(row["span_ns"], 1e9)
        if row["age_ns"] != "":
            assert have["age_s"] == known(row["age_ns"], 1e9)
        else:
            assert have["age_s"] > 1e9, "no record has come"
        for name in ("granted_bytes", "rate_bits_per_sec", "backlog_bytes", "fair_share_bits_per_sec", "users", "carriers"):
            assert have[name] == known(row[name]), name
        for name in ("bound", "state", "source"):
            assert (have[name] or "") == row[name], name


def test_the_delays_are_the_same(rows: Rows, capture: Path) -> None:
    ours = sounding.delays(capture)
    theirs = rows("delays", capture)
    assert len(theirs) == ours.rows
    assert ours.rows > 1_000 or "overlink" in capture.name
    assert [int(row["number"]) for row in theirs] == list(range(1, ours.rows + 1))
    for name, column in (("direction", "direction"), ("kind", "kind"), ("confidence", "confidence")):
        assert [row[name] for row in theirs] == list(ours[column])
    for name, column in (("to_ns", "modem_time_ns"), ("from_ns", "from_modem_time_ns")):
        assert [int(row[name]) for row in theirs] == list(ours[column])
    for name, column in (("time_ns", "time_s"), ("amount_ns", "amount_s"), ("age_ns", "age_s")):
        assert [known(row[name], 1e9) for row in theirs] == list(ours[column])
