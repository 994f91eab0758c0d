//! Scheduling requests and buffer status reports.

use core::time::Duration;

use serde::Deserialize;
use sounding_units::Bytes;

use crate::quantity;

/// How a network answers requests and reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NetworkKind {
    /// As the operators that Gandalf measured, with periodicBSR-Timer at 5 ms: what a report asks
    /// for is sent 5 to 10 ms after it (Equation 4). This is a time: it does not follow the timer.
    /// A device that has just sent data is granted space for a report each `periodic_bsr`.
    #[default]
    Operator,
    /// As srsRAN 4G: each report is answered after its processing, and nothing else is granted. A
    /// device requests a grant whenever data comes to an empty buffer, and fills a block when its
    /// grant comes.
    Srsran,
    /// As this model was before it knew kinds of networks: answers take a multiple of
    /// `periodic_bsr`. Figures that were taken on it can be taken again.
    Before,
}

/// A device's requests for the uplink, and the network's grants.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UplinkConfig {
    /// How the network answers. Default `operator`.
    pub network: NetworkKind,
    /// sr-Periodicity.
    #[serde(deserialize_with = "quantity::duration")]
    pub sr_period: Duration,
    /// periodicBSR-Timer. Gandalf §4.3.2 finds 5 ms in LTE and NR.
    #[serde(deserialize_with = "quantity::duration")]
    pub periodic_bsr: Duration,
    /// retxBSR-Timer.
    #[serde(deserialize_with = "quantity::duration")]
    pub retx_bsr: Duration,
    /// Time from a report to the first transmission of newly reported data, t_r + K2, at least.
    /// `operator` has 5 ms; grants for new data are as far apart, so that it is at most twice
    /// that (Gandalf Equation 4). `srsran` has 9 ms, the stack's own. `before` ignores it.
    #[serde(deserialize_with = "quantity::optional_duration")]
    pub answer: Option<Duration>,
    /// The same for `before`, as a multiple of `periodic_bsr`. Default 1. If the base station
    /// cannot answer that soon, as in LTE, it is 2 at 5 ms.
    pub grant_delay: f64,
    /// Size of the grant that answers a scheduling request before a report arrives. Default 125,
    /// and 512 in `srsran`.
    #[serde(deserialize_with = "quantity::optional_bytes")]
    pub first_grant: Option<Bytes>,
    /// Probability that the network counts bytes of an earlier report as new (Gandalf §3.2.2).
    /// Range 0..=1. Chosen. `srsran` ignores it.
    pub double_grant: f64,
    /// A grant of `first_grant` without a request or a report, so long after the last grant.
    /// Default: none.
    #[serde(deserialize_with = "quantity::optional_duration")]
    pub proactive: Option<Duration>,
}

impl Default for UplinkConfig {
    fn default() -> Self {
        Self {
            network: NetworkKind::Operator,
            sr_period: Duration::from_millis(10),
            periodic_bsr: Duration::from_millis(5),
            retx_bsr: Duration::from_millis(320),
            answer: None,
            grant_delay: 1.0,
            first_grant: None,
            double_grant: 0.1,
            proactive: None,
        }
    }
}

impl UplinkConfig {
    /// The configured time to an answer, or the network's own.
    #[inline]
    pub fn answer(&self) -> Duration {
        self.answer.unwrap_or(match self.network {
            NetworkKind::Srsran => Duration::from_millis(9),
            NetworkKind::Operator | NetworkKind::Before => Duration::from_millis(5),
        })
    }

    /// The configured size of the grant that answers a request, or the network's own.
    #[inline]
    pub fn first_grant(&self) -> Bytes {
        self.first_grant.unwrap_or(match self.network {
            NetworkKind::Srsran => Bytes::new(512),
            NetworkKind::Operator | NetworkKind::Before => Bytes::new(125),
        })
    }
}
