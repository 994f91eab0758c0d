use core::time::Duration;

use sounding_cc::Start;
use sounding_estimate::{CellUse, MAX_RATE};
use sounding_units::{Bytes, HostInstant, Rate};

/// A report counts for this long.
const FRESH: Duration = Duration::from_millis(100);
/// In thousandths of the cell: with fewer idle blocks others may want more than they have.
const LEAST_IDLE: u16 = 100;
/// What the flow leaves idle beside others, so that a newcomer finds room at once.
const KEEP: u64 = 120;
/// And where it is alone.
const KEEP_ALONE: u64 = 50;
/// Others that have more than this are there; below are broadcasts and false messages.
const OTHERS: u16 = 40;
/// A segment leaves at least so often: acknowledgements bring the reports.
const ALIVE: Duration = Duration::from_millis(50);
/// The window is for so much more than the least RTT: HARQ holds packets back for as long.
const SLACK: Duration = Duration::from_millis(40);
/// A claim is judged over so long.
const JUDGED: Duration = Duration::from_millis(200);
/// Over which more than the window's slack and this waited all along.
const WAITED: Duration = Duration::from_millis(10);
/// In percent of what was claimed to be left: a flow whose data waits has at least this.
const HAD: u64 = 70;
/// A claim that was wrong is not heard for so long, and twice as long after each.
const DEAF: Duration = Duration::from_secs(10);
const DEAF_TIMES: u32 = 6;

/// What a flow sends where all blocks of its cell are known: those that are idle, and it leaves
/// within half a round trip where none are.
///
/// All in whole numbers. Rates are payload, bytes a second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seeing {
    mss: u64,
    headers: u64,
    rate: u64,
    /// The next cut and the next rise come then at the earliest.
    cut_at: HostInstant,
    rise_at: HostInstant,
    /// Until then the newest report counts.
    until: HostInstant,
    claim: Claim,
    deaf_until: HostInstant,
    deaf: u32,
}

/// A claim in judgement.
#[derive(Clone, Copy, Debug, Default)]
struct Claim {
    since: HostInstant,
    acked: u64,
    /// The least that waited.
    waited: Option<Duration>,
    /// The least that was claimed to be left. Where a flow is starved acknowledgements are rare,
    /// and a mean of their reports would tell of the time before.
    left: Option<u64>,
}

impl Seeing {
    pub(super) fn new(start: &Start) -> Self {
        Self {
            mss: start.mss.count().max(1),
            headers: start.headers.count(),
            rate: 0,
            cut_at: start.now,
            rise_at: start.now,
            until: start.now,
            claim: Claim::default(),
            deaf_until: start.now,
            deaf: 0,
        }
    }

    /// Whether reports are heard.
    pub(super) fn listens(&self, now: HostInstant) -> bool {
        now >= self.deaf_until
    }

    pub(super) fn until(&self) -> HostInstant {
        self.until
    }

    /// The first report after none: the flow goes on as it did.
    pub(super) fn begin(&mut self, now: HostInstant, cell: &CellUse) {
        self.rate = self.part(cell, cell.own.into());
        (self.cut_at, self.rise_at) = (now, now);
        self.claim = Claim { since: now, ..Claim::default() };
    }

    /// Payload of so many thousandths of the cell.
    fn part(&self, cell: &CellUse, permille: u64) -> u64 {
        let whole = cell.rate.min(MAX_RATE).bytes_per_sec() * self.mss / (self.mss + self.headers);
        whole * permille / 1000
    }

    pub(super) fn handle_cell(&mut self, now: HostInstant, cell: &CellUse, rtt: Duration) {
        self.until = now + FRESH;
        let has_others = cell.others() > OTHERS;
        let left = u64::from(cell.own + cell.idle);
        let claimed = self.part(cell, left);
        self.claim.left = Some(self.claim.left.map_or(claimed, |least| least.min(claimed)));
        if has_others && cell.idle < LEAST_IDLE {
            if now >= self.cut_at {
                self.rate /= 2;
                self.cut_at = now + rtt / 2;
            }
            self.rise_at = now + rtt / 2;
            return;
        }
        let keep = if has_others { KEEP } else { KEEP_ALONE };
        let target = self.part(cell, left.saturating_sub(keep));
        if target < self.rate {
            self.rate = target;
        } else if now >= self.rise_at {
            self.rate += (target - self.rate) / 2;
            self.rise_at = now + rtt / 2;
        }
    }

    /// An acknowledgement. True if the claims of the last time cannot be true.
    pub(super) fn handle_ack(&mut self, now: HostInstant, acked: u64, waited: Duration) -> bool {
        let claim = &mut self.claim;
        claim.acked += acked;
        claim.waited = Some(claim.waited.map_or(waited, |least| least.min(waited)));
        let span = now - claim.since;
        if span < JUDGED {
            return false;
        }
        let had = claim.acked * 1_000_000 / span.as_micros().max(1) as u64;
        let left = claim.left.unwrap_or(0);
        let is_wrong =
            claim.waited.is_some_and(|waited| waited > SLACK + WAITED) && had < left * HAD / 100;
        self.claim = Claim { since: now, ..Claim::default() };
        if is_wrong {
            self.distrust(now);
        }
        is_wrong
    }

    /// The bottleneck is elsewhere, or the report was wrong.
    pub(super) fn distrust(&mut self, now: HostInstant) {
        self.deaf_until = now + DEAF * (1 << self.deaf);
        self.deaf = (self.deaf + 1).min(DEAF_TIMES);
    }

    pub(super) fn cut(&mut self, now: HostInstant, rtt: Duration) {
        if now >= self.cut_at {
            self.rate /= 2;
            self.cut_at = now + rtt;
        }
    }

    pub(super) fn stop(&mut self) {
        self.rate = 0;
    }

    pub(super) fn pacing(&self) -> Rate {
        let least = self.mss * 1_000_000 / ALIVE.as_micros() as u64;
        Rate::from_bytes_per_sec(self.rate.max(least))
    }

    pub(super) fn cwnd(&self, least_rtt: Duration) -> Bytes {
        let span = (least_rtt + SLACK).as_micros() as u64;
        Bytes::new(self.rate.saturating_mul(span) / 1_000_000 + 2 * self.mss)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const RTT: Duration = Duration::from_millis(40);

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    /// 12 MB/s of payload for all of the cell.
    fn cell(own: u16, idle: u16) -> CellUse {
        CellUse::new(Rate::from_bytes_per_sec(12_000_000 * 1500 / 1448), own, idle)
    }

    fn seeing() -> Seeing {
        Seeing::new(&Start::tcp(at(0), None, 1))
    }

    /// Megabytes a second after reports of this for so long, every 10 ms.
    fn after(seeing: &mut Seeing, from: u64, to: u64, cell: CellUse) -> f64 {
        for ms in (from..to).step_by(10) {
            seeing.handle_cell(at(ms), &cell, RTT);
        }
        seeing.pacing().bytes_per_sec() as f64 / 1e6
    }

    #[test]
    fn a_cell_without_others_is_taken_but_for_what_is_kept() {
        let rate = after(&mut seeing(), 0, 400, cell(100, 900));
        assert!((11.3..11.41).contains(&rate), "{rate}");
    }

    #[test]
    fn beside_others_their_blocks_and_a_reserve_are_left() {
        let rate = after(&mut seeing(), 0, 400, cell(200, 300));
        assert!((4.5..4.57).contains(&rate), "{rate}");
    }

    #[test]
    fn without_idle_blocks_the_rate_halves_each_half_round_trip() {
        let mut seeing = seeing();
        after(&mut seeing, 0, 400, cell(500, 500));
        let full = cell(600, 50);
        let rates: Vec<f64> =
            (0..5).map(|at| after(&mut seeing, 400 + at * 20, 420 + at * 20, full)).collect();
        for (before, after) in rates.iter().zip(&rates[1..]) {
            assert!((after * 2.0 - before).abs() < 1e-4, "{rates:?}");
        }
        assert_eq!(after(&mut seeing, 500, 2_000, full), 0.02896);
    }

    #[test]
    fn a_cell_full_of_own_blocks_is_not_left() {
        let mut seeing = seeing();
        after(&mut seeing, 0, 400, cell(500, 500));
        let rate = after(&mut seeing, 400, 800, cell(980, 0));
        assert!(rate > 11.0, "{rate}");
    }

    /// Whether the claim of such a cell is found to be wrong, while so much arrives and waits.
    fn found_wrong(cell: CellUse, bytes_per_sec: u64, waited_ms: u64) -> bool {
        let mut seeing = seeing();
        seeing.begin(at(0), &cell);
        (0..300).any(|ms| {
            seeing.handle_cell(at(ms), &cell, RTT);
            seeing.handle_ack(at(ms), bytes_per_sec / 1000, Duration::from_millis(waited_ms))
        })
    }

    #[test]
    fn a_claim_that_waiting_data_contradicts_is_not_believed() {
        assert!(found_wrong(cell(500, 500), 6_000_000, 60));
        assert!(!found_wrong(cell(500, 500), 11_000_000, 60));
        assert!(!found_wrong(cell(500, 500), 6_000_000, 20));
        // Blocks of others were not claimed.
        assert!(!found_wrong(cell(500, 0), 6_000_000, 60));
    }

    #[test]
    fn each_wrong_claim_is_followed_by_a_longer_silence() {
        let listens = |seeing: &Seeing, ms| seeing.listens(at(ms));
        let mut seeing = seeing();
        seeing.distrust(at(0));
        assert!(!listens(&seeing, 9_999) && listens(&seeing, 10_000));
        seeing.distrust(at(10_000));
        assert!(!listens(&seeing, 29_999) && listens(&seeing, 30_000));
    }
}
