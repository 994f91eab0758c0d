//! The steps from a measured delay to that of the network (Gandalf §4.3.3, Fig. 16):
//! retransmissions off, then the paper's filter, and what else can be in its place.

use std::time::Duration;

use rustfft::FftPlanner;
use rustfft::num_complex::Complex;
use sounding_experiment::metrics::sorted;
use sounding_link::Timeline;
use sounding_units::HostInstant;

use super::gradient::deviation;
use super::scene::Scene;
use super::table1::BEGUN;
use super::{Figures, Kind, Made, Measure, Row, Short, quantile};
use crate::fidelity::cell::uplink::peaks_hz;

/// How far the delay of an upload without congestion varies, and its strongest frequency.
pub(super) const COLUMNS: &[&str] = &["sd ms", "p95 - p5 ms", "first peak Hz", "second peak Hz"];

/// The upload, without congestion. At 2 Mbit/s packets would be too few to show 400 Hz.
const RATE: &str = "8Mbit";
/// The delay is sampled so often for the spectrum and the filter.
const STEP: Duration = Duration::from_millis(1);
const RATE_HZ: f64 = 1_000.0;
/// Changes as fast as half of the reports, or faster, are removed.
const CUT_HZ: f64 = 100.0;
/// A mean over two intervals of reports, which needs no future.
const CAUSAL: Duration = Duration::from_millis(10);

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Raw,
    NoRepeats,
    Filtered,
    Causal,
    Exact,
    Truth,
}

impl Stage {
    const ALL: [Self; 6] =
        [Self::Raw, Self::NoRepeats, Self::Filtered, Self::Causal, Self::Exact, Self::Truth];

    const fn name(self) -> &'static str {
        match self {
            Self::Raw => "measured",
            Self::NoRepeats => "without reTx",
            Self::Filtered => "without reTx, filtered by FFT",
            Self::Causal => "without reTx, mean of 10 ms",
            Self::Exact => "without reTx and waits by packet",
            Self::Truth => "truth",
        }
    }
}

pub(super) fn kinds() -> Vec<Kind> {
    let mut kinds = Vec::new();
    for scene in Scene::all().filter(|scene| scene.up) {
        for stage in Stage::ALL {
            let mut sets = scene.sets();
            sets.push(format!("flows.flow.traffic={{ kind = \"steady\", rate = \"{RATE}\" }}"));
            sets.push("flows.flow.controller=bbr".to_owned());
            let name = format!("{}: {}", scene.name(), stage.name());
            kinds.push(Kind { name, sets, measure: Measure::Run(measure) });
        }
    }
    kinds
}

fn measure(kind: &Kind, made: &Made) -> Figures {
    let shown = kind.name.split_once(": ").map_or("", |(_, shown)| shown);
    let stage = Stage::ALL.into_iter().find(|stage| stage.name() == shown).unwrap_or(Stage::Raw);
    spread(&delays(made, stage))
}

/// The delays of packets after the begin, by when they were sent.
fn delays(made: &Made, stage: Stage) -> Vec<(HostInstant, Duration)> {
    let Made { observed, shared } = made;
    let begun = HostInstant::default() + BEGUN;
    let truth = shared.truth.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut timeline = Timeline::new();
    // By then all is known that ever is, and the events of that time are still kept.
    const LATER: Duration = Duration::from_millis(350);
    let mut events = observed.events.iter().peekable();
    let packets = observed.packets.arrivals.iter().map(|arrival| arrival.packet);
    let mut packets: Vec<_> = packets.filter(|packet| packet.entered >= begun).collect();
    packets.sort_by_key(|packet| packet.entered);
    let mut found = Vec::new();
    for packet in packets {
        while let Some((_, event)) = events.next_if(|(at, _)| *at <= packet.exits + LATER) {
            timeline.handle_event(*event);
        }
        let [waited, held] = timeline.up_parts(packet.entered);
        let off = match stage {
            Stage::Raw => Duration::ZERO,
            Stage::NoRepeats | Stage::Filtered | Stage::Causal => held,
            Stage::Exact => waited + held,
            Stage::Truth => truth.data.get(&packet.entered).copied().unwrap_or_default(),
        };
        found.push((packet.entered, (packet.exits - packet.entered).saturating_sub(off)));
    }
    match stage {
        Stage::Filtered => filtered(&found),
        Stage::Causal => averaged(&found),
        _ => found,
    }
}

/// Delays in even steps, by linear interpolation, in ms.
fn even(delays: &[(HostInstant, Duration)]) -> Vec<f64> {
    let (Some((first, _)), Some((last, _))) = (delays.first(), delays.last()) else {
        return Vec::new();
    };
    let steps = ((*last - *first).as_nanos() / STEP.as_nanos()) as u32;
    let mut place = 0;
    let mut found = Vec::new();
    for step in 0..steps {
        let at = *first + STEP * step;
        while place + 2 < delays.len() && delays[place + 1].0 <= at {
            place += 1;
        }
        let [(before, low), (after, high)] = [delays[place], delays[place + 1]];
        let span = (after - before).as_secs_f64();
        let part = if span > 0.0 { (at - before).as_secs_f64() / span } else { 0.0 };
        let (low, high) = (low.as_secs_f64() * 1e3, high.as_secs_f64() * 1e3);
        found.push(low + (high - low) * part.clamp(0.0, 1.0));
    }
    found
}

/// The paper's filter: a spectrum of the whole, fast parts removed from it, and back. It knows the
/// future.
fn low_pass(delays_ms: &[f64]) -> Vec<f64> {
    // Mirrored, so that the ends fit.
    let mirrored = delays_ms.iter().chain(delays_ms.iter().rev());
    let mut bins: Vec<Complex<f64>> = mirrored.map(|delay| Complex::new(*delay, 0.0)).collect();
    let count = bins.len();
    if count == 0 {
        return Vec::new();
    }
    let mut planner = FftPlanner::new();
    planner.plan_fft_forward(count).process(&mut bins);
    for (place, bin) in bins.iter_mut().enumerate() {
        let hz = place.min(count - place) as f64 * RATE_HZ / count as f64;
        if hz >= CUT_HZ {
            *bin = Complex::default();
        }
    }
    planner.plan_fft_inverse(count).process(&mut bins);
    bins.iter().take(delays_ms.len()).map(|bin| bin.re / count as f64).collect()
}

fn filtered(delays: &[(HostInstant, Duration)]) -> Vec<(HostInstant, Duration)> {
    let first = delays.first().map(|(at, _)| *at).unwrap_or_default();
    let slow = low_pass(&even(delays)).into_iter().enumerate();
    slow.map(|(step, delay)| {
        (first + STEP * step as u32, Duration::from_secs_f64(delay.max(0.0) / 1e3))
    })
    .collect()
}

fn averaged(delays: &[(HostInstant, Duration)]) -> Vec<(HostInstant, Duration)> {
    let mut begin = 0;
    let mut found = Vec::new();
    for (place, (at, _)) in delays.iter().enumerate() {
        while *at - delays[begin].0 > CAUSAL {
            begin += 1;
        }
        let window = &delays[begin..=place];
        let sum: Duration = window.iter().map(|(_, delay)| *delay).sum();
        found.push((*at, sum / window.len() as u32));
    }
    found
}

fn spread(delays: &[(HostInstant, Duration)]) -> Figures {
    let values = sorted(delays.iter().map(|(_, delay)| delay.as_secs_f64() * 1e3));
    let peaks = peaks_hz(&even(delays));
    vec![
        ("sd ms", deviation(&values)),
        ("p95 - p5 ms", quantile(&values, 0.95) - quantile(&values, 0.05)),
        ("first peak Hz", peaks.first().copied().unwrap_or(f64::NAN)),
        ("second peak Hz", peaks.get(1).copied().unwrap_or(f64::NAN)),
    ]
}

/// Rows in which a step does not make the delay steadier than the one before it, and peaks that are
/// not where the paper has them.
pub(super) fn short(rows: &[Row]) -> Short {
    let mut all = Vec::new();
    for row in rows {
        let Some((scene, stage)) = row.name.split_once(": ") else { continue };
        let sd = |of: Stage| {
            let name = format!("{scene}: {}", of.name());
            rows.iter().find(|row| row.name == name).map_or(f64::NAN, |row| row.figure("sd ms"))
        };
        let mut short = Vec::new();
        if stage == Stage::Raw.name() && !(195.0..=205.0).contains(&row.figure("first peak Hz")) {
            short.push("no first peak at 200 Hz".to_owned());
        }
        if stage == Stage::NoRepeats.name() && row.figure("sd ms") > sd(Stage::Raw) {
            short.push("less steady than measured".to_owned());
        }
        let later = [Stage::Filtered, Stage::Causal, Stage::Exact];
        if later.iter().any(|of| of.name() == stage) && row.figure("sd ms") > sd(Stage::NoRepeats) {
            short.push("less steady than without reTx".to_owned());
        }
        if !short.is_empty() {
            all.push((row.name.clone(), short));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 20 ms, a slow swing of 3 ms, and a sawtooth of 5 ms that repeats 200 times a second.
    fn delays() -> Vec<(HostInstant, Duration)> {
        (0..4_000_u32)
            .map(|ms| {
                let swing = 3.0 * (std::f64::consts::TAU * f64::from(ms) / 1_000.0).sin();
                let delay = 20.0 + swing + f64::from(ms % 5);
                (
                    HostInstant::default() + Duration::from_millis(ms.into()),
                    Duration::from_secs_f64(delay / 1e3),
                )
            })
            .collect()
    }

    #[test]
    fn the_filter_leaves_what_is_slow_and_takes_the_reports_off() {
        let slow = filtered(&delays());
        for (step, (_, delay)) in slow.iter().enumerate().skip(100).take(3_700) {
            let swing = 3.0 * (std::f64::consts::TAU * step as f64 / 1_000.0).sin();
            let off = delay.as_secs_f64() * 1e3 - (22.0 + swing);
            assert!(off.abs() < 0.3, "{step}: {off}");
        }
    }

    #[test]
    fn a_mean_over_two_intervals_takes_the_reports_off_too() {
        let sd = |of: &[(HostInstant, Duration)]| spread(of)[0].1;
        let (all, steady) = (delays(), averaged(&delays()));
        assert!(sd(&steady) < sd(&all));
        assert!(steady.len() == all.len() && steady[0] == all[0]);
    }
}
