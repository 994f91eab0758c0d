//! What a network is made of. Every part has defaults that a commercial network would recognise.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use serde::Deserialize;
use sounding_phy::lte::TddConfig;
use sounding_units::Bytes;

use crate::event::Direction;
use crate::frame::{PatternError, lte_configuration};
use crate::leg::SUB_BANDS;
use crate::quantity;
use crate::radio::{
    self, AdaptConfig, Coding, Duplex, ModelConfig, ReportConfig, SiteConfig, TrajectoryConfig,
};
use crate::traffic::Traffic;

/// LTE or NR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rat {
    /// TS 36 series.
    Lte,
    /// TS 38 series.
    Nr,
}

/// A component carrier.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CarrierConfig {
    /// LTE or NR.
    pub rat: Rat,
    /// Numerology of NR, 0..=3: subcarriers of 15 kHz times two to its power (TS 38.211 Table 4.2-1).
    pub numerology: u8,
    /// TDD: of NR a pattern of D, S and U, of LTE the number of an uplink-downlink configuration, `0` to `6` (TS 36.211
    /// Table 4.2-2). FDD without.
    pub tdd: Option<String>,
    /// Resource blocks, N_RB: 6..=100 in LTE, 11..=273 in NR.
    pub prb: u16,
    /// Most layers in the downlink: 1 or 2 in LTE, 1..=4 in NR.
    pub layers: u8,
    /// Whether 256QAM is configured.
    pub qam256: bool,
    /// Grants and assignments that the PDCCH has room for in a slot. Default 8: 10 to 12 at 20 MHz and CFI 3 (TS 36.211 §6.8), less those
    /// for common channels.
    pub pdcch: u8,
    /// Number of the carrier, EARFCN or NR-ARFCN, for records.
    pub arfcn: u32,
    /// Physical cell identity, for records.
    pub pci: u16,
    /// Whether devices may send on it; secondary carriers are often downlink only.
    pub uplink: bool,
    /// Middle of its downlink in MHz.
    pub frequency_mhz: f64,
    /// Where it is sent from.
    pub site: SiteConfig,
    /// How users share it.
    pub policy: Policy,
    /// Users of control traffic that come in a second: most take four resource blocks of one subframe. PBE-CC's busy
    /// tower had some 360, 14.5 of the 15.8 users of 40 ms (PBE-CC §4.2.1, Fig. 7). Default 0.
    pub control_users_per_sec: f64,
}

impl Default for CarrierConfig {
    fn default() -> Self {
        Self {
            rat: Rat::Lte,
            numerology: 0,
            tdd: None,
            prb: 100,
            layers: 2,
            qam256: false,
            pdcch: 8,
            arfcn: 1_300,
            pci: 1,
            uplink: true,
            frequency_mhz: 1_842.5,
            site: SiteConfig::default(),
            policy: Policy::default(),
            control_users_per_sec: 0.0,
        }
    }
}

impl CarrierConfig {
    /// The tables that its blocks are coded by.
    pub fn coding(&self, direction: Direction) -> Coding {
        match (self.rat, direction, self.qam256) {
            (Rat::Lte, Direction::Uplink, _) => Coding::LteUplink,
            (Rat::Lte, Direction::Downlink, false) => Coding::Lte64Qam,
            (Rat::Lte, Direction::Downlink, true) => Coding::Lte256Qam,
            (Rat::Nr, _, false) => Coding::Nr64Qam,
            (Rat::Nr, _, true) => Coding::Nr256Qam,
        }
    }

    /// The uplink-downlink configuration of LTE in TDD.
    pub(crate) fn lte_tdd(&self) -> Option<TddConfig> {
        let tdd = self.tdd.as_ref().filter(|_| self.rat == Rat::Lte)?;
        lte_configuration(tdd)
    }

    /// HARQ on this carrier: LTE's TDD has as many processes as its configuration leaves under way (TS 36.213 Tables 7-1,
    /// 8-1).
    pub(crate) fn harq(&self, device: HarqConfig, direction: Direction) -> HarqConfig {
        let processes = self.lte_tdd().map(|tdd| match direction {
            Direction::Downlink => tdd.downlink_processes(),
            Direction::Uplink => tdd.uplink_processes(),
        });
        HarqConfig { processes: processes.unwrap_or(device.processes), ..device }
    }

    pub(crate) fn radio(&self) -> radio::CarrierConfig {
        radio::CarrierConfig {
            frequency_mhz: self.frequency_mhz,
            prb: self.prb,
            subcarrier_khz: 15 << self.numerology.min(3),
            sub_bands: SUB_BANDS as u8,
            duplex: if self.tdd.is_some() { Duplex::Tdd } else { Duplex::Fdd },
        }
    }

    pub(crate) fn check(&self) -> Result<(), InvalidConfig> {
        let unless = |holds, what, must| {
            let error = InvalidConfig::Value(radio::InvalidConfig { what, must });
            if holds { Ok(()) } else { Err(error) }
        };
        let (prb, layers, numerology) = match self.rat {
            Rat::Lte => (6..=100, 2, 0),
            Rat::Nr => (11..=273, 4, 3),
        };
        unless(prb.contains(&self.prb), "carrier.prb", "is 6 to 100 in LTE, 11 to 273 in NR")?;
        unless(
            (1..=layers).contains(&self.layers),
            "carrier.layers",
            "is 1 or 2 in LTE, 1 to 4 in NR",
        )?;
        unless(self.pdcch > 0, "carrier.pdcch", "is at least 1")?;
        unless(self.numerology <= numerology, "carrier.numerology", "is 0 in LTE, 0 to 3 in NR")?;
        unless(
            (0.0..=10_000.0).contains(&self.control_users_per_sec),
            "carrier.control_users_per_sec",
            "is between 0 and 10000",
        )
    }
}

/// A network that cannot be built, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidConfig {
    /// A setting outside its range.
    Value(radio::InvalidConfig),
    /// A TDD pattern.
    Pattern(PatternError),
    /// A device names a carrier that there is not.
    NoCarrier(usize),
    /// A device has no cell, or a cell no carrier.
    NoCell,
    /// More carriers or devices than can be numbered.
    TooMany,
}

impl core::fmt::Display for InvalidConfig {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Value(value) => value.fmt(f),
            Self::Pattern(pattern) => write!(f, "carrier.tdd: {pattern}"),
            Self::NoCarrier(number) => write!(f, "device.cells: there is no carrier {number}"),
            Self::NoCell => f.write_str("device.cells: needs a cell, and each cell a carrier"),
            Self::TooMany => f.write_str("more than 255 carriers or 15000 devices"),
        }
    }
}

impl core::error::Error for InvalidConfig {}

impl From<radio::InvalidConfig> for InvalidConfig {
    fn from(value: radio::InvalidConfig) -> Self {
        Self::Value(value)
    }
}

impl From<PatternError> for InvalidConfig {
    fn from(pattern: PatternError) -> Self {
        Self::Pattern(pattern)
    }
}

/// Who is served first.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Policy {
    /// The user with the highest rate over its own average, the average over `slots` (usually 100).
    ProportionalFair {
        /// Time constant of the average.
        slots: u32,
    },
    /// The user that was served longest ago.
    RoundRobin,
    /// The user with the highest rate.
    MaxRate,
    /// Foreground users, then background users; proportional fair among each (Legilimens §VI, its ideal).
    Priority {
        /// Time constant of the average.
        slots: u32,
    },
}

impl Default for Policy {
    fn default() -> Self {
        Self::ProportionalFair { slots: 100 }
    }
}

/// Whether RLC repeats what HARQ could not deliver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// RLC AM.
    Acknowledged,
    /// RLC UM.
    Unacknowledged,
}

/// One direction of a data radio bearer. Its timers and thresholds are those that more captures of commercial LTE networks than
/// any others set data bearers up with, 34 of those of 2014 to 2025. In all of them together are 20 different settings, with a
/// t-Reordering of 45 ms in the median.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RlcConfig {
    /// AM or UM.
    pub mode: Mode,
    /// Queue of packets that were not sent yet; what does not fit is dropped.
    #[serde(deserialize_with = "quantity::bytes")]
    pub queue: Bytes,
    /// PDCP's discardTimer: a packet that waited longer is not begun.
    #[serde(deserialize_with = "quantity::duration")]
    pub discard: Duration,
    /// t-Reordering.
    #[serde(deserialize_with = "quantity::duration")]
    pub t_reordering: Duration,
    /// t-StatusProhibit.
    #[serde(deserialize_with = "quantity::duration")]
    pub t_status_prohibit: Duration,
    /// t-PollRetransmit.
    #[serde(deserialize_with = "quantity::duration")]
    pub t_poll_retransmit: Duration,
    /// pollPDU.
    pub poll_pdu: u32,
    /// pollByte.
    #[serde(deserialize_with = "quantity::bytes")]
    pub poll_byte: Bytes,
    /// maxRetxThreshold.
    pub max_retx: u32,
    /// What PDCP, RLC and MAC add to each packet: 2 to 3 bytes each.
    #[serde(deserialize_with = "quantity::bytes")]
    pub packet_overhead: Bytes,
}

impl Default for RlcConfig {
    fn default() -> Self {
        Self {
            mode: Mode::Acknowledged,
            queue: Bytes::new(2_000_000),
            discard: Duration::MAX,
            t_reordering: Duration::from_millis(45),
            t_status_prohibit: Duration::from_millis(20),
            t_poll_retransmit: Duration::from_millis(60),
            poll_pdu: 16,
            poll_byte: Bytes::new(u64::MAX),
            max_retx: 32,
            packet_overhead: Bytes::new(6),
        }
    }
}

/// How a device asks for the uplink and is granted it.
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
    /// From a report to the first transmission of what it newly reports, t_r + K2, as a multiple of `periodic_bsr`; Gandalf
    /// Equation 4 has 1 to 2. Default 1; where the base station cannot answer so soon, as in LTE, it is 2 at 5 ms.
    pub grant_delay: f64,
    /// What a scheduling request is granted before the report comes, in bytes.
    #[serde(deserialize_with = "quantity::bytes")]
    pub first_grant: Bytes,
    /// How often the network takes bytes for new that it was told of before (Gandalf §3.2.2). Range 0..=1. Chosen.
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

/// What a device sends with. The network's commands bring the device to the SNR it wants, while its power suffices
/// (closed loop, TS 36.213 §5.1.1.1, TS 38.213 §7.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PowerConfig {
    /// Most power of the device, dBm: 23 is class 3 (TS 36.101 §6.2.2).
    pub most_dbm: f32,
    /// SNR that the network wants at its antennas, dB. Default 20: what the highest MCS need. Chosen.
    pub target_snr_db: f32,
    /// What the base station's noise figure and other cells' devices add to thermal noise, dB.
    pub noise_rise_db: f32,
}

impl Default for PowerConfig {
    fn default() -> Self {
        Self { most_dbm: 23.0, target_snr_db: 20.0, noise_rise_db: 8.0 }
    }
}

/// HARQ.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HarqConfig {
    /// Processes of a carrier and direction: 8 in LTE, up to 16 in NR.
    pub processes: u8,
    /// Transmissions of a block, the first included.
    pub transmissions: u8,
    /// What each further transmission gains over chase combining, dB.
    pub redundancy_gain_db: f32,
    /// How often a sender takes a refusal for an acceptance and leaves the block to RLC: PUCCH and, in LTE, PHICH are heard
    /// wrong now and then. Range 0..=1. Default 0.002, chosen: RLC repeats something every few seconds of a busy link, as
    /// on Gandalf's walk (Fig. 5).
    pub misheard: f64,
}

impl Default for HarqConfig {
    fn default() -> Self {
        // lte_timing_facts: commercial networks give up after 4 to 5; PBE-CC §3 saw three repetitions at most.
        Self { processes: 8, transmissions: 4, redundancy_gain_db: 0.0, misheard: 0.002 }
    }
}

/// Carrier aggregation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AggregationConfig {
    /// A secondary carrier is added once more than this waits for `after`.
    #[serde(deserialize_with = "quantity::bytes")]
    pub queue: Bytes,
    /// See `queue`.
    #[serde(deserialize_with = "quantity::duration")]
    pub after: Duration,
    /// From the command to the first use: n+24 to n+34 (TS 36.133 §7.7.2).
    #[serde(deserialize_with = "quantity::duration")]
    pub activation: Duration,
    /// sCellDeactivationTimer: a carrier that is not needed for so long is dropped.
    #[serde(deserialize_with = "quantity::duration")]
    pub deactivation: Duration,
}

impl Default for AggregationConfig {
    fn default() -> Self {
        Self {
            queue: Bytes::new(60_000),
            after: Duration::from_millis(80),
            activation: Duration::from_millis(28),
            deactivation: Duration::from_millis(320),
        }
    }
}

/// When a device goes to another cell.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HandoverConfig {
    /// Event A3: a neighbour is this much better, in dB (TS 36.331 §5.5.4.4).
    pub a3_offset_db: f32,
    /// And has been for so long.
    #[serde(deserialize_with = "quantity::duration")]
    pub time_to_trigger: Duration,
    /// From the measurement report to the command.
    #[serde(deserialize_with = "quantity::duration")]
    pub preparation: Duration,
    /// Interruption of the user plane, at least and at most: 27.5 to 60 ms in LTE (TS 36.133 §5.1.2.1).
    #[serde(deserialize_with = "quantity::durations")]
    pub interruption: [Duration; 2],
    /// Whether the old cell hands on what it could not deliver.
    pub forward: bool,
    /// Times since the beginning at which the device goes to its next cell whatever it measures.
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
pub enum Path {
    /// LTE's.
    Master,
    /// NR's.
    Secondary,
}

/// Dual connectivity: carriers of NR among those of an LTE cell are its secondary group.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DualConfig {
    /// Event B1: RSRP from which NR's first cell is worth adding, dBm (TS 36.331 §5.5.4.7). Chosen.
    pub b1_dbm: f32,
    /// And for how long it has to be.
    #[serde(deserialize_with = "quantity::duration")]
    pub time_to_trigger: Duration,
    /// From the report to the command: with the access after it 60 to 100 ms (NR timing facts). Default 80 ms.
    #[serde(deserialize_with = "quantity::duration")]
    pub preparation: Duration,
    /// From the command to the first use: random access in the new cell. Default 20 ms.
    #[serde(deserialize_with = "quantity::duration")]
    pub access: Duration,
    /// SINR below which the device does not hear NR's control channel any more, dB. Chosen.
    pub lost_db: f32,
    /// For how long until the secondary group has failed (T310, TS 38.331 §5.3.10). Default 1 s.
    #[serde(deserialize_with = "quantity::duration")]
    pub t310: Duration,
    /// Where the uplink goes first, and requests.
    pub primary_path: Path,
    /// ul-DataSplitThreshold: with so much waiting the uplink goes both ways (TS 38.331 PDCP-Config). Default 100 KiB; 0 is
    /// always.
    #[serde(deserialize_with = "quantity::bytes")]
    pub split_threshold: Bytes,
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
    /// The network releases the connection after so long without data: 10 to 30 s.
    #[serde(deserialize_with = "quantity::duration")]
    pub release: Duration,
    /// From data to the first grant of a new connection: random access and RRC setup. 60 to 100 ms.
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

/// A device.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeviceConfig {
    /// The cells that it can be on, the first at the beginning. Each is a list of carriers: its primary, then those that may
    /// be aggregated with it. Under a primary of LTE carriers of NR are a secondary group, the first of them its primary.
    pub cells: Vec<Vec<usize>>,
    /// Where it goes.
    pub trajectory: TrajectoryConfig,
    /// Its radio.
    pub radio: radio::DeviceConfig,
    /// What lies between it and its sites.
    pub channel: ModelConfig,
    /// How it reports its channels.
    pub report: ReportConfig,
    /// How the network adapts its downlink.
    pub adapt_downlink: AdaptConfig,
    /// And its uplink.
    pub adapt_uplink: AdaptConfig,
    /// What it sends with.
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
    /// What comes for it from elsewhere, without being asked.
    pub traffic: Option<Traffic>,
    /// Whether its traffic may wait for that of others, where a policy asks.
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
