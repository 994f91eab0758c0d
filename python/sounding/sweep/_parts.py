"""One part of a sweep: a process of the program, in the folder that all parts share."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass


class SweepError(Exception):
    """The program refuses a sweep or cannot finish it. The text is the program's message."""


@dataclass(frozen=True, order=True)
class Part:
    """The `number`th of `of` parts, counted from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def command(program: str, plan: str, out: str, arguments: Sequence[str]) -> list[str]:
    """The command line of the program."""
    return [program, "lab", "sweep", plan, "--out", out, *arguments]


def run(command: Sequence[str]) -> str:
    """Runs the program. Returns its standard output, or raises an error with its message."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise SweepError(f"{' '.join(command)}: status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def run_part(program: str, plan: str, out: str, part: Part, arguments: Sequence[str]) -> Part:
    """Makes what lacks of a part, on one processor.

    A killed worker may have left its program running on this very part: it is waited for, and then
    nothing lacks.
    """
    run(command(program, plan, out, ["--shard", str(part), "--jobs", "1", "--wait", *arguments]))
    return part
