"""A controller in Python has every method and every field that the trait in Rust has."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from conftest import ROOT

import sounding

TRAIT = ROOT / "crates/cc/src/controller.rs"

#: What a type's numbers are counted in, which ends a name in Python.
UNITS = {"HostInstant": "_ns", "Duration": "_ns", "Bytes": "_bytes", "Rate": "_bits_per_sec"}

#: Fields of `FairShare` and `CellUse`, which are fields of the estimate in Python.
FLAT = {
    "fair": ["fair_share_bits_per_sec", "users", "carriers"],
    "cell": ["cell_bits_per_sec", "cell_own_blocks", "cell_idle_blocks"],
}


def body(text: str, head: str) -> str:
    """The lines between the braces of an item, which ends in the first column, or one step in."""
    found = re.search(rf"^( *){re.escape(head)}\b[^\n]*\{{\n(.*?)^\1\}}", text, re.MULTILINE | re.DOTALL)
    assert found is not None, head
    return found[2]


def python_names(fields: str) -> list[str]:
    """Names of Rust's fields as they are in Python."""
    names = []
    for name, kind in re.findall(r"^ *(?:pub )?(\w+): ([^\n]+),$", fields, re.MULTILINE):
        inner = re.sub(r"Option<(.*)>", r"\1", kind)
        names += FLAT.get(name, [name + UNITS.get(inner, "")])
    assert names
    return names


def fields_of(made: type) -> list[str]:
    return [name for name, value in vars(made).items() if inspect.isgetsetdescriptor(value) or inspect.isdatadescriptor(value)]


def test_every_method_of_the_trait_is_there_with_its_arguments() -> None:
    text = body(TRAIT.read_text(), "pub trait Controller: Debug + Send")
    methods = dict(re.findall(r"^    fn (\w+)\(&(?:mut )?self,? ?([^)]*)\)", text, re.MULTILINE))
    assert len(methods) >= 17
    own = {name for name, value in vars(sounding.Controller).items() if inspect.isfunction(value)}
    assert own - {"__init__"} == set(methods)
    for name, arguments in methods.items():
        ours = list(inspect.signature(getattr(sounding.Controller, name)).parameters)[1:]
        theirs = re.findall(r"(\w+): &?(\w+)", arguments)
        assert ours == [argument + UNITS.get(kind, "") for argument, kind in theirs], name


@pytest.mark.parametrize(
    ("made", "file", "head"),
    [
        (sounding.Start, "crates/cc/src/controller.rs", "pub struct Start"),
        (sounding.Departure, "crates/cc/src/controller.rs", "pub struct Departure"),
        (sounding.Delivered, "crates/cc/src/controller.rs", "pub struct Delivered"),
        (sounding.Ack, "crates/cc/src/controller.rs", "pub struct Ack"),
        (sounding.Stamp, "crates/cc/src/controller.rs", "pub struct Stamp"),
        (sounding.Loss, "crates/cc/src/controller.rs", "pub struct Loss"),
        (sounding.Revision.Sample, "crates/cc/src/controller.rs", "Sample"),
        (sounding.Revision.Rebase, "crates/cc/src/controller.rs", "Rebase"),
        (sounding.Estimate, "crates/estimate/src/lib.rs", "pub struct LinkEstimate"),
        (sounding.RanDelay, "crates/estimate/src/delay.rs", "pub struct RanDelay"),
        (sounding.DelayUpdate, "crates/estimate/src/delay/update.rs", "pub struct DelayUpdate"),
    ],
)
def test_every_field_is_there(made: type, file: str, head: str) -> None:
    names = python_names(body((ROOT / file).read_text(), head))
    missing = [name for name in names if not hasattr(made, name)]
    assert not missing, f"{made.__name__} lacks {missing}"


def test_the_stubs_name_every_field() -> None:
    stubs = (ROOT / "python/sounding/_sounding.pyi").read_text()
    for made in (sounding.Ack, sounding.Stamp, sounding.Estimate, sounding.RanDelay, sounding.DelayUpdate):
        declared = re.findall(r"^ *(\w+): ", body_of_class(stubs, made.__name__), re.MULTILINE)
        assert sorted(declared) == sorted(name for name in fields_of(made) if not name.startswith("_"))


def body_of_class(stubs: str, name: str) -> str:
    return stubs.split(f"\nclass {name}:\n")[1].split("\n@final")[0].split("\nclass ")[0].split("\ndef ")[0]


PLAN = """
duration = "2s"
[cell]
carriers = [{ prb = 25 }]
[[cell.devices]]
modem = {}
[[flows]]
direction = "up"
controller = "mine"
[[flows]]
direction = "down"
controller = "mine"
"""


def test_what_only_some_controllers_need_arrives(tmp_path: Path) -> None:
    heard: dict[str, list[sounding.DelayUpdate]] = {"uplink": [], "downlink": []}
    parts: list[sounding.Part] = []
    stamps: list[sounding.Stamp] = []

    class Listening(sounding.Controller):
        """A window that does not change, and no packet in the first half of a second."""

        def __init__(self, start: sounding.Start) -> None:
            self.window, self.began_ns = start.initial_cwnd_bytes, start.now_ns

        def handle_ack(self, ack: sounding.Ack) -> None:
            assert ack.sent.at_ns >= self.began_ns + 500_000_000
            if ack.stamp is not None:
                stamps.append(ack.stamp)

        def handle_loss(self, loss: sounding.Loss) -> None:
            pass

        def handle_timeout(self, now_ns: int) -> None:
            pass

        def handle_part(self, now_ns: int, part: sounding.Part) -> None:
            parts.append(part)

        def handle_delays(self, now_ns: int, data: str, delays: sounding.DelayUpdate) -> None:
            heard[data].append(delays)

        def not_before(self) -> int:
            return self.began_ns + 500_000_000

        def cwnd(self) -> int:
            return self.window

    path = tmp_path / "cell.toml"
    path.write_text(PLAN)
    sounding.simulate(path, controllers={"mine": Listening})
    assert all(len(updates) > 100 for updates in heard.values())
    events = [event for update in heard["uplink"] for event in update.events]
    assert {(event.direction, event.kind) for event in events} >= {("uplink", "scheduling")}
    assert all(event.amount_ns <= event.to_ns - event.from_ns for event in events)
    assert stamps and all(stamp.tick_ns > 0 for stamp in stamps)
    assert parts and all(0 < part.fraction <= 1024 for part in parts)
    assert all(part.of(8_000_000) <= 8_000_000 for part in parts)
