use sounding_cc::sharing::Claim;
use sounding_units::{Bytes, Rate};

/// A flow's claim on its link, from its stack's reports.
///
/// ```text
///          a segment leaves             the window is full, or there is more to send
///   Idle ──────────────────▶ Limited ─────────────────────────────▶ Hungry
///    ▲                        │   ▲                                   │
///    │                        │   └───── the application ran out ─────┤
///    └── nothing in flight ───┴───────────────────────────────────────┘
/// ```
///
/// A flow that begins to send is not hungry for that: its claim is taken from the others, and most
/// of what begins is a request or a report. Its own equal part it has whatever it claims.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claims {
    claim: Claim,
    /// The last measured limit; zero if there was none. IP.
    last_limited: Rate,
}

impl Default for Claims {
    fn default() -> Self {
        Self { claim: Claim::Idle, last_limited: Rate::ZERO }
    }
}

impl Claims {
    /// What it claims now.
    pub(super) fn claim(self) -> Claim {
        self.claim
    }

    /// A segment left, which may have filled the window.
    pub(super) fn handle_sent(&mut self, full: bool) {
        if full {
            self.claim = Claim::Hungry;
        } else if self.claim == Claim::Idle {
            self.claim = Claim::Limited(self.last_limited);
        }
    }

    /// An acknowledgement left so much in flight; `rate` is how fast was delivered, as IP, if
    /// enough was to say so.
    pub(super) fn handle_ack(&mut self, in_flight: Bytes, app_limited: bool, rate: Option<Rate>) {
        if !app_limited {
            self.claim = Claim::Hungry;
            return;
        }
        if let Some(rate) = rate {
            self.last_limited = rate;
            self.claim = Claim::Limited(rate);
        }
        if in_flight == Bytes::ZERO {
            self.claim = Claim::Idle;
        }
    }
}
