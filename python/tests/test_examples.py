"""MobileInsight's own examples, run with only their import changed. They are read from a checkout: MOBILEINSIGHT=DIR."""

from __future__ import annotations

import os
import re
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
#: What it needs is in the checkout alone.
OF_THE_CHECKOUT = {"offline-analysis-example.py"}


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


@pytest.mark.parametrize("analyzers", [False, True], ids=["own", "checkout"])
@pytest.mark.parametrize("script", EXAMPLES)
def test_an_example_runs_with_only_its_import_changed(
    checkout: Path, tmp_path: Path, script: str, analyzers: bool
) -> None:
    analyzers = analyzers or script in OF_THE_CHECKOUT
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
