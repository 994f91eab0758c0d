//! The device's side of link adaptation: the contents and times of its channel reports.
//!
//! A device measures at the end of each period and rounds to the CQI that it could receive with a
//! block error rate of 10 %. Its base station can use the report some milliseconds later.

use core::time::Duration;

use serde::Deserialize;
use sounding_units::HostInstant;

use super::coding::Coding;
use super::config::MAX_SUB_BANDS;
use super::invalid::InvalidConfig;
use super::layers::{RankConfig, Ranker, per_layer_db};

/// Settings of a device's channel reports.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReportConfig {
    /// Milliseconds between reports; range 1..=320. Periodic reports of LTE come every 2 to 160 ms
    /// (TS 36.213 Table 7.2.2-1A), of NR every 4 to 320 slots (TS 38.331); open source base
    /// stations configure 20 to 80.
    pub period_ms: u16,
    /// Milliseconds from the measurement until the base station schedules by it; range 0..=100.
    /// LTE's reference resource alone is four subframes before the report (TS 36.213 §7.2.3).
    pub delay_ms: u16,
    /// Milliseconds after time zero of the first measurement; range 0..=320.
    pub offset_ms: u16,
    /// Whether each sub-band is reported as well as the whole carrier.
    pub sub_bands: bool,
    /// Spatial layers.
    pub rank: RankConfig,
}

impl Default for ReportConfig {
    fn default() -> Self {
        Self {
            period_ms: 20,
            delay_ms: 6,
            offset_ms: 0,
            sub_bands: true,
            rank: RankConfig::default(),
        }
    }
}

impl ReportConfig {
    fn check(&self) -> Result<(), InvalidConfig> {
        InvalidConfig::unless(
            (1..=320).contains(&self.period_ms),
            "report.period_ms",
            "is between 1 and 320",
        )?;
        InvalidConfig::unless(self.delay_ms <= 100, "report.delay_ms", "is at most 100")?;
        InvalidConfig::unless(self.offset_ms <= 320, "report.offset_ms", "is at most 320")?;
        self.rank.check()
    }
}

/// A device's report of its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CqiReport {
    /// When it was measured.
    pub measured: HostInstant,
    /// When a base station can first schedule by it.
    pub usable: HostInstant,
    /// Number of layers that the device could separate; range 1..=4.
    pub rank: u8,
    /// CQI of the carrier as a whole, of each layer; range 0..=15, 0 is out of range.
    pub wideband: u8,
    sub_bands: [u8; MAX_SUB_BANDS],
    count: u8,
}

impl CqiReport {
    /// CQI of each sub-band in the precision of a report: two bits for one below the carrier's CQI,
    /// equal, one above, or at least two above (TS 36.213 Table 7.2.1-2, TS 38.214 Table
    /// 5.2.2.1-1). Empty if sub-bands are not reported.
    pub fn sub_bands(&self) -> &[u8] {
        &self.sub_bands[..usize::from(self.count)]
    }
}

/// A device that measures and reports.
#[derive(Clone, Debug)]
pub struct Reporter {
    coding: Coding,
    period: Duration,
    delay: Duration,
    with_sub_bands: bool,
    ranker: Ranker,
    due: HostInstant,
}

impl Reporter {
    /// A device that is going to receive by this coding.
    ///
    /// # Errors
    ///
    /// [`InvalidConfig`] if a setting is outside its range.
    pub fn new(config: &ReportConfig, coding: Coding) -> Result<Self, InvalidConfig> {
        config.check()?;
        let millis = |ms: u16| Duration::from_millis(ms.into());
        Ok(Self {
            coding,
            period: millis(config.period_ms),
            delay: millis(config.delay_ms),
            with_sub_bands: config.sub_bands,
            ranker: Ranker::new(config.rank),
            due: HostInstant::default() + millis(config.offset_ms),
        })
    }

    /// When it measures next.
    pub fn wakeup(&self) -> HostInstant {
        self.due
    }

    /// The report, if one is due, of a channel whose sub-bands have these SINRs. Periods that
    /// passed without a call are skipped.
    pub fn poll_report(&mut self, now: HostInstant, sinr_db: &[f32]) -> Option<CqiReport> {
        if now < self.due {
            return None;
        }
        let period = self.period.as_nanos() as u64;
        let late = (now.as_nanos() - self.due.as_nanos()) / period;
        self.due = HostInstant::from_nanos(
            self.due.as_nanos().saturating_add((late + 1).saturating_mul(period)),
        );
        let whole = capacity_mean_db(sinr_db);
        let rank = self.ranker.choose(whole);
        let cqi = |sinr_db: f32| self.coding.cqi_at(per_layer_db(sinr_db, rank));
        let wideband = cqi(whole);
        let mut report = CqiReport {
            measured: now,
            usable: now + self.delay,
            rank,
            wideband,
            sub_bands: [0; MAX_SUB_BANDS],
            count: 0,
        };
        if self.with_sub_bands {
            for (told, sinr) in report.sub_bands.iter_mut().zip(sinr_db) {
                *told = cqi(*sinr).clamp(wideband.saturating_sub(1), (wideband + 2).min(15));
                report.count += 1;
            }
        }
        Some(report)
    }
}

/// The SINR at which a flat channel has the capacity of these sub-bands together.
pub(super) fn capacity_mean_db(sinr_db: &[f32]) -> f32 {
    if sinr_db.is_empty() {
        return f32::NEG_INFINITY;
    }
    // The product of at most 20 factors below 1e7 stays within an f64.
    let product: f64 =
        sinr_db.iter().map(|db| 1.0 + libm::exp2(f64::from(*db) * OCTAVES_PER_DB)).product();
    let mean = libm::exp2(libm::log2(product) / sinr_db.len() as f64) - 1.0;
    (10.0 * libm::log10(mean.max(1e-30))) as f32
}

/// log2(10) / 10.
const OCTAVES_PER_DB: f64 = 0.332_192_809_488_736_2;

#[cfg(test)]
mod tests {
    use super::*;
    use sounding_phy::nr::{CqiTable, McsTable, mcs_of_cqi};
    use std::vec::Vec;

    fn at(micros: u64) -> HostInstant {
        HostInstant::from_nanos(micros * 1_000)
    }

    fn reporter(config: &ReportConfig) -> Reporter {
        Reporter::new(config, Coding::Lte64Qam).expect("possible")
    }

    fn one_layer() -> ReportConfig {
        let rank = RankConfig { most_layers: 1, ..RankConfig::default() };
        ReportConfig { rank, ..ReportConfig::default() }
    }

    #[test]
    fn reports_come_once_a_period_and_are_usable_after_their_delay() {
        let config =
            ReportConfig { period_ms: 10, delay_ms: 6, offset_ms: 3, ..ReportConfig::default() };
        let mut reporter = reporter(&config);
        let reports: Vec<CqiReport> =
            (0..100).filter_map(|ms| reporter.poll_report(at(ms * 1_000), &[10.0; 4])).collect();
        assert_eq!(reports.len(), 10);
        assert_eq!(reports[1].measured, at(13_000));
        assert_eq!(reports[1].usable, at(19_000));
        assert_eq!(reporter.wakeup(), at(103_000));
    }

    #[test]
    fn a_late_question_gets_one_report_and_keeps_the_rhythm() {
        let mut reporter = reporter(&ReportConfig { period_ms: 10, ..ReportConfig::default() });
        assert!(reporter.poll_report(at(57_000), &[10.0]).is_some());
        assert!(reporter.poll_report(at(59_000), &[10.0]).is_none());
        assert_eq!(reporter.wakeup(), at(60_000));
    }

    #[test]
    fn a_cqi_is_the_highest_whose_block_is_lost_at_most_once_in_ten_times() {
        let coding = Coding::Nr64Qam;
        let mut before = 0;
        for step in 0..400_u16 {
            let sinr = f32::from(step) / 10.0 - 10.0;
            let mut reporter = Reporter::new(&one_layer(), coding).expect("possible");
            let cqi = reporter.poll_report(at(0), &[sinr; 3]).expect("due").wideband;
            assert!(cqi >= before, "{sinr} dB: {cqi} after {before}");
            // The first CQI is below any MCS of the table; the others are rows of it.
            let lost = |cqi| {
                let mcs = mcs_of_cqi(CqiTable::Table1, cqi, McsTable::Qam64).expect("a CQI");
                coding.bler(mcs, 1960).expect("not reserved").error_rate(sinr)
            };
            assert!(cqi < 2 || lost(cqi) < 0.11, "{sinr} dB: CQI {cqi}");
            assert!(!(1..15).contains(&cqi) || lost(cqi + 1) > 0.09, "{sinr} dB: not {}", cqi + 1);
            before = cqi;
        }
        assert_eq!(before, 15);
    }

    #[test]
    fn sub_bands_are_reported_relative_to_the_carrier_in_two_bits() {
        let mut reporter = reporter(&one_layer());
        let report = reporter.poll_report(at(0), &[-5.0, 9.0, 9.0, 24.0]).expect("due");
        let wideband = report.wideband;
        assert_eq!(report.sub_bands()[0], wideband - 1);
        assert_eq!(report.sub_bands()[3], wideband + 2);
        let config = ReportConfig { sub_bands: false, ..one_layer() };
        let mut reporter = Reporter::new(&config, Coding::Lte64Qam).expect("possible");
        assert_eq!(reporter.poll_report(at(0), &[9.0; 4]).expect("due").sub_bands(), []);
    }

    #[test]
    fn a_good_channel_has_more_layers_of_a_lower_cqi_each() {
        let config = |most_layers| ReportConfig {
            rank: RankConfig { most_layers, ..RankConfig::default() },
            ..ReportConfig::default()
        };
        let report = |most| reporter(&config(most)).poll_report(at(0), &[20.0; 4]).expect("due");
        assert_eq!((report(1).rank, report(2).rank), (1, 2));
        assert!(report(1).wideband > report(2).wideband);
    }

    #[test]
    fn capacity_of_equal_sub_bands_is_theirs_and_a_lost_one_costs_half_of_two() {
        assert!((capacity_mean_db(&[7.0; 5]) - 7.0).abs() < 1e-4);
        // 15 = 4 bits on one of two sub-bands is 2 bits on both: 3.
        let half = capacity_mean_db(&[11.7609, -100.0]);
        assert!((half - 4.7712).abs() < 1e-3, "{half}");
        assert!(capacity_mean_db(&[60.0; MAX_SUB_BANDS]).is_finite());
    }
}
