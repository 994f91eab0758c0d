//! What an acknowledgement costs each controller: on a steady path, a new round every forty.

use std::time::Duration;

use divan::Bencher;
use divan::counter::ItemsCount;
use sounding_cc::{Ack, Departure, Start};
use sounding_units::{Bytes, HostInstant, Rate};

const ACKS: u64 = 10_000;
const MSS: u64 = 1448;
const WINDOW: u64 = 40;

fn main() {
    divan::main();
}

/// Acknowledgements of a path that delivers a segment a millisecond and has forty in flight.
fn acks() -> Vec<Ack> {
    let bytes = |segments: u64| Bytes::new(segments * MSS);
    let at = |ms: u64| HostInstant::from_nanos(ms * 1_000_000);
    (1..=ACKS)
        .map(|ms| Ack {
            now: at(ms + WINDOW),
            acked: bytes(1),
            rtt: Some(Duration::from_millis(WINDOW)),
            one_way: Some(Duration::from_millis(WINDOW / 2)),
            rate: Some(Rate::from_bits_per_sec(MSS * 8 * 1000)),
            delivered: bytes(ms),
            prior_in_flight: bytes(WINDOW),
            in_flight: bytes(WINDOW - 1),
            cwnd_limited: true,
            sent: Departure {
                at: at(ms),
                delivered: bytes(ms.saturating_sub(WINDOW)),
                in_flight: bytes(WINDOW),
                ..Departure::default()
            },
            ..Ack::default()
        })
        .collect()
}

#[divan::bench(args = sounding_cc::names())]
fn handle_ack(bencher: Bencher<'_, '_>, name: &str) {
    let make = sounding_cc::by_name(name).expect("a controller");
    let acks = acks();
    let start = Start::tcp(HostInstant::default(), Some(Duration::from_millis(WINDOW)), 1);
    bencher.counter(ItemsCount::new(ACKS)).with_inputs(|| make(&start)).bench_values(
        |mut controller| {
            for ack in &acks {
                controller.handle_ack(ack);
                divan::black_box((controller.cwnd(), controller.pacing_rate()));
            }
            controller
        },
    );
}
