"""Two of the project's controllers, written once more in Python, give the built-in ones' reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from own.background import Background
from own.copa_gandalf import CopaGandalf

import sounding

#: A device with a modem in a cell, beside a rival that comes and goes; and a path whose receiver has a clock, and a short buffer.
CELL = """
duration = "8s"
seeds = [1, 2]
[cell]
carriers = [{{ prb = 25 }}]
[[cell.devices]]
name = "ours"
modem = {{}}
[[cell.devices]]
name = "rival"
[[flows]]
direction = "{way}"
device = "ours"
controller = "NAME"
[[flows]]
direction = "{way}"
device = "rival"
start = "3s"
stop = "5s"
controller = "cubic"
"""

LINK = """
duration = "8s"
[[links]]
up = "8Mbit"
down = "8Mbit"
delay = "20ms"
queue = "60kB"
[[flows]]
direction = "up"
controller = "NAME"
[[flows]]
direction = "up"
start = "3s"
stop = "5s"
controller = "reno"
"""

PLANS = {"upload": CELL.format(way="up"), "download": CELL.format(way="down"), "link": LINK}


def report(plan: Path, text: str, name: str, own: type[sounding.Controller] | None) -> dict[str, Any]:
    """The results of a plan, in which the controller is called by one name."""
    called = name if own is None else "own"
    plan.write_text(text.replace("NAME", called))
    result = sounding.simulate(plan, controllers={} if own is None else {"own": own})
    for run in result["runs"]:
        for flow in run["flows"]:
            flow["controller"] = flow["controller"].replace(called, name)
    return {"runs": result["runs"]}


@pytest.mark.parametrize("plan", list(PLANS))
@pytest.mark.parametrize(("name", "own"), [("background", Background), ("copa-gandalf", CopaGandalf)])
def test_a_controller_in_python_gives_the_built_in_one_s_report(
    tmp_path: Path, plan: str, name: str, own: type[sounding.Controller]
) -> None:
    built_in = report(tmp_path / "plan.toml", PLANS[plan], name, None)
    ours = report(tmp_path / "plan.toml", PLANS[plan], name, own)
    assert ours == built_in
    # It is a flow that carries something, and not one that anything would agree on.
    assert all(run["flows"][0]["throughput_mbit_per_sec"] > 0.1 for run in built_in["runs"])
    other = report(tmp_path / "plan.toml", PLANS[plan], name, Still)
    assert other != built_in


class Still(sounding.Controller):
    """A window that never changes."""

    def __init__(self, start: sounding.Start) -> None:
        self.window = start.initial_cwnd_bytes

    def handle_ack(self, ack: sounding.Ack) -> None:
        pass

    def handle_loss(self, loss: sounding.Loss) -> None:
        pass

    def handle_timeout(self, now_ns: int) -> None:
        pass

    def cwnd(self) -> int:
        return self.window


def test_a_method_that_no_receiver_has_is_refused(tmp_path: Path) -> None:
    class Mistaken(Still):
        reported = "guess"

    (tmp_path / "plan.toml").write_text(PLANS["download"].replace("NAME", "own"))
    with pytest.raises(ValueError, match="`reported` is one of grants, .*cell.*, not \"guess\""):
        sounding.simulate(tmp_path / "plan.toml", controllers={"own": Mistaken})
