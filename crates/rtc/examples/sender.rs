//! A sender's estimator of its rate beside the device's modem: what an application in Rust does with both.
//!
//! `cargo run --package sounding-rtc --example sender -- CAPTURE` reads a modem's capture as it would read its port, sends packets at
//! the estimator's rate over a path of 30 ms, and prints the rate. In an application, packets, feedback and the port are real.

use std::time::Duration;

use sounding_estimate::Direction;
use sounding_link::{Arrival, Config, Sounder};
use sounding_rtc::sender::{Estimator, Report};
use sounding_rtc::{Notices, Reported};
use sounding_units::{Bytes, HostInstant};

const PACKET: Bytes = Bytes::new(1_200);
const WAY: Duration = Duration::from_millis(30);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let capture = std::env::args().nth(1).ok_or("name a capture")?;
    let capture = std::fs::read(capture)?;

    // The modem's side: bytes of its port become notices of the radio's own delays.
    let mut sounder = Sounder::new(Config::new(Direction::Uplink)).with_delays();
    let mut notices = Notices::default();

    // The sender's side: its estimator, which corrects arrivals by these notices.
    let start = HostInstant::from_nanos(1_000_000_000);
    let mut estimator = Estimator::new(start, PACKET, Reported::default());

    let mut pieces = capture.chunks(1_024);
    let mut next = start;
    for step in 0..200_u32 {
        let now = start + Duration::from_millis(50) * step;
        // What the port has: the application reads it with `sounding_modem::Live`.
        for bytes in pieces.by_ref().take(4) {
            sounder.handle_bytes(Arrival::At(now), bytes, |_, _| {});
        }
        while let Some(notice) = notices.poll(&mut sounder) {
            estimator.corrections_mut().handle_notice(now, &notice);
        }
        // What the stack's transport-wide feedback says of each packet.
        let mut reports = Vec::new();
        while next + WAY + WAY <= now {
            let arrived = Some((next + WAY) - HostInstant::default());
            reports.push(Report { sent: next, arrived, size: PACKET });
            next = next + PACKET.time_at(estimator.rate()).unwrap_or(WAY);
        }
        estimator.handle_reports(now, reports);
        if step % 20 == 0 {
            // What the encoder is asked for.
            println!("{} {} kbit/s", estimator.state(), estimator.rate().bits_per_sec() / 1_000);
        }
    }
    println!("{:?}", estimator.counts());
    Ok(())
}
