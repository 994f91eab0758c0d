use core::time::Duration;

use sounding_units::{Bytes, HostInstant, Rate};

/// Minimum duration and number of packets of a probe (all constants here: libwebrtc
/// `ProbeController`, `BitrateProber`).
const LASTS: Duration = Duration::from_millis(15);
const PACKETS: u64 = 5;
/// The first two, in rates to begin with, and each after that if the last got through.
const FIRST: [u32; 2] = [3, 6];
const FURTHER: u32 = 2;
/// Percent of a probe's bytes: at least this must arrive for another probe, and for the link to
/// count as not full.
const GOES_ON: u32 = 70;
const UNHINDERED: u32 = 90;
/// Percent of the received rate that is used after a probe that filled the link; the rest is
/// margin.
const USED: u32 = 95;
/// One whose packets are not back by then has failed.
const PATIENCE: Duration = Duration::from_secs(1);

/// Sends a little much faster, to see whether it arrives as fast: growth of 8 % a second alone
/// takes most of a minute.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Probe {
    #[default]
    None,
    /// The next packet begins one.
    Due {
        rate: Rate,
        number: usize,
    },
    Sending {
        rate: Rate,
        number: usize,
        cluster: Cluster,
    },
    Waiting {
        rate: Rate,
        number: usize,
        cluster: Cluster,
    },
}

/// The packets of a probe.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cluster {
    began: HostInstant,
    ended: HostInstant,
    sent: Bytes,
    first: Option<Duration>,
    last: Duration,
    /// Bytes that arrived after the first packet.
    arrived: Bytes,
}

impl Probe {
    /// Begins with three times this rate.
    pub(super) fn begin(rate: Rate) -> Self {
        Self::Due { rate: rate.scaled(FIRST[0], 1), number: 0 }
    }

    /// The sending rate during the probe.
    pub(super) fn rate(&self) -> Option<Rate> {
        match *self {
            Self::Due { rate, .. } | Self::Sending { rate, .. } => Some(rate),
            Self::None | Self::Waiting { .. } => None,
        }
    }

    /// The current probe is repeated when there is enough to send.
    pub(super) fn postpone(&mut self) {
        if let Self::Sending { rate, number, .. } = *self {
            *self = Self::Due { rate, number };
        }
    }

    pub(super) fn handle_sent(&mut self, at: HostInstant, size: Bytes, packet: Bytes) {
        match *self {
            Self::Due { rate, number } => {
                let cluster = Cluster {
                    began: at,
                    ended: at,
                    sent: size,
                    first: None,
                    last: Duration::ZERO,
                    arrived: Bytes::ZERO,
                };
                *self = Self::Sending { rate, number, cluster };
            }
            Self::Sending { rate, number, mut cluster } => {
                cluster.sent += size;
                cluster.ended = at;
                let whole = (rate * LASTS).count().max(packet.count().saturating_mul(PACKETS));
                *self = if cluster.sent.count() >= whole {
                    Self::Waiting { rate, number, cluster }
                } else {
                    Self::Sending { rate, number, cluster }
                };
            }
            Self::None | Self::Waiting { .. } => {}
        }
    }

    /// A packet left and arrived at these times. Returns the result of the probe, if it was the
    /// last packet.
    pub(super) fn handle_arrival(
        &mut self,
        now: HostInstant,
        sent: HostInstant,
        arrived: Duration,
        size: Bytes,
    ) -> Option<Rate> {
        let (Self::Sending { cluster, .. } | Self::Waiting { cluster, .. }) = self else {
            return None;
        };
        if (cluster.began..=cluster.ended).contains(&sent) {
            if cluster.first.is_none() {
                cluster.first = Some(arrived);
            } else {
                cluster.arrived += size;
                cluster.last = cluster.last.max(arrived);
            }
        }
        let Self::Waiting { rate, number, cluster } = *self else { return None };
        if now > cluster.ended + PATIENCE {
            *self = Self::None;
            return None;
        }
        if sent < cluster.ended {
            return None;
        }
        let (first, last) = (cluster.first?, cluster.last);
        let through = cluster.arrived.per(last.saturating_sub(first));
        *self = if through < rate.scaled(GOES_ON, 100) {
            Self::None
        } else if number + 1 < FIRST.len() {
            let next = rate.scaled(FIRST[number + 1], FIRST[number]);
            Self::Due { rate: next, number: number + 1 }
        } else {
            Self::Due { rate: through.min(rate).scaled(FURTHER, 1), number: number + 1 }
        };
        let hindered = through < rate.scaled(UNHINDERED, 100);
        (through > Rate::ZERO)
            .then(|| if hindered { through.scaled(USED, 100) } else { through.min(rate) })
    }
}
