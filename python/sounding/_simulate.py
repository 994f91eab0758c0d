"""Plans in virtual time, with controllers that are written in Python."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

from . import _sounding
from ._sounding import Ack, DelayUpdate, Delivered, Departure, Estimate, Loss, Part, Revision, Start


class Controller:
    """A flow's congestion control: it receives events, and returns a window and a pacing rate.

    Derive a class from this. It has to have `handle_ack`, `handle_loss`, `handle_timeout` and `cwnd`. Further methods are
    called if it has them; missing ones cost nothing. The methods are those of the trait `Controller` of the
    Rust crate `sounding-cc`, in the same order: upon an acknowledgement first every packet that it delivers, then every one
    that it shows to be lost, then the acknowledgement as a whole. Times are nanoseconds since the run began, sizes bytes of
    payload, rates bits of payload per second, except that of an `Estimate`. An exception of a method ends all runs and comes
    out of `simulate`.
    """

    #: The method by which a device reports its downlink to a sender at the far end, as "cell", on acknowledgements. None: estimates
    #: come as they are, by granted bytes.
    reported: ClassVar[str | None] = None

    def __init__(self, start: Start) -> None:
        """A flow begins."""

    def handle_sent(self, sent: Departure, size_bytes: int) -> None:
        """A packet left."""

    def handle_delivered(self, delivered: Delivered) -> None:
        """One packet was delivered."""

    def handle_ack(self, ack: Ack) -> None:
        """An acknowledgement of new data arrived."""
        raise NotImplementedError

    def handle_loss(self, loss: Loss) -> None:
        """One packet counts as lost."""
        raise NotImplementedError

    def handle_timeout(self, now_ns: int) -> None:
        """The retransmission timer fired: all data in flight counts as lost."""
        raise NotImplementedError

    def handle_spurious_timeout(self, now_ns: int) -> None:
        """The timeout was a mistake: the packets were only late."""

    def handle_estimate(self, now_ns: int, estimate: Estimate, flows: int) -> None:
        """A new estimate of the link arrived from the modem; `flows` active flows share the link."""

    def handle_report(self, now_ns: int, report: Estimate, flows: int) -> None:
        """The same of a link at the other end, as the device there reports it. It may lie."""
        self.handle_estimate(now_ns, report, flows)

    def handle_part(self, now_ns: int, part: Part) -> None:
        """This flow's part of its device's link changed. It comes before the estimate that it belongs to."""

    def handle_delays(self, now_ns: int, data: Literal["uplink", "downlink"], delays: DelayUpdate) -> None:
        """The modem reported delays that the radio itself made; `data` is the direction of the flow's data.

        It comes every few milliseconds while a modem is heard, also without an event.
        """

    def handle_revision(self, revision: Revision) -> None:
        """What an earlier acknowledgement said of the path's delay was wrong."""

    def handle_time(self, now_ns: int) -> None:
        """The time that `wakeup` returned has come."""

    def wakeup(self) -> int | None:
        """The time of the next call of `handle_time`, if no other event comes first."""
        return None

    def not_before(self) -> int | None:
        """No packet leaves before this time, whatever the window; None for no such time."""
        return None

    def cwnd(self) -> int:
        """The limit of data in flight, in bytes. If nothing is in flight, one packet of any size may leave."""
        raise NotImplementedError

    def pacing_rate(self) -> int | None:
        """The pacing rate in bits per second; None for no pacing."""
        return None

    def state(self) -> str:
        """The state of its machine in a word or two, for series."""
        return ""


def simulate(
    plan: str | os.PathLike[str],
    *,
    controllers: Mapping[str, type[Controller]] | None = None,
    set: Iterable[str] = (),
    out: str | os.PathLike[str] | None = None,
    series: float | None = None,
    keep: Iterable[Literal["packets", "captures", "traces", "truth", "sniffer"]] = (),
    jobs: int = 1,
) -> dict[str, Any]:
    """Runs a plan in virtual time, and gives what `sounding sim PLAN --json` prints.

    `controllers` are classes by the name that flows of the plan call them, beside those that are there already. `set` sets
    keys of the plan: `["duration=5s"]`. With `out`, a new folder, the results are those of `sounding sim --out`:
    result.json and flows.parquet, and with `series` what happened in bins of so many seconds. `keep` adds files to it, as the
    command's flags of these names do: `["captures"]` has what each modem wrote. `jobs` runs are made at once; Python's own part
    of them takes turns.
    """
    chosen = list((controllers or {}).items())
    for name, made in chosen:
        if not (isinstance(made, type) and issubclass(made, Controller)):
            raise TypeError(f"{name!r} is {made!r}, which is no class derived from sounding.Controller")
    if jobs < 1:
        raise ValueError(f"jobs is at least 1, not {jobs}")
    kept = list(keep)
    if kept and out is None:
        raise ValueError("keep names files: give `out`, the folder for them")
    text = _sounding.simulate(plan, Controller, chosen, list(set), out, series, kept, jobs)
    result: dict[str, Any] = json.loads(text)
    return result
