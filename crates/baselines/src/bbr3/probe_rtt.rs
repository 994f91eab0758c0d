use core::time::Duration;

use sounding_cc::Ack;
use sounding_cc::part::Pause;
use sounding_units::HostInstant;

use super::probe::Feedback;
use super::signals::ShortTerm;
use super::{Bbr3, Mode};

/// §2: MinRTTFilterLen.
const RTT_MIN_LASTS: Duration = Duration::from_secs(10);
/// §2: ProbeRTTInterval.
const PROBE_RTT_AFTER: Duration = Duration::from_secs(5);

/// The RTT of the path without a queue (§5.3.4).
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
        let probing = matches!(self.mode, Mode::ProbeRtt(_));
        if expired && !probing && !self.idle_restart {
            self.save_cwnd();
            self.mode = Mode::ProbeRtt(Pause::default());
            self.probe.feedback = Feedback::Stopping;
            self.round.restart(self.delivered);
        }
        if let Mode::ProbeRtt(pause) = self.mode {
            self.probe_rtt(ack, pause, round_began);
        }
        self.idle_restart = false;
    }

    fn probe_rtt(&mut self, ack: &Ack, mut pause: Pause, round_began: bool) {
        let small = self.probe_rtt_cwnd();
        let over = pause.handle_ack(ack, &mut self.round, round_began, small, &mut self.small);
        self.mode = Mode::ProbeRtt(pause);
        if over {
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
