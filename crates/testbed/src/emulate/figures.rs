//! Measurements of a plan's flows in real time: the same as in virtual time, over the same span.

use serde::Serialize;
use sounding_emu::{Direction, Outcome, PacketRecord, Report};
use sounding_experiment::metrics::Delays;
use sounding_experiment::plan::Plan;
use sounding_sim::Port;
use sounding_units::Bytes;

use super::flows::Sent;
use crate::kernel_compare::Spread;

/// The figures of one flow.
#[derive(Clone, Debug, Serialize)]
pub struct FlowFigures {
    /// Its name in the plan.
    pub name: String,
    /// `up` or `down`.
    pub direction: &'static str,
    /// Number of its device.
    pub device: u16,
    /// The controller that reported the rate; empty for datagrams.
    pub controller: String,
    /// Received IP bytes ÷ the measured time.
    pub throughput_mbit_per_sec: f64,
    /// From the sender's TUN device to the receiver's.
    pub one_way_ms: Spread,
    /// Dropped packets ÷ (received or dropped packets).
    pub loss: f64,
    /// Segments that TCP sent again.
    pub retransmitted: u32,
    /// The kernel's smoothed round-trip time, mean over the samples; 0 of datagrams.
    pub mean_rtt_ms: f64,
}

/// Measures flows from the plan's warm-up to its end.
pub fn figures(plan: &Plan, report: &Report, sent: &[Sent]) -> Vec<FlowFigures> {
    sent.iter().map(|sent| figure(plan, report, sent)).collect()
}

fn figure(plan: &Plan, report: &Report, sent: &Sent) -> FlowFigures {
    let from = report.started + plan.warmup;
    let to = report.started + plan.duration.min(report.ran);
    let direction = way(sent.port);
    let is_its = |record: &&PacketRecord| {
        record.device == sent.port.device
            && record.direction == direction
            && Some(record.flow) == sent.flow
    };
    let (mut carried, mut delays, mut dropped) = (Bytes::ZERO, Vec::new(), 0_u64);
    for record in report.records.iter().filter(is_its) {
        match record.outcome {
            Outcome::Delivered { written, .. } if written >= from && written < to => {
                carried += record.size;
                delays.push(written - record.entered);
            }
            Outcome::Dropped { at } if at >= from && at < to => dropped += 1,
            _ => {}
        }
    }
    let through = delays.len() as u64 + dropped;
    FlowFigures {
        name: sent.name.clone(),
        direction: if direction == Direction::Uplink { "up" } else { "down" },
        device: sent.port.device.0,
        controller: sent.controller.clone().unwrap_or_default(),
        throughput_mbit_per_sec: carried.per(to - from).mbit_per_sec(),
        one_way_ms: Spread::of(Delays::of(delays)),
        loss: if through == 0 { 0.0 } else { dropped as f64 / through as f64 },
        retransmitted: sent.retransmitted,
        mean_rtt_ms: sent.mean_rtt.unwrap_or_default().as_secs_f64() * 1e3,
    }
}

fn way(port: Port) -> Direction {
    if port == Port::up(port.device) { Direction::Uplink } else { Direction::Downlink }
}
