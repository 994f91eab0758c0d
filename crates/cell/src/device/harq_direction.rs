//! One direction of a device on a carrier: its HARQ processes, and how the base station adapts to
//! it.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use sounding_units::HostInstant;

use crate::block_sizes::BlockSizes;
use crate::config::{HarqConfig, SUB_BANDS};
use crate::harq::{Attempt, HarqProcesses};
use crate::policy::ServiceHistory;
use crate::radio::{self, Choice, CqiReport, LinkAdaptation, SubBands};

/// One direction of a device on a carrier.
#[derive(Debug)]
pub(crate) struct HarqDirection {
    pub(crate) processes: HarqProcesses,
    pub(crate) history: ServiceHistory,
    /// The slot of the newest block: a user has at most one block per slot.
    pub(crate) last: Option<u64>,
    adapter: LinkAdaptation,
    harq: radio::HarqConfig,
    /// Probability that the first, the second and each further repeat adds nothing.
    same_fade: [f32; 3],
    /// When a report can be used that was not when the rates were found.
    next_report: Option<HostInstant>,
    stale: bool,
    rates: PrbRates,
}

/// Bytes of a resource block of each sub-band.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PrbRates {
    /// Bytes a resource block.
    pub(crate) bytes: [f32; SUB_BANDS],
}

impl HarqDirection {
    pub(super) fn new(harq: HarqConfig, same_fade: [f32; 3], adapter: LinkAdaptation) -> Self {
        Self {
            processes: HarqProcesses::new(harq.processes),
            history: ServiceHistory::default(),
            last: None,
            adapter,
            harq: radio::HarqConfig { redundancy_gain_db: harq.redundancy_gain_db },
            same_fade,
            next_report: None,
            stale: true,
            rates: PrbRates::default(),
        }
    }

    pub(super) fn handle_report(&mut self, report: CqiReport) {
        self.adapter.handle_report(report);
        self.next_report.get_or_insert(report.usable);
    }

    pub(super) fn handle_measurement(&mut self, sinr_db: &[f32]) {
        self.adapter.handle_measurement(sinr_db, 1);
        self.stale = true;
    }

    /// Whether the first transmission of a block arrived.
    pub(crate) fn handle_feedback(&mut self, choice: Choice, arrived: bool) {
        self.adapter.handle_feedback(choice, arrived);
        self.stale = true;
    }

    /// The rate that the downlink's scheduler uses.
    #[inline]
    pub(crate) fn rates(&mut self, now: HostInstant, sizes: &BlockSizes) -> PrbRates {
        if self.is_stale(now) {
            self.find_rates(now, sizes, SUB_BANDS);
        }
        self.rates
    }

    /// The uplink's rate: it has no sub-bands, so the rate of the first.
    #[inline]
    pub(crate) fn first_rate(&mut self, now: HostInstant, sizes: &BlockSizes) -> f32 {
        if self.is_stale(now) {
            self.find_rates(now, sizes, 1);
        }
        self.last_rate()
    }

    fn is_stale(&self, now: HostInstant) -> bool {
        self.stale || self.next_report.is_some_and(|at| at <= now)
    }

    fn find_rates(&mut self, now: HostInstant, sizes: &BlockSizes, bands: usize) {
        if self.next_report.is_some_and(|at| at <= now) {
            self.next_report = None;
        }
        self.stale = false;
        self.rates = PrbRates::default();
        for (band, rate) in self.rates.bytes.iter_mut().take(bands).enumerate() {
            let choice = self.adapter.choose(now, SubBands::one(band));
            if let Some(Choice { mcs, layers }) = choice {
                *rate = sizes.rate(layers, mcs);
            }
        }
    }

    /// Bytes of a resource block of the first sub-band, as last computed.
    pub(crate) fn last_rate(&self) -> f32 {
        self.rates.bytes[0]
    }

    /// MCS and layers for a block on these sub-bands.
    pub(crate) fn choose(&mut self, now: HostInstant, bands: u32) -> Option<Choice> {
        self.adapter.choose(now, SubBands::from_bits(bands))
    }

    /// Sends a process's block at the SINRs that its sub-bands have.
    pub(crate) fn transmit(&mut self, harq: u8, sinr_db: &[f32], rng: &mut ChaCha8Rng) -> Attempt {
        let coding = self.adapter.coding();
        let process = self.processes.sent(harq);
        let (rv, number) = (process.rv(), process.sent);
        let block = &process.block;
        let choice = Choice { mcs: block.mcs, layers: block.layers };
        let bands = SubBands::from_bits(block.bands);
        if number == 0 {
            process.air = radio::Block::new(coding, choice, block.size * 8, &self.harq);
        }
        process.sent += 1;
        let Some(air) = &mut process.air else {
            return Attempt { rv, number, arrived: false, sinr_db: f32::NEG_INFINITY };
        };
        // A random number is drawn only where a fade may last, so that other links do not use the
        // stream.
        let same_fade = match number {
            0 => 0.0,
            repeat => self.same_fade[usize::from(repeat - 1).min(2)],
        };
        if same_fade > 0.0 && rng.random::<f32>() < same_fade {
            return Attempt { rv, number, arrived: false, sinr_db: air.sinr_db() };
        }
        let lost = air.handle_transmission(sinr_db, bands);
        let arrived = rng.random::<f32>() >= lost;
        Attempt { rv, number, arrived, sinr_db: air.sinr_db() }
    }
}
