use sounding_cell::config::*;
use sounding_cell::traffic::Traffic;
use sounding_cell::*;
use sounding_units::*;
use std::time::*;
fn main() {
    for (n, packets) in [(1usize, 0u64), (1, 6), (10, 6), (100, 6)] {
        let origin = HostInstant::from_nanos(0);
        let mut ran = Ran::<u64>::new(&[CarrierConfig::default()], origin, 1).unwrap();
        for _ in 0..n {
            let mut c = DeviceConfig::default();
            if packets == 0 {
                c.traffic = Some(Traffic::Full);
            }
            c.channel = radio::ModelConfig::Propagation(Default::default());
            c.trajectory = radio::TrajectoryConfig::Straight {
                from: radio::Position::new(100.0, 50.0),
                heading_deg: 20.0,
                speed_mps: 1.4,
            };
            ran.add_device(c).unwrap();
        }
        let t = Instant::now();
        let ms = 20_000u64;
        let mut out = 0u64;
        for m in 0..ms {
            for p in 0..packets {
                ran.handle_packet(
                    HostInstant::from_nanos(m * 1_000_000 + p * 100_000),
                    DeviceId(((m * packets + p) % n as u64) as u16),
                    Direction::Downlink,
                    Bytes::new(1500),
                    p,
                );
            }
            ran.handle_time(HostInstant::from_nanos(m * 1_000_000 + 999_999));
            while let Some(_) = ran.poll_output() {
                out += 1;
            }
        }
        let d = t.elapsed();
        println!(
            "{n} devices, {packets} packets/ms: {:.3} us/TTI, {} out, x{:.0} real time",
            d.as_secs_f64() * 1e6 / ms as f64,
            out,
            ms as f64 / 1e3 / d.as_secs_f64()
        );
    }
}
