//! How a modem stands, in one line.

use std::sync::atomic::Ordering;

use serde_json::{Map, Value as Json, json};
use sounding_link::LinkEstimate;
use sounding_units::HostInstant;

use super::Events;
use crate::run::flows::{Followed, Seen};
use crate::session_report;

impl Events {
    /// Leaves the line of each minute out.
    pub(in crate::run) fn be_quiet(&self) {
        self.common.is_quiet.store(true, Ordering::Relaxed);
    }

    /// The flows under this congestion control are looked at, until what this returns is dropped.
    pub(in crate::run) fn follow_flows(&self, name: &str) -> Followed {
        self.common.flows.follow(name)
    }

    /// The flows that leave by this modem. `None` if there is no law, or if that would have to be
    /// waited for.
    pub(in crate::run) fn flows(&self) -> Option<Seen> {
        let place = self.common.place_of(self.modem.as_deref()?)?;
        self.common.flows.at(place, !self.common.are_several())
    }

    /// The state of the link, its rate, its flows, and how many records come. False if it is to be
    /// said later.
    pub(in crate::run) fn standing(
        &mut self,
        now: HostInstant,
        estimate: Option<&LinkEstimate>,
        records_per_sec: Option<f64>,
        is_repeated: bool,
    ) -> bool {
        if is_repeated && self.common.is_quiet.load(Ordering::Relaxed) {
            return true;
        }
        let flows = self.flows();
        let mut event = estimate.map_or_else(|| json!({}), session_report::estimate);
        event["event"] = "standing".into();
        event["at_ns"] = now.as_nanos().into();
        event["records_per_sec"] = records_per_sec.map(|rate| rate.round() as u64).into();
        event["flows"] = flows.as_ref().map_or(Json::Null, counts);
        self.say(&event, || Some(sentence(estimate, flows.as_ref(), records_per_sec)));
        true
    }
}

/// How many flows are in which phase.
fn counts(flows: &Seen) -> Json {
    let each = flows.phases.iter().map(|(phase, count)| ((*phase).to_owned(), (*count).into()));
    Json::Object(each.collect::<Map<_, _>>())
}

fn sentence(
    estimate: Option<&LinkEstimate>,
    flows: Option<&Seen>,
    records_per_sec: Option<f64>,
) -> String {
    let link = estimate.map(|estimate| {
        let rate = match (estimate.known_rate(), estimate.known_bound()) {
            (Some(rate), Some(bound)) => format!("{rate} ({bound})"),
            (Some(rate), None) => rate.to_string(),
            (None, _) => "rate unknown".into(),
        };
        let state =
            estimate.known_state().map_or("state unknown".into(), |state| state.to_string());
        let age = match estimate.age {
            std::time::Duration::MAX => "age unknown".into(),
            age => format!("{} ms old", age.as_millis()),
        };
        format!("{} {state}: {rate}, {age}", estimate.direction)
    });
    let flows = flows.map(|flows| {
        let each = flows.phases.iter().map(|(phase, count)| format!("{count} {phase}"));
        match flows.phases.is_empty() {
            true => "no flows".into(),
            false => format!("flows: {}", each.collect::<Vec<_>>().join(", ")),
        }
    });
    let records = match records_per_sec {
        Some(rate) => format!("{rate:.0} records/s"),
        None => "records/s unknown".into(),
    };
    [link, flows, Some(records)].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use sounding_kpi::Direction;
    use sounding_link::{Bound, Config, Estimator};
    use sounding_units::Rate;

    use super::*;

    #[test]
    fn a_line_has_what_is_known_and_says_what_is_not() {
        let rate = Rate::from_bits_per_sec(9_000_000);
        let estimate = LinkEstimate::new(Direction::Uplink, rate, Bound::Floor);
        let estimate = estimate.with_age(Duration::from_millis(12));
        let phases = BTreeMap::from([("hold", 1), ("radio-limited", 2)]);
        let flows = Seen { phases, ..Seen::default() };
        let said = sentence(Some(&estimate), Some(&flows), Some(812.4));
        assert!(said.starts_with("uplink active: 9.00 Mbit/s (floor), 12 ms old"), "{said}");
        assert!(said.ends_with("; flows: 1 hold, 2 radio-limited; 812 records/s"), "{said}");
        let none = Estimator::new(Config::new(Direction::Uplink)).estimate(HostInstant::default());
        let said = sentence(Some(&none), None, None);
        assert!(said.contains("rate unknown, age unknown; records/s unknown"), "{said}");
        assert_eq!(sentence(None, Some(&Seen::default()), Some(0.0)), "no flows; 0 records/s");
    }
}
