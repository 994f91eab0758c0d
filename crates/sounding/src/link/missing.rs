//! Names the records that a rate needs, for a capture without a rate.

use serde_json::{Value as Json, json};
use sounding_diag::LogCode;
use sounding_kpi::{Direction, Kpi, channel_codes, grant_codes};
use sounding_link::{LinkEstimate, Method, Seen};

use crate::session_report;

/// The records that a method needs in one direction, and which of them arrived.
#[derive(Clone, Debug)]
pub(super) struct Needs {
    direction: Direction,
    method: Method,
    is_known: bool,
    grants: bool,
    /// Grants whose records contain resource blocks.
    allocations: bool,
    channel: bool,
    signal: bool,
    /// Records of the codes in question that came, readable or not.
    came: Vec<LogCode>,
}

/// A missing quantity, and the records that contain it.
struct Lack {
    what: &'static str,
    codes: Vec<LogCode>,
}

impl Needs {
    pub(super) const fn new(direction: Direction, method: Method) -> Self {
        Self {
            direction,
            method,
            is_known: false,
            grants: false,
            allocations: false,
            channel: false,
            signal: false,
            came: Vec::new(),
        }
    }

    pub(super) fn handle_seen(&mut self, seen: &Seen<'_>) {
        match seen {
            Seen::Record(record) => self.handle_record(record.code),
            Seen::Kpi(kpi) => self.handle_kpi(kpi),
            Seen::Next(_) | Seen::Other { .. } => {}
        }
    }

    fn handle_record(&mut self, code: LogCode) {
        let is_asked_for = || {
            channel_codes().contains(&code)
                || grant_codes(self.direction).iter().any(|kinds| kinds.contains(&code))
        };
        if !self.came.contains(&code) && is_asked_for() {
            self.came.push(code);
        }
    }

    fn handle_kpi(&mut self, kpi: &Kpi) {
        match kpi {
            Kpi::Grant(grant) if grant.direction == self.direction => {
                self.grants = true;
                self.allocations |= grant.allocation.is_some();
            }
            Kpi::Channel(_) => self.channel = true,
            Kpi::Signal(_) => self.signal = true,
            _ => {}
        }
    }

    pub(super) fn handle_estimate(&mut self, estimate: &LinkEstimate) {
        self.is_known |= estimate.known_rate().is_some();
    }

    /// Whether there was a rate at any time.
    pub(super) const fn are_met(&self) -> bool {
        self.is_known
    }

    fn lack(&self) -> Option<Lack> {
        let kinds = grant_codes(self.direction);
        if !self.grants {
            let codes = kinds.iter().copied().flatten().copied().collect();
            return Some(Lack { what: "list what was granted", codes });
        }
        match self.method {
            Method::Formula | Method::Cell | Method::Prb | Method::Mcs if !self.allocations => {
                let codes = kinds.iter().filter_map(|kinds| kinds.first()).copied().collect();
                Some(Lack { what: "say which resource blocks were granted", codes })
            }
            Method::Cqi if !self.channel => {
                Some(Lack { what: "report a CQI", codes: channel_codes()[..3].to_vec() })
            }
            Method::Rsrp if !self.signal => {
                Some(Lack { what: "report an RSRP", codes: channel_codes()[3..].to_vec() })
            }
            _ => None,
        }
    }

    /// Why there is no rate, and what to do.
    pub(super) fn sentence(&self) -> String {
        let Self { direction, method, .. } = self;
        let Some(Lack { what, codes }) = self.lack() else {
            return format!("too few records for a rate of the {direction} by --method {method}");
        };
        let came: Vec<LogCode> =
            codes.iter().filter(|code| self.came.contains(code)).copied().collect();
        let log = session_report::names(&codes).join(", ");
        if came.is_empty() {
            return format!(
                "no rate of the {direction}: there are no records that {what}; log one of {log}"
            );
        }
        let came = session_report::names(&came).join(", ");
        format!(
            "no rate of the {direction}: the records that {what} cannot be read or hold nothing ({came}); the others are {log}"
        )
    }

    /// The same for programs.
    pub(super) fn json(&self) -> Json {
        let codes = self.lack().map(|lack| session_report::names(&lack.codes)).unwrap_or_default();
        json!({
            "direction": self.direction.to_string(),
            "method": self.method.to_string(),
            "log_one_of": codes,
            "came": session_report::names(&self.came),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_for_a_capture_without_grants_lists_their_records() {
        let sentence = Needs::new(Direction::Uplink, Method::Grants).sentence();
        for code in ["0xB139", "0xB064", "0xB883", "0xB872"] {
            assert!(sentence.contains(code), "{sentence}");
        }
        assert!(!sentence.contains("0xB173"), "{sentence}");
    }

    #[test]
    fn records_that_came_and_were_not_read_are_named() {
        let mut needs = Needs::new(Direction::Downlink, Method::Grants);
        needs.handle_record(LogCode::new(0xB173));
        needs.handle_record(LogCode::new(0xB0C0));
        assert!(needs.sentence().contains("hold nothing (0xB173)"), "{}", needs.sentence());
    }
}
