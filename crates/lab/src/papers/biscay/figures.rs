//! Measurements of flows over a link.

use std::time::Duration;

use serde::Serialize;
use sounding_experiment::metrics::{jain, jain_of_whole, nearest_rank, sorted};
use sounding_experiment::observe::{Arrival, Packets};
use sounding_testbed::radio::RadioLink;

use super::given_link::HEAD_START;
use sounding_testbed::radio::Scenario;

/// The slow start of all flows together is not measured.
const SETTLED: Duration = Duration::from_secs(2);
/// Window for the fairness of short transfers.
const SHORT: Duration = Duration::from_millis(500);

/// The result of one set of flows over one link.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Over which.
    pub link: String,
    /// Recorded how.
    pub scenario: Scenario,
    /// The controller.
    pub controller: String,
    /// Number of flows.
    pub flows: usize,
    /// Time between two estimates, where there is a choice; `None` if there was one only.
    pub every_ms: Option<f64>,
    /// Over all flows together.
    pub throughput_mbit_per_sec: f64,
    /// Throughput ÷ capacity.
    pub utilisation: f64,
    /// Waiting for the link, in the mean.
    pub mean_ms: f64,
    /// Its 95th percentile.
    pub p95_ms: f64,
    /// Jain's index over all the time that was measured; 1 of one flow.
    pub jain: f64,
    /// Its mean over windows of 500 ms.
    pub jain_short: f64,
    /// 10th percentile over those windows.
    pub jain_short_p10: f64,
    /// Mean of the largest possible index in those windows, because packets are whole.
    pub jain_short_most: f64,
    /// Mean rate of the link.
    pub offered_mbit_per_sec: f64,
    /// Its longest outage.
    pub longest_pause_ms: f64,
    /// Mean change of its rate from one 100 ms to the next, in percent of its mean.
    pub change_percent: f64,
}

impl Figures {
    /// The group that they are shown with: all links of that `kind`, while own links are shown one
    /// by one.
    pub(super) fn group<'a>(&'a self, kind: &'a str) -> &'a str {
        if self.scenario == Scenario::Own { &self.link } else { kind }
    }

    /// `None` without received packets.
    pub(super) fn of(
        link: &RadioLink,
        scenario: Scenario,
        controller: &str,
        flows: usize,
        packets: &Packets,
        until: Duration,
    ) -> Option<Self> {
        let from = HEAD_START + SETTLED;
        let within: Vec<&Arrival> =
            packets.arrivals.iter().filter(|packet| packet.at() >= from).collect();
        let mut delays: Vec<f64> =
            within.iter().map(|packet| packet.queueing().as_secs_f64() * 1e3).collect();
        if delays.is_empty() {
            return None;
        }
        delays.sort_by(f64::total_cmp);
        let bytes: u64 = within.iter().map(|packet| packet.size()).sum();
        let span = (until - from).as_secs_f64();
        let windows = (until - from).as_nanos().div_ceil(SHORT.as_nanos()) as usize;
        let mut shares = vec![vec![0.0; flows]; windows];
        let mut counts = vec![0; windows];
        let mut whole = vec![0.0; flows];
        for packet in &within {
            let window = ((packet.at() - from).as_nanos() / SHORT.as_nanos()) as usize;
            if let Some(shares) = shares.get_mut(window) {
                shares[packet.flow.0 as usize] += packet.size() as f64;
                counts[window] += 1;
            }
            whole[packet.flow.0 as usize] += packet.size() as f64;
        }
        let short = sorted(shares.iter().filter_map(|shares| jain(shares)));
        let most: Vec<f64> =
            counts.into_iter().filter_map(|count| jain_of_whole(count, flows)).collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        let offered = Offered::by(link, from, until);
        Some(Self {
            link: link.name.clone(),
            scenario,
            controller: controller.into(),
            flows,
            every_ms: None,
            throughput_mbit_per_sec: bytes as f64 * 8e-6 / span,
            utilisation: bytes as f64 / offered.bytes.max(1) as f64,
            mean_ms: mean(&delays),
            p95_ms: nearest_rank(&delays, 0.95),
            jain: jain(&whole)?,
            jain_short: mean(&short),
            jain_short_p10: nearest_rank(&short, 0.10),
            jain_short_most: mean(&most),
            offered_mbit_per_sec: offered.bytes as f64 * 8e-6 / span,
            longest_pause_ms: offered.longest_pause_ms,
            change_percent: offered.change_percent,
        })
    }
}

/// Statistics of a link during the measurement.
struct Offered {
    bytes: u64,
    longest_pause_ms: f64,
    change_percent: f64,
}

impl Offered {
    fn by(link: &RadioLink, from: Duration, until: Duration) -> Self {
        let [from, until] = [from, until].map(|at| at.as_millis() as usize);
        let all = link.bytes_per_ms();
        let millis = &all[from.min(all.len())..until.min(all.len())];
        let (mut pause, mut longest) = (0_u32, 0);
        for bytes in millis {
            pause = if *bytes == 0 { pause + 1 } else { 0 };
            longest = longest.max(pause);
        }
        let tenths: Vec<u64> = millis.chunks_exact(100).map(|tenth| tenth.iter().sum()).collect();
        let changes: u64 = tenths.windows(2).map(|pair| pair[0].abs_diff(pair[1])).sum();
        let bytes: u64 = millis.iter().sum();
        // One change fewer than tenths of a second, which makes no difference over tens of seconds.
        let carried = tenths.iter().sum::<u64>().max(1);
        Self {
            bytes,
            longest_pause_ms: f64::from(longest),
            change_percent: 100.0 * changes as f64 / carried as f64,
        }
    }
}
