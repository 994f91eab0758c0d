//! Duration of a simulated second of each scene; items are data packets. `cargo run --release
//! --example pace` measures whole scenes in CPU time.

mod scenes;

use divan::Bencher;
use divan::counter::ItemsCount;
use scenes::Scene;
use sounding_sim::Network;
use sounding_sim::world::Segment;

fn main() {
    divan::main();
}

/// Seconds after which slow start is over and there is a queue.
const BEFORE: u64 = 5;

fn second<N: Network<Segment>>(bencher: Bencher<'_, '_>, mut scene: Scene<N>) {
    let mut secs = BEFORE;
    let before = scene.run(secs);
    secs += 1;
    let after = scene.run(secs);
    let packets = after.packets - before.packets;
    bencher.counter(ItemsCount::new(packets)).bench_local(|| {
        secs += 1;
        scene.run(secs).digest
    });
}

#[divan::bench(args = [1, 10], sample_count = 50, sample_size = 1)]
fn cell(bencher: Bencher<'_, '_>, devices: u16) {
    second(bencher, scenes::cell(devices));
}

#[divan::bench(sample_count = 50, sample_size = 1)]
fn crowd(bencher: Bencher<'_, '_>) {
    second(bencher, scenes::crowd());
}

#[divan::bench(sample_count = 50, sample_size = 10)]
fn recorded(bencher: Bencher<'_, '_>) {
    if let Some(trace) = scenes::recording() {
        second(bencher, scenes::recorded(&trace));
    }
}
