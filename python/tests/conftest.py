"""The place of the shared captures, and skips for want of them or of packages, which fail where SOUNDING_REQUIRE names it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from sounding.mobile_insight.analyzer import Analyzer

ROOT = Path(__file__).resolve().parents[2]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--every-record",
        action="store_true",
        help="compare every record of the captures with MobileInsight's reading, not the first of each code",
    )


#: Skips that are no lack of this machine, by their reasons.
CHOSEN = ["MOBILEINSIGHT names", "--every-record", "Python 3.11"]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where SOUNDING_REQUIRE has `python`, a test that was skipped for want of a package or a program fails the run."""
    required = os.environ.get("SOUNDING_REQUIRE", "").split(",")
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if "python" not in required or reporter is None:
        return
    chosen = CHOSEN + ([] if "data" in required else ["no captures"])
    reasons = {str(report.longrepr) for report in reporter.stats.get("skipped", [])}
    for reason in reasons:
        if not any(words in reason for words in chosen):
            print(f"SOUNDING_REQUIRE has 'python', and a test was skipped: {reason}", file=sys.stderr)
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def data_folder() -> Path | None:
    """The folder of shared captures."""
    named = os.environ.get("SOUNDING_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    return folder if folder.is_dir() else None


def built_program() -> str:
    """The program: $SOUNDING_PROGRAM, the one that was built last beside the sources, or the one on PATH. Without it a test
    is skipped."""
    built = [ROOT / "target" / kind / "sounding" for kind in ("debug", "release")]
    there = [path for path in built if path.exists()]
    last = str(max(there, key=lambda path: path.stat().st_mtime)) if there else shutil.which("sounding")
    found = os.environ.get("SOUNDING_PROGRAM", last)
    if found is None:
        pytest.skip("the program is not built: cargo build --package sounding")
    return found


@pytest.fixture(scope="session")
def data() -> Path:
    folder = data_folder()
    if folder is None and "data" in os.environ.get("SOUNDING_REQUIRE", "").split(","):
        pytest.fail("SOUNDING_REQUIRE has 'data', and there are no captures in ../shared/data or $SOUNDING_DATA")
    if folder is None:
        print("skipped: no captures in ../shared/data or $SOUNDING_DATA", file=sys.stderr)
        pytest.skip("no captures in ../shared/data or $SOUNDING_DATA")
    return folder


@pytest.fixture
def lte(data: Path) -> Path:
    """LTE records of all layers."""
    return data / "captures/lgs96__mobileinsight_core/diag_log_20211220_111534.mi2log"


@pytest.fixture(autouse=True)
def no_analyzers() -> None:
    """Analyzers are known by name to the whole program; each test starts with none."""
    Analyzer.forget_all()
