"""The workers: processes of this machine, or Dask's workers; both behind `concurrent.futures.Executor`."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any

from .._workers import MakeExecutor


@contextmanager
def processes(workers: int) -> Iterator[MakeExecutor]:
    """A fixed number of processes on this machine. If a worker is killed, a new pool replaces the old one."""
    # A fork of a process with threads may hold a lock that is never released.
    fresh = multiprocessing.get_context("spawn")
    yield lambda: ProcessPoolExecutor(workers, mp_context=fresh)


@contextmanager
def dask(workers: int, scheduler: str | None) -> Iterator[MakeExecutor]:
    """Dask's workers: those of a scheduler by its address, or so many of this machine's own, on loopback."""
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise RuntimeError("the engine dask needs its package: pip install 'sounding[dask]'") from error
    if scheduler is not None:
        with Client(scheduler) as client:
            yield lambda: _executor(client)
        return
    with LocalCluster(
        n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as cluster, Client(cluster) as client:
        yield lambda: _executor(client)


def _executor(client: Any) -> Executor:
    # A part's result also depends on its folder, which holds its finished runs.
    executor: Executor = client.get_executor(pure=False)
    return executor
