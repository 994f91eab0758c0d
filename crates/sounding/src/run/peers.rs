//! Reports of devices to a running server: how much of them was not used, and whose.

use std::time::Duration;

use miette::Result;
use sounding_bpf::{DownlinkError, Instance, PeerCounts, Peers, PeersConfig};
use sounding_units::HostInstant;

use super::events::Events;

/// Counts are reported at most this often.
const COUNT_EVERY: Duration = Duration::from_secs(1);

/// Peers whose reports are used.
pub(super) struct Hearing {
    peers: Peers,
    counts: PeerCounts,
    counted: HostInstant,
}

impl Hearing {
    /// Makes flows under either law use their peers' reports from here on.
    pub(super) fn start(
        instance: &Instance,
        config: &PeersConfig,
        events: &mut Events,
    ) -> Result<Self> {
        let peers = Peers::attach(instance, config).map_err(failed)?;
        events.peers(peers.adopt().map_err(failed)?);
        let (counts, counted) = (PeerCounts::default(), HostInstant::default());
        Ok(Self { peers, counts, counted })
    }

    /// Reports what was not used since the last call.
    pub(super) fn attend(&mut self, now: HostInstant, events: &mut Events) {
        while let Some(overstatement) = self.peers.poll_overstatement() {
            events.overstated(&overstatement);
        }
        if now - self.counted < COUNT_EVERY {
            return;
        }
        self.counted = now;
        let counts = self.peers.counts();
        if counts != self.counts {
            self.counts = counts;
            events.disbelieved(now, counts);
        }
    }

    /// Stops using their reports; returns the parts of them that were not used.
    pub(super) fn end(self) -> PeerCounts {
        self.peers.counts()
    }
}

/// With what to do about it.
pub(super) fn failed(error: DownlinkError) -> miette::Report {
    let cure = error.cure();
    miette::miette!(help = cure, "{error}")
}
