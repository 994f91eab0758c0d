//! A cell with a flow to each of its devices is the same in every build, on every machine and on
//! any number of threads.

#[path = "../benches/scenes/mod.rs"]
mod scenes;

const SECS: u64 = 2;
const DEVICES: [u16; 4] = [10, 1, 4, 2];

fn digest(devices: u16) -> u64 {
    scenes::cell(devices).run(SECS).digest
}

/// The cells, shared out among this many threads.
fn digests(threads: usize) -> Vec<u64> {
    std::thread::scope(|scope| {
        let each = DEVICES.len().div_ceil(threads);
        let run = |cells: &'static [u16]| cells.iter().map(|&devices| digest(devices)).collect();
        let threads: Vec<_> = DEVICES
            .chunks(each)
            .map(|cells| scope.spawn(move || -> Vec<u64> { run(cells) }))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a thread that ends")).collect()
    })
}

#[test]
fn a_cell_of_ten_is_the_same_in_every_build() {
    let digest = digest(10);
    // With and without optimisation. Changes with any change of what hosts, controllers or the
    // network do.
    assert_eq!(digest, 0xb7dc_7c64_117e_b9ac, "{digest:#x}");
}

#[test]
fn cells_are_the_same_on_one_thread_and_on_several() {
    assert_eq!(digests(1), digests(3));
}
