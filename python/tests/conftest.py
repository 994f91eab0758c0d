"""The place of the shared captures, and the skip if they are missing."""

from __future__ import annotations

import os
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


def data_folder() -> Path | None:
    """The folder of shared captures."""
    named = os.environ.get("SOUNDING_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def data() -> Path:
    folder = data_folder()
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
