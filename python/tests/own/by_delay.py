"""LEDBAT++ in whole numbers, for a background flow whose receiver has no usable clock."""

from __future__ import annotations

TARGET_US = 60_000
SLOW_START_ENDS_US = TARGET_US // 4 * 3
MAX_DIVISOR, LEAST, ROUNDS, APART = 16, 2, 2, 9
MINUTES, MINUTE_NS, CURRENT = 10, 60_000_000_000, 4
MAX_CWND, MAX_RTT_US, MAX_MSS = 1 << 30, 10_000_000, 65_535


class ByDelay:
    """The window. Times are nanoseconds, RTTs microseconds."""

    def __init__(self, now: int, mss: int) -> None:
        self.mss = min(max(mss, 1), MAX_MSS)
        self.cwnd, self.credit = LEAST * self.mss, 0
        self.phase, self.at, self.since, self.to = "slow start", 0, 0, 0
        self.minutes, self.minute_began = [0] * MINUTES, now
        self.current, self.next = [0] * CURRENT, 0

    def handle_ack(self, now: int, rtt: int, acked: int, grows: bool) -> None:
        if rtt == 0:
            return
        rtt, acked = min(rtt, MAX_RTT_US), min(acked, MAX_CWND)
        least, base = self._learn(now, rtt)
        queueing = max(least - base, 0)
        self._advance(now, least, queueing)
        if not grows:
            return
        divisor = min(max(-(-2 * TARGET_US // max(base, 1)), 1), MAX_DIVISOR)
        if self.phase in ("slow start", "coming back"):
            self.cwnd += acked // divisor
        elif self.phase == "steering":
            self._steer(queueing, divisor, acked)
        self.cwnd = min(self.cwnd, MAX_CWND)

    def _learn(self, now: int, rtt: int) -> tuple[int, int]:
        if now - self.minute_began >= MINUTE_NS:
            self.minute_began = now
            self.minutes = [rtt, *self.minutes[:-1]]
        if self.minutes[0] == 0 or rtt < self.minutes[0]:
            self.minutes[0] = rtt
        self.current[self.next] = rtt
        self.next = (self.next + 1) % CURRENT
        least, base = (min((one for one in of if one > 0), default=rtt) for of in (self.current, self.minutes))
        return least, base

    def _advance(self, now: int, rtt: int, queueing: int) -> None:
        rounds = rtt * 1000 * ROUNDS
        if self.phase == "slow start":
            if queueing > SLOW_START_ENDS_US:
                self.phase, self.at = "steering", now + rounds
        elif self.phase == "steering":
            if self.at <= now:
                self.to, self.cwnd = self.cwnd, LEAST * self.mss
                self.phase, self.since, self.at = "slowed", now, now + rounds
        elif self.phase == "slowed":
            if self.at <= now:
                self.phase = "coming back"
        elif self.cwnd >= self.to:
            self.phase, self.at = "steering", now + (now - self.since) * APART

    def _steer(self, queueing: int, divisor: int, acked: int) -> None:
        if queueing <= TARGET_US:
            whole = divisor * self.cwnd
            self.credit += acked * self.mss
            self.cwnd += self.credit // whole
            self.credit %= whole
            return
        excess = self.cwnd * (queueing - TARGET_US) // TARGET_US
        less = min(max(excess - self.mss // divisor, 0), self.cwnd // 2)
        less = less * min(acked, self.cwnd) // self.cwnd
        self.cwnd, self.credit = max(self.cwnd - less, LEAST * self.mss), 0

    def cut(self, now: int) -> None:
        self.cwnd, self.credit = max(self.cwnd // 2, LEAST * self.mss), 0
        if self.phase == "slow start":
            self.phase, self.at = "steering", now + max(self.current) * 1000 * ROUNDS

    def handle_timeout(self, now: int) -> None:
        self.to, self.cwnd, self.credit = max(self.cwnd // 2, LEAST * self.mss), self.mss, 0
        self.phase, self.since = "coming back", now
