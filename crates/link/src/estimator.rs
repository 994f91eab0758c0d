use core::time::Duration;

use sounding_kpi::{Direction, Grant, Kpi, Layer};
use sounding_units::{Bytes, HostInstant, ModemInstant, Rate};

use crate::window::Window;
use crate::{Bound, Cause, LinkEstimate, State};

/// How granted bytes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The sizes of the granted transport blocks (BISCAY §3.2.2): from PHY records that tell new data from repeated,
    /// because they come every few milliseconds; else from MAC records, which come every 100 ms; else from any.
    Grants,
    /// Equation 1 of BISCAY §3.2.2, from PRB, I_TBS and layers of PHY records; the size that the record itself
    /// states is not looked at.
    Formula,
}

/// What an [`Estimator`] looks at and how it judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Which way.
    pub direction: Direction,
    /// How granted bytes are counted.
    pub method: Method,
    /// Span of modem time that grants are summed over. 100 ms is the MAC summary of BISCAY §3.2.2, and its Fig. 6
    /// finds nothing to gain below.
    pub window: Duration,
    /// Age of the newest record up to which an estimate may be used. 200 ms, chosen; pinned by the staleness tests
    /// of the kernel side.
    pub valid_for: Duration,
    /// Part of a transport block that is IP, in 1/1000: MAC, RLC and PDCP take 2–6 %. 950, chosen.
    pub ip_share_permille: u32,
    /// What to say of the bound instead of judging it: an experiment whose link *is* the capture's grants knows that
    /// they are its capacity.
    pub assume: Option<Bound>,
}

impl Config {
    /// The defaults for one direction.
    pub const fn new(direction: Direction) -> Self {
        Self {
            direction,
            method: Method::Grants,
            window: Duration::from_millis(100),
            valid_for: Duration::from_millis(200),
            ip_share_permille: 950,
            assume: None,
        }
    }
}

/// Turns KPIs into a [`LinkEstimate`].
///
/// Call [`handle_record`](Self::handle_record) for every record of the modem, known or not, then
/// [`handle_kpi`](Self::handle_kpi) for each KPI read from it; ask [`estimate`](Self::estimate) at any time.
#[derive(Clone, Debug)]
pub struct Estimator {
    config: Config,
    mac: Window,
    phy: Window,
    /// Blocks that PHY records announce without saying whether they repeat others, or arrived.
    announced: Window,
    report_lag: ReportLag,
    modem_now: ModemInstant,
    newest_record: Option<HostInstant>,
    newest_grant_record: Option<HostInstant>,
    backlog: Option<(ModemInstant, Bytes)>,
}

/// A jump of the modem's clock beyond this is a reboot or the first contact with a network, not a late record.
const CLOCK_JUMP: Duration = Duration::from_secs(10);

/// No grant for this long is an idle or a silent link. Two of the longest usual reporting intervals; chosen, pinned
/// by the tests below.
const IDLE_AFTER: Duration = Duration::from_millis(200);

/// A count of waiting bytes says nothing about now once it is older than this: modems write one every 40 ms.
const BACKLOG_VALID: Duration = Duration::from_millis(200);

impl Estimator {
    /// An estimator that has seen nothing.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            mac: Window::new(config.window),
            phy: Window::new(config.window),
            announced: Window::new(config.window),
            report_lag: ReportLag::default(),
            modem_now: ModemInstant::default(),
            newest_record: None,
            newest_grant_record: None,
            backlog: None,
        }
    }

    /// Any record of the modem: it is alive, and its clock stands at `at`.
    pub fn handle_record(&mut self, now: HostInstant, at: ModemInstant) {
        let jumped_back = self.modem_now - at > CLOCK_JUMP;
        let jumped_ahead = self.newest_record.is_some() && at - self.modem_now > CLOCK_JUMP;
        if jumped_back || jumped_ahead {
            *self = Self::new(self.config);
        }
        self.newest_record = Some(now);
        self.modem_now = self.modem_now.max(at);
    }

    /// One KPI of the record that was handed in last.
    pub fn handle_kpi(&mut self, now: HostInstant, kpi: &Kpi) {
        match kpi {
            Kpi::Grant(grant) if grant.direction == self.config.direction => {
                self.handle_grant(now, grant);
            }
            Kpi::Backlog(backlog) if self.config.direction == Direction::Uplink => {
                self.backlog = Some((backlog.at, backlog.waiting));
            }
            Kpi::Grant(_) | Kpi::Backlog(_) | Kpi::Signal(_) => {}
        }
    }

    fn handle_grant(&mut self, now: HostInstant, grant: &Grant) {
        // A block that repeats another, or that was lost and will be repeated, adds no bytes of its own.
        let carries_new_data = match grant.decoded {
            Some(decoded) => decoded,
            None => !grant.retransmission,
        };
        let size = match (self.config.method, grant.layer) {
            (Method::Formula, Layer::Mac) => return,
            (Method::Formula, Layer::Phy) => grant.allocation.and_then(|a| a.size()),
            (Method::Grants, _) => Some(grant.size),
        };
        let Some(size) = size.filter(|_| carries_new_data) else { return };
        if self.newest_grant_record != Some(now) {
            if let Some(newest) = self.newest_grant() {
                self.report_lag.handle_gap(self.modem_now - newest);
            }
            self.newest_grant_record = Some(now);
        }
        let tells_repeats = grant.direction == Direction::Uplink || grant.decoded.is_some();
        let window = match grant.layer {
            Layer::Mac => &mut self.mac,
            Layer::Phy if tells_repeats => &mut self.phy,
            Layer::Phy => &mut self.announced,
        };
        window.push(grant.at, size, grant.padding.unwrap_or(Bytes::ZERO));
    }

    fn newest_grant(&self) -> Option<ModemInstant> {
        self.mac.newest().max(self.phy.newest()).max(self.announced.newest())
    }

    /// The window that counts: the first in order of trust that still gets records. A block is in several of them,
    /// once for each layer that the modem logs.
    fn window(&self) -> &Window {
        const GONE_AFTER: Duration = Duration::from_secs(1);
        let newest = self.newest_grant();
        [&self.phy, &self.mac]
            .into_iter()
            .find(|window| window.newest().zip(newest).is_some_and(|(w, n)| n - w < GONE_AFTER))
            .unwrap_or(&self.announced)
    }

    /// What the link carries, as far as the records so far say.
    pub fn estimate(&self, now: HostInstant) -> LinkEstimate {
        let age = self.newest_record.map_or(Duration::MAX, |at| now - at);
        let window = self.window();
        let (rate, bound, state, cause) = match window.newest() {
            None => (Rate::ZERO, Bound::Served, State::Idle, Cause::None),
            Some(newest) => {
                // A grant is reported a little after it was used. What is missing within the usual lag has not been
                // reported yet; what is missing beyond it was not granted.
                let settled = self.modem_now.saturating_before(self.report_lag.usual());
                let granted = window.granted(newest.max(settled));
                let ip = granted.size.count() * u64::from(self.config.ip_share_permille) / 1000;
                let state = self.link_state(newest);
                let bound = self.config.assume.unwrap_or_else(|| match state {
                    State::Silent => Bound::Capacity,
                    _ => self.bound(granted.size),
                });
                (Bytes::new(ip).per(self.config.window), bound, state, self.cause())
            }
        };
        LinkEstimate {
            direction: self.config.direction,
            rate,
            bound,
            age,
            valid_for: self.config.valid_for,
            backlog: self.fresh_backlog(),
            state: if age > self.config.valid_for { State::Stale } else { state },
            cause,
        }
    }

    fn cause(&self) -> Cause {
        match self.config.method {
            Method::Grants => Cause::Grants,
            Method::Formula => Cause::Formula,
        }
    }

    fn link_state(&self, newest: ModemInstant) -> State {
        if self.modem_now - newest <= IDLE_AFTER {
            State::Active
        } else if self.fresh_backlog().is_some_and(|waiting| waiting > Bytes::ZERO) {
            State::Silent
        } else {
            State::Idle
        }
    }

    fn fresh_backlog(&self) -> Option<Bytes> {
        let (at, waiting) = self.backlog?;
        (self.modem_now - at <= BACKLOG_VALID).then_some(waiting)
    }

    /// A device with more to send than it is granted fills its blocks; padding means that it had nothing left.
    fn bound(&self, size: Bytes) -> Bound {
        /// Blocks padded by less than 1/20 belong to a backlogged device. Chosen: one short last block in 100 ms of
        /// a backlogged upload stays below it.
        const PADDED: u64 = 20;
        let reported = self.mac.newest().map(|newest| self.mac.granted(newest));
        let full = reported.is_some_and(|mac| mac.padding.count() * PADDED < mac.size.count());
        let waits = self.fresh_backlog().is_some_and(|waiting| waiting > Bytes::ZERO);
        if (full || waits) && size > Bytes::ZERO { Bound::Capacity } else { Bound::Served }
    }
}

/// How long after its subframe a grant is usually reported: the largest of the last few gaps between the modem's
/// clock and the newest grant known when the next report came in.
#[derive(Clone, Copy, Debug, Default)]
struct ReportLag {
    gaps: [Duration; 16],
    next: usize,
}

impl ReportLag {
    /// Beyond this a gap is a pause of the link, not the lag of a report: MAC summaries come every 100 ms.
    const LONGEST: Duration = Duration::from_millis(150);

    fn handle_gap(&mut self, gap: Duration) {
        if gap <= Self::LONGEST {
            self.gaps[self.next] = gap;
            self.next = (self.next + 1) % self.gaps.len();
        }
    }

    fn usual(&self) -> Duration {
        self.gaps.iter().max().copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sounding_kpi::{Allocation, Backlog, Coding};
    use sounding_phy::lte::TbsIndex;
    use sounding_units::Prb;

    const MBIT: u64 = 1_000_000;

    /// A modem that reports its uplink blocks every `report_ms`, one block a millisecond.
    struct Modem {
        estimator: Estimator,
        ms: u64,
    }

    impl Modem {
        fn new(config: Config) -> Self {
            Self { estimator: Estimator::new(config), ms: 1_000_000 }
        }

        fn host(&self) -> HostInstant {
            HostInstant::from_nanos(self.ms * 1_000_000)
        }

        fn modem(&self) -> ModemInstant {
            ModemInstant::from_nanos(self.ms * 1_000_000 + 77)
        }

        fn records_without_grants(&mut self, ms: u64) {
            for _ in 0..ms / 10 {
                self.ms += 10;
                self.estimator.handle_record(self.host(), self.modem());
            }
        }

        fn grants(&mut self, ms: u64, report_ms: u64, grant: impl Fn(ModemInstant) -> Grant) {
            for _ in 0..ms / report_ms {
                self.ms += report_ms;
                let (host, end) = (self.host(), self.modem());
                self.estimator.handle_record(host, end);
                for back in (0..report_ms).rev() {
                    let at = end.saturating_before(Duration::from_millis(back));
                    self.estimator.handle_kpi(host, &Kpi::Grant(grant(at)));
                }
            }
        }

        fn estimate(&self) -> LinkEstimate {
            self.estimator.estimate(self.host())
        }
    }

    fn block(at: ModemInstant) -> Grant {
        Grant {
            at,
            direction: Direction::Uplink,
            carrier: 0,
            harq: None,
            layer: Layer::Mac,
            size: Bytes::new(1000),
            padding: Some(Bytes::ZERO),
            retransmission: false,
            decoded: None,
            allocation: None,
        }
    }

    fn uplink() -> Config {
        Config { ip_share_permille: 1000, ..Config::new(Direction::Uplink) }
    }

    #[test]
    fn a_thousand_bytes_a_millisecond_are_eight_megabits() {
        let mut modem = Modem::new(uplink());
        modem.grants(500, 100, block);
        let estimate = modem.estimate();
        assert_eq!(estimate.rate, Rate::from_bits_per_sec(8 * MBIT));
        assert_eq!((estimate.state, estimate.bound), (State::Active, Bound::Capacity));
        assert_eq!(estimate.age, Duration::ZERO);
    }

    #[test]
    fn the_rate_holds_between_two_reports() {
        let mut modem = Modem::new(uplink());
        modem.grants(500, 100, block);
        modem.records_without_grants(90);
        assert_eq!(modem.estimate().rate, Rate::from_bits_per_sec(8 * MBIT));
    }

    #[test]
    fn the_rate_falls_to_nothing_when_the_grants_stop() {
        let mut modem = Modem::new(uplink());
        modem.grants(500, 10, block);
        modem.records_without_grants(60);
        assert!(modem.estimate().rate < Rate::from_bits_per_sec(5 * MBIT));
        modem.records_without_grants(200);
        let estimate = modem.estimate();
        assert_eq!((estimate.rate, estimate.state), (Rate::ZERO, State::Idle));
        assert!(!estimate.is_usable());
    }

    #[test]
    fn waiting_data_without_grants_is_silence_not_idleness() {
        let mut modem = Modem::new(uplink());
        modem.grants(500, 10, block);
        modem.records_without_grants(300);
        let kpi = Kpi::Backlog(Backlog { at: modem.modem(), waiting: Bytes::new(5000) });
        let host = modem.host();
        modem.estimator.handle_kpi(host, &kpi);
        let estimate = modem.estimate();
        assert_eq!((estimate.state, estimate.bound), (State::Silent, Bound::Capacity));
        assert!(estimate.is_usable());
    }

    #[test]
    fn a_silent_modem_is_stale_after_its_validity() {
        let mut modem = Modem::new(uplink());
        modem.grants(500, 10, block);
        modem.ms += 200;
        assert_eq!(modem.estimate().state, State::Active);
        modem.ms += 1;
        assert_eq!(modem.estimate().state, State::Stale);
        assert!(!modem.estimate().is_usable());
    }

    #[test]
    fn padded_blocks_are_a_floor() {
        let mut modem = Modem::new(uplink());
        let padded = |at| Grant { padding: Some(Bytes::new(400)), ..block(at) };
        modem.grants(500, 100, padded);
        assert_eq!(modem.estimate().bound, Bound::Served);
    }

    #[test]
    fn retransmissions_carry_nothing_new() {
        let mut modem = Modem::new(uplink());
        let every_other = |at: ModemInstant| Grant {
            retransmission: (at.as_nanos() / 1_000_000).is_multiple_of(2),
            ..block(at)
        };
        modem.grants(500, 100, every_other);
        assert_eq!(modem.estimate().rate, Rate::from_bits_per_sec(4 * MBIT));
    }

    #[test]
    fn one_block_seen_on_two_layers_counts_once() {
        let mut modem = Modem::new(uplink());
        modem.grants(500, 100, block);
        modem.ms -= 500;
        modem.grants(500, 100, |at| Grant { layer: Layer::Phy, padding: None, ..block(at) });
        assert_eq!(modem.estimate().rate, Rate::from_bits_per_sec(8 * MBIT));
    }

    #[test]
    fn the_formula_reads_blocks_and_index_not_the_stated_size() {
        let mut modem = Modem::new(Config { method: Method::Formula, ..uplink() });
        let coding = Coding::Lte(TbsIndex::new(9).expect("row"));
        let allocation = Allocation { prb: Prb::new(50), coding, layers: Some(1) };
        let phy = |at| Grant {
            layer: Layer::Phy,
            padding: None,
            size: Bytes::new(1),
            allocation: Some(allocation),
            ..block(at)
        };
        modem.grants(500, 20, phy);
        // 7992 bits each millisecond: TS 36.213 Table 7.1.7.2.1-1, I_TBS 9, 50 PRB.
        assert_eq!(modem.estimate().rate, Rate::from_bits_per_sec(7_992_000));
        assert_eq!(modem.estimate().cause, Cause::Formula);
    }

    #[test]
    fn a_modem_that_reboots_starts_afresh() {
        let mut modem = Modem::new(uplink());
        modem.grants(500, 100, block);
        let host = modem.host();
        modem.estimator.handle_record(host, ModemInstant::from_nanos(5));
        assert_eq!(modem.estimate().cause, Cause::None);
    }

    #[test]
    fn the_other_direction_is_not_counted() {
        let mut modem = Modem::new(Config::new(Direction::Downlink));
        modem.grants(500, 100, block);
        assert_eq!(modem.estimate().cause, Cause::None);
    }
}
