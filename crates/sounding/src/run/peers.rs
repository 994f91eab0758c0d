//! What devices say to a server, while it runs: each one's first word, how much was not believed,
//! and whose.

use std::time::Duration;

use miette::Result;
use sounding_bpf::{
    DownlinkError, HearsPeers, PeerCounts, Peers, PeersConfig, ReportCause, Walked,
};
use sounding_units::HostInstant;

use super::events::Events;

/// Counts are reported at most this often.
const COUNT_EVERY: Duration = Duration::from_secs(1);

/// Peers whose reports are used.
pub(super) struct Hearing {
    peers: Peers,
    /// Connections that were open at the start.
    adopted: Walked,
    counts: PeerCounts,
    counted: HostInstant,
}

impl Hearing {
    /// Makes flows under any law use their peers' reports from here on.
    pub(super) fn start(instance: &impl HearsPeers, config: &PeersConfig) -> Result<Self> {
        let peers = Peers::attach(instance, config).map_err(failed)?;
        let adopted = peers.adopt().map_err(failed)?;
        let (counts, counted) = (PeerCounts::default(), HostInstant::default());
        Ok(Self { peers, adopted, counts, counted })
    }

    /// Connections that were open at the start.
    pub(super) fn adopted(&self) -> Walked {
        self.adopted
    }

    /// Tells of connections whose peer spoke first since the last time, and of what was not
    /// believed.
    pub(super) fn attend(&mut self, now: HostInstant, events: &mut Events) {
        while let Some(report) = self.peers.poll_report() {
            match report.cause {
                ReportCause::First => events.peer(&report),
                ReportCause::Overstated => events.overstated(&report),
            }
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

    /// The parts of reports that were not used.
    pub(super) fn counts(&self) -> PeerCounts {
        self.peers.counts()
    }
}

/// With what to do about it.
pub(super) fn failed(error: DownlinkError) -> miette::Report {
    let cure = error.cure();
    miette::miette!(help = cure, "{error}")
}
