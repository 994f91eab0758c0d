"""`copa-gandalf` in Python: Copa whose RTTs are without the radio's own delays."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

import sounding

from .copa import LEAST_LASTS, MAX_RTT, Copa, CopaAck
from .parts import Windowed
from .radio import PATIENCE, SILENT, SLOT, SLOTS, Lately, Table

SAMPLES, EVERY, BATCH, BUCKETS = 256, 6, 4, 8
USUAL_US, SHOWN_US, UNSURE_US = 5_000, 30_000, 2_500
RECENT_NS = 25_000_000
USUAL_EVERY, USUAL_STEP, USUAL_OVER_SHORTEST, FLOOR_RAISED = 20, 20, 1_000, 250
PEER_PART, PEER_PAUSE = 8, 1_000_000_000
NOTHING: tuple[int | None, int | None] = (None, None)


class Mean:
    """The mean of what the last eight buckets of time hold."""

    def __init__(self) -> None:
        self.buckets, self.newest = [(0, 0, 0)] * BUCKETS, 0

    def push(self, bucket: int, value: int) -> None:
        of, total, count = self.buckets[bucket % BUCKETS]
        self.buckets[bucket % BUCKETS] = (bucket, total + value, count + 1) if of == bucket else (bucket, value, 1)
        self.newest = bucket

    def get(self) -> int:
        counted = [one for one in self.buckets if 0 <= self.newest - one[0] < BUCKETS]
        count = sum(one[2] for one in counted)
        return sum(one[1] for one in counted) // count if count else 0


@dataclass
class Floor:
    """The RTT of the path: the smallest mean, and as much more as a usual wait is longer than the shortest one."""

    least: Windowed
    shortest: Windowed
    usual: int
    at: int

    def best(self, least_raw: int, interval: int) -> int:
        longer = max(self.usual - self.shortest.best, 0)
        return max(self.least.best, least_raw) + min(longer, interval + USUAL_OVER_SHORTEST)

    def push(self, at_ns: int, at: int, rtt: int, wait: int) -> None:
        is_due = at - self.at >= USUAL_EVERY
        if not is_due and rtt >= self.least.best:
            return
        self.least.update(at_ns, rtt)
        self.shortest.update(at_ns, wait)
        if is_due:
            self.usual += min(max(wait - self.usual, -USUAL_STEP), USUAL_STEP)
            self.at = at


class Corrected:
    """A flow under Copa whose RTTs are without repeats of the radio, as far as they are known."""

    def __init__(self) -> None:
        self.copa, self.interval = Copa(), USUAL_US
        self.shown = self.told = self.again_at = self.newest = 0
        self.least_raw: Windowed | None = None
        self.floor: Floor | None = None
        self.active: str | None = None
        self.least_ever: int | None = None
        self.doubted_until: int | None = None
        self.burst = (0, 0)
        self.samples: deque[tuple[int, int, int]] = deque()
        self._forget()

    def _forget(self) -> None:
        self.raw, self.exact, self.kept, self.recent = Mean(), Mean(), Mean(), Mean()

    def _least_raw(self) -> int:
        return 0 if self.least_raw is None else self.least_raw.best

    def _floor(self) -> int:
        best = 0 if self.floor is None else self.floor.best(self._least_raw(), self.interval)
        if self.active == "peer":
            ever = self.least_ever or 0
            return ever + min(max(best - ever, 0), ever // PEER_PART)
        return best + UNSURE_US * self.interval // USUAL_US

    def _bucket(self, at_ns: int) -> int:
        return at_ns // (-(-SHOWN_US // self.interval) * self.interval * 1_000 // BUCKETS)

    def _switch(self, now: int, by: str | None) -> None:
        wanted = by if self.floor is not None else None
        if wanted == self.active:
            return
        was, self.active = self.active, None
        if was is None:
            self.active = wanted
        if self.active is not None:
            self.told = self._floor()
        else:
            if was == "peer":
                self.again_at, self.told = now + PEER_PAUSE, self.least_ever or 0
            else:
                self.told = self._least_raw()
            self._forget()
            self.floor = None
            self.samples.clear()
        self.copa.rebase(now, self.told, self.active is not None)

    def _down(self, word: tuple[int, int], sent: int) -> int:
        number, held = word
        if held == 0:
            return 0
        if self.burst[0] != number:
            self.burst = (number, sent)
        # A packet that left before the first one counts as very late: the difference wraps.
        late = sent - self.burst[1]
        late = min(late if late >= 0 else SLOTS, SLOTS)
        return max(held - late * (SLOT // 1_000), 0)

    def _settle(self, table: Table, now: int) -> bool:
        if not self.samples:
            return False
        at, sent, rtt = self.samples[0]
        up, down = table.read(table.up, sent), table.read(table.down, at)
        age = now // SLOT - at
        if (up is None or down is None) and age < PATIENCE // SLOT:
            return False
        self.samples.popleft()
        waited, held = up or (0, 0)
        added = min(held + self._down(down or (0, 0), sent), rtt)
        at_ns = at * SLOT
        self.recent.push(at_ns // RECENT_NS, added)
        bucket = self._bucket(at_ns)
        self.exact.push(bucket, rtt - added)
        self.kept.push(bucket, waited)
        exact, kept = self.exact.get(), self.kept.get()
        if self.floor is None:
            least, shortest = (Windowed(LEAST_LASTS, at_ns, value) for value in (exact, kept))
            self.floor = Floor(least, shortest, kept, at)
        else:
            self.floor.push(at_ns, at, exact, kept)
        if self.active is not None:
            self.copa.revise(now, at_ns, max(exact, self._floor()))
        return True

    def _show(self, ack: CopaAck) -> int:
        at = ack.now // SLOT
        if not self.samples or at - self.newest >= EVERY:
            if len(self.samples) == SAMPLES:
                self.samples.popleft()
            self.newest = at
            self.samples.append((at, ack.sent // SLOT, ack.rtt))
            self.raw.push(self._bucket(ack.now), ack.rtt)
            self.shown = max(self.raw.get() - self.recent.get(), 0)
        return max(self.shown, self._floor()) if self.active is not None else ack.rtt

    def _believes(self, now: int, rtt: int) -> bool:
        if rtt == 0:
            return self.doubted_until is None
        if self.least_raw is None:
            self.least_raw = Windowed(LEAST_LASTS, now, rtt)
        self.least_raw.update(now, rtt)
        least = self.least_raw.best
        if self.doubted_until is not None and now >= self.doubted_until:
            self.doubted_until, self.least_ever = None, least
        self.least_ever = ever = rtt if self.least_ever is None else min(self.least_ever, rtt)
        if self.doubted_until is None and least > ever + ever // PEER_PART:
            self.doubted_until = now + LEAST_LASTS
        return self.doubted_until is None

    def _hear(self, said: tuple[int | None, int | None], now: int, rtt: int) -> None:
        held = min(said[0] or 0, (self.least_ever or 0) // PEER_PART)
        longer, at = said[1] or 0, now // SLOT
        if self.floor is not None:
            self.floor.usual = longer
            if at - self.floor.at < EVERY:
                return
            self.floor.at = at
        self.raw.push(self._bucket(now), rtt)
        self.shown = max(self.raw.get() - held, 0)
        if self.floor is None:
            least, shortest = (Windowed(LEAST_LASTS, now, value) for value in (self.shown, 0))
            self.floor = Floor(least, shortest, longer, at)
        else:
            self.floor.least.update(now, self.shown)
            self.floor.shortest.update(now, 0)

    def handle_ack(self, table: Table | None, said: tuple[int | None, int | None], ack: CopaAck) -> None:
        now, rtt = ack.now, min(ack.rtt, MAX_RTT)
        shown = replace(ack, rtt=rtt)
        believes = self._believes(now, rtt) and now >= self.again_at
        heard = table if table is not None and table.is_heard(now) else None
        by = "modem" if heard is not None else "peer" if believes and said != NOTHING else None
        self.interval = USUAL_US if heard is None else heard.interval
        self._switch(now, by)
        if heard is not None:
            for _ in range(BATCH):
                if not self._settle(heard, now):
                    break
        else:
            self.samples.clear()
            if by is not None and rtt > 0:
                self._hear(said, now, rtt)
        self._switch(now, by)
        if self.active is not None and self._floor() > self.told + FLOOR_RAISED:
            self.told = self._floor()
            self.copa.rebase(now, self.told, True)
        if self.active is not None:
            self.told = min(self.told, self._floor())
        if rtt > 0 and heard is not None:
            shown.rtt = self._show(shown)
        elif rtt > 0 and self.active is not None:
            shown.rtt = max(self.shown, self._floor())
        if self.active == "peer":
            self.copa.rise_slowly()
        self.copa.handle_ack(shown)


class CopaGandalf(sounding.Controller):
    """One flow."""

    def __init__(self, start: sounding.Start) -> None:
        self.mss, self.law = max(start.mss_bytes, 1), Corrected()
        self.table: Table | None = None
        self.lately: Lately | None = None
        self.said, self.heard_at = NOTHING, 0

    def handle_ack(self, ack: sounding.Ack) -> None:
        is_heard = self.lately is not None and ack.now_ns - self.heard_at <= SILENT
        told = CopaAck(
            now=ack.now_ns,
            sent=ack.sent.at_ns,
            rtt=(ack.rtt_ns or 0) // 1_000,
            acked=-(-ack.acked_bytes // self.mss),
            app_limited=ack.sent.app_limited,
            timed_out=ack.recovery == "timeout",
            sent_delivered=ack.sent.delivered_bytes // self.mss,
            delivered=ack.delivered_bytes // self.mss,
        )
        self.law.handle_ack(self.table, self.said if is_heard else NOTHING, told)

    def handle_loss(self, loss: sounding.Loss) -> None:
        if loss.begins_recovery:
            self.law.copa.handle_loss()

    def handle_timeout(self, now_ns: int) -> None:
        self.law.copa.handle_timeout()

    def handle_spurious_timeout(self, now_ns: int) -> None:
        self.law.copa.handle_spurious_timeout()

    def handle_delays(self, now_ns: int, data: str, delays: sounding.DelayUpdate) -> None:
        if data == "uplink":
            if self.table is None:
                self.table = Table()
            self.table.handle_update(delays)
        else:
            if self.lately is None:
                self.lately = Lately()
            self.said, self.heard_at = self.lately.handle_update(delays), delays.heard_at_ns

    def cwnd(self) -> int:
        return self.law.copa.segments * self.mss

    def pacing_rate(self) -> int | None:
        rate = self.law.copa.pacing(self.mss)
        return None if rate is None else rate * 8

    def state(self) -> str:
        return self.law.copa.phase
