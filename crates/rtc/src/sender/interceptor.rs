use std::time::{Duration, Instant};

use rtc_interceptor::{BandwidthEstimator, PacketReport};
use sounding_units::{Bytes, HostInstant};

use super::{Estimator, Report};
use crate::Corrections;

/// An [`Estimator`] in the place of rtc-interceptor's own.
#[derive(Debug)]
pub struct InterceptorEstimator<C> {
    estimator: Estimator<C>,
    /// One moment on both clocks.
    start: (Instant, HostInstant),
    now: HostInstant,
}

impl<C: Corrections> InterceptorEstimator<C> {
    /// For a call that begins now, with packets of at most `mss` bytes.
    pub fn new(start: (Instant, HostInstant), mss: Bytes, corrections: C) -> Self {
        Self { estimator: Estimator::new(start.1, mss, corrections), start, now: start.1 }
    }

    /// The source of corrections.
    pub fn corrections_mut(&mut self) -> &mut C {
        self.estimator.corrections_mut()
    }

    fn host(&self, at: Instant) -> HostInstant {
        let (instant, host) = self.start;
        (host + at.saturating_duration_since(instant))
            .saturating_before(instant.saturating_duration_since(at))
    }
}

impl<C: Corrections + Sync> BandwidthEstimator for InterceptorEstimator<C> {
    fn on_reports(&mut self, now: Instant, reports: &[PacketReport]) {
        self.now = self.host(now);
        let reports: Vec<Report> = reports
            .iter()
            .map(|report| Report {
                sent: self.host(report.departure),
                arrived: report.arrival.filter(|_| report.arrived),
                size: Bytes::new(report.size as u64),
            })
            .collect();
        self.estimator.handle_reports(self.now, reports);
    }

    fn target_bitrate(&self) -> f64 {
        self.estimator.rate().bits_per_sec() as f64
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.now = self.host(now);
        self.estimator.handle_time(self.now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        // Later than the time that was handed in last, as the trait demands.
        let at = self.estimator.wakeup(self.now)?.max(self.now + Duration::from_millis(1));
        Some(self.start.0 + (at - self.start.1))
    }
}
