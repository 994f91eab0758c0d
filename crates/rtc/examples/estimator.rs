//! A sender's estimator of its rate beside the device's modem: what an application in Rust does
//! with both.
//!
//! `cargo run --package sounding-rtc --example estimator -- CAPTURE` reads a modem's capture as it
//! would read its port, sends packets at the estimator's rate over a path of 30 ms, and prints the
//! rate. In an application, packets, feedback and the port are real.

use std::time::Duration;

use sounding_estimate::Direction;
use sounding_link::{Arrival, Config, Delays, Sounder};
use sounding_rtc::Reported;
use sounding_rtc::sender::{Estimator, Report};
use sounding_units::{Bytes, HostInstant};

const PACKET: Bytes = Bytes::new(1_200);
const WAY: Duration = Duration::from_millis(30);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let capture = std::env::args().nth(1).ok_or("name a capture, as Diag's bytes")?;
    let capture = std::fs::read(capture)?;

    // The modem's side: bytes of its port become news of the radio's own delays.
    let mut sounder = Sounder::new(Config::new(Direction::Uplink)).with_delays();
    // The sender's side, which begins with the first record: its estimator, and when the next
    // packet leaves.
    let mut sender: Option<(Estimator<Reported>, HostInstant)> = None;
    let mut shown = HostInstant::default();

    for bytes in capture.chunks(256) {
        // A live port is read with `sounding_modem::Pump`, and its bytes arrive at `Arrival::At`
        // the time of the host.
        sounder.handle_bytes(Arrival::AsStamped, bytes, |_, _| {});
        let Some(now) = sounder.delays().map(Delays::heard_at).filter(|at| at.as_nanos() > 0)
        else {
            continue;
        };
        let (estimator, next) =
            sender.get_or_insert_with(|| (Estimator::new(now, PACKET, Reported::default()), now));
        if let Some(update) = sounder.poll_delays() {
            estimator.corrections_mut().handle_update(&update);
        }

        // The reports of the stack's transport-wide feedback about each packet, on the receiver's
        // clock.
        let mut reports = Vec::new();
        while *next + WAY + WAY <= now {
            let arrived = Some((*next + WAY) - HostInstant::default());
            reports.push(Report { sent: *next, arrived, size: PACKET });
            *next = *next + PACKET.time_at(estimator.rate()).unwrap_or(WAY);
        }
        estimator.handle_reports(now, reports);

        if now - shown >= Duration::from_secs(1) {
            shown = now;
            // The rate for the encoder.
            println!("{} {} kbit/s", estimator.state(), estimator.rate().bits_per_sec() / 1_000);
        }
    }
    let (estimator, _) = sender.ok_or("the capture has no record that is known")?;
    println!("{:?}", estimator.counts());
    Ok(())
}
