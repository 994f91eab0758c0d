//! A device.

use alloc::vec::Vec;

use serde::Deserialize;

use super::bearer::RlcConfig;
use super::mobility::{AggregationConfig, DualConfig, HandoverConfig, SleepConfig};
use super::transmission::{HarqConfig, PowerConfig};
use super::uplink::UplinkConfig;
use crate::radio::{self, AdaptConfig, ModelConfig, ReportConfig, TrajectoryConfig};
use crate::traffic::Traffic;

/// A device.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeviceConfig {
    /// The cells that it can be on, the first at the beginning. Each is a list of carriers: its
    /// primary, then those that may be aggregated with it. Under a primary of LTE carriers of
    /// NR are a secondary group, the first of them its primary.
    pub cells: Vec<Vec<usize>>,
    /// Its trajectory.
    pub trajectory: TrajectoryConfig,
    /// Its radio.
    pub radio: radio::DeviceConfig,
    /// Its channel to its sites.
    pub channel: ModelConfig,
    /// Settings of its channel reports.
    pub report: ReportConfig,
    /// Link adaptation of its downlink.
    pub adapt_downlink: AdaptConfig,
    /// And its uplink.
    pub adapt_uplink: AdaptConfig,
    /// Its transmit power.
    pub power: PowerConfig,
    /// Downlink bearer.
    pub downlink: RlcConfig,
    /// Uplink bearer.
    pub uplink: RlcConfig,
    /// Scheduling requests and buffer status reports.
    pub scheduling: UplinkConfig,
    /// HARQ.
    pub harq: HarqConfig,
    /// When secondary carriers are used.
    pub aggregation: AggregationConfig,
    /// When NR is added to LTE.
    pub dual: DualConfig,
    /// When it goes to another cell.
    pub handover: HandoverConfig,
    /// When it sleeps.
    pub sleep: SleepConfig,
    /// Background traffic that arrives for it from elsewhere, unrequested.
    pub traffic: Option<Traffic>,
    /// Whether its traffic may wait for that of others, if the policy distinguishes them.
    pub background: bool,
}

impl Default for DeviceConfig {
    fn default() -> Self {
        Self {
            cells: Vec::from([Vec::from([0])]),
            trajectory: TrajectoryConfig::default(),
            radio: radio::DeviceConfig::default(),
            channel: ModelConfig::default(),
            report: ReportConfig::default(),
            adapt_downlink: AdaptConfig::DOWNLINK,
            adapt_uplink: AdaptConfig::UPLINK,
            power: PowerConfig::default(),
            downlink: RlcConfig::default(),
            uplink: RlcConfig::default(),
            scheduling: UplinkConfig::default(),
            harq: HarqConfig::default(),
            aggregation: AggregationConfig::default(),
            dual: DualConfig::default(),
            handover: HandoverConfig::default(),
            sleep: SleepConfig::default(),
            traffic: None,
            background: false,
        }
    }
}
