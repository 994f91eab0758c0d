//! What a step of a channel costs.

use core::time::Duration;

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use sounding_cell::radio::{Channel, ChannelConfig, Motion, Position};
use sounding_units::HostInstant;

fn main() {
    divan::main();
}

/// A device that drives past a site, advanced each millisecond.
#[divan::bench(args = [("epa", 4, 1), ("epa", 4, 2), ("eva", 4, 1), ("eva", 4, 2), ("eva", 13, 2), ("etu", 13, 2)], sample_count = 200, sample_size = 2_000)]
fn advance(bencher: divan::Bencher<'_, '_>, (profile, sub_bands, antennas): (&str, u8, u8)) {
    let text = format!(
        "carrier = {{ sub_bands = {sub_bands} }}
         site = {{ antennas = {antennas} }}
         device = {{ antennas = {antennas} }}
         model = {{ kind = 'propagation', fading = {{ profile = '{profile}' }} }}"
    );
    let config: ChannelConfig = toml::from_str(&text).expect("a channel");
    let mut channel = Channel::new(&config, ChaCha8Rng::seed_from_u64(1)).expect("possible");
    let mut now = HostInstant::default();
    let mut x_m = 100.0;
    bencher.bench_local(|| {
        now = now + Duration::from_millis(1);
        x_m += 0.0014;
        let position = Position::new(x_m, 20.0);
        channel.advance(now, Motion { position, speed_mps: 1.4 });
        channel.sinr_db()[0]
    });
}
