"""An import is cheap: scripts that read a capture start often."""

from __future__ import annotations

import json
import subprocess
import sys

SCRIPT = """
import json, sys, time
before = time.process_time()
import sounding
cpu_s = time.process_time() - before
print(json.dumps([cpu_s, sorted(sys.modules)]))
"""


def fresh() -> tuple[float, list[str]]:
    """CPU time and modules of an import, in an interpreter of its own."""
    said = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    cpu_s, modules = json.loads(said.stdout)
    return cpu_s, modules


def test_an_import_takes_at_most_300_ms_of_cpu_time() -> None:
    cpu_s, modules = fresh()
    assert "sounding._sounding" in modules
    assert cpu_s <= 0.3


def test_an_import_loads_neither_numpy_nor_pandas() -> None:
    _, modules = fresh()
    assert "sounding._sounding" in modules
    assert not {"numpy", "pandas", "pyarrow"} & set(modules)
