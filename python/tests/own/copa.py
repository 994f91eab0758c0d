"""Copa in whole numbers, in its switching mode. Times are nanoseconds, RTTs microseconds, windows 65,536ths of a segment."""

from __future__ import annotations

from dataclasses import dataclass

from .parts import Windowed

ONE = 65_536
INVERSE_DELTA, PACE, RISE = 2 * ONE, 200, 16
LEAST_LASTS = 10_000_000_000
MIN_CWND, MAX_SEGS = 2 * ONE, 1 << 20
MAX_CWND = MAX_SEGS * ONE
MAX_INVERSE_DELTA, STEADY_ROUNDS, MAX_VELOCITY = 1_000 * ONE, 3, 65_536
EMPTY_ROUNDS, MAX_ROUNDS, MAX_RTT = 5, 4, 10_000_000


@dataclass
class CopaAck:
    """One acknowledgement that delivers new data; `rtt` is zero if it measured none."""

    now: int
    sent: int
    rtt: int
    acked: int
    app_limited: bool
    timed_out: bool
    sent_delivered: int
    delivered: int


@dataclass
class Velocity:
    """How fast the window moves."""

    value: int = 1
    trend: str | None = None
    rounds: int = 0
    cwnd: int | None = None

    def handle_round(self, cwnd: int) -> None:
        before, self.cwnd = self.cwnd, cwnd
        if before is None:
            return
        trend = "up" if cwnd > before else "down"
        if self.trend != trend:
            self.trend, self.rounds, self.value = trend, 1, 1
            return
        self.rounds = min(self.rounds + 1, STEADY_ROUNDS)
        if self.rounds >= STEADY_ROUNDS:
            self.value = min(self.value * 2, MAX_VELOCITY)


class Delay:
    """RTTs of a flow that has one."""

    def __init__(self, now: int, rtt: int) -> None:
        self.smoothed = rtt * 1_000
        self.least = Windowed(LEAST_LASTS, now, rtt)
        self.standing = Windowed(self.smoothed // 2, now, rtt)
        self.most: Windowed | None = None

    @property
    def queueing(self) -> int:
        return max(self.standing.best - self.least.best, 0)


class Copa:
    """The law."""

    def __init__(self) -> None:
        self.delay: Delay | None = None
        self.cwnd, self.inverse_delta, self.phase = 10 * ONE, INVERSE_DELTA, "slow start"
        self.before_timeout: tuple[int, str] | None = None
        self.velocity, self.round_ends_at = Velocity(), 0
        self.empty_at: int | None = None
        self.lost = self.corrected = False

    def _sample(self, now: int, rtt: int) -> None:
        delay = self.delay
        if delay is None:
            self.delay = Delay(now, rtt)
            return
        delay.smoothed = (delay.smoothed * 7 + rtt * 1_000) // 8
        delay.least.update(now, rtt)
        delay.standing.window = delay.smoothed // 2
        delay.standing.update(now, rtt)

    def revise(self, now: int, seen_at: int, rtt: int) -> None:
        delay = self.delay
        if delay is None:
            return
        delay.least.update(now, rtt)
        if now - seen_at <= delay.smoothed // 2:
            delay.standing.window = delay.smoothed // 2
            delay.standing.update(now, rtt)

    def rise_slowly(self) -> None:
        if self.velocity.trend == "up":
            self.velocity.value = 1

    def rebase(self, now: int, least: int, corrected: bool) -> None:
        self.corrected = corrected
        delay = self.delay
        if delay is None:
            return
        standing = max(delay.standing.best, least)
        delay.least = Windowed(LEAST_LASTS, now, least)
        delay.standing = Windowed(delay.smoothed // 2, now, standing)

    def _compete(self, ack: CopaAck, is_over: bool) -> None:
        delay = self.delay
        if delay is None:
            return
        if ack.rtt > 0:
            window = delay.smoothed * MAX_ROUNDS
            if delay.most is None:
                delay.most = Windowed(window, ack.now, ack.rtt, most=True)
            delay.most.window = window
            delay.most.update(ack.now, ack.rtt)
            swing = max(delay.most.best - delay.least.best, 0)
            few = delay.standing.best * ONE * 3 // (self.cwnd * 2)
            if delay.queueing <= max(swing // 10, few):
                self.empty_at = ack.now
        if not is_over:
            return
        if self.empty_at is None:
            self.empty_at = ack.now
        if ack.now - self.empty_at <= delay.smoothed * EMPTY_ROUNDS:
            self.inverse_delta = INVERSE_DELTA
        elif not self.lost:
            self.inverse_delta = min(self.inverse_delta + ONE, MAX_INVERSE_DELTA)
        self.lost = False

    def _step(self, direction: str, acked: int) -> int:
        if self.velocity.value > 1 and self.velocity.trend != direction:
            self.velocity = Velocity(trend=direction, cwnd=self.velocity.cwnd)
        moves = self.velocity.value * self.inverse_delta
        if self.corrected and direction == "up":
            moves = min(moves, max(self.cwnd // RISE, self.inverse_delta))
        return moves * acked * ONE // self.cwnd

    def handle_ack(self, ack: CopaAck) -> None:
        acked = min(ack.acked, MAX_SEGS)
        if not ack.timed_out:
            self.before_timeout = None
        if ack.rtt > 0:
            self._sample(ack.now, min(ack.rtt, MAX_RTT))
        is_over = ack.sent_delivered >= self.round_ends_at
        if is_over:
            self.round_ends_at = ack.delivered
        if self.phase == "at target":
            self._compete(ack, is_over)
        delay = self.delay
        if delay is None:
            return
        is_below = self.cwnd * delay.queueing <= self.inverse_delta * delay.standing.best
        direction = "up" if is_below else "down"
        if self.phase == "slow start":
            if is_below:
                self.cwnd = min(self.cwnd + (0 if ack.app_limited else acked * ONE), MAX_CWND)
                return
            self.phase, self.velocity = "draining", Velocity()
        if is_below:
            self.phase = "at target"
        if is_over:
            self.velocity.handle_round(self.cwnd)
        step = self._step(direction, acked)
        if not is_below:
            self.cwnd -= step
        elif not ack.app_limited:
            self.cwnd += min(step, MAX_CWND)
        self.cwnd = min(max(self.cwnd, MIN_CWND), MAX_CWND)

    def handle_loss(self) -> None:
        self.lost = True
        self.inverse_delta = max(self.inverse_delta // 2, INVERSE_DELTA)

    def handle_timeout(self) -> None:
        if self.before_timeout is None:
            self.before_timeout = (self.cwnd, self.phase)
        self.cwnd, self.phase, self.velocity = MIN_CWND, "slow start", Velocity()

    def handle_spurious_timeout(self) -> None:
        if self.before_timeout is not None:
            cwnd, self.phase = self.before_timeout
            self.cwnd, self.before_timeout = max(self.cwnd, cwnd), None

    @property
    def segments(self) -> int:
        return self.cwnd // ONE

    def pacing(self, mss: int) -> int | None:
        """Bytes per second of payload."""
        if self.delay is None:
            return None
        return max(self.segments * mss * PACE * 10_000 // max(self.delay.standing.best, 1), mss)


