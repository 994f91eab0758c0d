//! Cost of an acknowledgement under each controller, with all calls of a transport around it: on a
//! steady path, a new round every forty.

use std::time::Duration;

use divan::Bencher;
use divan::counter::ItemsCount;
use sounding_cc::{Ack, Controller, Delivered, Departure, Start};
use sounding_estimate::{Bound, LinkEstimate};
use sounding_kpi::Direction;
use sounding_units::{Bytes, HostInstant, Rate};

const ACKS: u64 = 10_000;
const MSS: u64 = 1448;
const WINDOW: u64 = 40;
/// Milliseconds between estimates, as the daemon publishes them.
const TOLD_EVERY: u64 = 10;

fn main() {
    divan::main();
}

fn bytes(segments: u64) -> Bytes {
    Bytes::new(segments * MSS)
}

fn at(ms: u64) -> HostInstant {
    HostInstant::from_nanos(ms * 1_000_000)
}

fn departure(ms: u64) -> Departure {
    Departure {
        at: at(ms),
        delivered: bytes(ms.saturating_sub(WINDOW)),
        delivered_at: at(ms),
        first_sent_at: at(ms.saturating_sub(WINDOW)),
        in_flight: bytes(WINDOW),
        ..Departure::default()
    }
}

/// Acknowledgements of a path that delivers a segment a millisecond and has forty in flight.
fn acks() -> Vec<Ack> {
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
            sent: departure(ms),
            ..Ack::default()
        })
        .collect()
}

fn start() -> Start {
    Start::tcp(HostInstant::default(), Some(Duration::from_millis(WINDOW)), 1)
}

/// The acknowledgement as a whole, alone.
#[divan::bench(args = sounding_baselines::names())]
fn handle_ack(bencher: Bencher<'_, '_>, name: &str) {
    let make = sounding_baselines::by_name(name).expect("a controller");
    let acks = acks();
    bencher.counter(ItemsCount::new(ACKS)).with_inputs(|| make(&start())).bench_values(
        |mut controller| {
            for ack in &acks {
                controller.handle_ack(ack);
                divan::black_box((controller.cwnd(), controller.pacing_rate()));
            }
            controller
        },
    );
}

/// A transport's work for it: a wake-up, the acknowledgement of a delivered packet, another packet
/// sent, and now and then an estimate from the modem.
#[divan::bench(args = sounding_baselines::names())]
fn a_packets_round(bencher: Bencher<'_, '_>, name: &str) {
    let make = sounding_baselines::by_name(name).expect("a controller");
    let acks = acks();
    let estimate = LinkEstimate::new(
        Direction::Uplink,
        Rate::from_bits_per_sec((MSS + 52) * 8 * 1000),
        Bound::Capacity,
    )
    .with_age(Duration::from_millis(3));
    bencher.counter(ItemsCount::new(ACKS)).with_inputs(|| make(&start())).bench_values(
        |mut controller| {
            for (ack, ms) in acks.iter().zip(1..) {
                serve(&mut *controller, ack);
                if ms % TOLD_EVERY == 0 {
                    controller.handle_estimate(ack.now, &estimate, 1);
                }
            }
            controller
        },
    );
}

fn serve(controller: &mut dyn Controller, ack: &Ack) {
    while controller.wakeup().is_some_and(|at| at <= ack.now) {
        controller.handle_time(ack.now);
    }
    let size = ack.acked;
    controller.handle_delivered(&Delivered { now: ack.now, size, sent: ack.sent });
    controller.handle_ack(ack);
    divan::black_box((controller.cwnd(), controller.pacing_rate()));
    controller.handle_sent(&departure(ack.now.as_nanos() / 1_000_000), size);
}
