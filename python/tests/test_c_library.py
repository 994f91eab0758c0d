"""libOD gives C programs the rows of `sounding.link` and `sounding.delays`."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, built_program

import sounding

Rows = Callable[[str, Path], list[dict[str, str]]]
Child = subprocess.Popen[str]


def find_library() -> Path | None:
    """The library: $SOUNDING_LIBOD, or the one that was built last beside the sources."""
    named = os.environ.get("SOUNDING_LIBOD")
    if named is not None:
        return Path(named)
    built = [ROOT / "target" / kind / "libod.so" for kind in ("debug", "release")]
    return max((path for path in built if path.exists()), key=lambda path: path.stat().st_mtime, default=None)


@pytest.fixture(scope="module")
def radio(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`examples/libod/radio.c`, compiled."""
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
    return program


@pytest.fixture(scope="module")
def rows(radio: Path) -> Rows:
    """Its lines about a capture."""

    def run(what: str, capture: Path) -> list[dict[str, str]]:
        told = subprocess.run([radio, what, f"capture:{capture}"], check=True, capture_output=True, text=True)
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


@contextmanager
def started(*command: object) -> Iterator[Child]:
    """A program, which is ended at the latest with the test."""
    child = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    try:
        yield child
    finally:
        child.terminate()
        child.communicate(timeout=20)


def test_the_delays_of_a_daemon_are_those_of_the_capture_that_its_modem_plays(
    radio: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture = data / "captures/lgs96__mobileinsight_core/overlink_500KB.mi2log"
    monkeypatch.setenv("SOUNDING_BOARD_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("SOUNDING_RUN_DIR", str(tmp_path / "notes"))
    port, config = tmp_path / "modem", tmp_path / "modem.toml"
    config.write_text("[feed]\nname = 'wan'\ndelays = true\n")
    told = tmp_path / "told.csv"
    flags = ["--json", "--law", "none", "--no-mask", "--device", port, "--config", config]
    with started(built_program(), "modem", "replay", capture, "--link", port) as modem:
        assert modem.stdout is not None and modem.stdout.readline() != ""
        with started(built_program(), "run", *flags) as daemon, told.open("w") as out:
            assert daemon.stdout is not None and any('"ready"' in line for line in daemon.stdout)
            with subprocess.Popen([radio, "delays", "feed:wan"], stdout=out) as reader:
                modem.wait(timeout=120)
                time.sleep(1)  # Lines have a dozen delays, and the last ones wait for theirs.
                daemon.terminate()
                reader.wait(timeout=20)
    theirs = list(csv.DictReader(told.read_text().splitlines()))
    ours = sounding.delays(capture)
    assert ours.rows > 300
    names = ("direction", "kind", "confidence", "amount_s")
    for direction in ("uplink", "downlink"):
        all_of = [row for row in zip(*(ours[name] for name in names)) if row[0] == direction]
        said = [row for row in theirs if row["direction"] == direction]
        assert len(said) > len(all_of) // 2 or all_of == []
        for row in said:
            _, kind, confidence, amount = all_of[int(row["number"]) - 1]
            assert (row["kind"], row["confidence"]) == (kind, confidence)
            assert amount == known(row["amount_ns"], 1e9)
