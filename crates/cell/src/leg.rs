//! A device on one carrier: its radio there, and what the base station makes of it.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use sounding_units::HostInstant;

use crate::block::Processes;
use crate::carrier::Carrier;
use crate::coding::Sizes;
use crate::config::{DeviceConfig, HarqConfig, InvalidConfig, PowerConfig, Rat};
use crate::event::{CarrierId, Direction};
use crate::policy::Share;
use crate::radio::{
    self, Channel, ChannelConfig, Choice, CqiReport, LinkAdaptation, Reporter, SubBands,
};

/// Pieces of a carrier that fade apart: 5 MHz each of 20, which the echoes of a city leave alike.
pub(crate) const SUB_BANDS: usize = 4;

/// A device on one carrier.
#[derive(Debug)]
pub(crate) struct Leg {
    pub(crate) carrier: CarrierId,
    /// The cell that the carrier belongs to, for this device, and whether it is its primary there.
    pub(crate) cell: usize,
    pub(crate) primary: bool,
    /// Whether the carrier is of a secondary group, of NR, and its first.
    pub(crate) in_secondary_group: bool,
    pub(crate) secondary: bool,
    pub(crate) group_is_nr: bool,
    pub(crate) channel: Channel,
    reporter: Reporter,
    pub(crate) down: Way,
    pub(crate) up: Way,
    power: PowerConfig,
    /// What the base station last measured one resource block of the device with.
    measured: [f32; SUB_BANDS],
    /// Noise and interference at the base station in a resource block, dBm.
    noise_dbm_per_prb: f32,
    /// From when on the carrier is used; `None` while it is not.
    pub(crate) usable: Option<HostInstant>,
    /// The last time that it carried data.
    pub(crate) used: HostInstant,
}

impl Leg {
    pub(crate) fn new(
        device: &DeviceConfig,
        carrier: &Carrier,
        (cell, primary): (usize, bool),
        rng: ChaCha8Rng,
    ) -> Result<Self, InvalidConfig> {
        let radio = carrier.config.radio();
        let channel = ChannelConfig {
            carrier: radio,
            site: carrier.config.site,
            device: device.radio,
            model: device.channel.clone(),
        };
        let thermal = -174.0 + 10.0 * libm::log10f(radio.prb_hz() as f32);
        let down = carrier.config.coding(Direction::Downlink);
        let mut report = device.report;
        report.rank.most_layers = report.rank.most_layers.min(carrier.config.layers);
        Ok(Self {
            carrier: carrier.id,
            cell,
            primary,
            in_secondary_group: false,
            secondary: false,
            group_is_nr: carrier.config.rat == Rat::Nr,
            channel: Channel::new(&channel, rng)?,
            reporter: Reporter::new(&report, down)?,
            down: Way::new(
                carrier.config.harq(device.harq, Direction::Downlink),
                LinkAdaptation::new(&device.adapt_downlink, down)?,
            ),
            up: Way::new(
                carrier.config.harq(device.harq, Direction::Uplink),
                LinkAdaptation::new(
                    &device.adapt_uplink,
                    carrier.config.coding(Direction::Uplink),
                )?,
            ),
            power: device.power,
            measured: [f32::NEG_INFINITY; SUB_BANDS],
            noise_dbm_per_prb: thermal + device.power.noise_rise_db,
            usable: None,
            used: HostInstant::default(),
        })
    }

    /// The channel moves on; the report that the device makes of it, if one is due.
    pub(crate) fn advance(&mut self, now: HostInstant, motion: radio::Motion) -> Option<CqiReport> {
        self.channel.advance(now, motion);
        if self.reporter.wakeup() > now {
            return None;
        }
        // The base station measures the uplink as often as the device reports the downlink.
        self.measured = self.uplink_sinr_db(1);
        self.up.handle_measurement(&self.measured);
        let report = self.reporter.poll_report(now, self.channel.sinr_db())?;
        self.down.handle_report(report);
        Some(report)
    }

    /// When [`advance`](Self::advance) has something to do.
    pub(crate) fn due(&self) -> HostInstant {
        self.channel.due().min(self.reporter.wakeup())
    }

    /// Transmit power in each of so many resource blocks, dBm.
    fn power_dbm_per_prb(&self, prb: u16) -> f32 {
        let wanted =
            self.power.target_snr_db + self.noise_dbm_per_prb - self.channel.mean_gain_db();
        wanted.min(self.power.most_dbm - 10.0 * libm::log10f(f32::from(prb.max(1))))
    }

    /// Transmit power in all of so many resource blocks, dBm.
    pub(crate) fn power_dbm(&self, prb: u16) -> f32 {
        self.power_dbm_per_prb(prb) + 10.0 * libm::log10f(f32::from(prb.max(1)))
    }

    /// What the base station receives so many resource blocks with, sub-band by sub-band.
    pub(crate) fn uplink_sinr_db(&self, prb: u16) -> [f32; SUB_BANDS] {
        let over_noise = self.power_dbm_per_prb(prb) - self.noise_dbm_per_prb;
        let mut sinr = [0.0; SUB_BANDS];
        for (sinr, gain) in sinr.iter_mut().zip(self.channel.uplink_gain_db()) {
            *sinr = gain + over_noise;
        }
        sinr
    }

    /// The resource blocks and the MCS for `need` bytes in `most` blocks at most; the more blocks, the less power each
    /// has.
    pub(crate) fn plan_uplink(
        &mut self,
        now: HostInstant,
        sizes: &Sizes,
        need: u64,
        most: u16,
    ) -> Option<(u16, u8)> {
        let mut prb = most.min(self.most_uplink_prb());
        let mut mcs = self.uplink_mcs(now, prb)?;
        let fewer = sizes.prb_for(1, mcs, need, prb);
        if fewer < prb {
            mcs = self.uplink_mcs(now, fewer)?;
            prb = sizes.prb_for(1, mcs, need, fewer);
        }
        Some((prb, mcs))
    }

    /// Blocks beyond which none would be received: the lowest MCS takes some −4 dB.
    fn most_uplink_prb(&self) -> u16 {
        const LEAST_SNR_DB: f32 = -2.0;
        let whole = self.power.most_dbm + self.channel.mean_gain_db() - self.noise_dbm_per_prb;
        let most = libm::powf(10.0, (whole - LEAST_SNR_DB) / 10.0);
        (most.min(f32::from(u16::MAX)) as u16).max(1)
    }

    /// The MCS by what the base station measured last, brought to the power of so many blocks.
    fn uplink_mcs(&mut self, now: HostInstant, prb: u16) -> Option<u8> {
        let less = self.power_dbm_per_prb(1) - self.power_dbm_per_prb(prb);
        let sinr = self.measured.map(|sinr| sinr - less);
        self.up.handle_measurement(&sinr);
        self.up.choose(now, u32::MAX).map(|choice| choice.mcs)
    }
}

/// One direction of a leg.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) processes: Processes,
    pub(crate) share: Share,
    /// The slot of the newest block: a user has one in a slot.
    pub(crate) last: Option<u64>,
    adapter: LinkAdaptation,
    harq: radio::HarqConfig,
    /// When a report can be used that was not when the rates were found.
    next_report: Option<HostInstant>,
    stale: bool,
    rates: Rates,
}

/// What a resource block of each sub-band carries.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rates {
    /// Bytes a resource block.
    pub(crate) bytes: [f32; SUB_BANDS],
}

impl Way {
    fn new(harq: HarqConfig, adapter: LinkAdaptation) -> Self {
        Self {
            processes: Processes::new(harq.processes),
            share: Share::default(),
            last: None,
            adapter,
            harq: radio::HarqConfig { redundancy_gain_db: harq.redundancy_gain_db },
            next_report: None,
            stale: true,
            rates: Rates::default(),
        }
    }

    fn handle_report(&mut self, report: CqiReport) {
        self.adapter.handle_report(report);
        self.next_report.get_or_insert(report.usable);
    }

    fn handle_measurement(&mut self, sinr_db: &[f32]) {
        self.adapter.handle_measurement(sinr_db, 1);
        self.stale = true;
    }

    /// Whether the first transmission of a block arrived.
    pub(crate) fn handle_feedback(&mut self, choice: Choice, arrived: bool) {
        self.adapter.handle_feedback(choice, arrived);
        self.stale = true;
    }

    /// What the downlink's scheduler counts with.
    #[inline]
    pub(crate) fn rates(&mut self, now: HostInstant, sizes: &Sizes) -> Rates {
        if self.is_stale(now) {
            self.find_rates(now, sizes, SUB_BANDS);
        }
        self.rates
    }

    /// What the uplink's counts with, which knows of no sub-bands: the rate of the first.
    #[inline]
    pub(crate) fn first_rate(&mut self, now: HostInstant, sizes: &Sizes) -> f32 {
        if self.is_stale(now) {
            self.find_rates(now, sizes, 1);
        }
        self.last_rate()
    }

    fn is_stale(&self, now: HostInstant) -> bool {
        self.stale || self.next_report.is_some_and(|at| at <= now)
    }

    fn find_rates(&mut self, now: HostInstant, sizes: &Sizes, bands: usize) {
        if self.next_report.is_some_and(|at| at <= now) {
            self.next_report = None;
        }
        self.stale = false;
        self.rates = Rates::default();
        for (band, rate) in self.rates.bytes.iter_mut().take(bands).enumerate() {
            let choice = self.adapter.choose(now, SubBands::one(band));
            if let Some(Choice { mcs, layers }) = choice {
                *rate = sizes.rate(layers, mcs);
            }
        }
    }

    /// Bytes that a resource block of the first sub-band carries, as it was last found.
    pub(crate) fn last_rate(&self) -> f32 {
        self.rates.bytes[0]
    }

    /// How to send on these sub-bands.
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
        let lost = air.handle_transmission(sinr_db, bands);
        let arrived = rng.random::<f32>() >= lost;
        Attempt { rv, number, arrived, sinr_db: air.sinr_db() }
    }
}

/// One transmission of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) rv: u8,
    /// 0 for the first.
    pub(crate) number: u8,
    pub(crate) arrived: bool,
    /// What all transmissions so far are worth together.
    pub(crate) sinr_db: f32,
}
