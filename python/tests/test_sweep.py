"""Sweeps on several workers have the bytes of one, whichever worker is killed on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import built_program

from sounding.sweep import SweepError, sweep
from sounding.sweep._engines import dask, processes

PLAN = """
duration = "30s"
seeds = "1..8"

[[links]]
up = "48Mbit"
down = "0s 20Mbit, 5s 5Mbit, 12s 30Mbit"
delay = "20ms"

[[flows]]
direction = "down"

[sweep]
"flows.0.controller" = ["bbr", "cubic", "oracle"]
"""


@pytest.fixture(scope="module")
def program() -> str:
    return built_program()


@pytest.fixture
def plan(tmp_path: Path) -> str:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return str(path)


def results(out: Path) -> dict[str, bytes]:
    return {name: (out / name).read_bytes() for name in ("result.json", "flows.parquet")}


@pytest.fixture
def undisturbed(tmp_path: Path, plan: str, program: str) -> dict[str, bytes]:
    out = tmp_path / "one"
    subprocess.run(
        [program, "sim", plan, "--out", str(out)], check=True, capture_output=True
    )
    return results(out)


def kill_the_parent_of_a_part(out: Path, killed: list[int]) -> None:
    """Kills, once, the process that started the program for a part: the worker, and not the program."""
    end = time.monotonic() + 60
    while time.monotonic() < end and not killed:
        for entry in Path("/proc").iterdir():
            try:
                line = (entry / "cmdline").read_bytes().split(b"\0")
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            if b"--shard" in line and str(out).encode() in line and parent != os.getpid():
                # Only a worker of this test has started it.
                os.kill(parent, signal.SIGKILL)
                killed.append(parent)
                return
        time.sleep(0.005)


def check_with_a_kill(engine, tmp_path: Path, plan: str, program: str) -> dict[str, bytes]:
    out, killed = tmp_path / "killed", []
    killer = threading.Thread(target=kill_the_parent_of_a_part, args=(out, killed))
    killer.start()
    with engine as executor:
        table = sweep(plan, str(out), executor, parts=6, program=program)
    killer.join()
    assert killed, "no worker was seen at work"
    assert "oracle" in table
    return results(out)


def test_processes_give_the_same_bytes_if_one_is_killed(
    tmp_path: Path, plan: str, program: str, undisturbed: dict[str, bytes]
) -> None:
    assert check_with_a_kill(processes(2), tmp_path, plan, program) == undisturbed


@pytest.mark.filterwarnings("ignore")  # Dask warns of what is not of our making.
def test_dask_with_a_worker_killed_gives_the_same_bytes(
    tmp_path: Path, plan: str, program: str, undisturbed: dict[str, bytes]
) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed: pip install distributed")
    assert check_with_a_kill(dask(2, None), tmp_path, plan, program) == undisturbed


def test_what_the_program_refuses_is_said_and_not_tried_again(
    tmp_path: Path, plan: str, program: str
) -> None:
    Path(plan).write_text(PLAN.replace("bbr", "no such thing"))
    with processes(2) as executor, pytest.raises(SweepError, match="unknown controller"):
        sweep(plan, str(tmp_path / "out"), executor, parts=2, program=program)


def test_the_command_line_sweeps_and_prints_the_table(
    tmp_path: Path, plan: str, program: str, undisturbed: dict[str, bytes]
) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "sounding.sweep", plan, "--out", str(out)]
    done = subprocess.run(
        [*command, "--workers", "2", "--sounding", program], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "8 of 8 parts" in done.stderr and "cubic" in done.stdout
    assert results(out) == undisturbed
