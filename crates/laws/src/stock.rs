use core::time::Duration;

use sounding_cc::part::RttEstimator;
use sounding_cc::{Ack, Controller, Departure, Loss, Recovery, Start};
use sounding_units::{Bytes, HostInstant, Rate};

use crate::bbr::Bbr;
use crate::cubic::Cubic;

/// The least window that CUBIC begins with, in segments: as BBR.
const MIN_CWND: u64 = 4;
/// How fast Linux paces a window, in thousandths of it an RTT (`tcp_pacing_ca_ratio`), and while it
/// is less than half of what slow start goes to (`tcp_pacing_ss_ratio`).
const PACING: u32 = 1200;
const PACING_AT_FIRST: u32 = 2000;

/// Below it the window holds a flow back, and a timer would outlive an outage: `LAW_MIN_PACING`.
const MIN_PACING: Rate = Rate::from_bits_per_sec(1_000_000);

/// The algorithm while no law controls the flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fallback {
    /// BBR, as the paper has it (BISCAY §A.5.2).
    #[default]
    Bbr,
    /// CUBIC, the paper's second choice.
    Cubic,
}

impl Fallback {
    /// Its name in options and plans.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bbr => "bbr",
            Self::Cubic => "cubic",
        }
    }
}

/// The stock algorithm of a law: the same composition as `glue.h` and `cubic.h` of `sounding-bpf`.
///
/// BBR sees every acknowledgement, also while a law controls the flow, because the law uses its
/// measurements. CUBIC sees only those of the time in which it controls the flow, and continues
/// from the law's window: in parallel with a law it would only learn that there are no losses.
#[derive(Clone, Debug)]
pub(crate) struct Stock {
    bbr: Bbr,
    instead: Option<Instead>,
}

/// CUBIC in BBR's place.
#[derive(Clone, Debug)]
struct Instead {
    cubic: Cubic,
    drives: bool,
    /// The minimum window at a takeover, and the window at a takeover after a timeout: RFC 6928's,
    /// as in the laws.
    least: Bytes,
    restart: Bytes,
    rtt: RttEstimator,
    is_timed_out: bool,
}

impl Instead {
    /// Goes on from the law's window, on a path that holds `holds`.
    fn take_over(&mut self, now: HostInstant, law_cwnd: Bytes, holds: Bytes, is_narrow: bool) {
        // The law's window may be for more than a narrow path carries.
        let narrow = if is_narrow { holds + holds } else { law_cwnd };
        let timed_out = if self.is_timed_out { self.restart } else { law_cwnd };
        let cwnd = law_cwnd.min(narrow).min(timed_out).max(self.least);
        self.cubic.go_on(now, cwnd, cwnd.max(holds));
    }

    fn handle_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt.handle_sample(rtt);
        }
        self.is_timed_out &= ack.recovery == Recovery::Timeout;
        if self.drives {
            self.cubic.handle_ack(ack);
        }
    }
}

impl Stock {
    /// A flow that no law controls yet.
    pub(crate) fn new(start: &Start, fallback: Fallback) -> Self {
        let instead = Instead {
            cubic: Cubic::new(start),
            drives: true,
            least: start.segments(MIN_CWND),
            restart: start.initial_cwnd(),
            rtt: RttEstimator::default(),
            is_timed_out: false,
        };
        Self { bbr: Bbr::new(start), instead: (fallback == Fallback::Cubic).then_some(instead) }
    }

    /// BBR's measured bandwidth of the path, payload.
    #[inline]
    pub(crate) fn bandwidth(&self) -> Rate {
        self.bbr.bandwidth()
    }

    /// The path without queue is at least this long.
    #[inline]
    pub(crate) fn raise_rtt_min(&mut self, least: Duration) {
        self.bbr.raise_rtt_min(least);
    }

    /// The path carries at most this, payload: BBR's larger measurements are limited to it.
    pub(crate) fn cap_bandwidth(&mut self, most: Rate) {
        self.bbr.cap_bandwidth(most);
    }

    #[inline]
    fn driving(&self) -> Option<&Instead> {
        self.instead.as_ref().filter(|instead| instead.drives)
    }

    #[inline]
    fn driving_mut(&mut self) -> Option<&mut Instead> {
        self.instead.as_mut().filter(|instead| instead.drives)
    }

    /// The law's verdict: whether it controls the flow from here on, and its last window if it does
    /// not. `cut` is the path's capacity in payload. It is given once, when the flow leaves the
    /// law because the path carries less than the radio.
    #[inline]
    pub(crate) fn handle_verdict(
        &mut self,
        now: HostInstant,
        law_drives: bool,
        law_cwnd: impl FnOnce() -> Bytes,
        cut: Option<Rate>,
    ) {
        if law_drives || self.instead.is_some() {
            // Under a law's window the queue is empty, and BBR never needs four segments in flight.
            // With CUBIC as fallback it only measures.
            self.bbr.confirm_rtt_min(now);
        }
        if let Some(cut) = cut {
            self.bbr.cap_bandwidth(cut);
            if self.instead.is_none() {
                // BBR must drain the law's queue and measure the RTT at once.
                self.bbr.doubt_rtt_min(now);
            }
        }
        let Some(instead) = &mut self.instead else { return };
        if !law_drives && !instead.drives {
            let rtt = self.bbr.rtt_min().unwrap_or_default();
            instead.take_over(now, law_cwnd(), self.bbr.bandwidth() * rtt, cut.is_some());
        }
        instead.drives = !law_drives;
    }
}

impl Controller for Stock {
    #[inline]
    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        self.bbr.handle_sent(sent, size);
    }

    #[inline]
    fn handle_ack(&mut self, ack: &Ack) {
        self.bbr.handle_ack(ack);
        if let Some(instead) = &mut self.instead {
            instead.handle_ack(ack);
        }
    }

    fn handle_loss(&mut self, loss: &Loss) {
        self.bbr.handle_loss(loss);
        if let Some(instead) = self.driving_mut() {
            instead.cubic.handle_loss(loss);
        }
    }

    fn handle_timeout(&mut self, now: HostInstant) {
        self.bbr.handle_timeout(now);
        if let Some(instead) = &mut self.instead {
            instead.is_timed_out = true;
        }
        if let Some(instead) = self.driving_mut() {
            instead.cubic.handle_timeout(now);
        }
    }

    fn handle_spurious_timeout(&mut self, now: HostInstant) {
        self.bbr.handle_spurious_timeout(now);
        if let Some(instead) = &mut self.instead {
            instead.is_timed_out = false;
        }
        if let Some(instead) = self.driving_mut() {
            instead.cubic.handle_spurious_timeout(now);
        }
    }

    #[inline]
    fn handle_time(&mut self, now: HostInstant) {
        self.bbr.handle_time(now);
    }

    #[inline]
    fn wakeup(&self) -> Option<HostInstant> {
        self.bbr.wakeup()
    }

    #[inline]
    fn cwnd(&self) -> Bytes {
        self.driving().map_or(self.bbr.cwnd(), |instead| instead.cubic.cwnd())
    }

    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        let paced = self.driving().and_then(|instead| {
            let cwnd = instead.cubic.cwnd();
            let begins = cwnd.count() < instead.cubic.ssthresh().count() / 2;
            let rate = cwnd.per(instead.rtt.smoothed()?);
            Some(rate.scaled(if begins { PACING_AT_FIRST } else { PACING }, 1000).max(MIN_PACING))
        });
        paced.or_else(|| self.bbr.pacing_rate())
    }

    fn state(&self) -> &'static str {
        self.driving().map_or(self.bbr.state(), |instead| instead.cubic.state())
    }
}
