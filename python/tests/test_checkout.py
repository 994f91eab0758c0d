"""Analyzers of a checkout that the caller names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

#: A checkout in small: relative imports, and analyzers in a folder of their own.
CHECKOUT = {
    "element_user.py": "from ..element import Element, Event\n",
    "analyzer.py": (
        "from ..element import Element, Event\n"
        "class Analyzer(Element):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.seen = 0\n"
        "    def set_source(self, source):\n"
        "        source.register(self)\n"
        "    def recv(self, module, event):\n"
        "        self.seen += event.data is not None\n"
    ),
    "count_analyzer.py": "from mobile_insight.analyzer.analyzer import *\nclass CountAnalyzer(Analyzer):\n    pass\n",
    "kpi/__init__.py": "from .kpi_manager import KPIManager\n",
    "kpi/kpi_manager.py": (
        "from ..analyzer import *\n"
        "class KPIManager(Analyzer):\n"
        "    def counts(self):\n"
        '        return __import__("mobile_insight").analyzer.CountAnalyzer\n'
    ),
    "__init__.py": "from .analyzer import Analyzer\nfrom .kpi import *\nfrom .count_analyzer import CountAnalyzer\n",
}
SCRIPT = """
import sys
from {package}.monitor import OfflineReplayer
from {package}.analyzer import CountAnalyzer
from {package}.analyzer.kpi import KPIManager
from {package}.analyzer.count_analyzer import CountAnalyzer as Same

source, counter = OfflineReplayer(), CountAnalyzer()
source.set_input_path(sys.argv[1])
source.enable_log("LTE_PHY_Serv_Cell_Measurement")
counter.set_source(source)
source.run()
print(counter.seen, Same is CountAnalyzer, KPIManager().counts() is CountAnalyzer)
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in CHECKOUT.items():
        path = tmp_path / "checkout/mobile_insight/analyzer" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "checkout"


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sounding.mobile_insight", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("package", ["mobile_insight", "sounding.mobile_insight"])
@pytest.mark.parametrize("within", ["", "mobile_insight", "mobile_insight/analyzer"])
def test_a_checkouts_analyzers_run(checkout: Path, lte: Path, package: str, within: str) -> None:
    script = checkout / "script.py"
    script.write_text(SCRIPT.format(package=package))
    done = run("--analyzers", checkout / within, script, lte)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[1:] == ["True", "True"]
    assert int(done.stdout.split()[0]) > 100


def test_a_folder_without_analyzers_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("print('ran')")
    done = run("--analyzers", tmp_path, script)
    assert done.returncode == 2
    assert "name the folder of a mobileinsight-core checkout" in done.stderr
    assert done.stdout == ""
