"""The way from a capture over Parquet to pandas."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from conftest import ROOT

import sounding

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "parquet_to_pandas.py"


def binary() -> Path:
    """The `sounding` command: `$SOUNDING_BIN`, or the one built last."""
    named = os.environ.get("SOUNDING_BIN")
    built = [ROOT / "target" / profile / "sounding" for profile in ("debug", "release")]
    found = [Path(named)] if named else [path for path in built if path.is_file()]
    if not found:
        pytest.skip("the sounding command is not built")
    return max(found, key=lambda path: path.stat().st_mtime)


def test_the_example_says_what_the_records_say(lte: Path, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    table = tmp_path / "uplink.parquet"
    command = [binary(), "convert", lte, table, "--only", "0xB064,0xB193"]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    run = [sys.executable, EXAMPLE, table]
    said = subprocess.run(run, check=True, capture_output=True, text=True, timeout=120).stdout
    granted: Counter[str] = Counter()
    for record in sounding.open(lte, codes=[0xB064]):
        for packet in (record.fields or {}).get("sub_packets", []):
            for sample in packet["samples"]:
                granted[f"{record.modem_time:%H:%M:%S}"] += sample["grant_bytes"]
    lines = [line.split() for line in said.splitlines()[2:]]
    assert {line[1][:8]: float(line[2]) for line in lines} == pytest.approx(
        {second: total / 1000 for second, total in granted.items()}
    )
