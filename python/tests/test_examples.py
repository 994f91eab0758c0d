"""MobileInsight's own examples, run with only their import changed, and its analyzers with their mistakes mended. They are
read from a checkout: MOBILEINSIGHT=DIR."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

#: Each with what it writes last, or a file that it makes.
EXAMPLES = {
    "msg-statistics-example.py": (),
    "offline-analysis-filtering.py": (),
    "dl_retx_analyzer_test.py": ("test_log_dl_retx.mi2log",),
    "kpi-manager-test.py": ("logs/mobility_sample.mi2log",),
    "kpi-manager-test-experimental.py": ("logs/bler_sample.mi2log",),
    "offline-latency-analysis-ul.py": ("logs/latency_sample.mi2log",),
    "offline-analysis-example.py": (),
}
#: It imports analyzers that are in the checkout alone.
OF_THE_CHECKOUT = "offline-analysis-example.py"
#: The mistakes that the package's README names, by analyzer: the place in its source, and what mends it.
MENDED = {
    "LteRrcAnalyzer": (
        (
            r"( +)(if .*\"lte-rrc.MeasIdToAddMod_element\")",
            r"""\1known = self.get_cur_cell_config()
\1for val in field.iter("field") if known and field.get("name") == "lte-rrc.measIdToRemoveList" else ():
\1    if val.get("name") == "lte-rrc.MeasId":
\1        known.active.measid_list.pop(int(val.get("show")), None)
\1\2""",
        ),
        (r"( +)if pci and freq:(\n +self\.log_info\('HANDOVER)", r"\1freq = freq or self.get_cur_freq()\n\1if pci and freq:\2"),
        (r"return \(self\.id and self\.freq\)", "return self.id is not None and self.freq"),
    ),
    "LteMacAnalyzer": (
        (r"(if not self\.cur_fn:\s+)break", r"\1continue"),
        (r"( +)(pkt\[1\] -= sent_bytes\n)", r"\1\2\1break\n"),
        (r"( +)(queue_length \+= .*\n)", r"\1\2\1if idx != list(self.last_bytes)[-1]: continue\n"),
    ),
    "UplinkLatencyAnalyzer": ((r"if \(sample\['LCIDs'\] == \[\]\):", "if sample['LCIDs'] == [] or self.sfn < 0:"),),
}
#: Prints all that an analyzer finds.
FIGURES = """
import contextlib, io, sys
from mobile_insight.monitor import OfflineReplayer
import mobile_insight.analyzer as package

source, said = OfflineReplayer(), []
source.set_input_path(sys.argv[2])
with contextlib.redirect_stdout(io.StringIO()):
    analyzer = getattr(package, sys.argv[1])()
    analyzer.broadcast_info = lambda name, values: said.append((name, {key: str(values[key]) for key in sorted(values)}))
    analyzer.set_source(source)
    source.run()
print([one for one in said if one[0] not in ("SIB_CONFIG", "RRC_RECONFIG")])
for packet in getattr(analyzer, "all_packets", []):
    print(sorted(packet.items()))
for cell in sorted(analyzer.get_cell_list()) if hasattr(analyzer, "get_cell_list") else []:
    config = analyzer.get_cell_config(cell)
    measurements = config.active.measid_list if hasattr(config, "active") else config.measurements
    print(cell, sorted(measurements.items()))
"""


@pytest.fixture(scope="module")
def checkout() -> Path:
    named = os.environ.get("MOBILEINSIGHT")
    if not named:
        print("skipped: MOBILEINSIGHT names no checkout of mobileinsight-core", file=sys.stderr)
        pytest.skip("MOBILEINSIGHT names no checkout of mobileinsight-core")
    folder = Path(named).resolve()
    assert (folder / "examples").is_dir(), f"{folder}: there is no folder examples in it"
    return folder


def run(checkout: Path, folder: Path, script: str, analyzers: bool) -> tuple[str, str]:
    """What a script says on its two outputs."""
    source = (checkout / "examples" / script).read_text()
    changed, count = re.subn(r"^from mobile_insight\b", "from sounding.mobile_insight", source, flags=re.M)
    assert count > 0
    (folder / script).write_text(changed)
    for path in (checkout / "examples").iterdir():
        if path.name == "logs" or path.suffix == ".mi2log":
            (folder / path.name).symlink_to(path)
    # One imports it and draws nothing.
    (folder / "matplotlib").mkdir()
    (folder / "matplotlib/__init__.py").touch()
    (folder / "matplotlib/pyplot.py").touch()
    options = ["-m", "sounding.mobile_insight", "--analyzers", str(checkout)] if analyzers else []
    command = [sys.executable, *options, script, *EXAMPLES[script]]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout, done.stderr


@pytest.mark.parametrize(
    ("script", "analyzers"),
    [(script, analyzers) for script in EXAMPLES for analyzers in (False, True) if analyzers or script != OF_THE_CHECKOUT],
)
def test_an_example_runs_with_only_its_import_changed(
    checkout: Path, tmp_path: Path, script: str, analyzers: bool
) -> None:
    out, log = run(checkout, tmp_path, script, analyzers)
    if script == "msg-statistics-example.py":
        counts = (tmp_path / "msg_type_statistics.txt").read_text().split()
        assert int(counts[counts.index("LTE_RRC_OTA_Packet") + 1]) > 0
    elif script == "offline-analysis-filtering.py":
        assert (tmp_path / "filtered_log.mi2log").stat().st_size > 0
    elif script == "dl_retx_analyzer_test.py":
        assert [round(float(line.split(":")[1]), 4) for line in out.splitlines()] == [7.0403, 120.2]
    elif script == "kpi-manager-test.py":
        assert "KPI.Accessibility.RRC.SUC=42" in log
    elif script == "kpi-manager-test-experimental.py":
        assert "KPI.Wireless.BLER=0.12%" in log
    elif script == "offline-latency-analysis-ul.py":
        assert re.search(r"Average tx latency is: 1\.60[78]", out)
    else:
        assert (tmp_path / "test.txt").read_text().count("<dm_log_packet>") > 1000
        assert "MEAS_PCELL" in log


@pytest.mark.parametrize("name", MENDED)
def test_an_analyzer_differs_by_the_named_mistakes_alone(checkout: Path, tmp_path: Path, name: str) -> None:
    """With each mistake mended in its own source it finds what ours finds."""
    script = tmp_path / "figures.py"
    script.write_text(FIGURES)
    shutil.copytree(checkout / "mobile_insight/analyzer", tmp_path / "mended/analyzer")
    source = tmp_path / "mended/analyzer" / f"{re.sub(r'(?<!^)(?=[A-Z])', '_', name).lower()}.py"
    text = source.read_text()
    for place, mended in MENDED[name]:
        text, count = re.subn(place, mended, text)
        assert count == 1, place
    source.write_text(text)
    capture = checkout / "examples/logs" / f"{'mobility' if name == 'LteRrcAnalyzer' else 'latency'}_sample.mi2log"

    def figures(*options: str | Path) -> str:
        command = [sys.executable, "-m", "sounding.mobile_insight", *options, script, name, capture]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    ours = figures()
    assert len(ours) > 10_000
    assert figures("--analyzers", tmp_path / "mended") == ours
    assert figures("--analyzers", checkout) != ours
