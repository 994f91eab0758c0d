"""The way from a capture over Parquet to pandas, polars, DuckDB and pyarrow."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import built_program

import sounding

duckdb = pytest.importorskip("duckdb")
pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "parquet_to_pandas.py"


def convert(capture: Path, folder: Path, *more: str) -> Path:
    command = [built_program(), "convert", capture, folder, "--to", "parquet", *more]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return folder


@pytest.fixture(scope="module")
def folder(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables of a capture with records of all layers of LTE."""
    capture = data / "captures/lgs96__mobileinsight_core/diag_log_20211220_111534.mi2log"
    return convert(capture, tmp_path_factory.mktemp("tables") / "drive", "--no-redact")


def tables(folder: Path) -> list[Path]:
    found = sorted(folder.glob("0x*.parquet"))
    assert len(found) > 20
    return found


def test_the_example_says_what_the_records_say(lte: Path, tmp_path: Path) -> None:
    folder = convert(lte, tmp_path / "uplink.parquet", "--only", "0xB064,0xB193")
    run = [sys.executable, EXAMPLE, folder]
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


def test_every_reader_opens_each_table_with_one_call(folder: Path) -> None:
    for table in tables(folder):
        columns = parquet.read_table(table).column_names
        rows = parquet.read_metadata(table).num_rows
        frame = pandas.read_parquet(table)
        assert (list(frame), len(frame)) == (columns, rows), table
        frame = polars.read_parquet(table)
        assert (frame.columns, frame.height) == (columns, rows), table
        relation = duckdb.read_parquet(str(table))
        assert (relation.columns, len(relation)) == (columns, rows), table


def expected(folder: Path) -> tuple[set[str], int]:
    """Every column, and the number of all rows."""
    schemas = [parquet.read_schema(table) for table in tables(folder)]
    rows = sum(parquet.read_metadata(table).num_rows for table in tables(folder))
    return {name for schema in schemas for name in schema.names}, rows


def test_the_whole_folder_has_every_column_in_every_reader(folder: Path) -> None:
    columns, rows = expected(folder)
    granted = pandas.read_parquet(folder / "0xB064.parquet")["sub_packets.samples.grant_bytes"].sum()
    assert granted > 1000

    frame = pandas.read_parquet(folder)
    assert (set(frame), len(frame)) == (columns, rows)
    assert frame["sub_packets.samples.grant_bytes"].sum() == granted
    # Whole numbers stay whole, although most rows lack them.
    assert str(frame["sub_packets.samples.grant_bytes"].dtype) == "Int64"
    assert set(frame["code"]) == {table.name[:6] for table in tables(folder)}

    table = parquet.read_table(folder)
    assert (set(table.column_names), table.num_rows) == (columns, rows)

    lazy = polars.scan_parquet(folder / "*.parquet", missing_columns="insert")
    frame = lazy.select(polars.col("sub_packets.samples.grant_bytes").sum(), polars.len()).collect()
    assert set(lazy.collect_schema()) == columns
    assert frame.row(0) == (granted, rows)

    relation = duckdb.read_parquet(f"{folder}/*.parquet", union_by_name=True)
    assert set(relation.columns) == columns
    sums = relation.aggregate('sum("sub_packets.samples.grant_bytes"), count(*)').fetchall()
    assert sums == [(granted, rows)]


def test_whole_numbers_stay_whole_in_pandas(folder: Path) -> None:
    frame = pandas.read_parquet(folder / "0xB064-mac.parquet")
    kinds = {name: str(frame[name].dtype) for name in frame}
    for name in ("lte.mac.bsr", "sub_packets.samples.mac.len_bytes", "sub_packets.samples.mac.bsr_index"):
        assert kinds[name] == "Int64", name
        # There are gaps, or this says nothing.
        assert frame[name].isna().any() and not frame[name].isna().all(), name
    assert (kinds["offset"], kinds["time"]) == ("int64", "datetime64[us, UTC]")
    frame = pandas.read_parquet(folder / "0xB139.parquet")
    assert str(frame["transmissions.has_ack"].dtype) == "boolean"
    assert str(frame["stamp"].dtype) == "uint64"


def test_a_name_has_one_type_in_all_tables(folder: Path) -> None:
    known: dict[str, Any] = {}
    for table in tables(folder):
        for field in parquet.read_schema(table):
            assert known.setdefault(field.name, field.type) == field.type, (table, field)
    all_of_them = parquet.read_schema(folder / "0-columns.parquet")
    assert {field.name: field.type for field in all_of_them} == known


def test_columns_have_their_units_in_the_file_and_in_the_schema(folder: Path) -> None:
    described = json.loads((folder / "_schema.json").read_text())
    assert set(described["tables"]) == {table.name for table in tables(folder)}
    units = 0
    for table in tables(folder):
        columns = described["tables"][table.name]["columns"]
        schema = parquet.read_schema(table)
        assert list(columns) and set(columns) == set(schema.names)
        for field in schema:
            about = {key.decode(): value.decode() for key, value in (field.metadata or {}).items()}
            assert about == {key: value for key, value in columns[field.name].items() if key != "type"}
            assert columns[field.name]["type"] == str(field.type)
            units += "unit" in about
    assert units > 100
    assert described["kpis"]["lte.pusch.tbs"] == [{"table": "0xB139.parquet", "column": "transmissions.tb_bytes"}]
    kpis = {kpi.name: kpi for kpi in sounding.known_kpis()}
    for name, place in ((name, place) for name, places in described["kpis"].items() for place in places):
        assert described["tables"][place["table"]]["columns"][place["column"]]["unit"] == kpis[name].unit


def test_each_block_has_a_time_of_its_own(folder: Path) -> None:
    frame = pandas.read_parquet(folder / "0xB139.parquet")
    assert frame["time"].notna().all()
    # A block is sent before its record is written.
    assert (frame["time"] <= frame["record_time"]).all()
    assert frame["time"].nunique() > 3 * frame["record_time"].nunique()


def test_columns_in_memory_are_those_of_the_table(lte: Path, folder: Path) -> None:
    frame = pandas.read_parquet(folder / "0xB139.parquet")
    paths = ["pci", "transmissions.tti", "transmissions.tb_bytes", "transmissions.rbs", "transmissions.power_dbm"]
    table = sounding.columns(lte, 0xB139, paths)
    for path in paths:
        ours = [None if number != number else number for number in table[path]]
        assert ours == [None if pandas.isna(number) else number for number in frame[path]], path
        unit = json.loads((folder / "_schema.json").read_text())["tables"]["0xB139.parquet"]["columns"][path].get("unit")
        assert table[path].unit == unit, path
    times = frame["record_time"].astype("int64") * 1000
    assert [time // 1000 for time in table["modem_time_ns"]] == [time // 1000 for time in times]
