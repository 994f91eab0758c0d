"""A folder of captures as one dataset: for the readers of tables, on threads and on Dask."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import built_program

import sounding

duckdb = pytest.importorskip("duckdb")
pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

TABLE = "0xB064"


@pytest.fixture(scope="module")
def drives(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two captures of different days, one of them twice, and a text."""
    folder = tmp_path_factory.mktemp("fleet") / "drives"
    folder.mkdir()
    for number, name in enumerate(("diag_log_20211220_111534", "diag_log_20211220_003916")):
        os.symlink(data / f"captures/lgs96__mobileinsight_core/{name}.mi2log", folder / f"{number}.mi2log")
    (folder / "again").mkdir()
    os.symlink(folder / "0.mi2log", folder / "again/2.mi2log")
    (folder / "notes.txt").write_text("no capture")
    return folder


@pytest.fixture(scope="module")
def dataset(drives: Path) -> Path:
    out = drives.parent / "dataset"
    counts = sounding.captures(f"{drives}/**").to_parquet(out)
    assert (counts["captures"], counts["again"], counts["foreign"]) == (2, 1, 1)
    return out


def files(folder: Path) -> dict[str, str]:
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def granted(drives: Path) -> int:
    total = 0
    for capture in ("0.mi2log", "1.mi2log"):
        for record in sounding.open(drives / capture, codes=[0xB064]):
            for packet in (record.fields or {}).get("sub_packets", []):
                total += sum(sample["grant_bytes"] for sample in packet["samples"])
    return total


def test_the_command_makes_the_same_bytes(drives: Path, dataset: Path, tmp_path: Path) -> None:
    command = [built_program(), "convert", drives, tmp_path / "out", "--json", "--jobs", "1"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    assert json.loads(done.stdout)["captures"] == 2
    assert files(tmp_path / "out") == files(dataset)


def test_each_reader_opens_a_code_as_one_table(drives: Path, dataset: Path) -> None:
    column, total = "sub_packets.samples.grant_bytes", granted(drives)
    assert total > 1000
    table = f"{dataset}/code={TABLE}"
    frame = pandas.read_parquet(table)
    assert frame[column].sum() == total and frame["capture"].nunique() == 2
    frame = polars.read_parquet(table)
    assert frame[column].sum() == total and "day" in frame.columns
    sums = duckdb.sql(f"SELECT sum(\"{column}\") FROM '{table}/*/*.parquet'").fetchall()
    assert sums == [(total,)]
    table = pyarrow.parquet.read_table(table)
    assert pyarrow.compute.sum(table[column]).as_py() == total
    # All codes together lack no column.
    columns = set(pandas.read_parquet(dataset, filters=[("code", "==", TABLE)]).columns)
    assert {column, "capture", "day", "code", "transmissions.tb_bytes"} <= columns


@pytest.mark.filterwarnings("ignore")  # Dask calls pandas in ways that pandas warns of.
def test_dask_reads_a_code_as_one_table(drives: Path, dataset: Path) -> None:
    dataframe = pytest.importorskip("dask.dataframe")
    frame = dataframe.read_parquet(f"{dataset}/code={TABLE}")
    assert int(frame["sub_packets.samples.grant_bytes"].sum().compute()) == granted(drives)


def test_rows_lead_to_their_files(drives: Path, dataset: Path) -> None:
    captures = pandas.read_parquet(dataset / "_about/captures.parquet").set_index("path")
    assert list(captures["state"]) == ["read", "read", "again", "foreign"]
    assert captures.loc["again/2.mi2log", "same_as"] == "0.mi2log"
    capture = (drives / "0.mi2log").read_bytes()
    assert captures.loc["0.mi2log", "sha256"] == hashlib.sha256(capture).hexdigest()
    rows = pandas.read_parquet(dataset / "code=0xB139")
    own = rows[rows["capture"] == captures.loc["0.mi2log", "capture"]]
    assert 0 < len(own) < len(rows)
    assert captures.loc["0.mi2log", "first_time"] <= own["record_time"].min()
    assert captures.loc["0.mi2log", "last_time"] >= own["record_time"].max()
    assert str(captures["records"].dtype) == "int64"


def test_identities_are_hidden_unless_they_are_asked_for(drives: Path, tmp_path: Path) -> None:
    hidden = sounding.captures(drives).to_parquet(tmp_path / "hidden", codes=[0xB0C0, 0xB064])
    shown = sounding.captures(drives).to_parquet(tmp_path / "shown", codes=[0xB0C0, 0xB064], redact=False)
    assert hidden["hidden_records"] > 0 and shown["hidden_records"] == 0
    frame = pandas.read_parquet(tmp_path / "hidden/code=0xB0C0")
    assert frame["redacted"].any() and "code=0xB139" not in os.listdir(tmp_path / "shown")
    modes = {path.stat().st_mode & 0o077 for path in (tmp_path / "shown").rglob("*") if path.is_file()}
    assert modes == {0}


def test_what_cannot_be_done_is_said(drives: Path, tmp_path: Path, dataset: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        sounding.captures(tmp_path / "nowhere").to_parquet(tmp_path / "out")
    with pytest.raises(sounding.DatasetError, match="none of its 1 files is a capture"):
        sounding.captures(f"{drives}/*.txt").to_parquet(tmp_path / "out")
    with pytest.raises(sounding.DatasetError, match="choice of codes"):
        sounding.captures(drives).to_parquet(dataset, codes=[0xB064])
    with pytest.raises(ValueError, match="jobs"):
        sounding.captures(drives).to_parquet(tmp_path / "out", jobs=0)

    def stop(step: str, done: int, of: int) -> None:
        if step == "bytes":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sounding.captures(drives).to_parquet(tmp_path / "stopped", progress=stop)
    sounding.captures(drives).to_parquet(tmp_path / "stopped")
    assert files(tmp_path / "stopped") == files(dataset)


@pytest.mark.filterwarnings("ignore")  # Dask warns of what is not of our making.
def test_dask_with_a_worker_killed_makes_the_same_bytes(drives: Path, dataset: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    out, killed = tmp_path / "out", []

    def kill(workers: list[Any]) -> None:
        end = time.monotonic() + 60
        while time.monotonic() < end and not list(out.glob("_about/blocks/.sounding-*")):
            time.sleep(0.001)
        for worker in workers:
            killed.append(worker.process.process.pid)
            worker.process.process.kill()

    settings = {"n_workers": 1, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        killer = threading.Thread(target=kill, args=(list(cluster.workers.values()),))
        killer.start()
        counts = sounding.captures(drives).to_parquet(out, dask=client)
        killer.join()
    assert killed and counts["captures"] == 2
    assert files(out) == files(dataset)
