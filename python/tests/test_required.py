"""A run that requires the shared captures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

#: A test of the shared captures.
OF_DATA = "test_analyzers.py::test_levels_have_mobile_insights_figures"


@pytest.mark.parametrize(("required", "code", "said"), [("root,data", 1, "SOUNDING_REQUIRE has 'data'"), ("root", 0, "1 skipped")])
def test_a_run_without_captures_fails_where_they_are_required(tmp_path: Path, required: str, code: int, said: str) -> None:
    environment = os.environ | {"SOUNDING_REQUIRE": required, "SOUNDING_DATA": str(tmp_path / "nowhere")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", OF_DATA]
    done = subprocess.run(command, cwd=Path(__file__).parent, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, said in done.stdout) == (code, True), done.stdout + done.stderr
