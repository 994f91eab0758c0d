use sounding_units::HostInstant;

/// Queueing in both directions that is aimed at (draft-irtf-iccrg-ledbat-plus-plus), in
/// microseconds.
const TARGET_US: u64 = 60_000;
/// The first slow start ends at three quarters of it (draft).
const SLOW_START_ENDS_US: u64 = TARGET_US / 4 * 3;
/// The gain is one over at most this (draft).
const MAX_DIVISOR: u64 = 16;
/// In segments (draft): at first, in a slowdown, and at least.
const LEAST: u64 = 2;
/// Rounds from the end of slow start to the first slowdown, and in each (draft).
const ROUNDS: u64 = 2;
/// Until the next slowdown, in durations of the last (draft).
const APART: u64 = 9;
/// RFC 6817, BASE_HISTORY, and the span of each of its places.
const MINUTES: usize = 10;
const MINUTE_NS: u64 = 60_000_000_000;
/// RFC 6817, CURRENT_FILTER; chosen as `ledbat++` has it.
const CURRENT: usize = 4;

/// Bounds that keep all products below 2^64: no path has as much in flight, and none is as long.
const MAX_CWND: u64 = 1 << 30;
const MAX_RTT_US: u32 = 10_000_000;
const MAX_MSS: u64 = 65_535;

/// The window of a background flow whose receiver has no usable clock: LEDBAT++, in whole numbers.
///
/// `ledbat++` of this crate is the algorithm itself. This one exists because a kernel program has
/// no fractions, and both have to decide alike.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByDelay {
    mss: u64,
    cwnd: u64,
    /// Acknowledged bytes times a segment, not yet turned into window.
    credit: u64,
    phase: Phase,
    /// Least RTTs of the last minutes, the newest first; zero is none.
    minutes: [u32; MINUTES],
    minute_began: u64,
    current: [u32; CURRENT],
    next: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    SlowStart,
    Steering { slow_at: u64 },
    Slowed { since: u64, until: u64, to: u64 },
    ComingBack { since: u64, to: u64 },
}

impl ByDelay {
    pub(super) fn new(now: HostInstant, mss: u64) -> Self {
        let mss = mss.clamp(1, MAX_MSS);
        Self {
            mss,
            cwnd: LEAST * mss,
            credit: 0,
            phase: Phase::SlowStart,
            minutes: [0; MINUTES],
            minute_began: now.as_nanos(),
            current: [0; CURRENT],
            next: 0,
        }
    }

    pub(super) fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// An acknowledgement of `acked` bytes that measured this RTT. With `grows` unset the window is
    /// not what limits the sender, or losses are being repaired.
    pub(super) fn handle_ack(&mut self, now: HostInstant, rtt_us: u32, acked: u64, grows: bool) {
        let now = now.as_nanos();
        if rtt_us == 0 {
            return;
        }
        let (rtt_us, acked) = (rtt_us.min(MAX_RTT_US), acked.min(MAX_CWND));
        let (least, base) = self.learn(now, rtt_us);
        let queueing = least.saturating_sub(base);
        self.advance(now, least, queueing);
        if !grows {
            return;
        }
        let divisor = (2 * TARGET_US).div_ceil(base.max(1)).clamp(1, MAX_DIVISOR);
        match self.phase {
            Phase::Slowed { .. } => {}
            Phase::SlowStart | Phase::ComingBack { .. } => self.cwnd += acked / divisor,
            Phase::Steering { .. } => self.steer(queueing, divisor, acked),
        }
        self.cwnd = self.cwnd.min(MAX_CWND);
    }

    /// Folds a sample in. Returns the least of the newest ones, and of ten minutes.
    fn learn(&mut self, now: u64, rtt_us: u32) -> (u64, u64) {
        if now.saturating_sub(self.minute_began) >= MINUTE_NS {
            self.minute_began = now;
            self.minutes.copy_within(..MINUTES - 1, 1);
            self.minutes[0] = rtt_us;
        }
        if self.minutes[0] == 0 || rtt_us < self.minutes[0] {
            self.minutes[0] = rtt_us;
        }
        self.current[self.next] = rtt_us;
        self.next = (self.next + 1) % CURRENT;
        let least = |samples: &[u32]| {
            let known = samples.iter().filter(|sample| **sample > 0);
            u64::from(known.min().copied().unwrap_or(rtt_us))
        };
        (least(&self.current), least(&self.minutes))
    }

    fn advance(&mut self, now: u64, rtt_us: u64, queueing: u64) {
        let rounds = rtt_us * 1000 * ROUNDS;
        match self.phase {
            Phase::SlowStart if queueing > SLOW_START_ENDS_US => {
                self.phase = Phase::Steering { slow_at: now.saturating_add(rounds) };
            }
            Phase::Steering { slow_at } if slow_at <= now => {
                let to = self.cwnd;
                self.cwnd = LEAST * self.mss;
                self.phase = Phase::Slowed { since: now, until: now.saturating_add(rounds), to };
            }
            Phase::Slowed { since, until, to } if until <= now => {
                self.phase = Phase::ComingBack { since, to };
            }
            Phase::ComingBack { since, to } if self.cwnd >= to => {
                let slow_at = now.saturating_add(now.saturating_sub(since).saturating_mul(APART));
                self.phase = Phase::Steering { slow_at };
            }
            _ => {}
        }
    }

    /// Grows by a part of a segment a round, or shrinks in proportion to the excess, by half a
    /// round at most.
    fn steer(&mut self, queueing: u64, divisor: u64, acked: u64) {
        if queueing <= TARGET_US {
            let whole = divisor * self.cwnd;
            self.credit += acked * self.mss;
            self.cwnd += self.credit / whole;
            self.credit %= whole;
            return;
        }
        let excess = self.cwnd * (queueing - TARGET_US) / TARGET_US;
        let less = excess.saturating_sub(self.mss / divisor).min(self.cwnd / 2);
        let less = less * acked.min(self.cwnd) / self.cwnd;
        self.cwnd = (self.cwnd - less).max(LEAST * self.mss);
        self.credit = 0;
    }

    /// Half, two segments at least: a loss or a mark.
    pub(super) fn cut(&mut self, now: HostInstant) {
        self.cwnd = (self.cwnd / 2).max(LEAST * self.mss);
        self.credit = 0;
        if self.phase == Phase::SlowStart {
            let rtt = self.current.iter().max().copied().unwrap_or(0);
            let rounds = u64::from(rtt) * 1000 * ROUNDS;
            self.phase = Phase::Steering { slow_at: now.as_nanos().saturating_add(rounds) };
        }
    }

    /// One segment, which comes back to half of what was.
    pub(super) fn handle_timeout(&mut self, now: HostInstant) {
        let to = (self.cwnd / 2).max(LEAST * self.mss);
        self.cwnd = self.mss;
        self.credit = 0;
        self.phase = Phase::ComingBack { since: now.as_nanos(), to };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1448;

    /// A path of 50 ms and 5 Mbyte/s: a second of full windows at a time.
    fn rounds(flow: &mut ByDelay, now: &mut u64, count: u32, others_ms: u32) -> u64 {
        for _ in 0..count {
            let own = flow.cwnd().saturating_sub(250_000) / 5;
            let rtt = 50_000 + others_ms * 1000 + own as u32;
            *now += u64::from(rtt) * 1000;
            let segments = (flow.cwnd() / MSS).max(1);
            for _ in 0..segments {
                flow.handle_ack(HostInstant::from_nanos(*now), rtt, MSS, true);
            }
        }
        flow.cwnd()
    }

    #[test]
    fn alone_it_fills_the_path_and_beside_a_queue_it_yields() {
        let mut now = 1_000_000_000;
        let mut flow = ByDelay::new(HostInstant::from_nanos(now), MSS);
        rounds(&mut flow, &mut now, 400, 0);
        let alone = (0..60).map(|_| rounds(&mut flow, &mut now, 1, 0)).max();
        assert!(alone > Some(250_000), "{alone:?}");
        let beside = rounds(&mut flow, &mut now, 200, 150);
        assert!(beside <= 4 * MSS, "{beside}");
    }

    #[test]
    fn a_timeout_leaves_one_segment() {
        let mut now = 1_000_000_000;
        let mut flow = ByDelay::new(HostInstant::from_nanos(now), MSS);
        rounds(&mut flow, &mut now, 50, 0);
        flow.handle_timeout(HostInstant::from_nanos(now));
        assert_eq!(flow.cwnd(), MSS);
    }
}
