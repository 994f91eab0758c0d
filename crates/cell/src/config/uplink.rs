//! Scheduling requests and buffer status reports.

use core::time::Duration;

use serde::Deserialize;
use sounding_units::Bytes;

use crate::quantity;

/// A device's requests for the uplink, and the network's grants.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UplinkConfig {
    /// sr-Periodicity.
    #[serde(deserialize_with = "quantity::duration")]
    pub sr_period: Duration,
    /// periodicBSR-Timer. Gandalf §4.3.2 finds 5 ms in LTE and NR.
    #[serde(deserialize_with = "quantity::duration")]
    pub periodic_bsr: Duration,
    /// retxBSR-Timer.
    #[serde(deserialize_with = "quantity::duration")]
    pub retx_bsr: Duration,
    /// Time from a report to the first transmission of newly reported data, t_r + K2, as a
    /// multiple of `periodic_bsr`; Gandalf Equation 4 has 1 to 2. Default 1. If the base
    /// station cannot answer that soon, as in LTE, it is 2 at 5 ms.
    pub grant_delay: f64,
    /// Size of the grant that answers a scheduling request before a report arrives.
    #[serde(deserialize_with = "quantity::bytes")]
    pub first_grant: Bytes,
    /// Probability that the network counts bytes of an earlier report as new (Gandalf §3.2.2).
    /// Range 0..=1. Chosen.
    pub double_grant: f64,
}

impl Default for UplinkConfig {
    fn default() -> Self {
        Self {
            sr_period: Duration::from_millis(10),
            periodic_bsr: Duration::from_millis(5),
            retx_bsr: Duration::from_millis(320),
            grant_delay: 1.0,
            first_grant: Bytes::new(125),
            double_grant: 0.1,
        }
    }
}
