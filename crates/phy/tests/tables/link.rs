use sounding_phy::abstraction::{Channel, Curve, MiRate, cqi_bler, eesm_beta, lte_bler, nr_bler};
use sounding_phy::channel::{Scenario, Shadowing};
use sounding_phy::nr::{self, McsTable};
use sounding_phy::{Modulation, lte};
use sounding_units::Prb;

use super::csv::{number, some, table};

/// An error rate beside the one at which a curve was read.
fn assert_rate(found: f32, wanted: f32, at: &str) {
    assert!((found - wanted).abs() < 0.02 * wanted, "{at}: {found} and {wanted}");
}

const RATES: [f32; 3] = [0.5, 0.1, 0.01];

#[test]
fn error_curves_of_nr() {
    let Some(rows) = table("link_sionna_nr_awgn_bler") else { return };
    let mut whole = 0;
    for row in &rows {
        let mcs_table = match row[0].as_str() {
            "PDSCH_table1" => McsTable::Qam64,
            "PDSCH_table2" => McsTable::Qam256,
            "PDSCH_table3" => McsTable::Qam64LowSe,
            "PDSCH_table4" => McsTable::Qam1024,
            "PUSCH_table1" => McsTable::Precoding,
            "PUSCH_table2" => McsTable::PrecodingLowSe,
            other => panic!("series {other:?}"),
        };
        let i_mcs = some(&row[2]);
        let size: u32 = some(&row[3]);
        let scheme = nr::mcs(mcs_table, i_mcs).expect("not reserved");
        // A transport block with its CRC is one code block; of 24 bits there is none of 8.
        let Some(bits) = size.checked_sub(16).filter(|bits| *bits >= 24) else { continue };
        assert_eq!(nr::code_blocks(bits, scheme.rate_2048).bits, size);
        let bler = nr_bler(mcs_table, i_mcs, bits).expect("not reserved");
        let points = [4, 5, 6].map(|at| number::<f32>(&row[at]));
        whole += usize::from(points.iter().all(Option::is_some));
        for (rate, sinr) in RATES.into_iter().zip(points) {
            if let Some(sinr) = sinr {
                assert_rate(bler.error_rate(sinr), rate, &format!("{row:?}"));
            }
        }
    }
    assert!(whole > 500, "{whole} whole curves");
}

#[test]
fn error_curves_of_the_smallest_blocks_of_nr() {
    let Some(rows) = table("link_sionna_nr_awgn_bler") else { return };
    for row in rows.iter().filter(|row| row[3] == "24" && row[0] == "PDSCH_table1") {
        // Eight bits and their CRC are 24; the table of sizes begins with 24 bits, but nothing
        // forbids to ask.
        let bler = nr_bler(McsTable::Qam64, some(&row[2]), 8).expect("not reserved");
        for (rate, cell) in RATES.into_iter().zip(&row[4..7]) {
            if let Some(sinr) = number(cell) {
                assert_rate(bler.error_rate(sinr), rate, &format!("{row:?}"));
            }
        }
    }
}

#[test]
fn error_curves_of_lte() {
    let Some(rows) = table("link_oai_lte_awgn_bler") else { return };
    let mut checked = 0;
    for row in rows.iter().filter(|row| row[0] == "Perf_Curves_Abs") {
        let (modulation, index) =
            lte::mcs(lte::McsTable::Downlink, some(&row[1])).expect("not reserved");
        let bits = lte::tbs_bits(index, Prb::new(25), 1).expect("in the table");
        assert_eq!(bits, some::<u32>(&row[2]));
        let bler = lte_bler(modulation, index, bits).expect("it is known");
        assert!(bler.is_simulated());
        for (rate, cell) in RATES.into_iter().zip(&row[4..7]) {
            assert_rate(bler.error_rate(some(cell)), rate, &format!("{row:?}"));
        }
        checked += 1;
    }
    assert_eq!(checked, 28);
}

#[test]
fn error_curves_by_reported_quality() {
    for (channel, name) in [
        (Channel::Awgn, "link_ltesim_cqi_awgn_bler"),
        (Channel::TypicalUrban, "link_ltesim_cqi_tu_bler"),
    ] {
        let Some(rows) = table(name) else { continue };
        for row in rows {
            for (rate, cell) in RATES.into_iter().zip(&row[1..4]) {
                let Some(sinr) = number(cell) else { continue };
                let found = cqi_bler(channel, some(&row[0]), sinr).expect("a CQI");
                assert_rate(found, rate, &format!("{name} {row:?}"));
            }
        }
    }
}

#[test]
fn the_curves_are_near_the_logistic_functions_of_the_same_simulations() {
    let Some(rows) = table("link_ltesim_cqi_awgn_bler") else { return };
    for row in rows {
        let [half, tenth, hundredth, middle, steepness] = [1, 2, 3, 4, 5].map(|at| some(&row[at]));
        let curve = Curve::new([half, tenth, hundredth]).expect("they rise");
        for i in -40i8..=40 {
            let sinr: f32 = half + f32::from(i) / 20.0;
            let fitted = |sinr: f32| {
                let exponent: f32 = steepness * (sinr - middle);
                1.0 / (1.0 + exponent.exp())
            };
            let found = curve.error_rate(sinr);
            // To a fifth of a decibel where errors are neither rare nor the rule; the fits miss the
            // points themselves by a tenth.
            let within = fitted(sinr + 0.2) <= found && found <= fitted(sinr - 0.2);
            assert!(within || !(0.01..0.9).contains(&found), "{row:?} at {sinr} dB: {found}");
        }
    }
}

#[test]
fn code_block_errors_by_mutual_information() {
    let Some(rows) = table("link_ns3_lena_mi_bler") else { return };
    for row in rows {
        let (b, c): (f64, f64) = (some(&row[5]), some(&row[6]));
        let rate = MiRate::new(some(&row[0])).expect("a rate");
        assert_eq!(rate.modulation(), number(&row[1]).and_then(Modulation::of_order));
        assert_eq!(rate.code_rate(), some::<f32>(&row[2]));
        if let Some(i_mcs) = number(&row[3]) {
            assert_eq!(MiRate::of_mcs(i_mcs), Some(rate));
        }
        // -1: not simulated.
        if c > 0.0 {
            let found = |information| rate.code_block_error_rate(some(&row[4]), information);
            assert!((found(b) - 0.5).abs() < 1e-4, "{row:?}");
            // One standard deviation of the normal distribution.
            assert!((found(b + c) - 0.158_655).abs() < 1e-3, "{row:?}");
        }
    }
}

#[test]
fn betas_of_effective_sinr() {
    let Some(rows) = table("link_eesm_beta") else { return };
    for row in rows {
        let i_mcs = some(&row[0]);
        assert_eq!(eesm_beta(McsTable::Qam64, i_mcs), number(&row[1]));
        assert_eq!(eesm_beta(McsTable::Qam256, i_mcs), number(&row[2]));
    }
}

#[test]
fn shadowing() {
    let Some(rows) = table("tr38901_pathloss") else { return };
    for row in rows {
        let scenario = match row[0].as_str() {
            "UMi" => Some(Scenario::Umi),
            "UMa" => Some(Scenario::Uma),
            "RMa" => Some(Scenario::Rma),
            "InH" => Some(Scenario::Inh),
            _ => None,
        };
        let found = match scenario {
            Some(scenario) => Shadowing::of(scenario, row[1] == "LOS"),
            None => Shadowing::of_walls(),
        };
        let wanted = Shadowing { sigma_db: some(&row[3]), correlation_m: some(&row[4]) };
        assert_eq!(found, wanted, "{} {}", row[0], row[1]);
    }
}
