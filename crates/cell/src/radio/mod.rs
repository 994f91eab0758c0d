//! STUB while the real one is written beside.
use crate::config::CarrierConfig;
use crate::device::Way;
use crate::event::Direction;
use core::time::Duration;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use sounding_units::HostInstant;

pub(crate) const SUB_BANDS: usize = 4;
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChannelConfig {
    pub sinr_db: f32,
}
#[derive(Debug)]
pub(crate) struct Mobility;
impl Mobility {
    pub(crate) fn new(_c: &ChannelConfig, _r: ChaCha8Rng) -> Self {
        Self
    }
    pub(crate) fn at(&self, _n: HostInstant) -> ([f64; 2], f64) {
        ([0.0, 0.0], 0.0)
    }
}
#[derive(Debug)]
pub(crate) struct Channel {
    sinr: f32,
    due: HostInstant,
}
impl Channel {
    pub(crate) fn new(c: &ChannelConfig, _b: &CarrierConfig, _r: ChaCha8Rng) -> Self {
        Self { sinr: c.sinr_db, due: HostInstant::default() }
    }
    pub(crate) fn is_due(&self, now: HostInstant) -> bool {
        self.due <= now
    }
    pub(crate) fn advance(&mut self, now: HostInstant, _p: [f64; 2], _s: f64) {
        self.due = now + Duration::from_millis(5);
    }
    pub(crate) fn rsrp_dbm(&self) -> f32 {
        -90.0
    }
    pub(crate) fn rsrq_db(&self) -> f32 {
        -10.0
    }
    pub(crate) fn wideband_sinr_db(&self) -> f32 {
        self.sinr
    }
    pub(crate) fn downlink_sinr_db(&self, _w: &Way, _h: u8) -> f32 {
        self.sinr
    }
    pub(crate) fn uplink_sinr_db(&self, _b: u32, _p: u16) -> (f32, f32) {
        (self.sinr, 10.0)
    }
    pub(crate) fn uplink_prb(&self) -> u16 {
        100
    }
}
pub(crate) struct Report {
    pub(crate) wideband: u8,
    pub(crate) rank: u8,
}
#[derive(Debug)]
pub(crate) struct Reporter {
    next: HostInstant,
}
impl Reporter {
    pub(crate) fn new(_c: &ChannelConfig, _b: &CarrierConfig) -> Self {
        Self { next: HostInstant::default() }
    }
    pub(crate) fn poll(&mut self, now: HostInstant, _c: &Channel) -> Option<Report> {
        if self.next > now {
            return None;
        }
        self.next = now + Duration::from_millis(5);
        Some(Report { wideband: 12, rank: 1 })
    }
}
#[derive(Debug)]
pub(crate) struct Adapter {
    up: bool,
}
impl Adapter {
    pub(crate) fn new(_c: &ChannelConfig, _b: &CarrierConfig, d: Direction) -> Self {
        Self { up: d == Direction::Uplink }
    }
    pub(crate) fn rate(&self, _b: usize) -> f32 {
        50.0
    }
    pub(crate) fn layers(&self) -> u8 {
        1
    }
    pub(crate) fn mcs(&self, _b: u32) -> u8 {
        if self.up { 20 } else { 22 }
    }
    pub(crate) fn handle_feedback(&mut self, _a: bool) {}
    pub(crate) fn handle_report(&mut self, _r: &Report) {}
    pub(crate) fn handle_sounding(&mut self, _n: HostInstant, _c: &Channel) {}
}
impl Way {
    pub(crate) fn try_block(&mut self, harq: u8, _s: f32, rng: &mut ChaCha8Rng) -> (u8, u8, bool) {
        let p = self.processes.sent(harq);
        let rv = p.rv();
        let n = p.sent;
        p.sent += 1;
        let fail = if n == 0 { 0.1 } else { 0.01 };
        (rv, n, rng.random::<f32>() >= fail)
    }
}
