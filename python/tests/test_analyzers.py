"""The package's own analyzers, held to figures that MobileInsight's analyzers make of the same captures."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from test_agreement import zstandard
from test_reader import log

from sounding.mobile_insight import Event
from sounding.mobile_insight.analyzer import (
    Analyzer,
    KpiAnalyzer,
    KPIManager,
    LteDlRetxAnalyzer,
    LteMacAnalyzer,
    LteMeasurementAnalyzer,
    LteNasAnalyzer,
    LteRrcAnalyzer,
    NrRrcAnalyzer,
    UplinkLatencyAnalyzer,
)
from sounding.mobile_insight.monitor import OfflineReplayer
from sounding.mobile_insight.types import CODES

CORE = "mobile-insight__mobileinsight-core"


def replay(path: Path, analyzer: Analyzer) -> None:
    source = OfflineReplayer()
    source.set_input_path(str(path))
    analyzer.set_source(source)
    source.run()


class Reading:
    """A record as MobileInsight read it."""

    def __init__(self, decoded: dict[str, Any]) -> None:
        self._decoded = decoded | {"timestamp": datetime.fromisoformat(decoded["timestamp"])}

    def decode(self) -> dict[str, Any]:
        return self._decoded


def readings(data: Path, capture: str, types: set[str]) -> Iterator[Event]:
    packed = data / "expected" / f"{CORE}_{capture}.jsonl.zst"
    with packed.open("rb") as file:
        for line in io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file)):
            decoded = json.loads(line).get("mi")
            if decoded and decoded.get("type_id") in types:
                yield Event(0.0, decoded["type_id"], Reading(decoded))


def waits(analyzer: LteDlRetxAnalyzer, kind: str) -> list[int]:
    return [item[kind] for bearer in analyzer.bearer_entity.values() for item in getattr(bearer, kind)]


def mean(values: list[int]) -> float:
    return sum(values) / len(values)


def test_retransmissions_of_the_downlink_have_mobile_insights_figures(data: Path) -> None:
    analyzer = LteDlRetxAnalyzer()
    replay(data / "captures" / CORE / "test_log_dl_retx.mi2log", analyzer)
    mac, rlc = waits(analyzer, "mac_retx"), waits(analyzer, "rlc_retx")
    assert (len(mac), round(mean(mac), 4)) == (1811, 7.0403)
    assert (len(rlc), round(mean(rlc), 1)) == (20, 120.2)


def test_retransmissions_are_the_same_by_mobile_insights_own_reading(data: Path) -> None:
    analyzer = LteDlRetxAnalyzer()
    types = {"LTE_RLC_UL_AM_All_PDU", "LTE_RLC_DL_AM_All_PDU"}
    for event in readings(data, "test_log_dl_retx.mi2log", types):
        for callback in analyzer.source_callback:
            callback(event)
    assert (sum(waits(analyzer, "mac_retx")), len(waits(analyzer, "rlc_retx"))) == (12750, 20)


def test_the_uplinks_latency_has_mobile_insights_figures(data: Path) -> None:
    """All but one of its 1011 packets. That one came before the first known time, for which it takes -11; its mean wait is
    17.599 subframes for that."""
    analyzer = UplinkLatencyAnalyzer()
    replay(data / "captures" / CORE / "latency_sample.mi2log", analyzer)
    assert (analyzer.cum_block[0], analyzer.cum_err_block[0]) == (1124, 69)
    total = {name: sum(packet[name] for packet in analyzer.all_packets) for name in analyzer.all_packets[0]}
    assert len(analyzer.all_packets) == 1011
    assert total == {"Waiting Latency": 12197, "Tx Latency": 1625, "Retx Latency": 8}


def test_the_buffer_of_the_uplink_has_mobile_insights_figures_without_its_mistakes(data: Path) -> None:
    """Its own code gives these with three lines changed: it skips samples until a record begins with a known time, takes the
    sent bytes from a packet until it is gone, and counts channels one by one."""
    analyzer = LteMacAnalyzer()
    replay(data / "captures" / CORE / "latency_sample.mi2log", analyzer)
    assert dict(analyzer.counts) == {"UL_CTRL_PKT_DELAY": 55, "UL_PKT_DELAY": 993, "UL_QUEUE_LENGTH": 257}
    assert dict(analyzer.sums) == {"UL_CTRL_PKT_DELAY": 619, "UL_PKT_DELAY": 11780, "UL_QUEUE_LENGTH": 20258}


def test_the_use_of_grants_has_mobile_insights_figures(lte: Path) -> None:
    analyzer = LteMacAnalyzer()
    replay(lte, analyzer)
    assert (analyzer.counts["MAC_UL_GRANT"], analyzer.sums["MAC_UL_GRANT"]) == (165, 2098511)


class Broadcasts:
    """Keeps what an analyzer logs as a broadcast."""

    def __init__(self, analyzer: Analyzer) -> None:
        self.all: list[tuple[str, dict[str, Any]]] = []
        analyzer.broadcast_info = lambda method, values: self.all.append((method, values))  # type: ignore[method-assign]

    def of(self, method: str) -> list[dict[str, Any]]:
        return [values for name, values in self.all if name == method]


def test_cells_and_connections_have_mobile_insights_figures(data: Path) -> None:
    analyzer = LteRrcAnalyzer()
    said = Broadcasts(analyzer)
    replay(data / "captures" / CORE / "mobility_sample.mi2log", analyzer)
    states = [values["Conn state"] for values in said.of("DRX")]
    assert (states.count("CONNECTED"), states.count("IDLE")) == (42, 37)
    measured = said.of("MEAS_PCELL")
    sums = [sum(values[name] for values in measured) for name in ("rsrp", "rsrq")]
    assert (len(measured), sums) == (1215, [43001, 8809])
    assert len(analyzer.get_cell_list()) == 147
    # MobileInsight has 523: it takes the cell 0 for none, and keeps its tracking area.
    assert len(said.of("LTE_RRC_STATUS")) == 524
    # The times of 304 moves; the capture repeats some records.
    assert analyzer.get_cur_cell().inited() and len(analyzer.get_mobility_history()) == 285


def test_a_cells_measurements_are_those_that_were_not_removed(data: Path) -> None:
    """MobileInsight keeps those that the network removes: it has 572 in this capture."""
    analyzer = LteRrcAnalyzer()
    replay(data / "captures" / CORE / "mobility_sample.mi2log", analyzer)
    configs = [analyzer.get_cell_config(cell) for cell in analyzer.get_cell_list()]  # type: ignore[arg-type]
    assert sum(len(config.measurements) for config in configs if config is not None) == 460
    assert any("sib3" in config.sibs for config in configs if config is not None)


def test_registration_and_bearers_have_mobile_insights_figures(data: Path) -> None:
    analyzer = LteNasAnalyzer()
    said = Broadcasts(analyzer)
    replay(data / "captures" / CORE / "attach_sample.mi2log", analyzer)
    bearers = [values["conn state"] for values in said.of("ESM_STATE")]
    assert (bearers.count("connected"), bearers.count("disconnected")) == (20, 191)
    states = [values["conn state"] for values in said.of("EMM_STATE")]
    assert len(states) == 493 and states.count("EMM_DEREGISTERED") == 252
    # The network repeats five acceptances.
    assert (analyzer.messages["attach-request"], analyzer.messages["attach-accept"]) == (46, 51)
    assert set(analyzer.get_qos().values()) & {5, 8, 9}


def test_levels_have_mobile_insights_figures(data: Path) -> None:
    analyzer = LteMeasurementAnalyzer()
    replay(data / "captures" / CORE / "att.mi2log", analyzer)
    assert (len(analyzer.get_rsrp_list()), round(sum(analyzer.get_rsrp_list()), 2)) == (223, -24115.56)


#: A capture of a device on LTE and NR together.
BOTH = "20201116_123302_Xiaomi-Mi10_46000.mi2log"


def test_cells_of_nr_have_mobile_insights_measurements(data: Path) -> None:
    analyzer = NrRrcAnalyzer()
    replay(data / "captures" / CORE / BOTH, analyzer)
    cells = {(157, 504990), (283, 504990), (625, 504990), (66, 504990)}
    assert set(analyzer.get_cell_list()) == cells
    configs = [analyzer.get_cell_config(cell) for cell in cells]
    assert [config and config.measurements for config in configs] == [{1: (1, 1), 2: (1, 2), 3: (1, 3)}] * 4
    moves = [status.id for status in analyzer.get_mobility_history().values()]
    assert moves == [625, 283, 625, 283, 66, 66, 157]


def test_measurements_of_nr_within_lte_are_not_those_of_lte(data: Path) -> None:
    analyzer = LteRrcAnalyzer()
    replay(data / "captures" / CORE / BOTH, analyzer)
    config = analyzer.get_cell_config((142, 38400))
    assert config is not None and config.measurements[3] == (2, 3)


#: What MobileInsight's KPIManager counts in a fresh folder.
COUNTS = {
    "mobility_sample.mi2log": {
        "KPI.Accessibility.RRC_REQ": 52,
        "KPI.Accessibility.RRC_SUC": 42,
        "KPI.Accessibility.SR_REQ": 43,
        "KPI.Accessibility.SR_SUC": 36,
        "KPI.Mobility.HO_FAILURE": 14,
        "KPI.Mobility.HO_TOTAL": 248,
        "KPI.Mobility.TAU_REQ": 57,
        "KPI.Mobility.TAU_SUC": 54,
    },
    "attach_sample.mi2log": {
        "KPI.Accessibility.ATTACH_REQ": 46,
        "KPI.Accessibility.ATTACH_SUC": 46,
        "KPI.Accessibility.RRC_REQ": 58,
        "KPI.Accessibility.RRC_SUC": 58,
        "KPI.Accessibility.SR_REQ": 12,
        "KPI.Accessibility.SR_SUC": 10,
        "KPI.Mobility.HO_TOTAL": 7,
    },
}


@pytest.mark.parametrize("capture", COUNTS)
def test_indicators_have_mobile_insights_figures(data: Path, capture: str) -> None:
    manager = KPIManager()
    for kpi in manager.list_kpis():
        assert manager.enable_kpi(kpi)
    replay(data / "captures" / CORE / capture, manager)
    analyzers = [analyzer for analyzer in manager.from_list if isinstance(analyzer, KpiAnalyzer)]
    counts = {kpi: count for analyzer in analyzers for kpi, count in analyzer.counts.items()}
    assert counts == COUNTS[capture]


def test_a_rate_follows_from_its_counts_and_is_logged(data: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="sounding.mobile_insight")
    manager = KPIManager()
    assert manager.enable_kpi("KPI.Mobility.HO_SR", periodicity="1h")
    replay(data / "captures" / CORE / "mobility_sample.mi2log", manager)
    assert manager.local_query_kpi("KPI.Mobility.HO_SR") == pytest.approx(94, abs=1)
    assert manager.local_query_kpi("KPI.Mobility.HO_SR", timestamp=datetime(2000, 1, 1)) is None
    said = [text for text in caplog.messages if ": KPI.Mobility.HO.SR=" in text]
    assert said and all(text.endswith("%") for text in said)


def test_an_unknown_indicator_or_period_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    manager = KPIManager()
    assert not manager.enable_kpi("KPI.Mobility.HANDOVER_PREDICTION")
    assert "with --analyzers DIR" in caplog.text
    assert not manager.enable_kpi("KPI.Mobility.HO_SR", periodicity="soon")
    assert "the period 'soon' is no number" in caplog.text


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of each type a record without content, and some of each version that are cut or have impossible content."""
    contents = [b"", *(bytes([version]) + rest for version in range(64) for rest in (b"", bytes(30), b"\xff" * 30))]
    path = tmp_path_factory.mktemp("damaged") / "damaged.mi2log"
    path.write_bytes(b"".join(log(code, content) for code in CODES.values() for content in contents))
    return path


@pytest.mark.parametrize(
    "kind",
    [
        KPIManager,
        LteDlRetxAnalyzer,
        LteMacAnalyzer,
        LteMeasurementAnalyzer,
        LteNasAnalyzer,
        LteRrcAnalyzer,
        NrRrcAnalyzer,
        UplinkLatencyAnalyzer,
    ],
)
def test_damaged_records_are_no_error(damaged: Path, kind: type[Analyzer]) -> None:
    analyzer = kind()
    if isinstance(analyzer, KPIManager):
        analyzer.enable_all_kpis()
    received: list[Event] = []
    analyzer.add_source_callback(received.append)
    replay(damaged, analyzer)
    assert len(received) > 150
