"""Parts of controllers, in whole numbers as the project's own."""

from __future__ import annotations

from dataclasses import dataclass
from operator import gt, lt

import sounding

MASK = 0xFFFF_FFFF


class Windowed:
    """The least or the most of a window of time, with memory for three values (Nichols's algorithm)."""

    def __init__(self, window: int, at: int, value: int, *, most: bool = False) -> None:
        self.window = window
        self.better = gt if most else lt
        self.kept = [(at, value)] * 3

    @property
    def best(self) -> int:
        return self.kept[0][1]

    def update(self, at: int, value: int) -> None:
        new = (at, value)
        first, second, third = self.kept

        def beats(than: tuple[int, int]) -> bool:
            return value == than[1] or self.better(value, than[1])

        if beats(first) or at - third[0] > self.window:
            self.kept = [new] * 3
            return
        if beats(second):
            self.kept = [first, new, new]
        elif beats(third):
            self.kept[2] = new
        self._age(new)

    def _age(self, new: tuple[int, int]) -> None:
        first, second, third = self.kept
        age = new[0] - first[0]
        if age > self.window:
            self.kept = [second, third, new]
            if new[0] - second[0] > self.window:
                self.kept = [third, new, new]
        elif second[0] == first[0] and age > self.window // 4:
            self.kept = [first, new, new]
        elif third[0] == second[0] and age > self.window // 2:
            self.kept[2] = new


class Aimd:
    """The window of RFC 5681, which a timeout that was a mistake undoes."""

    UNKNOWN = (1 << 64) - 1

    def __init__(self, start: sounding.Start) -> None:
        self.mss, self.cwnd = max(start.mss_bytes, 1), start.initial_cwnd_bytes
        self.threshold, self.credit, self.answered = self.UNKNOWN, 0, 0
        self.before_timeout: tuple[int, int] | None = None

    @property
    def least(self) -> int:
        return 2 * self.mss

    def handle_ack(self, ack: sounding.Ack) -> bool:
        """Whether a congestion mark has just cut the window."""
        if ack.recovery != "timeout":
            self.before_timeout = None
        marked = ack.ce_bytes > 0 and ack.sent.delivered_bytes >= self.answered and ack.recovery is None
        if marked:
            self.answered = ack.delivered_bytes
            self.cut()
        return marked

    def grow(self, ack: sounding.Ack) -> None:
        if ack.recovery == "fast" or not ack.cwnd_limited:
            return
        if self.cwnd < self.threshold:
            self.cwnd = min(self.cwnd + ack.acked_bytes, max(self.threshold, self.cwnd + self.mss))
            return
        self.credit += ack.acked_bytes
        if self.credit >= self.cwnd:
            self.credit -= self.cwnd
            self.cwnd += self.mss

    def slow_start_to(self, cwnd: int, threshold: int) -> None:
        self.cwnd, self.threshold, self.credit = max(cwnd, self.least), max(threshold, self.least), 0

    def cut(self) -> None:
        self.threshold = self.cwnd = max(self.cwnd // 2, self.least)
        self.credit = 0

    def handle_timeout(self) -> None:
        if self.before_timeout is None:
            self.before_timeout = (self.cwnd, self.threshold)
        self.cut()
        self.cwnd = self.mss

    def handle_spurious_timeout(self) -> None:
        if self.before_timeout is not None:
            cwnd, threshold = self.before_timeout
            self.cwnd, self.threshold = max(self.cwnd, cwnd), max(self.threshold, threshold)
            self.before_timeout = None


@dataclass
class Gap:
    """The time between two readings of the receiver's clock, and whether data was waiting meanwhile."""

    ticks: int
    backlogged: bool


@dataclass
class Slot:
    """What the receiver got until its clock's next reading."""

    size: int
    tick_ns: int
    before: Gap | None


@dataclass
class _Reading:
    value: int
    at: int
    size: int
    before: Gap | None


class Slots:
    """The schedule of a cell, rebuilt from the receiver's time stamps."""

    SHIFT = 1 << 62
    REMEMBERED_NS = 10_000_000_000

    def __init__(self) -> None:
        self.current: _Reading | None = None
        self.way: Windowed | None = None

    def handle_ack(self, ack: sounding.Ack) -> Slot | None:
        if ack.stamp is None:
            return None
        value, tick = ack.stamp.value, ack.stamp.tick_ns
        current = self.current
        if current is None:
            self._learn(ack, value * tick)
            self.current = _Reading(value, value * tick, ack.acked_bytes, None)
            return None
        ticks = (value - current.value) & MASK
        if ticks == 0 or ticks > MASK // 2:
            current.size += ack.acked_bytes
            return None
        at = current.at + ticks * tick
        self._learn(ack, at)
        waiting = self.way is not None and ack.sent.at_ns + self.way.best <= self.SHIFT + current.at
        after = Gap(ticks, waiting)
        self.current = _Reading(value, at, ack.acked_bytes, after)
        return Slot(current.size, tick, current.before)

    def _learn(self, ack: sounding.Ack, at: int) -> None:
        way = self.SHIFT + at - ack.sent.at_ns
        if way < 0:
            return
        if self.way is None:
            self.way = Windowed(self.REMEMBERED_NS, ack.now_ns, way)
        else:
            self.way.update(ack.now_ns, way)


class ChaCha8:
    """The generator of the project's controllers, seeded from a number as `rand_core` does."""

    def __init__(self, seed: int) -> None:
        words, state = [], seed
        for _ in range(8):
            state = (state * 0x5851_F42D_4C95_7F2D + 0xA176_54E4_6FBE_17F3) & ((1 << 64) - 1)
            mixed = (((state >> 18) ^ state) >> 27) & MASK
            turn = state >> 59
            words.append((mixed >> turn | mixed << (32 - turn)) & MASK)
        self.key, self.block, self.left = words, 0, list[int]()

    def next(self) -> int:
        if not self.left:
            self.left = self._generate()
        return self.left.pop(0)

    def _generate(self) -> list[int]:
        begin = [0x6170_7865, 0x3320_646E, 0x7962_2D32, 0x6B20_6574, *self.key, self.block & MASK, self.block >> 32, 0, 0]
        self.block += 1
        state = list(begin)

        def quarter(a: int, b: int, c: int, d: int) -> None:
            for into, by, other, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                state[into] = (state[into] + state[by]) & MASK
                mixed = state[other] ^ state[into]
                state[other] = (mixed << turn | mixed >> (32 - turn)) & MASK

        for _ in range(4):
            for column in range(4):
                quarter(column, column + 4, column + 8, column + 12)
            for column in range(4):
                quarter(column, 4 + (column + 1) % 4, 8 + (column + 2) % 4, 12 + (column + 3) % 4)
        return [(end + start) & MASK for end, start in zip(state, begin)]
