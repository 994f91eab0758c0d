//! Sends over QUIC with a controller of this project, and says every second how it goes.

mod common;

use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use common::{Failed, Sending, Stack, trusting};
use sounding_quic::modem::Source;
use sounding_quic::{
    Direction, EstimateHandle, Factory, ModemFeed, PeerTimes, Rate, monotonic_now,
};

/// Sends to a receiver over QUIC
#[derive(Parser)]
struct Args {
    /// Where the receiver listens
    to: SocketAddr,

    /// The receiver's certificate, as it wrote it
    #[arg(long, value_name = "FILE")]
    certificate: PathBuf,

    /// quinn or noq
    #[arg(long, default_value = "quinn")]
    stack: Stack,

    /// A controller of this project, such as sounding, biscay, bbr or cubic; `stock` is the
    /// stack's own
    #[arg(long, default_value = "sounding")]
    controller: String,

    /// Source of the link's rate: none, peer (the receiver's reports), or the Diag port of this
    /// machine's modem
    #[arg(long, default_value = "none", value_name = "none|peer|PORT")]
    feed: String,

    /// Use what the receiver says of when packets arrived (its --times)
    #[arg(long)]
    times: bool,

    /// Send at a rate instead of as fast as it goes
    #[arg(long, value_name = "RATE")]
    rate: Option<Rate>,

    /// For so long
    #[arg(long, default_value = "10s", value_parser = humantime::parse_duration)]
    duration: Duration,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sender: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), Failed> {
    let handle = EstimateHandle::new();
    let times = args.times.then(PeerTimes::new);
    let factory = match args.controller.as_str() {
        "stock" => None,
        name => {
            let factory = Factory::new(name, handle.clone())?;
            Some(Arc::new(match &times {
                Some(times) => factory.timed(times.clone()),
                None => factory,
            }))
        }
    };
    let (mut reports_to, mut modem) = (None, None);
    match args.feed.as_str() {
        "none" => {}
        "peer" => reports_to = Some(handle.clone()),
        port => {
            let source: Source = port.parse()?;
            let direction = Direction::Uplink;
            let needs = factory.as_ref().and_then(|factory| factory.needs()).unwrap_or_default();
            modem = Some(ModemFeed::start_needing(needs, &source, direction, &[], handle.clone())?);
        }
    }
    let path = args.certificate.display();
    let certificate = std::fs::read(&args.certificate)
        .map_err(|error| format!("cannot read the receiver's certificate {path}: {error}"))?;
    let any: SocketAddr = if args.to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" }.parse()?;
    let stop = Arc::new(AtomicBool::new(false));
    let sending = Sending {
        socket: UdpSocket::bind(any)?,
        to: args.to,
        trusted: trusting(certificate.into())?,
        factory,
        reports_to,
        times_to: times,
        rate: args.rate,
        stop: stop.clone(),
    };
    let stack = args.stack;
    let sender = std::thread::spawn(move || common::send(stack, sending));
    let end = Instant::now() + args.duration;
    while Instant::now() < end && !sender.is_finished() {
        let left = end.saturating_duration_since(Instant::now());
        std::thread::sleep(left.min(Duration::from_secs(1)));
        tell(&handle);
    }
    stop.store(true, Ordering::Relaxed);
    let sent = sender.join().map_err(|_| "the sender panicked")??;
    println!("{} bytes written, {} reports used, {} times", sent.bytes, sent.reports, sent.times);
    if let Some(modem) = modem {
        modem.stop()?;
    }
    Ok(())
}

/// Prints the state of the link and of the controllers of its connections.
fn tell(handle: &EstimateHandle) {
    let link = match handle.estimate(monotonic_now()) {
        Some(said) => format!(
            "{:.2} Mbit/s ({}, {}, {} ms old)",
            said.rate.mbit_per_sec(),
            said.bound,
            said.state,
            said.age.as_millis()
        ),
        None => "unknown".to_owned(),
    };
    let states: Vec<_> = handle.flows().iter().map(|flow| flow.state).collect();
    println!("link {link}; controllers: {}", states.join(", "));
}
