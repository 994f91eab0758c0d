//! What a cell model computes in every interval for every device, compared with the simple way to
//! the same number: the procedure of sizes in floating point, and an error rate as one logistic
//! function.

use std::hint::black_box;

use divan::Bencher;
use divan::counter::ItemsCount;
use sounding_phy::abstraction::{Bler, lte_bler, nr_bler, nr_cqi};
use sounding_phy::lte::{self, TbsIndex};
use sounding_phy::nr::{self, CqiTable, McsTable, TbScaling};
use sounding_units::Prb;

fn main() {
    divan::main();
}

/// Inputs of one round, in an order that no branch predictor learns.
const ROUND: usize = 4096;

fn shuffled(most: u32) -> Vec<u32> {
    // The constants of Numerical Recipes' quick generator.
    let mut state = 1u32;
    (0..ROUND)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((u64::from(state) * u64::from(most)) >> 32) as u32
        })
        .collect()
}

fn each<T: Copy>(bencher: Bencher<'_, '_>, inputs: &[T], ask: impl Fn(T) -> f64 + Sync) {
    bencher
        .counter(ItemsCount::new(inputs.len()))
        .bench_local(|| inputs.iter().map(|input| ask(black_box(*input))).sum::<f64>());
}

#[divan::bench]
fn lte_size(bencher: Bencher<'_, '_>) {
    each(bencher, &shuffled(27 * 100 * 2), |n| {
        let index = TbsIndex::new((n % 27) as u8).expect("a row");
        let prb = Prb::new((n / 27 % 100 + 1) as u16);
        lte::tbs_bits(index, prb, (n / 2700 + 1) as u8).map_or(0.0, f64::from)
    });
}

#[divan::bench]
fn nr_size(bencher: Bencher<'_, '_>) {
    each(bencher, &shuffled(42_000), |n| {
        let scheme = nr::mcs(McsTable::Qam64, (n % 29) as u8).expect("not reserved");
        nr::tbs_bits(n + 1, scheme, 2, TbScaling::One).map_or(0.0, f64::from)
    });
}

/// The large branch alone, as the specification words it.
#[divan::bench]
fn nr_size_in_floating_point(bencher: Bencher<'_, '_>) {
    each(bencher, &shuffled(42_000), |n| {
        let scheme = nr::mcs(McsTable::Qam64, (n % 29) as u8).expect("not reserved");
        let rate = f64::from(scheme.rate_2048) / 2048.0;
        let info = f64::from(n + 1) * rate * f64::from(scheme.modulation.order()) * 2.0;
        let step = ((info - 24.0).max(32.0).log2().floor() - 5.0).exp2();
        let rounded = (step * ((info - 24.0) / step).round()).max(3840.0);
        let longest = if rate <= 0.25 { 3816.0 } else { 8424.0 };
        let blocks = ((rounded + 24.0) / longest).ceil();
        8.0 * blocks * ((rounded + 24.0) / (8.0 * blocks)).ceil() - 24.0
    });
}

fn sinr(n: u32) -> f32 {
    5.0 + n as f32 / 100.0
}

fn error_rates(bencher: Bencher<'_, '_>, bler: Bler) {
    each(bencher, &shuffled(1000), |n| f64::from(bler.error_rate(sinr(n))));
}

#[divan::bench]
fn error_rate_of_one_nr_code_block(bencher: Bencher<'_, '_>) {
    error_rates(bencher, nr_bler(McsTable::Qam64, 20, 4000).expect("not reserved"));
}

#[divan::bench]
fn error_rate_of_ten_nr_code_blocks(bencher: Bencher<'_, '_>) {
    error_rates(bencher, nr_bler(McsTable::Qam64, 20, 80_000).expect("not reserved"));
}

#[divan::bench]
fn error_rate_of_a_small_nr_block(bencher: Bencher<'_, '_>) {
    error_rates(bencher, nr_bler(McsTable::Qam64, 20, 300).expect("not reserved"));
}

#[divan::bench]
fn error_rate_of_an_lte_block(bencher: Bencher<'_, '_>) {
    let (modulation, index) = lte::mcs(lte::McsTable::Downlink, 20).expect("not reserved");
    error_rates(bencher, lte_bler(modulation, index, 9912).expect("it is known"));
}

#[divan::bench]
fn one_logistic_function(bencher: Bencher<'_, '_>) {
    each(bencher, &shuffled(1000), |n| f64::from(1.0 / (1.0 + (8.0 * (sinr(n) - 11.5)).exp())));
}

#[divan::bench]
fn error_curve_of_a_grant(bencher: Bencher<'_, '_>) {
    each(bencher, &shuffled(80_000), |n| {
        let bler = nr_bler(McsTable::Qam64, (n % 29) as u8, n + 24).expect("not reserved");
        f64::from(u8::from(bler.is_simulated()))
    });
}

#[divan::bench]
fn reported_quality(bencher: Bencher<'_, '_>) {
    each(bencher, &shuffled(1000), |n| f64::from(nr_cqi(CqiTable::Table2, sinr(n))));
}
