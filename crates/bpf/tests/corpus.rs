//! The seeds of the fuzz targets, run through them; and how the seeds are made.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

#[allow(dead_code, reason = "made for the laws, which exist twice")]
mod filter;
mod targets;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use filter::{Filter, Told};

static FILTER: LazyLock<Filter> = LazyLock::new(|| Filter::compile("trust_host"));

fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target)
}

fn seeds(target: &str) -> impl Iterator<Item = Vec<u8>> {
    let files = std::fs::read_dir(corpus(target)).unwrap();
    files.map(|file| std::fs::read(file.unwrap().path()).unwrap())
}

/// What `trust.h` answers.
fn ask(steps: &[u8]) -> Vec<u8> {
    let mut told = Told::default();
    let (longs, _) = steps.as_chunks();
    told.longs(&longs.iter().map(|long| u64::from_ne_bytes(*long)).collect::<Vec<_>>());
    FILTER.ask(told).iter().flat_map(|number| number.to_ne_bytes()).collect()
}

#[test]
fn what_was_claimed_is_read_or_refused() {
    let read = seeds("claims").filter(|seed| targets::claims(seed)).count();
    assert!(read >= 2 && seeds("claims").count() > read);
}

#[test]
fn no_device_is_believed_too_far() {
    let steps: Vec<_> = seeds("peers").map(|seed| targets::peers(&seed, ask)).collect();
    assert!(steps.len() >= 8 && steps.iter().all(|steps| *steps > 0), "{steps:?}");
}

/// One `struct host_step`: rate, delivered rate, time, limit; then the rest in order.
fn step(longs: [u64; 4], ints: [u32; 16]) -> Vec<u8> {
    let [rate, delivered_rate, now_ns, at_most] = longs;
    let mut bytes: Vec<u8> = Vec::new();
    bytes.extend([rate, delivered_rate, now_ns].iter().flat_map(|long| long.to_ne_bytes()));
    bytes.extend(ints[..10].iter().flat_map(|int| int.to_ne_bytes()));
    bytes.extend(at_most.to_ne_bytes());
    bytes.extend(ints[10..].iter().flat_map(|int| int.to_ne_bytes()));
    bytes
}

/// `cargo test -p sounding-bpf --test corpus -- --ignored`
#[test]
#[ignore = "writes the seeds anew"]
fn make_seeds() {
    let lie = (0..24).flat_map(|number| {
        let met = [number * 10 + 10, number * 10, 0, 1448, 40_000, 15_000, 10, 10, 1, 0];
        step(
            [125_000_000, 2_500_000, u64::from(number) * 40_000_000, 0],
            [&met[..], &[0, 0, 0, 0, 0, 3]].concat().try_into().unwrap(),
        )
    });
    let asked = |asked: [u32; 6]| [[0; 10].as_slice(), &asked].concat().try_into().unwrap();
    let words = [0, 40_000, 0x8000_9C40, u32::MAX].into_iter();
    let words = words.flat_map(|word| step([0, 0, 0, 2_500_000], asked([word, 0, 0, 0, 0, 0])));
    let segments = [(0, 0), (100_000, 0), (1 << 30, 0), (50, 1)].into_iter();
    let segments =
        segments.flat_map(|(ack, stamp)| step([0; 4], asked([ack, 0, 100_000, 65_535, stamp, 1])));
    let payloads = [
        (0, 0),
        (0x6289_5372, 0x1A13_0000),
        (u32::MAX, 0xFF9F_FFFF),
        (1 << 16, 5 << 21),
        (u32::MAX, u32::MAX),
    ];
    let payloads = payloads.into_iter();
    let payloads = payloads
        .flat_map(|(word, second)| step([0, 0, 0, 2_500_000], asked([word, second, 0, 0, 0, 4])));
    let fair = (0..8).flat_map(|number| {
        let met = [number * 10 + 10, number * 10, 0, 1448, 40_000, 15_000, 10, 10, 1, 0];
        let verbs = [3, 5].into_iter();
        verbs.flat_map(move |verb| {
            step(
                [125_000_000, 2_500_000, u64::from(number) * 40_000_000, 0],
                [&met[..], &[0, 0, 0, 0, 0, verb]].concat().try_into().unwrap(),
            )
        })
    });
    // Half of each round is lost, until the claim is cut and long after.
    let losses = (0..80).flat_map(|number| {
        let met = [number * 40 + 40, number * 40, number * 40, 1448, 40_000, 15_000, 80, 80, 1, 0];
        step(
            [125_000_000, 2_500_000, u64::from(number) * 40_000_000, 0],
            [&met[..], &[0, 0, 0, 0, 0, 3]].concat().try_into().unwrap(),
        )
    });
    // As much under way as numbers can count, beside a window.
    let span = step([0; 4], asked([i32::MAX as u32, 0, i32::MAX as u32, 65_535, 0, 1]));
    let extreme = step([u64::MAX; 4], [u32::MAX; 16]);
    let files: [(&str, &str, Vec<u8>); 12] = [
        ("peers", "lie", lie.collect()),
        ("peers", "words", words.collect()),
        ("peers", "segments", segments.collect()),
        ("peers", "payloads", payloads.collect()),
        ("peers", "fair", fair.collect()),
        ("peers", "losses", losses.collect()),
        ("peers", "span", span),
        ("peers", "extreme", extreme),
        ("claims", "one", b"process 7\nnetns 4026531840\ncgroups 12 1\ninterface wwan0\n".into()),
        ("claims", "all", b"process 7\nnetns 1\ncgroups 1\n".into()),
        ("claims", "other", b"{\"version\": 2}\xFF".into()),
        ("claims", "carriage", b"process 7\nnetns 1\ncgroups 1\ninterface wwan0\r\r\n".into()),
    ];
    for (target, name, bytes) in files {
        std::fs::create_dir_all(corpus(target)).unwrap();
        std::fs::write(corpus(target).join(name), bytes).unwrap();
    }
}
