//! Cost of a slot: microseconds of virtual time for each microsecond of computing.

use divan::counter::ItemsCount;
use sounding_cell::config::{CarrierConfig, DeviceConfig};
use sounding_cell::radio::{Position, TrajectoryConfig};
use sounding_cell::{DeviceId, Direction, Ran};
use sounding_units::{Bytes, HostInstant};

fn main() {
    divan::main();
}

const MILLIS: u64 = 1_000;

/// Devices that walk, and packets to them at 72 Mbit/s in all: items are slots.
#[divan::bench(args = [1, 10, 100], sample_count = 20, sample_size = 1)]
fn downlink(bencher: divan::Bencher<'_, '_>, devices: u16) {
    let origin = HostInstant::default();
    let mut ran = Ran::new(&[CarrierConfig::default()], origin, 1).expect("a network");
    for device in 0..devices {
        let heading_deg = f64::from(device) * 3.6;
        let from = Position::new(100.0, 50.0);
        let trajectory = TrajectoryConfig::Straight { from, heading_deg, speed_mps: 1.4 };
        ran.add_device(DeviceConfig { trajectory, ..DeviceConfig::default() }).expect("a device");
    }
    let mut number = 0_u64;
    bencher.counter(ItemsCount::new(MILLIS)).bench_local(|| {
        for _ in 0..MILLIS * 6 {
            let now = HostInstant::from_nanos(number * 1_000_000 / 6);
            let device = DeviceId((number % u64::from(devices)) as u16);
            ran.handle_packet(now, device, Direction::Downlink, Bytes::new(1_500), number);
            number += 1;
        }
        while ran.poll_output().is_some() {}
    });
}
