//! Cost of a channel step, a report, a choice of MCS and an error rate.

use core::time::Duration;

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use sounding_cell::radio::{
    AdaptConfig, Block, Channel, ChannelConfig, Choice, Coding, HarqConfig, LinkAdaptation, Motion,
    Position, ReportConfig, Reporter, SubBands,
};
use sounding_units::HostInstant;

fn main() {
    divan::main();
}

/// A device that moves past a site, advanced each millisecond.
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

/// SINRs as different as those of a channel without line of sight.
fn sub_bands(count: usize) -> Vec<f32> {
    (0..count).map(|band| 12.0 + (band * 7 % 11) as f32).collect()
}

/// The error rate of a block's first transmission at the SINRs of all sub-bands.
#[divan::bench(args = [1, 4, 13])]
fn block_error_rate(bencher: divan::Bencher<'_, '_>, count: usize) {
    let sinr_db = sub_bands(count);
    let choice = Choice { mcs: 20, layers: 1 };
    let block = Block::new(Coding::Nr64Qam, choice, 30_000, &HarqConfig::default());
    let block = block.expect("not reserved");
    bencher.bench_local(|| {
        let mut block = block;
        block.handle_transmission(divan::black_box(&sinr_db), SubBands::ALL)
    });
}

/// The MCS of one of the sub-bands.
#[divan::bench(args = [4, 13])]
fn choose(bencher: divan::Bencher<'_, '_>, count: usize) {
    let mut adapter =
        LinkAdaptation::new(&AdaptConfig::DOWNLINK, Coding::Nr64Qam).expect("possible");
    adapter.handle_measurement(&sub_bands(count), 1);
    let now = HostInstant::default();
    bencher.bench_local(|| adapter.choose(now, divan::black_box(SubBands::one(1))));
}

/// A report of all sub-bands.
#[divan::bench(args = [4, 13])]
fn report(bencher: divan::Bencher<'_, '_>, count: usize) {
    let sinr_db = sub_bands(count);
    let mut reporter = Reporter::new(&ReportConfig::default(), Coding::Nr64Qam).expect("possible");
    let mut now = HostInstant::default();
    bencher.bench_local(|| {
        now = now + Duration::from_millis(20);
        reporter.poll_report(now, divan::black_box(&sinr_db))
    });
}
