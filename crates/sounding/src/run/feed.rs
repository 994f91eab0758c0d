//! What flows receive of an estimate.

use std::time::Duration;

use sounding_bpf::{Feed, Lull};
use sounding_link::{LinkEstimate, State};
use sounding_units::HostInstant;

/// An estimate at least this often while records come in.
pub(super) const PUBLISH_EVERY: Duration = Duration::from_millis(10);

/// Writes a usable estimate into the feed, and withdraws the last one where there is none.
pub(super) fn publish(feed: &Feed, estimate: &LinkEstimate, now: HostInstant) {
    let why = match estimate.state {
        State::Idle => Lull::Idle,
        State::Handover => Lull::Handover,
        _ => Lull::Unknown,
    };
    if !estimate.is_usable() {
        feed.withdraw(why);
        return;
    }
    feed.publish(&sounding_bpf::FeedEstimate {
        rate: estimate.rate,
        sampled_at: now.saturating_before(estimate.age),
        bound: match estimate.bound {
            sounding_link::Bound::Capacity => sounding_bpf::Bound::Capacity,
            sounding_link::Bound::Floor => sounding_bpf::Bound::Floor,
        },
        other_flows: 0,
    });
}
