"""All parts of a sweep on an executor, again where a worker was killed, and the results put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .._workers import MakeExecutor, each
from ._parts import Part, SweepError, command, run, run_part


def sweep(
    plan: str,
    out: str,
    executor: MakeExecutor,
    *,
    parts: int,
    program: str = "sounding",
    arguments: Sequence[str] = (),
    retries: int = 3,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> str:
    """Makes every run of a plan into a folder that all workers see, and gives the table that the program prints.

    Finished runs stay finished when a worker is killed: its part is given out again, `retries` times. `arguments` go to
    every process of the program, as `--series 100ms`. The results have the same bytes as those of one process.
    """
    if parts < 1:
        raise ValueError("a sweep has at least one part")
    missing = {Part(number, parts) for number in range(1, parts + 1)}
    missing, reason = each(
        executor,
        missing,
        lambda workers, part: workers.submit(run_part, program, plan, out, part, list(arguments)),
        final=SweepError,
        retries=retries,
        done=lambda left: progress(parts - left, parts),
    )
    if not missing:
        return run(command(program, plan, out, ["--wait", *arguments]))
    lacking = ", ".join(str(part) for part in sorted(missing))
    raise SweepError(f"parts {lacking} were not finished in {retries + 1} attempts") from reason
