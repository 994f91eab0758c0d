"""`background` in Python, where no sniffer shows the cell: it sends while the cell is its alone, and yields while it is not."""

from __future__ import annotations

import sounding

from .by_delay import ByDelay
from .parts import Aimd, ChaCha8, Slot, Slots, Windowed

MS = 1_000_000
INTERVAL = 250 * MS
MAX_BACK_OFF, CROWDED = 4, 3
STEADY, SHORT = 2_000 * MS, 1
PROVEN_FOR = 10_000 * MS
PROOFS, CONFIRMED, LEAST_BACK_OFF = 7, 2, 2
COARSEST_TICK = 2 * MS
FULL, LEAST_QUEUE, SHARED_FOR, OTHERS = 2, 5 * MS, 30_000 * MS, 10 * MS
MODEM_FOR = 100 * MS
CHEAP, DEAR, LONGEST = 300 * MS, 10, 3_000 * MS
PROBE, MORE = 4, 4


class Turns:
    """The rhythm in which readings bring data: a cell that serves users in turn leaves regular gaps."""

    LONGEST, SEGMENTS, FEW, MANY, UNSEEN = 6, 3, 8, 24, 16
    STRICT, LESS, FREE, REMEMBERED = 125, 800, 800, 60_000 * MS
    ALONE, KNOWN_FOR = 500, 600_000 * MS

    def __init__(self, mss: int) -> None:
        self.mss = mss
        self.even: Windowed | None = None
        self.most: Windowed | None = None
        self.begin()

    def begin(self) -> None:
        self.gaps = [0] * (self.LONGEST + 1)

    def handle_slot(self, ticks: int, size: int) -> None:
        if ticks <= self.LONGEST and size >= self.SEGMENTS * self.mss:
            self.gaps[ticks] += 1

    def end(self, now: int) -> None:
        count = sum(self.gaps)
        if self.most is None:
            self.most = Windowed(self.REMEMBERED, now, count, most=True)
        self.most.update(now, count)
        self.begin()

    @property
    def unseen(self) -> bool:
        return self.most is not None and self.most.best < self.UNSEEN

    def of(self, now: int, batch: int, share: int) -> int | None:
        count = sum(self.gaps)
        if count < self.FEW:
            return None
        neighbours = 1000 * sum(self.gaps[: batch + 1]) // count
        gap = max(range(self.LONGEST + 1), key=lambda ticks: self.gaps[ticks])
        strict = neighbours < self.STRICT and gap > batch and 4 * self.gaps[gap] >= 3 * count
        if strict and self.even is not None and self.even.best >= self.ALONE:
            return gap
        if count < self.MANY:
            return None
        if self.even is None:
            self.even = Windowed(self.KNOWN_FOR, now, neighbours, most=True)
        self.even.update(now, neighbours)
        return 2 if neighbours * 1000 < self.even.best * self.LESS and share < self.FREE else None


class Share:
    """The flow's share of its cell while it had data waiting. Rates are bytes a second, shares thousandths."""

    PIECE, REMEMBERED, BATCHED = 20 * MS, 1_500 * MS, 60_000 * MS
    HEAD, LONG, SHORT, HEADS, KNOWN = 4, 10, 5, 6, 4
    BUSY, FREE, SURELY_BUSY, SURELY_FREE = 580, 650, 380, 800
    DOUBTS, WEIGHT = 4, 3
    EVER = 30_000 * MS

    def __init__(self, mss: int) -> None:
        self.size = self.span = self.count = self.best_of_head = self.pieces = self.sum = self.seen = self.doubts = 0
        self.follows_silence = self.is_free = False
        self.last = (0, 0)
        self.turns = Turns(mss)
        self.ever: Windowed | None = None
        self.most: Windowed | None = None
        self.batch: Windowed | None = None
        self.heads: int | None = None
        self.reading: int | None = None
        self.share: int | None = None

    def begin(self) -> None:
        self.size = self.span = self.count = self.best_of_head = self.pieces = self.sum = self.doubts = 0
        self.last = (0, 0)
        self.turns.begin()
        self.follows_silence = True

    def handle_slot(self, now: int, slot: Slot, acked: int, modem: int | None) -> str:
        gap = slot.before
        if gap is None or not gap.backlogged:
            return "open"
        tick = max(slot.tick_ns, 1)
        self._learn_reading(now, slot.size, acked, gap.ticks, tick)
        self.turns.handle_slot(gap.ticks, slot.size)
        self.size += slot.size
        self.span += gap.ticks * tick
        if self.span < self.PIECE:
            return "open"
        rate = self.size * 1_000_000_000 // self.span
        pieces = min(max(self.span // self.PIECE, 1), self.LONG)
        self.size = self.span = 0
        return self._handle_piece(now, rate, pieces, modem)

    def _handle_piece(self, now: int, rate: int, pieces: int, modem: int | None) -> str:
        self.count += pieces
        self.last = (rate, self.last[0])
        if self.count <= self.HEAD:
            self.best_of_head = max(self.best_of_head, rate)
            if self.count == self.HEAD and self.follows_silence:
                weight = min(self.seen, 3)
                self.heads = (weight * (self.heads or 0) + self.best_of_head) // (weight + 1)
                self.seen += 1
            return "open"
        self.pieces += pieces
        self.sum += rate * pieces
        mean = self.sum // self.pieces
        share = self._of_cell(mean) if modem is None else self._of_blocks(modem)
        batch = 1 if self.batch is None else self.batch.best
        turns = self.turns.of(now, batch, share) if modem is None and self.pieces >= self.SHORT else None
        if turns is not None:
            self.pieces = self.sum = 0
            self.turns.begin()
            self.share = share = min(share, 1000 // turns)
            self.is_free = False
            return "crowded" if share < self.SURELY_BUSY else "busy"
        if self.pieces >= self.LONG:
            self.pieces = self.sum = 0
            self.turns.end(now)
            if self.most is None:
                self.most = Windowed(self.REMEMBERED, now, mean, most=True)
            else:
                self.most.update(now, mean)
            if self.ever is None:
                self.ever = Windowed(self.EVER, now, mean, most=True)
            else:
                self.ever.update(now, mean)
            return self._handle_sample(share)
        if self.pieces >= self.SHORT and share < self.SURELY_BUSY:
            self.pieces = self.sum = 0
            self.turns.begin()
            return self._handle_sample(share)
        return "open"

    def _handle_sample(self, share: int) -> str:
        if self.seen < self.KNOWN:
            return "likely"
        before = self.share
        mean = share if before is None else ((self.WEIGHT - 1) * before + share) // self.WEIGHT
        self.share = mean
        self.is_free = share >= self.SURELY_BUSY and mean >= (self.BUSY if self.is_free else self.FREE)
        if not self.is_free and share >= self.SURELY_FREE and self.doubts < self.DOUBTS:
            self.doubts += 1
            return "open"
        if not self.is_free:
            return "crowded" if share < self.SURELY_BUSY else "busy"
        return "likely" if self.seen < self.HEADS else "free"

    def _learn_reading(self, now: int, size: int, acked: int, ticks: int, tick: int) -> None:
        if self.batch is None:
            self.batch = Windowed(self.BATCHED, now, ticks)
        self.batch.update(now, ticks)
        rate = max(size - acked, 0) * 1_000_000_000 // max(tick * self.batch.best, 1)
        if self.reading is None:
            self.reading = rate
            return
        step = max(self.reading // 32, 1000)
        self.reading = self.reading + step if rate > self.reading else max(self.reading - step, 0)

    @property
    def capacity(self) -> int | None:
        most = None if self.most is None else self.most.best
        return max((rate for rate in (most, self.heads, self.reading) if rate is not None), default=None)

    @property
    def given(self) -> int | None:
        return max(self.last) or None

    def _of_blocks(self, part: int) -> int:
        heads = self.heads or 0
        return part * heads // max(heads, self.reading or 0, 1)

    def _of_cell(self, rate: int) -> int:
        lately = self.most.best if self.most is not None and self.is_free else 0
        ever = self.ever.best * 95 // 100 if self.ever is not None and self.turns.unseen else 0
        return rate * 1000 // max(self.heads or 0, self.reading or 0, lately, ever, 1)


def micros(span: int) -> int:
    """In whole microseconds, in nanoseconds."""
    return span // 1000 * 1000


class Background(sounding.Controller):
    """One background flow."""

    reported = "cell"

    def __init__(self, start: sounding.Start) -> None:
        self.start, self.queue = start, 40 * MS
        self.slots, self.share, self.window = Slots(), Share(start.mss_bytes), Aimd(start)
        self.delay = ByDelay(start.now_ns, start.mss_bytes)
        self.modem: tuple[int, int] | None = None
        self.least: int | None = None
        self.last_rtt, self.began = 0, start.now_ns
        self.shared_until: int | None = None
        self.is_first = False
        self.phase, self.until, self.since = "opening", 0, 0
        self.back_off = self.proofs = self.look = self.spell = 0
        self.was_short = False
        self.rng = ChaCha8(start.seed)

    def _wait(self, now: int, span: int) -> None:
        self.phase, self.until = "waiting", now + span

    def _handle_busy(self, now: int) -> None:
        proofs = min(self.proofs, CONFIRMED - 1)
        self._back_off(now, 1, MAX_BACK_OFF)
        self.proofs = proofs

    def _back_off(self, now: int, least: int, most: int) -> None:
        self.back_off = min(max(self.back_off + 1, least), most)
        self.proofs = 0
        half = (1 << (self.back_off - 1)) * 1000
        drawn = half + self.rng.next() % half
        self._wait(now, INTERVAL * drawn // 1000)

    def _handle_verdict(self, now: int, verdict: str) -> None:
        if self.phase in ("waiting", "by delay") or verdict == "open":
            return
        if self.phase == "opening" or verdict == "likely":
            self._wait(now, INTERVAL)
        elif self.phase == "probing":
            if verdict == "free":
                if now - self.began < self.look + self.look // 4:
                    return
                self.proofs = min(self.proofs + 1, PROOFS)
                if self.proofs < CONFIRMED:
                    self._wait(now, INTERVAL)
                    return
                if self.proofs == CONFIRMED:
                    self.spell = now
                self.back_off, self.phase, self.since = 0, "sending", now
            else:
                self._learn_look(now, verdict)
                dear = DEAR * max(min(now - self.began, LONGEST) - CHEAP, 0)
                self._back_off(now + dear, LEAST_BACK_OFF, MAX_BACK_OFF + self.was_short * SHORT + (CROWDED if verdict == "crowded" else 0))
        elif verdict != "free":
            self._learn_look(now, verdict)
            self.was_short = now - self.spell < STEADY
            self._wait(now, INTERVAL)
        elif now - self.since > PROVEN_FOR // (1 << max(PROOFS - self.proofs, 0)):
            self._wait(now, INTERVAL)

    def _learn_look(self, now: int, verdict: str) -> None:
        length = now - self.began
        if verdict == "crowded" and length < LONGEST:
            self.look = max(length, self.look - self.look // 4)

    def _target(self) -> int | None:
        capacity = self.share.capacity
        if self.least is None or capacity is None:
            return None
        given = self.share.given
        rate = capacity if given is None else min(given + given // MORE, capacity)
        return max(rate * ((self.least + self.queue) // 1000) // 1_000_000, 4 * self.start.mss_bytes)

    def _queueing(self) -> int:
        least = self.last_rtt if self.least is None else self.least
        return max(micros(self.last_rtt) - micros(least), 0)

    def _go_by(self, now: int, has_clock: bool) -> None:
        if has_clock and self.phase == "by delay":
            self.slots, self.share, self.window, self.phase = Slots(), Share(self.start.mss_bytes), Aimd(self.start), "opening"
        elif not has_clock and self.phase != "by delay":
            self.delay, self.phase = ByDelay(now, self.start.mss_bytes), "by delay"

    def handle_ack(self, ack: sounding.Ack) -> None:
        if ack.rtt_ns:
            self.least = ack.rtt_ns if self.least is None else min(self.least, ack.rtt_ns)
            self.last_rtt = ack.rtt_ns
        marked = self.window.handle_ack(ack)
        self._go_by(ack.now_ns, ack.stamp is not None and ack.stamp.tick_ns <= COARSEST_TICK)
        if self.phase == "by delay":
            if marked:
                self.delay.cut(ack.now_ns)
            grows = not marked and ack.cwnd_limited and ack.recovery != "fast"
            self.delay.handle_ack(ack.now_ns, (ack.rtt_ns or 0) // 1000, ack.acked_bytes, grows)
            return
        is_first, self.is_first = self.is_first, False
        if is_first and self._queueing() > OTHERS:
            self._handle_busy(ack.now_ns)
            return
        if self.phase == "opening":
            self.window.grow(ack)
        elif ack.recovery is None and (target := self._target()) is not None:
            self.window.slow_start_to(min(target, self.window.cwnd + ack.acked_bytes), target)
        slot = self.slots.handle_ack(ack)
        if slot is not None:
            modem = self.modem[0] if self.modem is not None and ack.now_ns <= self.modem[1] else None
            self._handle_verdict(ack.now_ns, self.share.handle_slot(ack.now_ns, slot, ack.acked_bytes, modem))

    def handle_loss(self, loss: sounding.Loss) -> None:
        if not loss.begins_recovery:
            return
        self.window.cut()
        if self.phase == "by delay":
            self.delay.cut(loss.now_ns)
        sends = self.phase in ("probing", "sending") and loss.now_ns - self.began >= micros(self.last_rtt)
        queueing = self._queueing()
        if sends and queueing >= self.queue // FULL:
            self.queue = max(min(self.queue, queueing // 2), LEAST_QUEUE)
            self.shared_until = loss.now_ns + SHARED_FOR
            self._handle_busy(loss.now_ns)

    def handle_timeout(self, now_ns: int) -> None:
        self.window.handle_timeout()
        if self.phase == "by delay":
            self.delay.handle_timeout(now_ns)
        elif self.phase != "waiting":
            self._handle_busy(now_ns)

    def handle_spurious_timeout(self, now_ns: int) -> None:
        self.window.handle_spurious_timeout()

    def handle_estimate(self, now_ns: int, estimate: sounding.Estimate, flows: int) -> None:
        part = estimate.own_blocks if estimate.is_usable else None
        self.modem = None if part is None else (part, now_ns + MODEM_FOR)

    def handle_time(self, now_ns: int) -> None:
        if self.phase != "waiting" or self.until > now_ns:
            return
        self.share.begin()
        self.began = now_ns
        target = self._target()
        if target is not None:
            is_shared = self.shared_until is not None and now_ns < self.shared_until
            first = PROBE * self.start.mss_bytes if is_shared else target
            self.window.slow_start_to(min(first, target), target)
            self.is_first = is_shared
        self.phase = "probing"

    def wakeup(self) -> int | None:
        return self.not_before()

    def not_before(self) -> int | None:
        return self.until if self.phase == "waiting" else None

    def cwnd(self) -> int:
        return self.delay.cwnd if self.phase == "by delay" else self.window.cwnd

    def state(self) -> str:
        is_free = self.share.is_free and self.share.seen >= Share.HEADS
        return "proving" if self.phase == "probing" and self.proofs >= CONFIRMED and is_free else self.phase
