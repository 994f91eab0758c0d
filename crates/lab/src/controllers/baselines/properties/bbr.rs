//! BBR, version 1.

use super::{NONE, Property, apart, entered, least, most, says};
use crate::controllers::baselines::rig::{BDP, MBIT, Rig, Sample, Watch, millis};

const DEEP: u64 = 10 * BDP;
const PROBE_RTT: &str = "draft -00 §4.3.5";

/// Until the flow has been alone for more than a minute, from when it knows the path on.
fn known(rig: &mut Rig) -> Vec<Sample> {
    rig.watch_from(Watch::of("bbr", DEEP, 65), 5)
}

/// Returns a value of each RTT probe.
fn dips(rig: &mut Rig, of: fn(&[Sample]) -> f64) -> Vec<f64> {
    let samples = known(rig);
    entered(&samples, "probe rtt")
        .map(|(_, begin)| {
            let within = |sample: &&Sample| {
                sample.at >= begin.at && (sample.at - begin.at).as_secs_f64() < 0.4
            };
            of(&samples.iter().filter(within).copied().collect::<Vec<_>>())
        })
        .collect()
}

pub(super) const BBR: &[Property] = &[
    says("bbr", "link used, buffer of 10 BDP", "draft -00 §1", [0.95, 1.0], "", |rig| {
        vec![rig.used("bbr", DEEP)]
    }),
    says(
        "bbr",
        "queue, mean",
        "an eighth of the time a quarter of a BDP",
        [NONE, 10.0],
        "ms",
        |rig| vec![millis(rig.alone("bbr", MBIT, DEEP).queueing.mean())],
    )
    .note("this kernel's median: 8 ms"),
    says("bbr", "queue, 95th percentile", "this kernel's: 16.5 ms", [NONE, 18.0], "ms", |rig| {
        vec![millis(rig.alone("bbr", MBIT, DEEP).queueing.quantile(0.95))]
    }),
    says("bbr", "packets lost, buffer of 10 BDP", "draft -00 §4.2.3.2", [0.0, 0.0], "", |rig| {
        vec![rig.alone("bbr", MBIT, DEEP).lost as f64]
    }),
    says(
        "bbr",
        "in flight, most, segments",
        "draft -00 §4.2.3.2: two BDP and three quanta",
        [NONE, 2.0 * 40.0 + 6.0 + 2.0 + 2.0],
        "",
        |rig| vec![most(known(rig).iter().map(|sample| sample.in_flight))],
    )
    .note("and two of delayed acknowledgements, and Linux's two of the probing phase"),
    says("bbr", "between probes of the RTT", PROBE_RTT, [10.0, 10.5], "s", |rig| {
        let samples = known(rig);
        apart(entered(&samples, "probe rtt").map(|(_, begin)| begin))
    }),
    says("bbr", "least in flight in each, segments", PROBE_RTT, [0.0, 4.0], "", |rig| {
        dips(rig, |dip| least(dip.iter().map(|sample| sample.in_flight)))
    }),
    says("bbr", "least RTT in each", PROBE_RTT, [40.0, 43.0], "ms", |rig| {
        dips(rig, |dip| least(dip.iter().map(|sample| sample.rtt_ms)))
    })
    .note("the queue is empty: the path, the packet, and one of the same burst"),
];
