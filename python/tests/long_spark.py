"""Spark in local mode reads a code of a dataset as one table. scripts/test-long runs it, because Spark is large."""

from __future__ import annotations

from pathlib import Path

import pytest

import sounding

sql = pytest.importorskip("pyspark.sql", reason="Spark is not installed: pip install pyspark, and Java 17")


@pytest.mark.filterwarnings("ignore")  # Spark warns of what is not of our making.
def test_spark_reads_a_code_as_one_table(data: Path, tmp_path: Path) -> None:
    drives, out = data / "captures/lgs96__mobileinsight_core", tmp_path / "dataset"
    sounding.captures(drives).to_parquet(out, codes=[0xB064])
    granted = 0
    for capture in sorted(drives.glob("*.mi2log")):
        for record in sounding.open(capture, codes=[0xB064]):
            for packet in (record.fields or {}).get("sub_packets", []):
                granted += sum(sample["grant_bytes"] for sample in packet["samples"])
    assert granted > 1000
    local = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    local = local.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    spark = local.config("spark.sql.session.timeZone", "UTC").getOrCreate()
    try:
        frame = spark.read.parquet(f"{out}/code=0xB064")
        total = frame.selectExpr("sum(`sub_packets.samples.grant_bytes`)").first()[0]
        assert total == granted
        captures = spark.read.parquet(f"{out}/_about/captures.parquet")
        assert captures.filter("state = 'read'").count() == frame.select("capture").distinct().count()
    finally:
        spark.stop()
