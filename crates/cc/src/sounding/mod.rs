//! The project's own controller: BISCAY's law where the radio is known to be full, and a probe above what is granted
//! where it is not.
//!
//! A base station grants what is asked for, so a window that follows the grants of a sender that asks for little stays
//! little. An estimate that is only a floor is therefore probed above, until the radio's own records say that more waits
//! than is granted, or the path shows a queue sooner than they do. What BISCAY would do is always done at least; while
//! the modem says nothing that may be used, it is BISCAY's shadow, a stock algorithm, that drives.

mod probe;

use sounding_link::{Bound, LinkEstimate};
use sounding_units::{Bytes, HostInstant, Rate};

use crate::biscay::{BiscayController, Knobs, State};
use crate::part::Windowed;
use crate::{Ack, Controller, Departure, Loss, Start};
use core::time::Duration;
use probe::Probe;

/// How long the path's RTT without queue is believed, as BBR believes its own (BBR draft §2.8).
const RTT_MIN_LASTS: u64 = 10_000_000_000;

/// BISCAY with a probe.
#[derive(Clone, Debug)]
pub struct Sounding {
    law: BiscayController,
    probe: Probe,
    rtt_min: Option<Windowed<Duration>>,
}

impl Sounding {
    /// A flow without any estimate.
    pub fn new(start: &Start) -> Self {
        Self {
            law: BiscayController::new(Knobs::default(), start),
            probe: Probe::default(),
            rtt_min: start.rtt.map(|rtt| Windowed::min(RTT_MIN_LASTS, start.now.as_nanos(), rtt)),
        }
    }

    /// Whether the law goes by an estimate, and neither a timeout nor a narrower path keeps it from growing.
    fn may_probe(&self) -> bool {
        matches!(self.law.law().state(), State::Biscay { ramp: None, .. })
    }
}

impl Controller for Sounding {
    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        self.law.handle_sent(sent, size);
    }

    fn handle_ack(&mut self, ack: &Ack) {
        self.law.handle_ack(ack);
        if let Some(rtt) = ack.rtt {
            let now = ack.now.as_nanos();
            match &mut self.rtt_min {
                Some(filter) => filter.update(now, rtt),
                None => self.rtt_min = Some(Windowed::min(RTT_MIN_LASTS, now, rtt)),
            }
        }
        if !self.may_probe() {
            self.probe.handle_stop();
        } else if let Some(rtt_min) = self.rtt_min.map(|filter| filter.best()) {
            self.probe.handle_ack(ack, rtt_min);
        }
    }

    fn handle_loss(&mut self, loss: &Loss) {
        self.law.handle_loss(loss);
    }

    fn handle_timeout(&mut self, now: HostInstant) {
        self.law.handle_timeout(now);
        self.probe.handle_stop();
    }

    fn handle_spurious_timeout(&mut self, now: HostInstant) {
        self.law.handle_spurious_timeout(now);
    }

    fn handle_estimate(&mut self, now: HostInstant, estimate: &LinkEstimate, flows: u32) {
        self.law.handle_estimate(now, estimate, flows);
        if !estimate.is_usable() {
            self.probe.handle_stop();
        } else if estimate.bound == Bound::Capacity {
            self.probe.handle_full(now);
        } else if self.may_probe() {
            self.probe.handle_floor(now, self.law.cwnd());
        }
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.law.handle_time(now);
    }

    fn wakeup(&self) -> Option<HostInstant> {
        self.law.wakeup()
    }

    fn cwnd(&self) -> Bytes {
        self.law.cwnd().max(self.probe.cwnd())
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let probing = self.rtt_min.map(|filter| self.probe.pacing(filter.best()));
        // The law always paces.
        self.law.pacing_rate().map(|law| law.max(probing.unwrap_or_default()))
    }

    fn state(&self) -> &'static str {
        self.probe.state().unwrap_or_else(|| self.law.state())
    }
}
