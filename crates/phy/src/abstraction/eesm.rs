use libm::{expf, log10f, logf, powf};

use super::tables;
use crate::nr::{self, McsTable};

/// β of the exponential effective SINR mapping for an I_MCS; `None` for reserved ones and for
/// 1024QAM, for which no β is published. The published betas are for NR's first two MCS tables. A
/// row of another table uses the β of the row with the same modulation and the nearest code rate.
pub fn eesm_beta(table: McsTable, i_mcs: u8) -> Option<f32> {
    nr::mcs(table, i_mcs)?;
    let beta = BETA[table as usize][usize::from(i_mcs)];
    (beta > 0.0).then_some(beta)
}

/// By MCS table and I_MCS; 0 if there is none.
static BETA: [[f32; 29]; 6] = {
    let mut betas = [[0.0; 29]; 6];
    let mut table = 0;
    while table < 6 {
        let rows = McsTable::ALL[table].rows();
        let mut i_mcs = 0;
        while i_mcs < rows.len() {
            betas[table][i_mcs] =
                if table < 2 { tables::EESM_BETA[i_mcs][table] } else { nearest(rows[i_mcs]) };
            i_mcs += 1;
        }
        table += 1;
    }
    betas
};

const fn nearest((order, rate): (u8, u16)) -> f32 {
    // π/2-BPSK is as robust as QPSK of half the rate.
    let (order, rate) = if order == 1 { (2, rate / 2) } else { (order, rate) };
    let (mut best, mut distance) = (0.0, u16::MAX);
    let mut at = 0;
    while at < 2 * 29 {
        let (table, i_mcs) = (at / 29, at % 29);
        let rows = McsTable::ALL[table].rows();
        if i_mcs < rows.len() && rows[i_mcs].0 == order && rows[i_mcs].1.abs_diff(rate) < distance {
            (best, distance) = (tables::EESM_BETA[i_mcs][table], rows[i_mcs].1.abs_diff(rate));
        }
        at += 1;
    }
    best
}

/// The SINR in dB of white noise with the same loss probability as a block whose parts have these
/// SINRs: -β ln(mean(e^(-γ/β))). `None` without parts.
pub fn effective_sinr_db(beta: f32, parts_db: &[f32]) -> Option<f32> {
    if parts_db.is_empty() {
        return None;
    }
    let least = parts_db.iter().copied().fold(f32::INFINITY, f32::min);
    let linear = |db: f32| powf(10.0, db / 10.0);
    // Relative to the weakest part, so that the exponentials do not all underflow.
    let weakest = linear(least);
    let sum: f32 = parts_db.iter().map(|part| expf(-(linear(*part) - weakest) / beta)).sum();
    Some(10.0 * log10f(weakest - beta * logf(sum / parts_db.len() as f32)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop, prop_assert, proptest};

    #[test]
    fn betas_are_those_of_the_table_and_grow_with_the_modulation() {
        assert_eq!(eesm_beta(McsTable::Qam64, 16), Some(6.5));
        assert_eq!(eesm_beta(McsTable::Qam256, 27), Some(132.54));
        assert_eq!(eesm_beta(McsTable::Qam64, 29), None);
        assert_eq!(eesm_beta(McsTable::Qam1024, 26), None);
        // Rows that are in the first table too.
        assert_eq!(eesm_beta(McsTable::Qam64LowSe, 28), eesm_beta(McsTable::Qam64, 24));
        assert_eq!(eesm_beta(McsTable::Precoding, 27), eesm_beta(McsTable::Qam64, 28));
        assert_eq!(eesm_beta(McsTable::PrecodingLowSe, 0), eesm_beta(McsTable::Qam64, 0));
    }

    #[test]
    fn no_parts_have_no_sinr() {
        assert_eq!(effective_sinr_db(1.6, &[]), None);
    }

    proptest! {
        #[test]
        fn equal_parts_have_the_sinr_of_each(at in -15.0..40.0f32, count in 1..30usize, beta in 1.5..130.0f32) {
            let found = effective_sinr_db(beta, &std::vec![at; count]).expect("there are parts");
            prop_assert!((found - at).abs() < 0.01, "{found} {at}");
        }

        #[test]
        fn all_are_no_better_than_their_mean_and_no_worse_than_the_weakest(
            parts in prop::collection::vec(-15.0..40.0f32, 1..30), beta in 1.5..130.0f32,
        ) {
            let found = effective_sinr_db(beta, &parts).expect("there are parts");
            let least = parts.iter().copied().fold(f32::INFINITY, f32::min);
            let linear: f32 = parts.iter().map(|db| powf(10.0, db / 10.0)).sum();
            let mean = 10.0 * log10f(linear / parts.len() as f32);
            prop_assert!(found >= least - 0.01 && found <= mean + 0.01, "{least} {found} {mean}");
        }
    }
}
