//! BBR, version 3: draft-ietf-ccwg-bbr.

use super::{ANY, NONE, Property, apart, entered, least, says};
use crate::controllers::baselines::rig::{
    BDP, MBIT, PACKET, Rig, Sample, Watch, millis, used_despite_loss,
};

const PROBE_RTT: &str = "draft-ietf-ccwg-bbr §5.3.4.3";
const LOSS: &str = "draft-ietf-ccwg-bbr §2: BBR.LossThresh 2 %";
/// A probe of a quarter more that lasts a round overflows it.
const SHALLOW: u64 = 10 * PACKET;

fn alone(rig: &mut Rig, from: u64) -> Vec<Sample> {
    rig.watch_from(Watch::of("bbr3", 10 * BDP, 65), from)
}

fn dips(rig: &mut Rig, of: fn(&[Sample]) -> f64) -> Vec<f64> {
    let samples = alone(rig, 3);
    entered(&samples, "probe rtt")
        .map(|(_, begin)| {
            let within = |sample: &&Sample| {
                sample.at >= begin.at && (sample.at - begin.at).as_secs_f64() < 0.45
            };
            of(&samples.iter().filter(within).copied().collect::<Vec<_>>())
        })
        .collect()
}

pub(super) const BBR3: &[Property] = &[
    says("bbr3", "link used", "draft-ietf-ccwg-bbr", [0.95, 1.0], "", |rig| {
        [BDP, 10 * BDP].map(|buffer| rig.used("bbr3", buffer)).to_vec()
    }),
    says("bbr3", "queue, mean", "cruises below the bandwidth", [NONE, 8.0], "ms", |rig| {
        let mean = |buffer| millis(rig.alone("bbr3", MBIT, buffer).queueing.mean());
        [BDP, 10 * BDP].map(mean).to_vec()
    }),
    says("bbr3", "loss, buffer of a BDP and more", LOSS, [0.0, 0.001], "", |rig| {
        [BDP, 10 * BDP].map(|buffer| rig.alone("bbr3", MBIT, buffer).loss()).to_vec()
    }),
    says("bbr3", "loss, buffer of a quarter of a BDP", LOSS, [0.0, 0.005], "", |rig| {
        vec![rig.alone("bbr3", MBIT, SHALLOW).loss()]
    }),
    says(
        "bbr3",
        "link used, buffer of a quarter of a BDP",
        "draft-ietf-ccwg-bbr: headroom",
        [0.93, 1.0],
        "",
        |rig| vec![rig.used("bbr3", SHALLOW)],
    ),
    says("bbr3", "loss of version 1 there", "knows no limit in flight", [0.02, ANY], "", |rig| {
        vec![rig.alone("bbr", MBIT, SHALLOW).loss()]
    }),
    says("bbr3", "between probes of the RTT", PROBE_RTT, [5.0, 5.5], "s", |rig| {
        let samples = alone(rig, 3);
        apart(entered(&samples, "probe rtt").map(|(_, begin)| begin))
    }),
    says("bbr3", "least in flight in each, segments", PROBE_RTT, [16.0, 21.0], "", |rig| {
        dips(rig, |dip| least(dip.iter().map(|sample| sample.in_flight)))
    })
    .note("half of 40 or 41"),
    says("bbr3", "least RTT in each", PROBE_RTT, [40.0, 43.0], "ms", |rig| {
        dips(rig, |dip| least(dip.iter().map(|sample| sample.rtt_ms)))
    }),
    says(
        "bbr3",
        "probes of the bandwidth in a minute",
        "draft-ietf-ccwg-bbr: every 2 to 3 s, or as many rounds as the BDP has segments",
        [20.0, 35.0],
        "",
        |rig| vec![entered(&alone(rig, 5), "probe up").count() as f64],
    ),
    says(
        "bbr3",
        "probes that a refilling round comes before",
        "draft-ietf-ccwg-bbr",
        [1.0, 1.0],
        "",
        |rig| {
            let samples = alone(rig, 5);
            let after =
                |(before, _): (Sample, Sample)| f64::from(u8::from(before.state == "refill"));
            entered(&samples, "probe up").map(after).collect()
        },
    ),
    says(
        "bbr3",
        "two flows share (Jain)",
        "draft-ietf-ccwg-bbr: they leave headroom",
        [0.95, 1.0],
        "",
        |rig| vec![rig.rivals(&["bbr3", "bbr3"], 5 * BDP, 60, 60).jain()],
    ),
    says(
        "bbr3",
        "CUBIC's share beside it",
        "draft-ietf-ccwg-bbr: coexists with Reno and CUBIC",
        [0.25, 0.75],
        "",
        |rig| {
            let share = |buffer| rig.rivals(&["cubic", "bbr3"], buffer, 60, 120).share_of_first();
            [BDP, 5 * BDP].map(share).to_vec()
        },
    ),
    says("bbr3", "link used at 0.5 % of loss by chance", LOSS, [0.82, 1.0], "", |_| {
        vec![used_despite_loss("bbr3", 5, (20, 60))]
    }),
    says("bbr3", "link used at 4 % of loss by chance", LOSS, [0.0, 0.35], "", |_| {
        vec![used_despite_loss("bbr3", 40, (20, 60))]
    }),
    says("bbr3", "version 1 there", "does not look at loss", [0.9, 1.0], "", |_| {
        vec![used_despite_loss("bbr", 40, (20, 60))]
    }),
];
