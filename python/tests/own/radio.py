"""What a radio itself added to packets: by time for uploads, and as averages for downloads. Times are nanoseconds."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator

import sounding

MS = 1_000_000
SLOT, SLOTS = 250_000, 4_096
BEFORE, AFTER, SAME_BLOCK = MS, 1_500_000, 300_000
SILENT, RECENT, PATIENCE = 100 * MS, 200 * MS, 400 * MS
USUAL_INTERVAL, LONGEST_INTERVAL = 5 * MS, 20 * MS
MOST_WORD = 0xF_FFFF

KINDS = ("harq", "scheduling", "rlc")


def followed(interval: int | None) -> int:
    """The interval of reports that constants follow."""
    usual = interval is None or not USUAL_INTERVAL <= interval <= LONGEST_INTERVAL
    return USUAL_INTERVAL if usual else interval  # type: ignore[return-value]


class Events:
    """Events in the order of their begin. One of the same begin and kind replaces the earlier one."""

    MOST = 512

    def __init__(self) -> None:
        self.keys: list[tuple[int, int]] = []
        self.kept: list[tuple[sounding.RanDelay, int]] = []
        self.longest = 0

    def insert(self, event: sounding.RanDelay, mark: int = 0) -> None:
        self.longest = max(self.longest, event.to_ns - event.from_ns)
        key = (event.from_ns, KINDS.index(event.kind))
        place = bisect_left(self.keys, key)
        if place < len(self.keys) and self.keys[place] == key:
            self.kept[place] = (event, mark)
            return
        if len(self.keys) == self.MOST:
            if place == 0:
                return
            del self.keys[0], self.kept[0]
            place -= 1
        self.keys.insert(place, key)
        self.kept.insert(place, (event, mark))

    def same(self, event: sounding.RanDelay) -> tuple[sounding.RanDelay, int] | None:
        key = (event.from_ns, KINDS.index(event.kind))
        place = bisect_left(self.keys, key)
        return self.kept[place] if place < len(self.keys) and self.keys[place] == key else None

    def began_by(self, at: int) -> sounding.RanDelay | None:
        place = bisect_right(self.keys, (at, len(KINDS)))
        return self.kept[place - 1][0] if place > 0 else None

    def forget_before(self, at: int) -> None:
        place = bisect_left(self.keys, (at, 0))
        del self.keys[:place], self.kept[:place]

    def over(self, at: int, early: int, late: int) -> Iterator[tuple[sounding.RanDelay, int]]:
        """Events that begin up to `early` after this time, without those that must have ended by `late` before it."""
        begin = bisect_left(self.keys, (at - late - self.longest, 0))
        return iter(self.kept[begin : bisect_right(self.keys, (at + early, len(KINDS)))])

    def held(self, at: int) -> int:
        """What these add, at most, to data that reached their point then."""
        held = (
            max(event.amount_ns - max(at - event.from_ns, 0), 0)
            for event, _ in self.over(at, SAME_BLOCK, 0)
            if at <= event.to_ns
        )
        return max(held, default=0)


class Written:
    """The slots of a direction, which are written once all of their time is known, and again when that changes."""

    def __init__(self) -> None:
        self.next: int | None = None
        self.changed: int | None = None

    def change(self, begin: int) -> None:
        slot = max(begin, 0) // SLOT
        self.changed = slot if self.changed is None else min(self.changed, slot)

    def take(self, known: int) -> range:
        end = known // SLOT
        begin = end if self.next is None else self.next
        changed, self.changed = self.changed, None
        if changed is not None:
            begin = min(begin, changed)
            self.changed = changed if changed >= end else None
        self.next = end
        return range(max(begin, end - PATIENCE // SLOT), end)


class Table:
    """What the radio added, by time: microseconds of a wait and of a repeat, and a repeat's burst in the downlink."""

    def __init__(self) -> None:
        self.up: dict[int, tuple[int, int, int]] = {}
        self.down: dict[int, tuple[int, int, int]] = {}
        self.heard_at, self.interval = 0, USUAL_INTERVAL // 1000
        self._waits, self._repeats, self._bursts = Events(), Events(), Events()
        self._numbered = 0
        self._report_interval: int | None = None
        self._up, self._down = Written(), Written()

    def is_heard(self, now: int) -> bool:
        return 0 < self.heard_at <= now and now - self.heard_at <= SILENT

    @staticmethod
    def read(words: dict[int, tuple[int, int, int]], slot: int) -> tuple[int, int] | None:
        word = words.get(slot % SLOTS)
        return word[1:] if word is not None and word[0] == slot else None

    def handle_update(self, update: sounding.DelayUpdate) -> None:
        self._report_interval = update.report_interval_ns
        for event in update.events:
            self._handle_event(event)
        if update.up_until_ns is not None:
            until = max(update.up_until_ns - SAME_BLOCK, 0)
            last = self._waits.kept[-1][0].to_ns if self._waits.kept else until
            for slot in self._up.take(min(until, last)):
                begin, end = self._parts(slot * SLOT), self._parts((slot + 1) * SLOT - 1)
                waited, held = (min(min(pair) // 1000, MOST_WORD) for pair in zip(begin, end))
                self.up[slot % SLOTS] = (slot, waited, held)
        if update.down_until_ns is not None:
            for slot in self._down.take(update.down_until_ns):
                at, amount, number = slot * SLOT + SLOT // 2, 0, 0
                for event, burst in self._bursts.over(at, BEFORE, AFTER):
                    if at + BEFORE >= event.to_ns and at <= event.to_ns + AFTER and event.amount_ns >= amount:
                        amount, number = event.amount_ns, burst
                self.down[slot % SLOTS] = (slot, number, min(amount // 1000, MOST_WORD))
        self.interval = followed(update.report_interval_ns) // 1000
        self.heard_at = update.heard_at_ns

    def _handle_event(self, event: sounding.RanDelay) -> None:
        if event.kind == "scheduling":
            self._waits.insert(event)
            self._up.change(event.from_ns)
        elif event.direction == "uplink":
            self._repeats.insert(event)
            self._up.change(event.from_ns - 10 * followed(self._report_interval))
        else:
            self._down.change(event.to_ns - BEFORE)
            earlier = self._bursts.same(event)
            if earlier is None:
                self._numbered = self._numbered % MOST_WORD + 1
                number = self._numbered
            else:
                self._down.change(earlier[0].to_ns - BEFORE)
                number = earlier[1]
            self._bursts.insert(event, number)

    def _parts(self, entered: int) -> tuple[int, int]:
        """What the radio added to a packet that entered the modem then: a wait for a grant, and repeats."""
        wait = self._waits.began_by(entered)
        if wait is None or wait.to_ns < entered:
            return 0, self._repeats.held(entered)
        return max(wait.amount_ns - (entered - wait.from_ns), 0), self._repeats.held(wait.to_ns)


def _product(lasts: int, amount: int) -> int:
    """Nanoseconds times nanoseconds that data waits in an event of this length: less the later it came."""
    lasts, amount = min(lasts, Lately.LASTS), min(amount, Lately.LASTS)
    left = max(amount - lasts, 0)
    return (amount * amount - left * left) // 2


def _added(events: Events, until: int) -> int:
    begin, total, held_until = max(until - RECENT, 0), 0, 0
    kept = [event for event, _ in events.kept]
    nexts = [min(event.from_ns, until) for event in kept[1:]] + [until]
    for event, following in zip(kept, nexts):
        held_until = max(held_until, event.from_ns + event.amount_ns)
        start, end = max(event.from_ns, begin), min(following, held_until)
        if start < end:
            total += _product(end - start, held_until - start)
    return total // RECENT


class Lately:
    """What a device says to those that send to it: two averages, in the units of the option that carries them."""

    MEAN, EVERY, LASTS, FEWEST, MEANS = 30 * MS, 5 * MS, 10_000 * MS, 20, 2_048

    def __init__(self) -> None:
        self.down, self.up, self.waits = Events(), Events(), Events()
        self.means: deque[tuple[int, int]] = deque()
        self.interval: int | None = None

    def handle_update(self, update: sounding.DelayUpdate) -> tuple[int | None, int | None]:
        """Microseconds that repeats added, and by which a usual wait was longer than the shortest."""
        self.interval = update.report_interval_ns
        for event in update.events:
            if event.kind == "scheduling":
                self._handle_wait(event)
            else:
                (self.down if event.direction == "downlink" else self.up).insert(event)
        known = [
            until if until is not None and update.heard_at_ns - until <= PATIENCE else None
            for until in (update.up_until_ns, update.down_until_ns)
        ]
        added = 0 if known[0] is None else _added(self.up, known[0])
        repeats = None if known[1] is None else _added(self.down, known[1]) + added
        longer = None if known[0] is None else self._longer(known[0])
        carried = (None if one is None else min(one // SLOT, 254) * SLOT // 1000 for one in (repeats, longer))
        return next(carried), next(carried)

    def _handle_wait(self, event: sounding.RanDelay) -> None:
        self.waits.insert(event)
        now = event.from_ns
        if self.means and now - self.means[-1][0] < self.EVERY:
            return
        interval = followed(self.interval)
        self.waits.forget_before(max(now - -(-self.MEAN // interval) * interval, 0))
        total = span = 0
        for wait, _ in self.waits.kept:
            lasts = wait.to_ns - wait.from_ns
            total += _product(lasts, wait.amount_ns)
            span += lasts
        if span == 0:
            return
        if len(self.means) == self.MEANS:
            self.means.popleft()
        self.means.append((now, total // span))
        while self.means and now - self.means[0][0] > self.LASTS:
            self.means.popleft()

    def _longer(self, until: int) -> int | None:
        means = sorted(mean for at, mean in self.means if until - at <= self.LASTS)
        if len(means) < self.FEWEST:
            return None
        return means[len(means) // 2] - means[0]
