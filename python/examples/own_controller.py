"""A controller in Python beside two that are known, over a link that changes: python own_controller.py [OUT]

With OUT, a new folder, the results are there as `sounding sim --out` leaves them.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import sounding

PLAN = """
about = "A controller in Python over a link that changes"
duration = "20s"
warmup = "3s"

[[links]]
up = "0s 12Mbit, 8s 4Mbit, 14s 20Mbit"
down = "20Mbit"
delay = "20ms"
queue = "250kB"

[[flows]]
direction = "up"

[sweep]
"flows.0.controller" = ["cubic", "copa", "gentle"]
"""


class Gentle(sounding.Controller):
    """Holds the queueing delay at 25 ms: each round trip a segment more or less, half the window at a loss."""

    TARGET_NS = 25_000_000

    def __init__(self, start: sounding.Start) -> None:
        self.mss = start.mss_bytes
        self.window = start.initial_cwnd_bytes
        self.slow_start = True
        self.least_rtt_ns = start.rtt_ns
        self.round_rtt_ns: int | None = None
        self.round_begins = 0

    def queues(self) -> bool:
        """Whether packets of this round waited for longer than they should."""
        if self.least_rtt_ns is None or self.round_rtt_ns is None:
            return False
        return self.round_rtt_ns - self.least_rtt_ns > self.TARGET_NS

    def handle_ack(self, ack: sounding.Ack) -> None:
        if ack.rtt_ns is not None:
            self.least_rtt_ns = min(self.least_rtt_ns or ack.rtt_ns, ack.rtt_ns)
            self.round_rtt_ns = min(self.round_rtt_ns or ack.rtt_ns, ack.rtt_ns)
        if ack.recovery is not None:
            return
        if self.slow_start:
            if self.queues():
                self.slow_start = False
            elif ack.cwnd_limited:
                self.window += ack.acked_bytes
        if ack.sent.delivered_bytes >= self.round_begins:
            self.end_round(ack)

    def end_round(self, ack: sounding.Ack) -> None:
        if not self.slow_start:
            if self.queues():
                self.window = max(self.window - self.mss, 2 * self.mss)
            elif ack.cwnd_limited:
                self.window += self.mss
        self.round_begins = ack.delivered_bytes
        self.round_rtt_ns = None

    def handle_loss(self, loss: sounding.Loss) -> None:
        if loss.begins_recovery:
            self.window = max(self.window // 2, 2 * self.mss)
            self.slow_start = False

    def handle_timeout(self, now_ns: int) -> None:
        self.window = 2 * self.mss
        self.slow_start = False

    def cwnd(self) -> int:
        return self.window

    def state(self) -> str:
        return "slow start" if self.slow_start else "holding"


def main() -> None:
    out = sys.argv[1] if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "plan.toml"
        plan.write_text(PLAN)
        result = sounding.simulate(
            plan, controllers={"gentle": Gentle}, out=out, series=0.1 if out else None
        )
    print(f"{'controller':<12}{'Mbit/s':>8}{'used %':>8}{'queue p95 ms':>14}")
    for run in result["runs"]:
        for flow in run["flows"]:
            used, queue = 100 * flow["utilisation"], flow["queueing_ms"]["p95"]
            mbit = flow["throughput_mbit_per_sec"]
            print(f"{flow['controller']:<12}{mbit:>8.2f}{used:>8.1f}{queue:>14.1f}")


if __name__ == "__main__":
    main()
