//! The daemon: modems, and lists of outputs.

mod beside;
mod config;
mod config_error;
mod daemon;
mod devices;
mod downlink;
mod event_queue;
mod events;
mod flows;
mod hardware;
mod loader;
mod modem;
mod new_flows;
mod news;
mod output;
mod outputs;
#[cfg(feature = "kernel")]
mod peers;
mod reader;
mod share;
mod sleep;
mod sniffers;
mod standing;
mod subordinates;
mod supervisor;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use miette::{IntoDiagnostic, Result};

use config::Config;
pub(crate) use config::{Flags, ShapeFlags};
use daemon::{Daemon, Origin};

/// Flows receive an estimate at least this often while records arrive.
const PUBLISH_EVERY: Duration = Duration::from_millis(10);

#[cfg(feature = "kernel")]
const DETAILS: &str = "\
Loads BISCAY into this kernel, or with --law sounding this project's own law, and keeps it fed. Sockets choose it by name: \
setsockopt(TCP_CONGESTION), --route or --default. When the modem or this daemon is silent, flows go on as BBR, or as CUBIC with \
--fallback cubic, and come back by themselves. The changes of this daemon are undone when it ends, also when it is killed.

The daemon sets the smallest log mask that an estimate needs. The old mask is put back at the end. \
A port that does not answer is read without changes. Where the port offers it, the modem's buffer is drained every millisecond.

With --method cell and --sniffer the estimate has a share of the cell's idle resource blocks, and the fair share of this device, \
which is the rate of a server under PBE-CC. NG-Scope may send to any address. The daemon requests its messages from \
udp:ADDRESS:PORT, and receives from no other address. On this host its port has to be root's, this user's or --sniffer-user's. \
A log is read as `tail -F` does; it may be a FIFO. 100 ms after a sniffer fell silent, estimates are the modem's own.

With --downlink it also limits senders to the rate of this machine's downlink, by the receive windows of its sockets. Any \
sender obeys those. Where the other end is a server of yours, --downlink option writes the rate into the acknowledgements. \
`sounding run --peers` there applies it to its flows: up to --peers-at-most, and up to three times the recent delivery rate \
of the device.

Several outputs share one modem: laws, --downlink, --arrivals, --calls, --board. One that fails ends alone and is tried again.

Examples:
  On a device, for the flows that choose it, or for all new ones:
    sudo sounding run --device /dev/ttyUSB0
    iperf3 --client HOST --congestion biscay
    sudo sounding run --device /dev/ttyUSB0 --law sounding --default
    sudo sounding run --device /dev/wwan0qcdm0 --budget 1Mbit
    sudo sounding run --device tcp:192.168.1.5:43555 --no-mask
    sudo sounding run --device /dev/ttyUSB0 --interface wwan0 --share app

  Its downloads too:
    sudo sounding run --device /dev/ttyUSB0 --downlink window --interface wwan0
    sudo sounding run --device /dev/ttyUSB0 --direction downlink --method cell --sniffer udp:127.0.0.1:6767 --downlink option

  On a server that such devices report to:
    sudo sounding run --peers --default
    sudo sounding run --peers --peers-at-most 200Mbit --law pbe-cc --default

  For `sounding background` without rights:
    sudo sounding run --background

  Copa that takes the radio's own delays for no queue, on a device, and on a server for downloads to such devices:
    sudo sounding run --copa --device /dev/ttyUSB0
    sudo sounding run --copa --peers --default

  Several outputs, or all from a file:
    sudo sounding run --device /dev/ttyUSB0 --law sounding,background --downlink window --board modem
    sudo sounding run --config /etc/sounding.toml";
#[cfg(not(feature = "kernel"))]
const DETAILS: &str = "\
Reads modems, and gives what they know to outputs: [shape] of the file sets shapers, --feed gives live senders a rate, --serve shows a \
page and metrics, --board publishes KPIs, --calls corrects the reports of a call. One that fails ends alone and is tried again.

The daemon sets the smallest log mask that an estimate needs. The old mask is put back at the end. \
A port that does not answer is read without changes. Where the port offers it, the modem's buffer is drained every millisecond.

This build has no programs for the kernel: no congestion control, --downlink or --arrivals. `sounding`, the whole program, has them.

Examples:
  Everything that a file asks for:
    sudo sounding run --example-config > router.toml
    sudo sounding run --config router.toml

  A rate for live senders, and a page:
    sudo sounding run --device /dev/ttyUSB0 --feed uplink --serve 127.0.0.1:8080";

/// Gives what the modem knows of the link to the kernel, to shapers and to programs, until Ctrl-C
#[derive(Args, Debug)]
#[command(after_help = DETAILS)]
pub(crate) struct Run {
    /// Configuration file
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    flags: Flags,
    /// Check the configuration and do nothing
    #[arg(long)]
    check_config: bool,
    /// Print the configuration, of the file and the flags, as one file, and do nothing
    #[arg(long, conflicts_with = "check_config")]
    print_config: bool,
    /// Print a commented configuration file with every default
    #[arg(long)]
    example_config: bool,
    /// Print what happens as JSON lines on standard output
    #[arg(long)]
    json: bool,
    /// Say how the link stands only when its state changes, and not each minute
    #[arg(long)]
    quiet: bool,
}

pub(crate) fn run(args: Run) -> Result<ExitCode> {
    if args.example_config {
        print!("{}", config::example());
        return Ok(ExitCode::SUCCESS);
    }
    if args.print_config {
        print!("{}", Config::print(args.config.as_deref(), args.flags).into_diagnostic()?);
        return Ok(ExitCode::SUCCESS);
    }
    let how = How { check_config: args.check_config, json: args.json, quiet: args.quiet };
    start(args.config.as_deref(), args.flags, how)
}

/// How the daemon runs.
pub(crate) struct How {
    /// It only checks the configuration.
    pub(crate) check_config: bool,
    /// It reports in JSON.
    pub(crate) json: bool,
    /// It leaves the line of each minute out.
    pub(crate) quiet: bool,
}

/// Runs the daemon with this configuration until it is interrupted, or only checks it.
pub(crate) fn start(path: Option<&Path>, flags: Flags, how: How) -> Result<ExitCode> {
    let config = daemon::read_config(path, flags.clone())?;
    if how.check_config {
        println!("the configuration is sound");
        return Ok(ExitCode::SUCCESS);
    }
    let origin = path.map(|path| Origin::new(path.to_path_buf(), flags));
    let mut daemon = Daemon::start(config, origin, &how)?;
    let served = daemon.serve();
    daemon.stop(served)?;
    Ok(ExitCode::SUCCESS)
}
