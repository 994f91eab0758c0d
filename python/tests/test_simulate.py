"""Plans in virtual time with controllers that are written in Python."""

from __future__ import annotations

import json
import runpy
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conftest import built_program

import sounding

PLAN = """
duration = "4s"
[[links]]
up = "8Mbit"
down = "8Mbit"
delay = "20ms"
queue = "100kB"
[[flows]]
direction = "up"
controller = "mine"
"""

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "own_controller.py"


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


class Reno(sounding.Controller):
    """As the project's own, without its slow start's end: enough to fill a link."""

    def __init__(self, start: sounding.Start) -> None:
        self.mss, self.window = start.mss_bytes, start.initial_cwnd_bytes
        self.threshold = 1 << 60

    def handle_ack(self, ack: sounding.Ack) -> None:
        if ack.recovery is None and ack.cwnd_limited:
            slow = self.window < self.threshold
            self.window += ack.acked_bytes if slow else self.mss * ack.acked_bytes // self.window

    def handle_loss(self, loss: sounding.Loss) -> None:
        if loss.begins_recovery:
            self.window = self.threshold = max(self.window // 2, 2 * self.mss)

    def handle_timeout(self, now_ns: int) -> None:
        self.threshold = max(self.window // 2, 2 * self.mss)
        self.window = self.mss

    def cwnd(self) -> int:
        return self.window


def test_a_controller_in_python_fills_a_link(plan: Path) -> None:
    result = sounding.simulate(plan, controllers={"mine": Reno})
    [flow] = result["runs"][0]["flows"]
    assert flow["controller"] == "mine"
    assert flow["utilisation"] > 0.9
    assert flow["dropped"] > 0


def test_the_same_plan_gives_the_same_whatever_the_threads(plan: Path) -> None:
    seeds = ["seeds=[1, 2, 3]"]
    one = sounding.simulate(plan, controllers={"mine": Reno}, set=seeds)
    three = sounding.simulate(plan, controllers={"mine": Reno}, set=seeds, jobs=3)
    assert one == three
    assert len(one["runs"]) == 3


def test_the_results_are_those_of_the_command(plan: Path, tmp_path: Path) -> None:
    setting = "flows.0.controller=reno"
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    result = sounding.simulate(plan, set=[setting], out=ours, series=0.5)
    command = [built_program(), "sim", str(plan), "--set", setting, "--out", str(theirs)]
    subprocess.run([*command, "--series", "500ms"], check=True, capture_output=True)
    assert json.loads((ours / "result.json").read_text()) == result
    # Which commit made it is the one thing that may differ.
    known = json.loads((theirs / "result.json").read_text())
    assert {**known, "commit": ""} == {**result, "commit": ""}
    pandas = pytest.importorskip("pandas")
    for name in ("flows.parquet", "run-0001/series.parquet"):
        pandas.testing.assert_frame_equal(
            pandas.read_parquet(ours / name), pandas.read_parquet(theirs / name)
        )


@pytest.mark.parametrize(
    "method", ["__init__", "handle_ack", "handle_loss", "cwnd", "handle_sent", "state"]
)
def test_what_a_controller_raises_comes_out_as_it_was(plan: Path, method: str) -> None:
    class Mistake(Exception):
        pass

    def fails(*_: object) -> None:
        raise Mistake(method)

    broken = type("Broken", (Reno,), {method: fails})
    with pytest.raises(Mistake, match=method) as raised:
        sounding.simulate(plan, controllers={"mine": broken})
    assert raised.traceback[-1].name == "fails"


def test_answers_that_cannot_be_are_refused(plan: Path) -> None:
    def answering(**answers: object) -> type[Reno]:
        return type("Odd", (Reno,), {name: lambda self, answer=answer: answer for name, answer in answers.items()})

    for made, error, text in [
        (answering(cwnd="much"), TypeError, "str"),
        (answering(cwnd=-1), OverflowError, "negative"),
        (answering(pacing_rate=0), ValueError, "pacing_rate"),
        (answering(wakeup=5), ValueError, "wakeup"),
    ]:
        with pytest.raises(error, match=text):
            sounding.simulate(plan, controllers={"mine": made})


def test_plans_and_names_that_cannot_be_are_refused(plan: Path, tmp_path: Path) -> None:
    with pytest.raises(sounding.PlanError, match=r"plan\.toml:10:14: flows\.0\.controller"):
        sounding.simulate(plan)
    with pytest.raises(sounding.PlanError, match="cannot read"):
        sounding.simulate(tmp_path / "none.toml")
    with pytest.raises(ValueError, match="another controller"):
        sounding.simulate(plan, controllers={"bbr": Reno})
    with pytest.raises(TypeError, match="no class"):
        sounding.simulate(plan, controllers={"mine": Reno.cwnd})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="series"):
        sounding.simulate(plan, controllers={"mine": Reno}, series=0.0)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "result.json").touch()
    with pytest.raises(FileExistsError, match="there already"):
        sounding.simulate(plan, controllers={"mine": Reno}, out=tmp_path / "taken")


def test_a_modem_s_output_is_kept_as_a_capture(tmp_path: Path) -> None:
    path = tmp_path / "cell.toml"
    path.write_text(
        'duration = "2s"\n[cell]\ncarriers = [{ prb = 25 }]\n[[cell.devices]]\nname = "phone"\nmodem = {}\n'
        '[[flows]]\ndirection = "down"\ncontroller = "reno"\n'
    )
    sounding.simulate(path, out=tmp_path / "out", keep=["captures"])
    blocks = sounding.kpis(tmp_path / "out/run-0001/phone.qmdl", ["lte.pdsch.tbs"])
    assert blocks.rows > 100
    with pytest.raises(ValueError, match="give `out`"):
        sounding.simulate(path, keep=["captures"])
    with pytest.raises(ValueError, match='not "everything"'):
        sounding.simulate(path, out=tmp_path / "more", keep=["everything"])  # type: ignore[list-item]


def test_a_method_that_is_not_written_says_so(plan: Path) -> None:
    with pytest.raises(NotImplementedError):
        sounding.simulate(plan, controllers={"mine": sounding.Controller})


def test_what_the_modem_says_arrives(tmp_path: Path) -> None:
    told: list[sounding.Estimate] = []

    class Listening(Reno):
        def handle_estimate(self, now_ns: int, estimate: sounding.Estimate, flows: int) -> None:
            assert flows <= 1
            told.append(estimate)

    path = tmp_path / "cell.toml"
    path.write_text(
        'duration = "2s"\n[cell]\ncarriers = [{ prb = 25 }]\n[[cell.devices]]\nmodem = {}\n'
        '[[flows]]\ndirection = "up"\ncontroller = "mine"\n'
    )
    sounding.simulate(path, controllers={"mine": Listening})
    assert len(told) > 100
    usable = [estimate for estimate in told if estimate.is_usable]
    assert {estimate.direction for estimate in usable} == {"uplink"}
    assert max(estimate.rate_bits_per_sec for estimate in usable) > 1_000_000


def test_time_is_asked_for_and_comes(plan: Path) -> None:
    moments: list[int] = []

    class Clock(Reno):
        def handle_time(self, now_ns: int) -> None:
            moments.append(now_ns)

        def wakeup(self) -> int:
            return (moments[-1] if moments else 1_000_000_000) + 10_000_000

        def pacing_rate(self) -> int:
            return 4_000_000

    result = sounding.simulate(plan, controllers={"mine": Clock})
    steps = {later - sooner for sooner, later in zip(moments, moments[1:], strict=False)}
    assert steps == {10_000_000} and len(moments) > 200
    assert result["runs"][0]["flows"][0]["throughput_mbit_per_sec"] < 4.4


def test_an_interrupt_ends_a_run_that_takes_long(plan: Path) -> None:
    # A process that a shell starts in the background ignores interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            sounding.simulate(plan, controllers={"mine": Reno}, set=["duration=99999s"])
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)


def test_the_example_compares_its_controller_with_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), str(tmp_path / "out")])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    rows = capsys.readouterr().out.splitlines()[1:]
    found = {row.split()[0]: [float(word) for word in row.split()[1:]] for row in rows}
    assert set(found) == {"cubic", "copa", "gentle"}
    assert found["gentle"][1] > 60.0
    assert found["gentle"][2] < found["cubic"][2]
    assert (tmp_path / "out" / "flows.parquet").is_file()
