//! The receiver of a call, beside an unmodified WebRTC sender: it answers the sender's offer over
//! lines of JSON.

mod call;
mod lines;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};

/// Answer a WebRTC offer, receive its video, and return feedback with corrected arrival times.
///
/// Lines of JSON come on standard input or over a socket: {"offer":{"sdp":TEXT,"address":IP}}
/// first. The peer answers {"answer":{"sdp":TEXT}}, and at the end {"summary":{…}}. What the
/// device's modem reported comes as
/// {"wait":{"kind":"scheduling"|"harq"|"rlc","from_ns":N,"to_ns":N,"amount_ns":N}} and
/// {"report":{"until_ns":N}}, in nanoseconds of the device's CLOCK_MONOTONIC. {"end":{}} ends the
/// call, as does the end of the input.
#[derive(Debug, Parser)]
struct Args {
    /// Wait for connections at this UNIX socket, instead of standard input, 64 at a time. The call
    /// ends with the connection that made the offer
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Where corrected arrivals come from
    #[arg(long, value_enum, default_value_t = Source::Reported)]
    corrections: Source,
    /// Write each packet and each frame to FILE, as lines of JSON
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// End after this time, whatever happens
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    at_most: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Source {
    /// None: arrivals as they are
    Stock,
    /// The mean delay of 10 ms, without a modem
    Blind,
    /// What the device's modem reports
    Reported,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let at_most = Duration::from_secs(args.at_most);
    let ended = lines::open(args.socket.as_deref())
        .and_then(|lines| call::run(&lines, args.corrections, args.log.as_deref(), at_most));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sounding-rtc-peer: {error}");
            ExitCode::FAILURE
        }
    }
}
