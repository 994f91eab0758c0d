"""The types that an editor shows are those of the package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

CONFIGURATION = Path(__file__).resolve().parents[1] / "pyproject.toml"


def run(*command: str) -> None:
    found = subprocess.run(
        [sys.executable, "-m", *command], capture_output=True, text=True, timeout=300
    )
    assert found.returncode == 0, found.stdout + found.stderr


def test_the_stubs_are_those_of_the_compiled_half() -> None:
    run("mypy.stubtest", "sounding._sounding")


def test_the_package_is_typed() -> None:
    run("mypy", "--config-file", str(CONFIGURATION))


def test_a_users_script_is_typed(tmp_path: Path) -> None:
    script = Path(__file__).with_name("users_script.py")
    run("mypy", "--strict", "--config-file=", "--cache-dir", str(tmp_path), str(script))
