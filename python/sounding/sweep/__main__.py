"""`python -m sounding.sweep PLAN --out DIR --engine processes|dask --workers N`"""

from __future__ import annotations

import argparse
import os
import sys

from ._engines import dask, processes
from ._parts import SweepError
from ._sweep import sweep


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; gives the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m sounding.sweep",
        description="Make all runs of a plan on many workers. The results have the bytes of `sounding lab sweep`.",
    )
    parser.add_argument("plan", help="the plan")
    parser.add_argument("--out", required=True, help="folder for the results, which all workers see")
    parser.add_argument("--engine", choices=["processes", "dask"], default="processes")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="how many work at once")
    parser.add_argument("--scheduler", help="address of a Dask scheduler [default: workers of this machine]")
    parser.add_argument(
        "--parts", type=int, help="parts of the sweep [default: four for each worker]"
    )
    parser.add_argument("--retries", type=int, default=3, help="how often a part is given out again")
    parser.add_argument("--sounding", default="sounding", help="the program [default: the one on PATH]")
    known, rest = parser.parse_known_args(arguments)
    if known.workers < 1:
        parser.error("--workers: at least 1")
    if known.scheduler is not None and known.engine != "dask":
        parser.error("--scheduler is for --engine dask")
    engine = dask(known.workers, known.scheduler) if known.engine == "dask" else processes(known.workers)

    def progress(done: int, of: int) -> None:
        print(f"{done} of {of} parts", file=sys.stderr)

    try:
        with engine as executor:
            table = sweep(
                known.plan,
                known.out,
                executor,
                parts=known.parts or 4 * known.workers,
                program=known.sounding,
                arguments=rest,
                retries=known.retries,
                progress=progress,
            )
    except (SweepError, RuntimeError, OSError) as error:
        print(f"sounding.sweep: {error}", file=sys.stderr)
        return 1
    print(table, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
