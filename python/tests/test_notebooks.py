"""The notebooks of `examples` run to their end, cell by cell, and show what they say."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def executed(name: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a notebook's cells leave behind. They are plain Python, and no kernel runs them."""
    matplotlib = pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    matplotlib.use("Agg")
    monkeypatch.chdir(EXAMPLES)
    notebook = json.loads((EXAMPLES / name).read_text())
    assert notebook["nbformat"] == 4
    names: dict[str, Any] = {}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 2 and not any(cell["outputs"] for cell in cells)
    for number, cell in enumerate(cells):
        exec(compile("".join(cell["source"]), f"{name}, cell {number}", "exec"), names)
    matplotlib.pyplot.close("all")
    return names


def test_throughput_follows_the_channel_and_blocks_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    names = executed("cqi_and_throughput.ipynb", monkeypatch)
    by_cqi, bins = names["by_cqi"], names["bins"]
    assert len(by_cqi) >= 5 and len(bins) > 100
    often = by_cqi[by_cqi["bins"] >= 5]["mbit_per_sec"]
    assert often.iloc[-1] > 2 * often.iloc[0] > 0
    assert 0.02 < bins["again"].mean() < 0.5
    assert (names["folder"] / "cqi.png").stat().st_size > 5_000


@pytest.mark.skipif(sys.version_info < (3, 11), reason="it reads TOML with Python 3.11's own reader")
def test_the_paper_s_figure_has_the_paper_s_order(monkeypatch: pytest.MonkeyPatch) -> None:
    table = executed("pbe_cc_fig20.ipynb", monkeypatch)["table"]
    assert len(table) == 8 and (table["paper"] != "").sum() == 4
    shares = [table.loc[f"pbe-cc, {place}", "mbit_per_sec"] for place in ("first", "second")]
    # The paper: both connections get about the same, at half of BBR's delay.
    assert max(shares) < 1.2 * min(shares)
    assert table.loc["pbe-cc, first", "median_ms"] < 0.5 * table.loc["bbr, first", "median_ms"]
