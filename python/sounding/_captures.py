"""Captures of a drive or a fleet as one dataset of tables."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _sounding
from ._workers import MakeExecutor, each

if TYPE_CHECKING:
    from distributed import Client


class Captures:
    """The captures of a folder or of a pattern."""

    def __init__(self, pattern: str | os.PathLike[str]) -> None:
        self._pattern = os.fspath(pattern)

    def to_parquet(
        self,
        out: str | os.PathLike[str],
        *,
        codes: Iterable[int] = (),
        redact: bool = True,
        jobs: int | None = None,
        dask: Client | str | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> dict[str, Any]:
        """Makes one dataset in the folder `out`, or goes on with it, as `sounding convert DIR OUT` does. Gives its counts.

        `OUT/code=0xB139/` is a table for pandas, polars, DuckDB, Dask and Spark, with a folder for each day.
        `OUT/_about/captures.parquet` lists the files. `codes` are log codes; all if there are none. Data that
        identifies a person is hidden unless `redact` is false. `jobs` threads work, by default one for each processor. With `dask`, a client or a
        scheduler's address, the work is done by Dask's workers, which see the same folders. `progress` is called with `files`
        or `bytes`, or `blocks` on Dask, how many are done, and of how many.
        """
        threads = os.cpu_count() or 1 if jobs is None else jobs
        if threads < 1:
            raise ValueError(f"jobs is at least 1, not {jobs}")
        fleet = _sounding.open_fleet(self._pattern, out, redact, list(codes), threads, progress)
        if dask is None:
            fleet.make(threads, progress)
        else:
            _on_dask(fleet, Path(out).resolve(), dask, progress)
        counts: dict[str, Any] = json.loads(fleet.finish())
        return counts

    def __repr__(self) -> str:
        return f"<Captures of {self._pattern}>"


def _on_dask(
    fleet: _sounding.Fleet, out: Path, dask: Client | str, progress: Callable[[str, int, int], None] | None
) -> None:
    if isinstance(dask, str):
        from distributed import Client

        with Client(dask) as client:
            return _on_dask(fleet, out, client, progress)
    client, root, missing = dask, str(fleet.root.resolve()), set(fleet.missing())
    # A block also depends on its files. The same call does not mean the same work.
    executor: MakeExecutor = lambda: client.get_executor(pure=False)  # noqa: E731
    left, reason = each(
        executor,
        missing,
        lambda workers, block: workers.submit(make_block, root, str(out), block),
        final=_sounding.SoundingError,
        done=lambda left: progress("blocks", len(missing) - left, len(missing)) if progress else None,
    )
    if left:
        raise _sounding.DatasetError(f"{out}: {len(left)} blocks were not finished: {reason}") from reason


def make_block(root: str, out: str, block: int) -> int:
    """Makes a block of a dataset in this process; gives its number."""
    _sounding.make_block(root, out, block)
    return block
