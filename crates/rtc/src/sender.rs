//! An estimator of a sender's rate: this project's GCC behind corrected arrivals, for stacks whose
//! estimator can be replaced.

#[cfg(feature = "interceptor")]
mod interceptor;
#[cfg(test)]
mod tests;

#[cfg(feature = "interceptor")]
pub use interceptor::InterceptorEstimator;
use std::time::Duration;

use sounding_baselines::Gcc;
use sounding_cc::{Ack, Controller, Departure, Start};
use sounding_units::{Bytes, HostInstant, Rate};

use crate::{Corrections, Hold, HoldCounts, Way};

/// A packet that a feedback is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// When it left, on the device's clock.
    pub sent: HostInstant,
    /// When it arrived, on the receiver's clock, whose origin is unknown; `None` if it is lost.
    pub arrived: Option<Duration>,
    /// Its bytes.
    pub size: Bytes,
}

/// An arrival that waits for its correction.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    sent: HostInstant,
    size: Bytes,
    rtt: Duration,
}

/// GCC with corrected arrivals. Feedback waits up to 150 ms after an arrival until the modem's
/// records of it have come.
#[derive(Debug)]
pub struct Estimator<C> {
    gcc: Gcc,
    hold: Hold<C, Arrival>,
    /// One arrival on the device's clock and on the receiver's, too late by the way back.
    origin: Option<(HostInstant, Duration)>,
    delivered: Bytes,
    lost: Bytes,
    /// Bytes whose loss GCC does not know yet.
    newly_lost: Bytes,
}

impl<C: Corrections> Estimator<C> {
    /// An estimator of a flow that begins at `now`, with packets of at most `mss` bytes.
    pub fn new(now: HostInstant, mss: Bytes, corrections: C) -> Self {
        let start = Start { mss, headers: Bytes::ZERO, ..Start::tcp(now, None, 0) };
        Self {
            gcc: Gcc::new(&start),
            hold: Hold::new(corrections),
            origin: None,
            delivered: Bytes::ZERO,
            lost: Bytes::ZERO,
            newly_lost: Bytes::ZERO,
        }
    }

    /// The source of corrections.
    pub fn corrections_mut(&mut self) -> &mut C {
        self.hold.corrections_mut()
    }

    /// Arrivals by what became of them.
    pub fn counts(&self) -> HoldCounts {
        self.hold.counts()
    }

    /// The rate at which to encode.
    pub fn rate(&self) -> Rate {
        self.gcc.target()
    }

    /// The state of GCC in a word.
    pub fn state(&self) -> &'static str {
        self.gcc.state()
    }

    /// Feedback came, of packets in the order of their sending.
    pub fn handle_reports(&mut self, now: HostInstant, reports: impl IntoIterator<Item = Report>) {
        for report in reports {
            let Some(arrived) = report.arrived else {
                self.newly_lost += report.size;
                continue;
            };
            let (here, there) = *self.origin.get_or_insert((now, arrived));
            let arrived = (here + arrived.saturating_sub(there))
                .saturating_before(there.saturating_sub(arrived));
            let Report { sent, size, .. } = report;
            let way = Way { sent: Some(sent), arrived };
            self.hold.handle_packet(way, Arrival { sent, size, rtt: now - sent });
        }
        self.handle_time(now);
    }

    /// Time has reached the [`wakeup`](Self::wakeup).
    pub fn handle_time(&mut self, now: HostInstant) {
        while let Some((at, _, arrival)) = self.hold.poll(now) {
            self.delivered += arrival.size;
            let newly_lost = std::mem::take(&mut self.newly_lost);
            self.lost += newly_lost;
            self.gcc.handle_ack(&Ack {
                now,
                acked: arrival.size,
                newly_lost,
                rtt: Some(arrival.rtt),
                one_way: Some(at - arrival.sent),
                delivered: self.delivered,
                lost: self.lost,
                sent: Departure { at: arrival.sent, ..Departure::default() },
                ..Ack::default()
            });
        }
    }

    /// When an arrival that waits is looked at again.
    pub fn wakeup(&self, now: HostInstant) -> Option<HostInstant> {
        self.hold.wakeup(now)
    }
}
