use core::time::Duration;

use sounding_units::{Bytes, HostInstant};

use super::probe::Feedback;
use super::signals::ShortTerm;
use super::{Bbr3, Mode};
use crate::Ack;

/// §2: MinRTTFilterLen.
const RTT_MIN_LASTS: Duration = Duration::from_secs(10);
/// §2: ProbeRTTInterval.
const PROBE_RTT_AFTER: Duration = Duration::from_secs(5);
/// §2: ProbeRTTDuration.
const PROBE_RTT_LASTS: Duration = Duration::from_millis(200);

/// How long the path is without queue (§5.3.4).
impl Bbr3 {
    /// §5.3.4.3.
    pub(super) fn update_rtt_min(&mut self, ack: &Ack, round_began: bool) {
        let now = ack.now;
        let expired = self.probe_rtt_min.is_none_or(|(_, at)| now > at + PROBE_RTT_AFTER);
        if let Some(rtt) = ack.rtt
            && (expired || self.probe_rtt_min.is_none_or(|(least, _)| rtt < least))
        {
            self.probe_rtt_min = Some((rtt, now));
        }
        if let Some(probed) = self.probe_rtt_min
            && self.rtt_min.is_none_or(|(least, at)| probed.0 < least || now > at + RTT_MIN_LASTS)
        {
            self.rtt_min = Some(probed);
        }
        let probing = matches!(self.mode, Mode::ProbeRtt { .. });
        if expired && !probing && !self.idle_restart {
            self.save_cwnd();
            self.mode = Mode::ProbeRtt { until: None };
            self.probe.feedback = Feedback::Stopping;
            self.round.restart(self.delivered);
        }
        if let Mode::ProbeRtt { until } = self.mode {
            self.probe_rtt(ack, until, round_began);
        }
        self.idle_restart = false;
    }

    fn probe_rtt(&mut self, ack: &Ack, until: Option<(HostInstant, bool)>, round_began: bool) {
        let from = if until.is_none() { ack.delivered } else { self.small.start };
        self.small = from..ack.delivered + ack.in_flight + Bytes::new(1);
        let until = match until {
            None if ack.in_flight <= self.probe_rtt_cwnd() => {
                self.round.restart(ack.delivered);
                Some((ack.now + PROBE_RTT_LASTS, false))
            }
            Some((at, _)) if round_began => Some((at, true)),
            until => until,
        };
        self.mode = Mode::ProbeRtt { until };
        if let Some((at, true)) = until
            && ack.now > at
        {
            self.leave_probe_rtt(ack.now);
        }
    }

    pub(super) fn leave_probe_rtt(&mut self, now: HostInstant) {
        if let Some((_, at)) = &mut self.probe_rtt_min {
            *at = now;
        }
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.signals.bounds = ShortTerm::default();
        if self.reached {
            self.start_down(now);
            self.mode = Mode::Cruise;
        } else {
            self.mode = Mode::Startup;
        }
    }
}
