use rand::SeedableRng as _;
use std::vec::Vec;

use super::*;

const ONE_EACH: Branches = Branches { device: 1, site: 1, reciprocal: false };

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

fn flat(seed: u64) -> Fading {
    Fading::new(DelayProfile::Flat, &[0.0], ONE_EACH, &mut rng(seed))
}

/// Means of a and b, and their correlation coefficient.
fn correlation(pairs: &[(f64, f64)]) -> (f64, f64, f64) {
    let count = pairs.len() as f64;
    let (a, b) = pairs.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / count, b + y / count));
    let (mut aa, mut bb, mut ab) = (0.0, 0.0, 0.0);
    for (x, y) in pairs {
        aa += (x - a) * (x - a);
        bb += (y - b) * (y - b);
        ab += (x - a) * (y - b);
    }
    (a, b, ab / libm::sqrt(aa * bb))
}

#[test]
fn autocorrelation_over_the_way_is_bessels_j0() {
    const STEP: f64 = 0.25;
    const LAGS: usize = 48;
    const SEEDS: u32 = 4_000;
    let mut products = [0.0; LAGS];
    for seed in 0..SEEDS {
        let mut taps = Taps::draw(&mut rng(u64::from(seed)));
        taps.set_step(STEP);
        let gains = |taps: &Taps| taps.sums()[0];
        let [re, im] = gains(&taps);
        for product in &mut products {
            let [later_re, later_im] = gains(&taps);
            for lane in 0..LANES {
                *product += f64::from(re[lane] * later_re[lane] + im[lane] * later_im[lane]);
            }
            taps.step();
        }
    }
    let power = f64::from(SEEDS) * (LANES * SINUSOIDS) as f64;
    for (lag, product) in products.iter().enumerate() {
        let (have, want) = (product / power, libm::j0(lag as f64 * STEP));
        assert!(
            (have - want).abs() < 0.025,
            "after {} rad: {have}, J0 is {want}",
            lag as f64 * STEP
        );
    }
}

#[test]
fn mean_power_is_one_and_its_variance_that_of_eight_sinusoids() {
    let powers: Vec<(f64, f64)> = (0..20_000)
        .map(|seed| {
            let fading = flat(seed);
            (f64::from(fading.downlink()[0][0]), f64::from(fading.uplink()[0][0]))
        })
        .collect();
    let (down, up, together) = correlation(&powers);
    assert!((down - 1.0).abs() < 0.03 && (up - 1.0).abs() < 0.03, "{down} {up}");
    let variance =
        powers.iter().map(|(power, _)| (power - down) * (power - down)).sum::<f64>() / 20_000.0;
    // 1 for Rayleigh; n sinusoids of fixed amplitude lack 1/n of it.
    assert!((variance - 7.0 / 8.0).abs() < 0.05, "{variance}");
    assert!(together.abs() < 0.15, "directions fade together: {together}");
}

#[test]
fn the_two_directions_of_one_fading_are_uncorrelated_along_a_way() {
    let mut fading = Fading::new(DelayProfile::Eva, &[0.0], ONE_EACH, &mut rng(3));
    let pairs: Vec<(f64, f64)> = (0..200_000)
        .map(|_| {
            fading.advance(0.5);
            (f64::from(fading.downlink()[0][0]), f64::from(fading.uplink()[0][0]))
        })
        .collect();
    let (_, _, together) = correlation(&pairs);
    assert!(together.abs() < 0.05, "{together}");
}

#[test]
fn on_one_frequency_both_directions_fade_alike() {
    let branches = Branches { device: 2, site: 2, reciprocal: true };
    let mut fading = Fading::new(DelayProfile::Epa, &[-1e6, 0.0, 1e6], branches, &mut rng(4));
    fading.advance(1.0);
    assert_eq!(fading.downlink(), fading.uplink());
}

#[test]
fn levels_are_crossed_as_often_as_rice_says() {
    // sqrt(2 pi) f_D rho exp(-rho^2) times a second are rho exp(-rho^2) / sqrt(2 pi) times a radian
    // of travel.
    const STEP: f64 = 0.05;
    const STEPS: u32 = 20_000;
    for rho in [0.1_f64, 0.3, 1.0] {
        let threshold = (rho * rho) as f32;
        let mut crossings = 0_u32;
        for seed in 0..60 {
            let mut fading = Fading::new(DelayProfile::Eva, &[0.0], ONE_EACH, &mut rng(seed));
            let mut before = fading.downlink()[0][0];
            for _ in 0..STEPS {
                fading.advance(STEP);
                let now = fading.downlink()[0][0];
                crossings += u32::from(before < threshold && now >= threshold);
                before = now;
            }
        }
        let way = f64::from(STEPS) * STEP * 60.0;
        let want = rho * libm::exp(-rho * rho) / libm::sqrt(core::f64::consts::TAU) * way;
        let have = f64::from(crossings);
        assert!((have / want - 1.0).abs() < 0.08, "level {rho}: {have} crossings, not {want}");
    }
}

#[test]
fn sub_bands_closer_than_the_coherence_bandwidth_fade_together_and_others_do_not() {
    // ETU spreads over 991 ns: about 200 kHz.
    let offsets = [0.0, 20e3, 5e6];
    let powers: Vec<[f64; 3]> = (0..4_000)
        .map(|seed| {
            let fading = Fading::new(DelayProfile::Etu, &offsets, ONE_EACH, &mut rng(seed));
            let bands = fading.downlink()[0];
            [bands[0].into(), bands[1].into(), bands[2].into()]
        })
        .collect();
    let with = |band: usize| {
        let pairs: Vec<(f64, f64)> = powers.iter().map(|p| (p[0], p[band])).collect();
        correlation(&pairs).2
    };
    assert!(with(1) > 0.95, "20 kHz apart: {}", with(1));
    assert!(with(2).abs() < 0.2, "5 MHz apart: {}", with(2));
}

#[test]
fn a_second_antenna_doubles_the_power_and_halves_the_spread() {
    let spread = |device| {
        let branches = Branches { device, ..ONE_EACH };
        let powers: Vec<f64> = (0..8_000)
            .map(|seed| {
                let fading = Fading::new(DelayProfile::Eva, &[0.0], branches, &mut rng(seed));
                f64::from(fading.downlink()[0][0])
            })
            .collect();
        let mean = powers.iter().sum::<f64>() / 8_000.0;
        let variance = powers.iter().map(|p| (p - mean) * (p - mean)).sum::<f64>() / 8_000.0;
        (mean, variance / (mean * mean))
    };
    let ((one, one_spread), (two, two_spread)) = (spread(1), spread(2));
    assert!((one - 1.0).abs() < 0.05 && (two - 2.0).abs() < 0.08, "{one} {two}");
    assert!((two_spread / one_spread - 0.5).abs() < 0.08, "{two_spread} of {one_spread}");
}

#[test]
fn a_direct_path_steadies_the_power_as_rice_says() {
    const K: f32 = 8.0;
    let powers: Vec<f64> = (0..20_000)
        .map(|seed| {
            let mut fading = flat(seed);
            fading.set_rician(K);
            fading.advance(0.1);
            f64::from(fading.downlink()[0][0])
        })
        .collect();
    let mean = powers.iter().sum::<f64>() / 20_000.0;
    let variance = powers.iter().map(|p| (p - mean) * (p - mean)).sum::<f64>() / 20_000.0;
    let k = f64::from(K);
    let want = (1.0 + 2.0 * k) / ((1.0 + k) * (1.0 + k));
    assert!((mean - 1.0).abs() < 0.02, "{mean}");
    assert!((variance - want).abs() < 0.02, "{variance}, not {want}");
}

#[test]
fn two_short_steps_lead_where_one_long_step_leads() {
    for way in [0.02, 0.5, 3.9, 4.1, 900.0] {
        let (mut once, mut twice) = (flat(9), flat(9));
        once.advance(way);
        twice.advance(way / 2.0);
        twice.advance(way / 2.0);
        let difference = once.downlink()[0][0] - twice.downlink()[0][0];
        assert!(difference.abs() < 2e-4, "{way} rad: {difference}");
    }
}

#[test]
fn a_million_steps_neither_swell_nor_shrink_the_phasors() {
    let mut taps = Taps::draw(&mut rng(5));
    taps.set_step(0.013);
    for step in 1..=1_000_000 {
        taps.step();
        if step % STEPS_BETWEEN_TRIMS == 0 {
            taps.trim();
        }
    }
    for (re, im) in taps.re.iter().zip(&taps.im) {
        for lane in 0..LANES {
            let length = re[lane] * re[lane] + im[lane] * im[lane];
            assert!((length - 1.0).abs() < 1e-4, "{length}");
        }
    }
}
