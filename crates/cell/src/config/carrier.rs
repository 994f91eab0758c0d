//! A component carrier, and how users share it.

use alloc::string::String;
use core::time::Duration;

use serde::Deserialize;
use sounding_kpi::Direction;
use sounding_phy::lte::TddConfig;

use super::transmission::HarqConfig;
use super::{InvalidConfig, Rat};
use crate::frame::{Frame, PatternError, lte_configuration};
use crate::radio::{self, Coding, Duplex, SiteConfig};

/// Pieces of a carrier that fade apart: 5 MHz each of 20, which the echoes of a city leave alike.
pub(crate) const SUB_BANDS: usize = 4;

/// A component carrier.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CarrierConfig {
    /// LTE or NR.
    pub rat: Rat,
    /// Numerology of NR, 0..=3: subcarriers of 15 kHz times two to its power (TS 38.211 Table
    /// 4.2-1).
    pub numerology: u8,
    /// TDD: of NR a pattern of D, S and U, of LTE the number of an uplink-downlink configuration,
    /// `0` to `6` (TS 36.211 Table 4.2-2). FDD without.
    pub tdd: Option<String>,
    /// Resource blocks, N_RB: 6..=100 in LTE, 11..=273 in NR.
    pub prb: u16,
    /// Most layers in the downlink: 1 or 2 in LTE, 1..=4 in NR.
    pub layers: u8,
    /// Whether 256QAM is configured.
    pub qam256: bool,
    /// Number of grants and assignments that fit the PDCCH in a slot. Default 8: 10 to 12 at 20
    /// MHz and CFI 3 (TS 36.211 §6.8), minus those for common channels.
    pub pdcch: u8,
    /// Number of the carrier, EARFCN or NR-ARFCN, for records.
    pub arfcn: u32,
    /// Physical cell identity, for records.
    pub pci: u16,
    /// Whether devices may send on it. Secondary carriers are often downlink only.
    pub uplink: bool,
    /// Middle of its downlink in MHz.
    pub frequency_mhz: f64,
    /// Its site.
    pub site: SiteConfig,
    /// The scheduler's policy.
    pub policy: Policy,
    /// New users of control traffic per second: most take four resource blocks of one subframe.
    /// PBE-CC's busy tower had about 360: 14.5 of the 15.8 users in 40 ms (PBE-CC §4.2.1, Fig.
    /// 7). Default 0.
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

    /// HARQ on this carrier: in LTE's TDD the configuration sets the number of processes (TS 36.213
    /// Tables 7-1, 8-1).
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

    /// A slot; in LTE a subframe.
    pub fn slot_duration(&self) -> Duration {
        Duration::from_micros(1_000 >> self.numerology.min(4))
    }

    /// Its division of time.
    pub(crate) fn frame(&self) -> Result<Frame, PatternError> {
        match (self.rat, &self.tdd) {
            (Rat::Lte, None) => Ok(Frame::lte_fdd()),
            (Rat::Lte, Some(configuration)) => Frame::lte_tdd(configuration),
            (Rat::Nr, None) => Ok(Frame::nr_fdd(self.numerology)),
            (Rat::Nr, Some(pattern)) => Frame::nr_tdd(self.numerology, pattern),
        }
    }

    /// From the end of a slot to the packets in it: demodulation and decoding. 1.5 ms in LTE (TR
    /// 36.912 §B.2), and in NR about N1 (TS 38.214 Table 5.3-1).
    pub(crate) fn decoding(&self) -> Duration {
        match self.rat {
            Rat::Lte => Duration::from_micros(1_500),
            Rat::Nr => Duration::from_micros(500),
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

/// The order in which users are served.
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
    /// Foreground users, then background users; proportional fair among each (Legilimens §VI, its
    /// ideal).
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
