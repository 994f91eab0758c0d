//! What is measured of flows over a link.

use std::time::Duration;

use serde::Serialize;

use super::course::{Arrival, HEAD_START, Passage};
use super::links::Scenario;
use crate::closed_loop::jain;
use crate::metrics::nearest_rank;
use crate::radio::RadioLink;

/// What the slow start of all flows together takes is not measured.
const SETTLED: Duration = Duration::from_secs(2);
/// What short transfers see of fairness.
const SHORT: Duration = Duration::from_millis(500);

/// What one set of flows came to over one link.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Over which.
    pub link: String,
    /// Recorded how.
    pub scenario: Scenario,
    /// Who.
    pub controller: String,
    /// How many of them.
    pub flows: usize,
    /// Time between two estimates, where there is a choice; `None` if there was one only.
    pub every_ms: Option<f64>,
    /// Of all flows together.
    pub throughput_mbit_per_sec: f64,
    /// Over what the link offered.
    pub utilisation: f64,
    /// Waiting for the link, in the mean.
    pub mean_ms: f64,
    /// Its 95th percentile.
    pub p95_ms: f64,
    /// Jain's index over all the time that was measured; 1 of one flow.
    pub jain: f64,
    /// Its mean over windows of 500 ms.
    pub jain_short: f64,
    /// What a tenth of those windows are below.
    pub jain_short_p10: f64,
}

impl Figures {
    /// `None` if nothing arrived.
    pub(super) fn of(
        link: &RadioLink,
        scenario: Scenario,
        controller: &str,
        flows: usize,
        passage: &Passage,
        until: Duration,
    ) -> Option<Self> {
        let from = HEAD_START + SETTLED;
        let within: Vec<&Arrival> =
            passage.arrivals.iter().filter(|packet| packet.at >= from).collect();
        let mut delays: Vec<f64> =
            within.iter().map(|packet| packet.queueing.as_secs_f64() * 1e3).collect();
        if delays.is_empty() {
            return None;
        }
        delays.sort_by(f64::total_cmp);
        let bytes: u64 = within.iter().map(|packet| packet.size).sum();
        let span = (until - from).as_secs_f64();
        let windows = (until - from).as_nanos().div_ceil(SHORT.as_nanos()) as usize;
        let mut shares = vec![vec![0.0; flows]; windows];
        let mut whole = vec![0.0; flows];
        for packet in &within {
            let window = ((packet.at - from).as_nanos() / SHORT.as_nanos()) as usize;
            if let Some(shares) = shares.get_mut(window) {
                shares[packet.flow as usize] += packet.size as f64;
            }
            whole[packet.flow as usize] += packet.size as f64;
        }
        let mut short: Vec<f64> = shares.iter().filter_map(|shares| jain(shares)).collect();
        short.sort_by(f64::total_cmp);
        let offered = link.capacity(from, until).count().max(1);
        Some(Self {
            link: link.name.clone(),
            scenario,
            controller: controller.into(),
            flows,
            every_ms: None,
            throughput_mbit_per_sec: bytes as f64 * 8e-6 / span,
            utilisation: bytes as f64 / offered as f64,
            mean_ms: delays.iter().sum::<f64>() / delays.len() as f64,
            p95_ms: nearest_rank(&delays, 0.95),
            jain: jain(&whole)?,
            jain_short: short.iter().sum::<f64>() / short.len().max(1) as f64,
            jain_short_p10: nearest_rank(&short, 0.10),
        })
    }
}
