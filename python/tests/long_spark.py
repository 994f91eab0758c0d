"""Spark in local mode reads the tables of a capture, and of a dataset. scripts/test-long runs it, because Spark is large."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyarrow import parquet
from test_parquet import convert, tables

import sounding

sql = pytest.importorskip("pyspark.sql", reason="Spark is not installed: pip install pyspark, and Java 17")


@pytest.fixture(name="spark")
def local_spark() -> Iterator[sql.SparkSession]:
    local = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    local = local.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    spark = local.config("spark.sql.session.timeZone", "UTC").getOrCreate()
    yield spark
    spark.stop()


def granted_by_records(capture: Path) -> int:
    samples = (
        sample
        for record in sounding.open(capture, codes=[0xB064])
        for packet in (record.fields or {}).get("sub_packets", [])
        for sample in packet["samples"]
    )
    return sum(sample["grant_bytes"] for sample in samples)


@pytest.mark.filterwarnings("ignore")  # Spark warns of what is not of our making.
def test_spark_reads_a_code_as_one_table(spark: sql.SparkSession, data: Path, tmp_path: Path) -> None:
    drives, out = data / "captures/lgs96__mobileinsight_core", tmp_path / "dataset"
    sounding.captures(drives).to_parquet(out, codes=[0xB064])
    granted = sum(map(granted_by_records, drives.glob("*.mi2log")))
    assert granted > 1000
    frame = spark.read.parquet(f"{out}/code=0xB064")
    assert frame.selectExpr("sum(`sub_packets.samples.grant_bytes`)").first()[0] == granted
    captures = spark.read.parquet(f"{out}/_about/captures.parquet")
    assert captures.filter("state = 'read'").count() == frame.select("capture").distinct().count()


@pytest.mark.filterwarnings("ignore")
def test_spark_opens_each_table_of_a_capture(spark: sql.SparkSession, data: Path, tmp_path: Path) -> None:
    capture = data / "captures/lgs96__mobileinsight_core/diag_log_20211220_111534.mi2log"
    out = convert(capture, tmp_path / "tables")
    for table in tables(out):
        assert spark.read.parquet(str(table)).count() == parquet.read_metadata(table).num_rows, table
    frame = spark.read.parquet(f"{out}/0xB064.parquet")
    assert frame.selectExpr("sum(`sub_packets.samples.grant_bytes`)").first()[0] == granted_by_records(capture)
