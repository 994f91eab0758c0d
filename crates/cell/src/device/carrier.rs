//! A device on one carrier: its radio there, and the base station's view of it.

use core::time::Duration;

use rand_chacha::ChaCha8Rng;
use sounding_kpi::Direction;
use sounding_units::HostInstant;

use super::harq_direction::HarqDirection;
use super::prb_window::PrbWindow;
use crate::block_sizes::BlockSizes;
use crate::config::{CarrierConfig, DeviceConfig, InvalidConfig, PowerConfig, Rat, SUB_BANDS};
use crate::ids::CarrierId;
use crate::radio::{self, Channel, ChannelConfig, CqiReport, LinkAdaptation, Reporter};

/// A device on one carrier.
#[derive(Debug)]
pub(crate) struct DeviceCarrier {
    pub(crate) id: CarrierId,
    /// Resource blocks of the carrier, and the length of its slots.
    pub(crate) prb: u16,
    pub(crate) slot: Duration,
    /// The cell that the carrier belongs to, for this device, and whether it is its primary there.
    pub(crate) cell: usize,
    pub(crate) is_primary: bool,
    /// Whether the carrier is the first of a secondary group of NR.
    pub(crate) in_secondary_group: bool,
    pub(crate) is_first_of_secondary: bool,
    pub(crate) is_nr: bool,
    pub(crate) channel: Channel,
    reporter: Reporter,
    pub(crate) downlink: HarqDirection,
    pub(crate) uplink: HarqDirection,
    power: PowerConfig,
    /// The base station's last measurement of one resource block of the device.
    measured: [f32; SUB_BANDS],
    /// Noise and interference at the base station in a resource block, dBm.
    noise_dbm_per_prb: f32,
    /// The time from which the carrier is used; `None` while it is not used.
    pub(crate) usable: Option<HostInstant>,
    /// The last time that it carried data.
    pub(crate) used: HostInstant,
    /// The last slot in which the downlink carried data, and its resource blocks there.
    pub(crate) sent: (u64, u16),
    /// The last slot in which data waited for the downlink here.
    pub(crate) waited_in: Option<u64>,
    /// Recent resource blocks.
    pub(super) prbs: PrbWindow,
}

impl DeviceCarrier {
    pub(crate) fn new(
        device: &DeviceConfig,
        (id, carrier): (CarrierId, &CarrierConfig),
        (cell, is_primary): (usize, bool),
        rng: ChaCha8Rng,
    ) -> Result<Self, InvalidConfig> {
        let radio = carrier.radio();
        let channel = ChannelConfig {
            carrier: radio,
            site: carrier.site,
            device: device.radio,
            model: device.channel.clone(),
        };
        let thermal = -174.0 + 10.0 * libm::log10f(radio.prb_hz() as f32);
        let down = carrier.coding(Direction::Downlink);
        let mut report = device.report;
        report.rank.most_layers = report.rank.most_layers.min(carrier.layers);
        device.harq.check()?;
        let mut adapt_uplink = device.adapt_uplink;
        adapt_uplink.target_error_rate *= device.harq.uplink_errors;
        Ok(Self {
            id,
            prb: carrier.prb,
            slot: carrier.frame()?.slot(),
            cell,
            is_primary,
            in_secondary_group: false,
            is_first_of_secondary: false,
            is_nr: carrier.rat == Rat::Nr,
            channel: Channel::new(&channel, rng)?,
            reporter: Reporter::new(&report, down)?,
            downlink: HarqDirection::new(
                carrier.harq(device.harq, Direction::Downlink),
                [0.0; 3],
                LinkAdaptation::new(&device.adapt_downlink, down)?,
            ),
            uplink: HarqDirection::new(
                carrier.harq(device.harq, Direction::Uplink),
                device.harq.uplink_same_fade,
                LinkAdaptation::new(&adapt_uplink, carrier.coding(Direction::Uplink))?,
            ),
            power: device.power,
            measured: [f32::NEG_INFINITY; SUB_BANDS],
            noise_dbm_per_prb: thermal + device.power.noise_rise_db,
            usable: None,
            used: HostInstant::default(),
            sent: (0, 0),
            waited_in: None,
            prbs: PrbWindow::default(),
        })
    }

    /// Advances the channel; returns the device's report if one is due.
    pub(crate) fn advance(&mut self, now: HostInstant, motion: radio::Motion) -> Option<CqiReport> {
        self.channel.advance(now, motion);
        if self.reporter.wakeup() > now {
            return None;
        }
        // The base station measures the uplink as often as the device reports the downlink.
        self.measured = self.uplink_sinr_db(1);
        self.uplink.handle_measurement(&self.measured);
        let report = self.reporter.poll_report(now, self.channel.sinr_db())?;
        self.downlink.handle_report(report);
        Some(report)
    }

    /// Whether it carries data at `now`, unless the device is cut off.
    pub(crate) fn is_usable(&self, now: HostInstant) -> bool {
        self.usable.is_some_and(|from| from <= now)
    }

    /// Whether a block is in transmission in either direction.
    pub(crate) fn is_busy(&self) -> bool {
        self.downlink.processes.is_busy() || self.uplink.processes.is_busy()
    }

    /// It carries data from `usable` on.
    pub(crate) fn activate(&mut self, usable: HostInstant) {
        self.usable = Some(usable);
        self.used = usable;
    }

    /// Drops all blocks in transmission.
    pub(crate) fn reset(&mut self) {
        self.downlink.processes.reset();
        self.uplink.processes.reset();
    }

    /// The next time at which [`advance`](Self::advance) has work.
    pub(crate) fn due(&self) -> HostInstant {
        self.channel.due().min(self.reporter.wakeup())
    }

    /// Transmit power per resource block if the device uses `prb` blocks, dBm.
    fn power_dbm_per_prb(&self, prb: u16) -> f32 {
        let wanted =
            self.power.target_snr_db + self.noise_dbm_per_prb - self.channel.mean_gain_db();
        wanted.min(self.power.most_dbm - 10.0 * libm::log10f(f32::from(prb.max(1))))
    }

    /// Total transmit power in `prb` resource blocks, dBm.
    pub(crate) fn power_dbm(&self, prb: u16) -> f32 {
        self.power_dbm_per_prb(prb) + 10.0 * libm::log10f(f32::from(prb.max(1)))
    }

    /// SINR at which the base station receives `prb` resource blocks, by sub-band.
    pub(crate) fn uplink_sinr_db(&self, prb: u16) -> [f32; SUB_BANDS] {
        let over_noise = self.power_dbm_per_prb(prb) - self.noise_dbm_per_prb;
        let mut sinr = [0.0; SUB_BANDS];
        for (sinr, gain) in sinr.iter_mut().zip(self.channel.uplink_gain_db()) {
            *sinr = gain + over_noise;
        }
        sinr
    }

    /// The resource blocks and the MCS for `need` bytes in `most` blocks at most; the more blocks,
    /// the less power each has.
    pub(crate) fn plan_uplink(
        &mut self,
        now: HostInstant,
        sizes: &BlockSizes,
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

    /// The largest number of blocks that the base station can receive. The lowest MCS needs about
    /// −4 dB.
    fn most_uplink_prb(&self) -> u16 {
        const MIN_SNR_DB: f32 = -2.0;
        let whole = self.power.most_dbm + self.channel.mean_gain_db() - self.noise_dbm_per_prb;
        let most = libm::powf(10.0, (whole - MIN_SNR_DB) / 10.0);
        (most.min(f32::from(u16::MAX)) as u16).max(1)
    }

    /// The MCS from the base station's last measurement, scaled to the power of this many blocks.
    fn uplink_mcs(&mut self, now: HostInstant, prb: u16) -> Option<u8> {
        let less = self.power_dbm_per_prb(1) - self.power_dbm_per_prb(prb);
        let sinr = self.measured.map(|sinr| sinr - less);
        self.uplink.handle_measurement(&sinr);
        self.uplink.choose(now, u32::MAX).map(|choice| choice.mcs)
    }
}
