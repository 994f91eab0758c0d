//! Sprout (NSDI 2013) and Verus (SIGCOMM 2015), which learn the behaviour of a varying link.

use sounding_baselines::Verus;
use sounding_cc::{Controller, Start};
use sounding_sim::world::Report;

use super::{ANY, NONE, Property, says};
use crate::controllers::baselines::rig::{BDP, MBIT, Rig, made, millis, over, steps, used};

/// From 1 to 11 Mbit/s and back in steps that are no pattern, one every 300 ms: an xorshift's.
fn wandering(controller: &'static str) -> Report {
    let (mut lot, mut mbit) = (9_u64, 6_u64);
    let text: Vec<String> = (0..200)
        .map(|step| {
            lot ^= lot << 13;
            lot ^= lot >> 7;
            lot ^= lot << 17;
            mbit = (mbit + lot % 5).saturating_sub(2).clamp(1, 11);
            format!("{}ms {mbit}Mbit", step * 300)
        })
        .collect();
    over(&steps(&text.join(", ")), 100 * BDP, controller, (5, 60))
}

fn kept(controller: &'static str) -> f64 {
    wandering(controller).throughput().mbit_per_sec()
        / wandering("cubic").throughput().mbit_per_sec()
}

/// An outage of two seconds, ten seconds after the beginning.
fn interrupted(from: u64, to: u64) -> Report {
    over(&steps("0s 6Mbit, 10s 0bit, 12s 6Mbit"), 100 * BDP, "sprout", (from, to))
}

const RATES: [u64; 3] = [3, 6, 11];
const RISK: &str = "Sprout: 95 % within 100 ms";

fn steady(rig: &mut Rig, of: fn(&Report, u64) -> f64) -> Vec<f64> {
    RATES.map(|rate| of(&rig.alone("sprout", rate, 5 * BDP), rate)).to_vec()
}

pub(super) const SPROUT: &[Property] = &[
    says("sprout", "one-way delay on a link that varies, p95", RISK, [NONE, 100.0], "ms", |_| {
        vec![millis(wandering("sprout").one_way.quantile(0.95))]
    }),
    says(
        "sprout",
        "CUBIC's there",
        "Sprout: an order of magnitude more",
        [1000.0, ANY],
        "ms",
        |_| vec![millis(wandering("cubic").one_way.quantile(0.95))],
    ),
    says("sprout", "throughput over CUBIC's there", "Sprout", [0.7, 1.0], "", |_| {
        vec![kept("sprout")]
    }),
    says("sprout", "link used at 3, 6 and 11 Mbit/s", "Sprout", [0.95, 1.0], "", |rig| {
        steady(rig, used)
    }),
    says("sprout", "queue there, 95th percentile", RISK, [NONE, 60.0], "ms", |rig| {
        steady(rig, |report, _| millis(report.queueing.quantile(0.95)))
    })
    .note("what it is unsure of; 100 ms of look-ahead less the way"),
    says("sprout", "packets sent in an outage of 2 s", "Sprout: outages", [0.0, 60.0], "", |_| {
        vec![interrupted(10, 12).sent as f64]
    })
    .note("what was under way when it began, and a few to find its end"),
    says(
        "sprout",
        "link used from a second after it on",
        "Sprout: outages",
        [0.95, 1.0],
        "",
        |_| vec![used(&interrupted(13, 15), 6)],
    ),
];

fn with_ratio(ratio: f64) -> Report {
    let make =
        move |start: &Start| -> Box<dyn Controller> { Box::new(Verus::with_ratio(start, ratio)) };
    made(make, 50 * BDP, (20, 80))
}

const RATIOS: [f64; 3] = [2.0, 4.0, 6.0];
/// The least delay with a packet on its way, in ms.
const MIN_MS: f64 = 41.0;

pub(super) const VERUS: &[Property] = &[
    says("verus", "link used, R of 2, 4 and 6", "Verus", [0.85, 1.0], "", |_| {
        RATIOS.map(|ratio| used(&with_ratio(ratio), MBIT)).to_vec()
    }),
    says(
        "verus",
        "delay over the least, p95, less R",
        "Verus: R bounds the ratio",
        [NONE, 1.0],
        "",
        |_| {
            RATIOS
                .map(|ratio| millis(with_ratio(ratio).rtt.quantile(0.95)) / MIN_MS - ratio)
                .to_vec()
        },
    ),
    says(
        "verus",
        "queue with R of 4 over 2 and 6 over 4, median",
        "Verus: R trades delay for rate",
        [1.05, ANY],
        "",
        |_| {
            let queues = RATIOS.map(|ratio| millis(with_ratio(ratio).queueing.quantile(0.5)));
            vec![queues[1] / queues[0], queues[2] / queues[1]]
        },
    ),
    says(
        "verus",
        "largest delay over the least, in slow start",
        "Verus: ends at N = 15",
        [15.0, 32.0],
        "",
        |_| vec![millis(over(&steps("0s 12Mbit"), 50 * BDP, "verus", (0, 5)).rtt.most()) / MIN_MS],
    )
    .note("what is sent in the RTT that finds it is on top"),
    says(
        "verus",
        "delay on a link that varies over CUBIC's, median",
        "Verus: an order of magnitude less in the best case",
        [NONE, 0.34],
        "",
        |_| {
            let [verus, cubic] =
                ["verus", "cubic"].map(|name| millis(wandering(name).one_way.quantile(0.5)));
            vec![verus / cubic]
        },
    ),
    says("verus", "throughput over CUBIC's there", "Verus: comparable", [0.85, ANY], "", |_| {
        vec![kept("verus")]
    }),
    says(
        "verus",
        "two and three flows share (Jain)",
        "authors' program: 58 % to 42 %",
        [0.85, 1.0],
        "",
        |rig| {
            [(2, BDP), (2, 5 * BDP), (3, 5 * BDP)]
                .map(|(flows, buffer)| rig.rivals(&vec!["verus"; flows], buffer, 30, 120).jain())
                .to_vec()
        },
    )
    .note("theirs: two over 5 BDP, five seconds apart"),
];
