"""The same work on many items by an executor, again where a worker was killed."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, as_completed
from typing import TypeVar

#: Makes a working executor; called again after one broke.
MakeExecutor = Callable[[], Executor]

Item = TypeVar("Item")


def each(
    executor: MakeExecutor,
    items: set[Item],
    submit: Callable[[Executor, Item], Future[Item]],
    *,
    final: type[Exception],
    retries: int = 3,
    done: Callable[[int], None] = lambda left: None,
) -> tuple[set[Item], Exception | None]:
    """Submits each item, and those that are left `retries` times again. Gives those that are left, with the last error.

    `submit` has the future give its item back. A `final` error is the work's own: a second try would give the same.
    """
    left, reason = set(items), None
    for _ in range(retries + 1):
        try:
            with executor() as workers:
                for future in as_completed([submit(workers, item) for item in sorted(left)]):  # type: ignore[type-var]
                    try:
                        left.discard(future.result())
                    except final:
                        raise
                    except Exception as error:  # engines differ in the error for a dead worker
                        reason = error
                    else:
                        done(len(left))
        except BrokenExecutor as error:
            reason = error
        if not left:
            break
    return left, reason
