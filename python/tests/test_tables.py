"""Fields and estimates as columns."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from test_reader import STATISTICS, log

import sounding


def one_by_one(capture: Path | bytes, code: int) -> list[dict]:
    return [record.fields for record in sounding.open(capture, codes=[code]) if record.fields]


def test_columns_are_the_fields_of_every_record() -> None:
    capture = log(0xB067, STATISTICS, 1 << 16) + log(0x1234, b"\x01") + log(0xB067, STATISTICS, 2 << 16)
    fields = ["version", "sub_packets.granted_bytes", "sub_packets.used_bytes"]
    table = sounding.columns(capture, 0xB067, fields)
    assert list(table) == ["modem_time_ns", *fields]
    assert table.rows == 2
    assert list(table["sub_packets.granted_bytes"]) == [275, 275]
    first, second = table["modem_time_ns"]
    assert second - first == 1_250_000


def test_outer_fields_repeat_for_the_items_within(data: Path) -> None:
    folder = data / "captures/xietian1__mobileinsight-core-5.0-pdcp"
    (capture,) = folder.glob("*_012751_*")
    paths = ["subframes.frame", "subframes.blocks.mcs", "subframes.blocks.crc", "subframes.area", "count"]
    table = sounding.columns(capture, 0xB173, paths)
    expected = [
        (subframe["frame"], block["mcs"], block["crc"], subframe["area"], fields["count"])
        for fields in one_by_one(capture, 0xB173)
        for subframe in fields["subframes"]
        for block in subframe["blocks"]
    ]
    assert list(zip(*(table[path] for path in paths))) == expected
    assert len(expected) > 10
    # Choices keep their number, and know the names of those that occur.
    assert table["subframes.blocks.crc"].words == {1: "pass"}


def test_a_version_without_the_field_has_no_value() -> None:
    # Version 1 of the sub-packet begins with the samples, version 2 with the subscription.
    first = STATISTICS[:5] + b"\x01" + STATISTICS[6:8] + STATISTICS[9:] + b"\x00"
    capture = log(0xB067, first) + log(0xB067, STATISTICS)
    paths = ["sub_packets.version", "sub_packets.subscription", "sub_packets.granted_bytes"]
    table = sounding.columns(capture, 0xB067, paths)
    assert list(table["sub_packets.version"]) == [1, 2]
    assert list(table["sub_packets.granted_bytes"]) == [275, 275]
    absent, subscription = table["sub_packets.subscription"]
    assert math.isnan(absent) and subscription == 1


def test_a_field_that_no_record_has_is_refused() -> None:
    with pytest.raises(ValueError, match="no record 0xB067 of this capture has a field"):
        sounding.columns(log(0xB067, STATISTICS), 0xB067, ["version", "no_such"])


def test_fields_that_cannot_share_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot share rows"):
        sounding.columns(log(0xB067, STATISTICS), 0xB067, ["sub_packets.a", "other.b"])


def test_columns_are_numpy_arrays_without_a_copy() -> None:
    numpy = pytest.importorskip("numpy")
    column = sounding.columns(log(0xB067, STATISTICS), 0xB067, ["sub_packets.granted_bytes"])[
        "sub_packets.granted_bytes"
    ]
    array = numpy.asarray(column.data)
    assert array.dtype == numpy.float64 and array.tolist() == [275.0]
    assert not array.flags.owndata and not array.flags.writeable
    assert numpy.asarray(column).tolist() == column.to_numpy().tolist() == [275.0]


def test_a_link_is_a_data_frame(lte: Path) -> None:
    pytest.importorskip("pandas")
    frame = sounding.link(lte, direction="downlink", bin=0.1).to_pandas()
    assert len(frame) == 239
    assert frame["rate_bits_per_sec"].max() > 50_000
    assert set(frame["bound"].dropna()) <= {"floor", "capacity"}
    assert frame["granted_bytes"].sum() > 50_000
    # Unknown values are absent: before the first grant, and while the modem was silent.
    unknown = frame["rate_bits_per_sec"].isna()
    assert unknown.iloc[0] and not unknown.all() and frame["age_s"].max() > 0
    assert str(frame.index.tz) == "UTC"
    # Granted bytes say nothing of other users.
    assert frame[["fair_share_bits_per_sec", "users", "carriers"]].isna().to_numpy().all()
    steps = frame.index.to_series().diff().dropna()
    # The last row ends with the last record.
    assert set(steps.dt.total_seconds()[:-1]) == {0.1}


@pytest.mark.parametrize("table", ["link", "delays", "kpis"])
def test_polars_has_the_values_of_pandas(lte: Path, table: str) -> None:
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    made = {
        "link": lambda: sounding.link(lte, direction="uplink"),
        "delays": lambda: sounding.delays(lte),
        "kpis": lambda: sounding.kpis(lte, ["lte.pusch.tbs", "lte.pusch.prb", "lte.cell.rsrp"]),
    }[table]()
    frame, known = made.to_polars(), made.to_pandas().reset_index()
    assert frame.columns == list(known.columns) and frame.height == len(known) > 10
    assert frame.schema["modem_time"] == polars.Datetime("ns", "UTC")
    for name in frame.columns:
        ours, theirs = frame[name].to_list(), known[name].tolist()
        if name == "modem_time":
            assert frame[name].to_physical().to_list() == list(made["modem_time_ns"].data)
            continue
        assert [None if pandas.isna(value) else value for value in theirs] == ours, name
        if made[name].words is not None:
            assert frame.schema[name] == polars.Categorical


def test_a_time_that_no_modem_stamped_is_null_in_polars() -> None:
    pytest.importorskip("polars")
    frame = sounding.columns(log(0xB067, STATISTICS), 0xB067, ["version"]).to_polars()
    assert frame["modem_time"].to_list() == [None] and frame["version"].to_list() == [1.0]


def test_a_link_is_an_arrow_table(lte: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = sounding.link(lte, direction="uplink").to_arrow()
    assert table.num_rows == sounding.link(lte, direction="uplink").rows
    assert table.schema.field("rate_bits_per_sec").type == pyarrow.float64()
    assert pyarrow.types.is_dictionary(table.schema.field("state").type)
    # A value that the modem did not report is null, not a number.
    backlog = table.column("backlog_bytes").to_pylist()
    numbers = list(sounding.link(lte, direction="uplink")["backlog_bytes"])
    assert [b is None for b in backlog] == [math.isnan(n) for n in numbers]


def test_a_link_refuses_what_it_does_not_know() -> None:
    capture = log(0xB067, STATISTICS)
    with pytest.raises(ValueError, match="direction"):
        sounding.link(capture, direction="sideways")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="method"):
        sounding.link(capture, method="guess")  # type: ignore[arg-type]
    for span in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="bin"):
            sounding.link(capture, bin=span)


def test_the_link_is_the_same_from_a_file_and_from_memory(lte: Path) -> None:
    from_file, from_memory = sounding.link(lte), sounding.link(lte.read_bytes())
    for name in from_file:
        assert from_file[name].data.tobytes() == from_memory[name].data.tobytes()


def test_a_capture_that_was_cut_says_so_in_every_table(lte: Path) -> None:
    whole = lte.read_bytes()
    # Within a frame: the last one ends with the file.
    cut = whole[:-5]
    last = whole.rindex(b"\x7e", 0, -5) + 1
    for table in (
        sounding.link(cut),
        sounding.kpis(cut, ["lte.cell.rsrp"]),
        sounding.columns(cut, 0xB193, ["version"]),
    ):
        counts = table.counts
        assert (counts["corrupt_frames"], counts["first_damage"], counts["cut_at"]) == (1, last, last)
        assert counts["cut_bytes"] == len(cut) - last
    sound = sounding.link(whole).counts
    assert (sound["corrupt_frames"], sound["first_damage"], sound["cut_at"]) == (0, None, None)


def test_kpis_are_columns_with_units(lte: Path) -> None:
    table = sounding.kpis(lte, ["lte.cell.rsrp", "lte.cell.rsrp_rx0"])
    # An antenna that is not there has no level.
    expected = [
        (cell["rsrp_dbm"], cell.get("rsrp_rx0_dbm"))
        for fields in one_by_one(lte, 0xB193)
        for packet in fields["sub_packets"]
        for cell in packet["cells"]
    ]
    first = [None if math.isnan(level) else level for level in table["lte.cell.rsrp_rx0"]]
    assert list(zip(table["lte.cell.rsrp"], first)) == expected
    assert None in first
    assert table["lte.cell.rsrp"].unit == "dBm"
    assert table.counts["records"] == len(one_by_one(lte, 0xB193))


def test_kpis_of_one_item_share_a_row_and_others_do_not(lte: Path) -> None:
    table = sounding.kpis(lte, ["lte.pusch.prb", "lte.pusch.tbs", "lte.cell.rsrp"])
    blocks = [
        (sent["rbs"], sent["tb_bytes"])
        for fields in one_by_one(lte, 0xB139)
        for sent in fields["transmissions"]
    ]
    rows = list(zip(*(table[name] for name in list(table)[1:])))
    pusch = [(prb, tbs) for prb, tbs, rsrp in rows if math.isnan(rsrp)]
    assert pusch == blocks
    assert all(math.isnan(prb) and math.isnan(tbs) for prb, tbs, rsrp in rows if not math.isnan(rsrp))


def test_every_kpi_can_be_asked_for_at_once(lte: Path) -> None:
    known = sounding.known_kpis()
    table = sounding.kpis(lte, [kpi.name for kpi in known])
    assert list(table)[1:] == [kpi.name for kpi in known]
    for kpi in known:
        assert kpi.unit and kpi.what and kpi.least < kpi.most
        assert all(kpi.least <= value <= kpi.most for value in table[kpi.name] if not math.isnan(value))
    assert table.counts["values"] > 100_000


def test_a_kpi_without_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="no KPI is called 'lte.nothing'|no KPI is called \"lte.nothing\""):
        sounding.kpis(log(0xB067, STATISTICS), ["lte.nothing"])
