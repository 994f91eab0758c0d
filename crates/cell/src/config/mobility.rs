//! The cells and carriers that a device uses, and its sleep cycle.

use alloc::vec::Vec;
use core::time::Duration;

use serde::Deserialize;
use sounding_units::Bytes;

use crate::{quantity, radio};

/// Carrier aggregation.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AggregationConfig {
    /// A secondary carrier is added when more than this has waited for `after`.
    #[serde(deserialize_with = "quantity::bytes")]
    pub queue: Bytes,
    /// See `queue`.
    #[serde(deserialize_with = "quantity::duration")]
    pub after: Duration,
    /// A secondary carrier is added too when the device had this share of the downlink's resource
    /// blocks that others left on its serving carriers, over `load_over`: a queue is not
    /// needed (PBE-CC §3, footnote 1). Default none: only `queue` counts. Above 0 and at most
    /// 1.
    pub load: Option<f64>,
    /// See `load`. At least 10 ms. Default 100 ms: Fig. 2 of PBE-CC has a carrier 130 ms after the
    /// rate rose.
    #[serde(deserialize_with = "quantity::duration")]
    pub load_over: Duration,
    /// From the command to the first use: n+24 to n+34 (TS 36.133 §7.7.2).
    #[serde(deserialize_with = "quantity::duration")]
    pub activation: Duration,
    /// sCellDeactivationTimer: a carrier that is not needed for this long is dropped. With `load`
    /// it is needed while the others alone would have that load.
    #[serde(deserialize_with = "quantity::duration")]
    pub deactivation: Duration,
}

impl Default for AggregationConfig {
    fn default() -> Self {
        Self {
            queue: Bytes::new(60_000),
            after: Duration::from_millis(80),
            load: None,
            load_over: Duration::from_millis(100),
            activation: Duration::from_millis(28),
            deactivation: Duration::from_millis(320),
        }
    }
}

impl AggregationConfig {
    pub(crate) fn check(&self) -> Result<(), radio::InvalidConfig> {
        let load = self.load.is_none_or(|load| load > 0.0 && load <= 1.0);
        if !load {
            let what = "device.aggregation.load";
            return Err(radio::InvalidConfig { what, must: "is above 0 and at most 1" });
        }
        if self.load_over < Duration::from_millis(10) {
            let what = "device.aggregation.load_over";
            return Err(radio::InvalidConfig { what, must: "is at least 10ms" });
        }
        Ok(())
    }
}

/// When a device goes to another cell.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HandoverConfig {
    /// Event A3: a neighbour is this much better, in dB (TS 36.331 §5.5.4.4).
    pub a3_offset_db: f32,
    /// The time for which this must hold.
    #[serde(deserialize_with = "quantity::duration")]
    pub time_to_trigger: Duration,
    /// From the measurement report to the command.
    #[serde(deserialize_with = "quantity::duration")]
    pub preparation: Duration,
    /// Interruption of the user plane, at least and at most: 27.5 to 60 ms in LTE (TS 36.133
    /// §5.1.2.1).
    #[serde(deserialize_with = "quantity::durations")]
    pub interruption: [Duration; 2],
    /// Whether the old cell forwards undelivered data to the new one.
    pub forward: bool,
    /// Times since the beginning at which the device moves to its next cell, regardless of
    /// measurements.
    #[serde(deserialize_with = "quantity::list")]
    pub at: Vec<Duration>,
}

impl Default for HandoverConfig {
    fn default() -> Self {
        Self {
            a3_offset_db: 3.0,
            time_to_trigger: Duration::from_millis(320),
            preparation: Duration::from_millis(50),
            interruption: [Duration::from_millis(30), Duration::from_millis(60)],
            forward: true,
            at: Vec::new(),
        }
    }
}

/// Which group of cells a split bearer's uplink uses first (primaryPath, TS 38.331 PDCP-Config).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrimaryPath {
    /// LTE's.
    Master,
    /// NR's.
    Secondary,
}

/// Dual connectivity: carriers of NR among those of an LTE cell are its secondary group.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DualConfig {
    /// Event B1: RSRP from which NR's first cell is worth adding, dBm (TS 36.331 §5.5.4.7).
    /// Chosen.
    pub b1_dbm: f32,
    /// And for how long it has to be.
    #[serde(deserialize_with = "quantity::duration")]
    pub time_to_trigger: Duration,
    /// From the report to the command: with the access after it 60 to 100 ms (NR timing facts).
    /// Default 80 ms.
    #[serde(deserialize_with = "quantity::duration")]
    pub preparation: Duration,
    /// From the command to the first use: random access in the new cell. Default 20 ms.
    #[serde(deserialize_with = "quantity::duration")]
    pub access: Duration,
    /// SINR below which the device can no longer receive NR's control channel, dB. Chosen.
    pub lost_db: f32,
    /// For how long until the secondary group has failed (T310, TS 38.331 §5.3.10). Default 1 s.
    #[serde(deserialize_with = "quantity::duration")]
    pub t310: Duration,
    /// The group that the uplink, and its requests, use first.
    pub primary_path: PrimaryPath,
    /// ul-DataSplitThreshold: with this much waiting the uplink goes both ways (TS 38.331
    /// PDCP-Config). Default 100 KiB; 0 is always.
    #[serde(deserialize_with = "quantity::bytes")]
    pub split_threshold: Bytes,
}

impl Default for DualConfig {
    fn default() -> Self {
        Self {
            b1_dbm: -110.0,
            time_to_trigger: Duration::from_millis(160),
            preparation: Duration::from_millis(80),
            access: Duration::from_millis(20),
            lost_db: -8.0,
            t310: Duration::from_secs(1),
            primary_path: PrimaryPath::Secondary,
            split_threshold: Bytes::new(102_400),
        }
    }
}

/// When a device sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SleepConfig {
    /// drx-InactivityTimer; without end, the device never sleeps while connected.
    #[serde(deserialize_with = "quantity::duration")]
    pub inactivity: Duration,
    /// longDRX-Cycle.
    #[serde(deserialize_with = "quantity::duration")]
    pub cycle: Duration,
    /// onDurationTimer.
    #[serde(deserialize_with = "quantity::duration")]
    pub on: Duration,
    /// The network releases the connection after this long without data: 10 to 30 s.
    #[serde(deserialize_with = "quantity::duration")]
    pub release: Duration,
    /// From data to the first grant of a new connection: random access and RRC setup. 60 to 100
    /// ms.
    #[serde(deserialize_with = "quantity::duration")]
    pub setup: Duration,
    /// Cycle in which an idle device listens for paging.
    #[serde(deserialize_with = "quantity::duration")]
    pub paging: Duration,
}

impl Default for SleepConfig {
    fn default() -> Self {
        Self {
            inactivity: Duration::from_millis(200),
            cycle: Duration::from_millis(320),
            on: Duration::from_millis(10),
            release: Duration::from_secs(10),
            setup: Duration::from_millis(80),
            paging: Duration::from_millis(1_280),
        }
    }
}
