"""A script of a user: what it reads of a capture, as JSON. mypy checks it, and scripts/test-wheel runs it with each wheel."""

from __future__ import annotations

import json
import sys

import sounding


def summary(path: str) -> dict[str, object]:
    readable: dict[str, int] = {}
    with sounding.open(path) as reader:
        for record in reader:
            name = record.name or f"{record.code:#06x}"
            readable[name] = readable.get(name, 0) + (record.fields is not None)
    rates = sounding.link(path, direction="uplink", bin=1.0)
    kpis = [kpi.name for kpi in sounding.known_kpis()]
    tables: list[sounding.Table] = [rates, sounding.kpis(path, kpis), sounding.delays(path)]
    return {
        "readable": readable,
        "rates": list(rates["rate_bits_per_sec"]),
        "rows": [table.rows for table in tables],
        "counts": [table.counts for table in tables],
    }


def mistakes(path: str) -> None:
    """mypy has to refuse each line: under --strict, an ignore without an error is one itself."""
    sounding.link(path, direction="sideways")  # type: ignore[arg-type]
    sounding.columns(path, "0xB173", ["subframes.rbs"])  # type: ignore[arg-type]
    sounding.kpis(path, ["lte.cell.rsrp"]).no_such_method()  # type: ignore[attr-defined]


if __name__ == "__main__":
    print(json.dumps(summary(sys.argv[1]), sort_keys=True))
