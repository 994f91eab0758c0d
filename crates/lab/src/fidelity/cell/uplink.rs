//! The uplink backlog in the modem (Gandalf §3.2): a device that sends 2 Mbit/s in even steps.

use std::time::Duration;

use rustfft::FftPlanner;
use rustfft::num_complex::Complex;
use sounding_cell::Direction;
use sounding_cell::config::{CarrierConfig, DeviceConfig, InvalidConfig, Rat};
use sounding_experiment::metrics::quantile;

use super::reader::Heard;
use super::rig::{ORIGIN, Packets, Rig};
use super::walk::{PATTERNS, lte, nr, on_lte, standing};
use super::{Measured, Noted};

/// Results of a steady sender.
struct Steady {
    /// One-way delay of each packet, ms, one packet per millisecond.
    delays_ms: Vec<f64>,
    /// From a packet's arrival in the modem to the block that carries its first byte, in reports'
    /// periods.
    buffered: Vec<f64>,
    heard: Heard,
}

/// 250 bytes every millisecond: 2 Mbit/s, and fine enough to see 400 Hz.
fn steady(
    carrier: CarrierConfig,
    device: DeviceConfig,
    span: Duration,
    seed: u64,
) -> Result<Steady, InvalidConfig> {
    const SIZE: u64 = 250;
    let period = device.scheduling.periodic_bsr;
    let mut rig = Rig::new(vec![carrier], &[device], seed)?;
    let mut heard = Heard::default();
    let count = span.as_millis() as u64;
    let mut delays = vec![f64::NAN; count as usize];
    let mut buffered = Vec::new();
    for ms in 0..count + 1_000 {
        if ms < count {
            // Not on the boundary of a subframe: real arrivals are not aligned.
            let at = ORIGIN + Duration::from_micros(1_000 * ms + 370);
            rig.send(Packets { at, up: true, size: SIZE, number: ms });
        }
        rig.step(
            &mut |came, _| {
                if came.direction == Direction::Uplink {
                    let passage = came.passage;
                    let delay = passage.delivered - passage.entered;
                    delays[came.number as usize] = delay.as_secs_f64() * 1e3;
                    let waited = passage.began - passage.entered;
                    buffered.push(waited.as_secs_f64() / period.as_secs_f64());
                }
            },
            &mut |log| heard.handle_log(log),
        );
    }
    delays.retain(|delay| !delay.is_nan());
    Ok(Steady { delays_ms: delays, buffered, heard })
}

/// The strongest frequencies of a delay, strongest first: peaks of its averaged spectrum that
/// exceed their surroundings.
pub(crate) fn peaks_hz(delays_ms: &[f64]) -> Vec<f64> {
    const WINDOW: usize = 2_048;
    const RATE_HZ: f64 = 1_000.0;
    let fft = FftPlanner::new().plan_fft_forward(WINDOW);
    let mut power = vec![0.0; WINDOW / 2];
    for piece in delays_ms.windows(WINDOW).step_by(WINDOW / 2) {
        let mean = piece.iter().sum::<f64>() / WINDOW as f64;
        let mut buffer: Vec<Complex<f64>> = piece
            .iter()
            .enumerate()
            .map(|(at, delay)| {
                let turn = std::f64::consts::TAU * at as f64 / WINDOW as f64;
                Complex::new((delay - mean) * 0.5 * (1.0 - turn.cos()), 0.0)
            })
            .collect();
        fft.process(&mut buffer);
        for (sum, bin) in power.iter_mut().zip(&buffer) {
            *sum += bin.norm_sqr();
        }
    }
    // Relative to its surroundings, because repetitions and drifts are in all frequencies.
    let first = (20.0 / RATE_HZ * WINDOW as f64) as usize;
    let around = |at: usize, reach: usize| {
        &power[at.saturating_sub(reach).max(first)..(at + reach + 1).min(power.len())]
    };
    let stands_out = |at: usize| power[at] / quantile(around(at, 60), 0.5).unwrap_or(f64::INFINITY);
    let highest = |at: &usize| around(*at, 20).iter().all(|other| *other <= power[*at]);
    let (least, most) = (2 * first, power.len() - first / 2);
    let mut found: Vec<usize> = (least..most).filter(highest).collect();
    found.sort_by(|a, b| stands_out(*b).total_cmp(&stands_out(*a)));
    found.into_iter().map(|at| at as f64 * RATE_HZ / WINDOW as f64).collect()
}

/// The median of the times between reports, in ms.
fn between_reports_ms(reports: &[(u64, u64)]) -> Option<f64> {
    let mut at: Vec<u64> = reports.iter().map(|(at, _)| *at).collect();
    at.sort_unstable();
    let gaps: Vec<f64> = at.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6).collect();
    quantile(&gaps, 0.5)
}

/// Figures of each RAT.
const LTE: [&str; 7] = [
    "buffer.lte.least",
    "buffer.lte.median",
    "buffer.lte.most",
    "bsr.lte.zero",
    "bsr.lte.ms",
    "peak.lte.first",
    "peak.lte.second",
];
const NR: [&str; 7] = [
    "buffer.nr.least",
    "buffer.nr.median",
    "buffer.nr.most",
    "bsr.nr.zero",
    "bsr.nr.ms",
    "peak.nr.first",
    "peak.nr.second",
];

/// Buffer delay, reports and the spectrum of the delay.
pub(super) fn measure(span: Duration, seed: u64, into: &mut Measured) -> Result<(), InvalidConfig> {
    for (carrier, device, names) in
        [(lte(), on_lte(standing(seed)), LTE), (nr(PATTERNS[1]), standing(seed), NR)]
    {
        let [least, median, most, zero, interval, first, second] = names;
        let carrier_rat = carrier.rat;
        let run = steady(carrier, device, span, seed)?;
        for (name, part) in [(least, 0.01), (median, 0.5), (most, 0.9)] {
            into.note(name, quantile(&run.buffered, part));
        }
        let reports = &run.heard.reports;
        let empty = reports.iter().filter(|(_, told)| *told == 0).count();
        into.note(zero, Some(100.0 * empty as f64 / reports.len().max(1) as f64));
        into.note(interval, between_reports_ms(reports));
        let peaks = peaks_hz(&run.delays_ms);
        into.note(first, peaks.first().copied());
        into.note(second, peaks.get(1).copied());
        let [buffered, delays] = match carrier_rat {
            Rat::Lte => ["steady.lte.buffered", "steady.lte.delay"],
            Rat::Nr => ["steady.nr.buffered", "steady.nr.delay"],
        };
        into.all(buffered, run.buffered);
        into.all(delays, run.delays_ms);
    }
    // The same with reports half as often: the peak moves with them.
    let mut device = on_lte(standing(seed));
    device.scheduling.periodic_bsr = Duration::from_millis(10);
    let run = steady(lte(), device, span, seed)?;
    into.note("peak.lte.slow", peaks_hz(&run.delays_ms).first().copied());
    Ok(())
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn a_sawtooth_has_its_peaks_at_its_frequency_and_at_twice_of_it() {
        // A little noise, as in real data.
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut noise = || rng.random::<f64>();
        let delays: Vec<f64> = (0..20_000).map(|ms| f64::from(ms % 5) + noise()).collect();
        let peaks = peaks_hz(&delays);
        assert!((peaks[0] - 200.0).abs() < 1.0 && (peaks[1] - 400.0).abs() < 1.0, "{peaks:?}");
    }
}
