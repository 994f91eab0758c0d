"""MobileInsight's interface, as scripts use it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest
from test_reader import STATISTICS, log, serve

import sounding
from sounding.mobile_insight import DMLogPacket, Event
from sounding.mobile_insight.analyzer import Analyzer, MsgLogger, MsgStatistics
from sounding.mobile_insight.monitor import DMCollector, OfflineReplayer, OnlineMonitor
from sounding.mobile_insight.types import CODES, NAMES, type_of

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


class Collector(Analyzer):
    """Keeps what it is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Event] = []
        self.add_source_callback(self.events.append)

    def types(self) -> list[str]:
        return [event.type_id for event in self.events]


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """Ten records with a table and one without."""
    path = tmp_path / "small.mi2log"
    frames = [log(0xB067, STATISTICS, n << 16) for n in range(10)]
    path.write_bytes(b"".join(frames) + log(0xB0C8, b"\x01 is undescribed"))
    return path


def replay(path: Path, *types: str) -> Collector:
    source, collector = OfflineReplayer(), Collector()
    source.set_input_path(str(path))
    source.enable_log(list(types))
    collector.set_source(source)
    source.run()
    return collector


def test_a_replayer_sends_the_enabled_records_and_then_stops(capture: Path) -> None:
    events = replay(capture, "LTE_MAC_UL_Tx_Statistics").events
    assert [event.type_id for event in events] == ["LTE_MAC_UL_Tx_Statistics"] * 10 + ["Monitor.STOP"]
    assert all(a.timestamp <= b.timestamp for a, b in zip(events, events[1:]))
    assert replay(capture, "LTE_PHY_PDSCH_Packet").types() == ["Monitor.STOP"]


def test_a_decoded_record_has_the_names_that_scripts_know(capture: Path) -> None:
    packet = replay(capture, "LTE_MAC_UL_Tx_Statistics").events[0].data
    assert packet.get_type_id() == "LTE_MAC_UL_Tx_Statistics"
    decoded = packet.decode()
    assert decoded["timestamp"] == datetime(1980, 1, 6)
    assert decoded["log_msg_len"] == len(STATISTICS) + 12
    (sub,) = decoded["Subpackets"]
    assert sub["SubPacket ID"] == "UL Tx Statistics SubPacket"
    assert sub["Sample"]["Grant received"] == 275
    # A script may write into what it is given.
    decoded["Version"] = "mine"
    assert packet.decode()["Version"] == 1


def test_a_record_without_a_table_is_marked(capture: Path) -> None:
    (event, _) = replay(capture, "0xB0C8").events
    decoded = event.data.decode()
    assert decoded["type_id"] == "0xB0C8"
    assert "not described" in decoded["(Sounding)"]


def test_xml_and_json_say_the_same(capture: Path) -> None:
    packet = replay(capture, "LTE_MAC_UL_Tx_Statistics").events[0].data
    root = ElementTree.fromstring(packet.decode_xml())
    assert root.tag == "dm_log_packet"
    pairs = {pair.get("key"): pair for pair in root}
    assert pairs["type_id"].text == "LTE_MAC_UL_Tx_Statistics"
    assert pairs["timestamp"].text == "1980-01-06 00:00:00"
    assert pairs["Subpackets"].get("type") == "list"
    granted = root.find("./pair[@key='Subpackets']/list/item/dict/pair[@key='Sample']/dict/pair[@key='Grant received']")
    assert granted is not None and granted.text == "275"
    assert json.loads(packet.decode_json())["Subpackets"][0]["Sample"]["Grant received"] == 275


def test_skipped_decoding_leaves_the_header(capture: Path) -> None:
    (record, *_) = sounding.open(capture)
    assert set(DMLogPacket(record, skip_decoding=True).decode()) == {"log_msg_len", "type_id", "timestamp"}


def test_a_sampling_rate_spreads_what_is_sent(capture: Path) -> None:
    source, collector = OfflineReplayer(), Collector()
    source.set_input_path(str(capture))
    source.enable_log("LTE_MAC_UL_Tx_Statistics")
    source.set_sampling_rate(50)
    collector.set_source(source)
    source.run()
    assert len(collector.events) == 5 + 1
    with pytest.raises(ValueError, match="sampling rate"):
        source.set_sampling_rate(101)


def test_saved_records_can_be_replayed(capture: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved.mi2log"
    source = OfflineReplayer()
    source.set_input_path(str(capture))
    source.enable_log("LTE_MAC_UL_Tx_Statistics")
    source.save_log_as(str(saved))
    source.run()
    assert [record.raw for record in sounding.open(saved)] == [STATISTICS] * 10


def test_a_folder_is_replayed_in_the_order_of_its_names(capture: Path) -> None:
    (capture.parent / "a.qmdl").write_bytes(log(0xB067, STATISTICS, 99 << 16))
    (capture.parent / "notes.txt").write_text("no capture")
    first, *rest = replay(capture.parent, "LTE_MAC_UL_Tx_Statistics").events
    assert first.data.record.stamp == 99 << 16
    assert len(rest) == 10 + 1


def test_an_unknown_type_is_warned_of(capture: Path, caplog: pytest.LogCaptureFixture) -> None:
    source = OfflineReplayer()
    source.enable_log("LTE_Nothing_Of_The_Kind")
    assert "Unsupported log message type: LTE_Nothing_Of_The_Kind" in caplog.text
    assert "LTE_Nothing_Of_The_Kind" not in source.available_log_types()
    assert "LTE_PHY_PDSCH_Stat_Indication" in source.available_log_types()


def test_an_included_analyzer_passes_on_what_it_makes(capture: Path) -> None:
    class Summary(Analyzer):
        def __init__(self) -> None:
            super().__init__()
            self.add_source_callback(self.count)
            self.seen = 0

        def count(self, event: Event) -> None:
            if event.type_id == "Monitor.STOP":
                self.send(Event(event.timestamp, "Summary", self.seen))
            else:
                self.seen += 1

    class Report(Analyzer):
        def __init__(self) -> None:
            super().__init__()
            self.said: list[int] = []
            self.include_analyzer("Summary", [lambda event: self.said.append(event.data)])

    source, report = OfflineReplayer(), Report()
    source.set_input_path(str(capture))
    source.enable_log("LTE_MAC_UL_Tx_Statistics")
    report.set_source(source)
    assert isinstance(report.get_analyzer("Summary"), Summary)
    source.run()
    assert report.said == [10]
    report.exclude_analyzer("Summary")
    assert report.get_analyzer("Summary") is None
    source.run()
    assert report.said == [10]


def test_statistics_count_by_type(capture: Path) -> None:
    source, statistics = OfflineReplayer(), MsgStatistics()
    source.set_input_path(str(capture))
    statistics.set_source(source)
    source.run()
    assert statistics.msg_type_statistics == {"LTE_MAC_UL_Tx_Statistics": 10}
    assert statistics.msg_lengh["LTE_MAC_UL_Tx_Statistics"] == [len(STATISTICS) + 12] * 10


def test_a_logger_writes_one_record_a_line(capture: Path, tmp_path: Path) -> None:
    source, logger = OfflineReplayer(), MsgLogger()
    source.set_input_path(str(capture))
    source.enable_log("LTE_MAC_UL_Tx_Statistics")
    logger.set_decode_format(MsgLogger.JSON)
    logger.set_dump_type(MsgLogger.FILE_ONLY)
    logger.save_decoded_msg_as(str(tmp_path / "log.json"))
    logger.set_source(source)
    source.run()
    lines = (tmp_path / "log.json").read_text().splitlines()
    assert len(lines) == 10
    assert all(json.loads(line)["type_id"] == "LTE_MAC_UL_Tx_Statistics" for line in lines)


@pytest.mark.parametrize("kind", [OnlineMonitor, DMCollector])
def test_an_online_monitor_sends_what_a_modem_logs(kind: type[OnlineMonitor]) -> None:
    modem, path, writer = serve(log(0xB067, STATISTICS) * 3)
    source, collector = kind(), Collector()
    source.set_serial_port(path)
    source.set_baudrate(115200)
    source.set_timeout(0.3)
    source.enable_log("LTE_MAC_UL_Tx_Statistics")
    collector.set_source(source)
    writer.start()
    source.run()
    writer.join()
    os.close(modem)
    assert collector.types() == ["LTE_MAC_UL_Tx_Statistics"] * 3 + ["Monitor.STOP"]


def test_every_type_has_a_code_and_every_code_a_type() -> None:
    assert all(NAMES[code] in CODES for code in NAMES)
    assert set(CODES.values()) <= set(NAMES)
    assert type_of(0xB173) == "LTE_PHY_PDSCH_Stat_Indication"
    assert type_of(0xB0C1) == "LTE_RRC_MIB_Packet"


@pytest.mark.parametrize(
    ("missing", "statement"),
    [
        ("MobilityMngt", "from {}.analyzer import MobilityMngt"),
        ("nas_util", "from {}.analyzer import nas_util"),
        ("mm_analyzer", "from {}.analyzer.mm_analyzer import MmAnalyzer"),
        ("kpi.RlfAnalyzer", "from {}.analyzer.kpi import RlfAnalyzer"),
        ("MmAnalyzer", "import {0}.analyzer; {0}.analyzer.MmAnalyzer"),
        ("MmAnalyzer", "from {}.analyzer import Analyzer; Analyzer().include_analyzer('MmAnalyzer', [])"),
    ],
)
@pytest.mark.parametrize("package", ["mobile_insight", "sounding.mobile_insight"])
def test_an_import_that_only_mobile_insight_has_says_what_to_do(
    tmp_path: Path, package: str, missing: str, statement: str
) -> None:
    script = tmp_path / "script.py"
    script.write_text(statement.format(package))
    command = [sys.executable, "-m", "sounding.mobile_insight", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert re.search(rf"Error: .* has no {re.escape(missing)}; .* --analyzers DIR, with the folder", done.stderr)


def run(*arguments: str | Path) -> str:
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


def test_the_example_runs(lte: Path, tmp_path: Path) -> None:
    said = run(EXAMPLES / "lte_kpi_analyzer.py", lte, tmp_path / "log.xml")
    assert "RSRP -82.4 dBm, mean of 1905 measurements" in said
    lines = (tmp_path / "log.xml").read_text().splitlines()
    assert len(lines) > 1000
    assert ElementTree.fromstring(lines[0]).tag == "dm_log_packet"


def test_a_script_for_mobile_insight_runs_unchanged(lte: Path, tmp_path: Path) -> None:
    """The example with the imports it would have had before."""
    text = (EXAMPLES / "lte_kpi_analyzer.py").read_text()
    assert text.count("from sounding.mobile_insight.") == 2
    script = tmp_path / "old.py"
    script.write_text(text.replace("from sounding.mobile_insight.", "from mobile_insight."))
    ours = run(EXAMPLES / "lte_kpi_analyzer.py", lte)
    assert run("-m", "sounding.mobile_insight", script, lte) == ours
    script.write_text("import sounding.mobile_insight.alias\n" + script.read_text())
    assert run(script, lte) == ours
