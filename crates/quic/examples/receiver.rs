//! Receives over QUIC, and reports this machine's link to the sender, if its modem is named.

mod common;

use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use common::{Failed, Identity, Receiving, Stack};
use sounding_quic::modem::{SnifferSource, Source};
use sounding_quic::{Arrivals, Direction, EstimateHandle, ModemFeed, needs};

/// Receives one transfer over QUIC
#[derive(Parser)]
struct Args {
    /// Where to listen
    #[arg(default_value = "127.0.0.1:4433")]
    at: SocketAddr,

    /// Where to write the certificate that the sender has to trust
    #[arg(long, value_name = "FILE")]
    certificate: PathBuf,

    /// quinn or noq
    #[arg(long, default_value = "quinn")]
    stack: Stack,

    /// The Diag port of this machine's modem: what its downlink carries is reported to the sender
    #[arg(long, value_name = "PORT")]
    modem: Option<Source>,

    /// A sniffer of the modem's cell, as udp:127.0.0.1:6767 or dcilog:FILE; once for each carrier.
    /// The reports then have a fair share, which --for pbe-cc sends
    #[arg(long, value_name = "SNIFFER", requires = "modem")]
    sniffer: Vec<SnifferSource>,

    /// The controller that the sender runs: what the modem says is averaged over as long as that
    /// wants
    #[arg(long = "for", value_name = "CONTROLLER", default_value = "sounding")]
    controller: String,

    /// Tell the sender when its packets arrive, for a controller that reads its receiver's clock
    #[arg(long)]
    times: bool,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("receiver: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), Failed> {
    let identity = Identity::new()?;
    let socket = UdpSocket::bind(args.at)
        .map_err(|error| format!("cannot listen on {}: {error}", args.at))?;
    let path = args.certificate.display();
    std::fs::write(&args.certificate, &identity.certificate)
        .map_err(|error| format!("cannot write the certificate to {path}: {error}"))?;
    let handle = EstimateHandle::new();
    let modem = match &args.modem {
        Some(source) => {
            let name = args.controller.split(':').next().unwrap_or_default();
            let needs = needs(name).unwrap_or_default();
            let (down, handle) = (Direction::Downlink, handle.clone());
            Some(ModemFeed::start_needing(needs, source, down, &args.sniffer, handle)?)
        }
        None => None,
    };
    println!("listening on {}", socket.local_addr()?);
    let begun = Instant::now();
    let reports_of = modem.is_some().then_some(handle);
    let arrivals = args.times.then(Arrivals::new);
    let receiving = Receiving { socket, identity, reports_of, arrivals };
    let received = common::receive(args.stack, receiving)?;
    let mbit = received.bytes as f64 * 8.0 / 1e6;
    println!(
        "{} bytes received, {:.2} Mbit/s since it listened, {} reports sent, {} times",
        received.bytes,
        mbit / begun.elapsed().as_secs_f64(),
        received.reports,
        received.times
    );
    if let Some(modem) = modem {
        modem.stop()?;
    }
    Ok(())
}
