mod aliases;
mod command;
mod guest;
mod inner;
mod line;
mod meter;
mod plan;
mod shell;
mod table;

use std::ffi::OsString;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};
use std::time::Duration;

use miette::{Diagnostic, IntoDiagnostic, WrapErr as _};
use sounding_diag::capture::{self, CaptureError};
use sounding_emu::{
    Config, Emulation, Far, Logs, Report, Scheduling, StartError, StopError, VisitError,
};
use sounding_host::caller::NoCaller;
use sounding_host::{MAX_TRACE, read_at_most};
use sounding_kpi::Direction;
use sounding_sim::{Losses, PathConfig, QueueLimit};
use sounding_trace::{ParseStepsError, ParseTraceError, Schedule, Steps, mahimahi};
use sounding_units::Bytes;

use crate::modem::PortArgs;
use crate::{captured, screen};
pub(crate) use aliases::translate;
use command::Interrupts;

/// Run a command behind an emulated link, or a plan's network and flows, in real time.
///
/// COMMAND runs in a separate network namespace, as a device on a radio link. It reaches this
/// machine at $MAHIMAHI_BASE, as under mahimahi (also $SOUNDING_FAR), and over IPv4 all that this
/// machine reaches. It looks names up there too. No setting, rule or address of this machine
/// changes. It has one more device and one more table of nftables, which end with the emulation,
/// also if that is killed.
///
/// With --isolated, with --far and with a plan COMMAND reaches only the other end of the link, at
/// the same variables, and its own loopback. Only names in /etc/hosts resolve there. Start the
/// servers that it needs at the other end, with --far. In both cases COMMAND sees the files of this
/// machine, and its UNIX sockets with a path.
///
/// COMMAND may be `sounding emu` again, up to eight links inside one another: its own command is
/// then behind all of them.
///
/// COMMAND runs as the user who called sudo, with that user's groups and without capabilities. It
/// may ping, and listen on any port. With --as-root it runs as root. Without COMMAND and PLAN it is
/// that user's shell, with `[link]` before its prompt.
///
/// TRACE is a mahimahi packet-delivery trace: one time in milliseconds a line, each an opportunity
/// for one packet of 1500 bytes. Such a link behaves exactly like mm-link. RATE is a rate (12Mbit,
/// 1.5Gbit). STEPS are start times with rates (`0s 20Mbit, 5s 5Mbit`). The order of the stages is
/// that of `mm-delay D mm-link UP DOWN`.
///
/// A CAPTURE becomes two such links: each block that the network granted is an opportunity for as
/// many packets as have room in it, at its own time. A device that had little to send was granted
/// little. Such time is only a floor of what the radio had, and a message says how much of it there
/// is. A direction in which the device sent nothing is better given by --up or --down.
///
/// PLAN is a scenario file of `sounding sim`, and describes the network. Its flows run in this
/// kernel, one run after the other. If COMMAND is given, it runs at the plan's first device instead
/// of the flows. If the plan gives a device a modem, a port speaks Diag for it. The port is printed
/// first: read it with `sounding link PORT` or `sounding run --device PORT`.
///
/// Called as `mm-link`, `mm-delay`, `mm-loss`, `mm-onoff`, `mm-intermittent` or `mm-meter`, by a
/// symbolic link of that name, it takes the arguments of that program of mahimahi.
///
/// Needs CAP_SYS_ADMIN and CAP_NET_ADMIN: run it with sudo. If root runs it without sudo, COMMAND
/// runs as root, and a message says this.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// A plan, whose network it is instead of a link
    #[arg(value_name = "PLAN", conflicts_with_all = ["up", "down", "delay", "queue_packets", "queue_bytes", "up_queue", "down_queue", "up_loss", "down_loss", "up_outages", "down_outages", "up_log", "down_log", "once"])]
    plan: Option<PathBuf>,

    /// Set a key of the plan, as `duration=5s` or `flows.0.controller=bbr`
    #[arg(long, value_name = "KEY=VALUE", requires = "plan")]
    set: Vec<String>,

    /// Both links as a network granted them, from a modem's capture (.qmdl, .mi2log, also .gz or
    /// .zst)
    #[arg(long, value_name = "CAPTURE", conflicts_with = "plan")]
    capture: Option<PathBuf>,

    /// The uplink, from COMMAND to the far end [default: that of --capture, or 1Gbit]
    #[arg(long, value_name = "TRACE|RATE|STEPS")]
    up: Option<String>,

    /// The downlink, from the far end to COMMAND [default: that of --capture, or 1Gbit]
    #[arg(long, value_name = "TRACE|RATE|STEPS")]
    down: Option<String>,

    /// Propagation delay in each direction
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = humantime::parse_duration)]
    delay: Duration,

    /// Drop what does not fit into a queue of N packets, in each direction
    #[arg(long, value_name = "N", conflicts_with = "queue_bytes")]
    queue_packets: Option<u64>,

    /// Drop what does not fit into a queue of N bytes, in each direction
    #[arg(long, value_name = "N")]
    queue_bytes: Option<u64>,

    /// The queue of the uplink: infinite, droptail, drophead, codel or pie, with its values as
    /// `droptail:packets=100`, `codel:target=5ms,interval=100ms` or
    /// `pie:qdelay_ref=15ms,max_burst=150ms,bytes=300kB`
    #[arg(long, value_name = "QUEUE", conflicts_with_all = ["queue_packets", "queue_bytes"], hide_short_help = true)]
    up_queue: Option<QueueLimit>,

    /// The queue of the downlink
    #[arg(long, value_name = "QUEUE", conflicts_with_all = ["queue_packets", "queue_bytes"], hide_short_help = true)]
    down_queue: Option<QueueLimit>,

    /// Lose this share of the packets of the uplink before the link, 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = Losses::share)]
    up_loss: Option<Losses>,

    /// Lose this share of the packets of the downlink before the link, 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = Losses::share)]
    down_loss: Option<Losses>,

    /// Lose all packets of the uplink at times: mean time without and with losses, as `5s,1s`, or
    /// the times themselves, as `fixed:5s,1s`
    #[arg(long, value_name = "ON,OFF", value_parser = Losses::outages, conflicts_with = "up_loss", hide_short_help = true)]
    up_outages: Option<Losses>,

    /// Lose all packets of the downlink at times
    #[arg(long, value_name = "ON,OFF", value_parser = Losses::outages, conflicts_with = "down_loss", hide_short_help = true)]
    down_outages: Option<Losses>,

    /// The seed of losses, and of the random drops of a queue under PIE
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    seed: u64,

    /// Write every packet of the uplink to FILE, in the format of mm-link
    #[arg(long, value_name = "FILE")]
    up_log: Option<PathBuf>,

    /// Write every packet of the downlink to FILE, in the format of mm-link
    #[arg(long, value_name = "FILE")]
    down_log: Option<PathBuf>,

    /// Play traces once and end with the first that ends, instead of repeating them
    #[arg(long)]
    once: bool,

    /// Run COMMAND as root, with all rights of root. By default it runs as the user who called
    /// sudo, without capabilities, and no program that it starts can gain any: sudo does not
    /// work in it
    #[arg(long)]
    as_root: bool,

    /// Run this shell command at the far end first, as `iperf3 -s`
    #[arg(long, value_name = "COMMAND")]
    far: Option<String>,

    /// Keep COMMAND from this machine and from its networks: only the link's other end answers
    #[arg(long)]
    isolated: bool,

    /// Write the result as JSON to FILE; `-` is standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    json: Option<PathBuf>,

    /// Write the rates and the queueing of each half second to FILE, as JSON lines. Without FILE
    /// the terminal's title shows them
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    meter: Option<Option<PathBuf>>,

    /// Percent of a core for punctuality; more is more punctual at high rates
    #[arg(long, value_name = "PERCENT", default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=100), hide_short_help = true)]
    punctuality: u8,

    /// Write what the sniffer of a plan receives to this folder while it runs, as
    /// carrier-0-down.dciLog: a device needs modem.sniffer, and `sounding run --sniffer`
    /// follows them
    #[arg(long, value_name = "DIR", requires = "plan", help_heading = "Modem of a plan")]
    sniffer: Option<PathBuf>,

    #[command(flatten, next_help_heading = "Modem of a plan")]
    port: PortArgs,

    /// Program to run, with its arguments. Without one, and without a plan, it is your shell
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  A shell behind a 12 Mbit/s link with 20 ms each way:
    sudo sounding emu --up 12Mbit --down 12Mbit --delay 20ms

  A page from the Internet over the same link:
    sudo sounding emu --up 12Mbit --down 12Mbit --delay 20ms -- curl --output page https://example.com/

  A download over a recorded LTE downlink, with a log that mm-throughput-graph reads:
    sudo sounding emu --down TMobile-LTE-driving.down --delay 20ms --down-log down.log \\
         --far 'iperf3 -s' -- sh -c 'sleep 1; iperf3 -c $SOUNDING_FAR -R -t 60'

  The uplink of a drive, as its modem was granted it, and a downlink that is no bottleneck:
    sudo sounding emu --capture drive.mi2log --down 100Mbit --delay 20ms -- bash

  Two links one inside the other, each with a delay of its own:
    sudo sounding emu --delay 20ms -- sounding emu --up 12Mbit --down 12Mbit --delay 5ms -- sh -c 'ping $MAHIMAHI_BASE'

  A link that drops from 20 to 5 Mbit/s and recovers, with a short queue, result as JSON:
    sudo sounding emu --down '0s 20Mbit, 5s 5Mbit, 10s 20Mbit' --queue-packets 100 --json result.json -- \
         sh -c 'ping -c 20 $MAHIMAHI_BASE'

  A plan's cell with the plan's flows in this kernel, and the same cell for a download from a server at its far end:
    sudo sounding emu examples/plans/biscay.toml --set duration=10s
    sudo sounding emu examples/plans/biscay.toml --set seeds=1 --set sweep={} \\
         --far 'python3 -m http.server' -- sh -c 'curl --output copy http://$SOUNDING_FAR:8000/FILE'

  Its modem at a name, and who reads it in another terminal:
    sudo sounding emu examples/plans/biscay.toml --set seeds=1 --set sweep={} --link /tmp/modem -- bash
    sounding link /tmp/modem

Exit status: that of COMMAND; 128+N if signal N ended it; 1 if the emulation could not start.";

/// Why `emu` did not run or did not finish.
#[derive(Debug, thiserror::Error, Diagnostic)]
enum EmuError {
    #[error("--{option} {value:?} is neither a file nor a rate: {rate}")]
    #[diagnostic(help(
        "give a mahimahi trace file, a rate as 12Mbit, or steps as '0s 20Mbit, 5s 5Mbit'"
    ))]
    Link { option: &'static str, value: String, rate: ParseStepsError },
    #[error("--{option}: cannot read {path}: {source}", path = screen::path(path))]
    Read { option: &'static str, path: PathBuf, source: std::io::Error },
    #[error("--{option}: {path} is not a mahimahi trace: {source}", path = screen::path(path))]
    Trace { option: &'static str, path: PathBuf, source: ParseTraceError },
    #[error("--{option}: {path} is a modem's capture, not a trace", path = screen::path(path))]
    #[diagnostic(help("give it with --capture: both directions follow what the modem reported"))]
    Capture { option: &'static str, path: PathBuf },
    #[error("--{option}: {path} is {kind}, not a trace", path = screen::path(path))]
    #[diagnostic(help("a trace is text, one time in milliseconds a line"))]
    Binary { option: &'static str, path: PathBuf, kind: &'static str },
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Stop(#[from] StopError),
    #[error(transparent)]
    Visit(#[from] VisitError),
    #[error("cannot run {command:?}: {source}")]
    #[diagnostic(help(
        "`unshare` and `setpriv` of util-linux must be installed: commands run in a process namespace of their own"
    ))]
    Spawn { command: String, source: std::io::Error },
    #[error(transparent)]
    #[diagnostic(help("call it by sudo, or give --as-root for a command that is to run as root"))]
    Caller(#[from] NoCaller),
    #[error("the command at the far end ended at once with {status}")]
    #[diagnostic(help("run it by hand to see why: --far takes one shell command"))]
    FarEnded { status: ExitStatus },
}

/// Runs the verb.
pub(crate) fn run(args: &Args) -> miette::Result<ExitCode> {
    if let Some(path) = &args.plan {
        return plan::run(args, path);
    }
    let config = config(args)?;
    // The signal handler comes first, so that no signal can interrupt a half-made emulation.
    let interrupts = Interrupts::catch().into_diagnostic()?;
    if inner::has_to_ask(&config) {
        return inner::run(args, config, &interrupts);
    }
    let emulation = Emulation::start(config).map_err(line::with_sudo)?;
    tell_of_scheduling(&emulation);
    tell_of_firewall(&emulation);
    let status = command::run(args, &emulation, &interrupts)?;
    finish(args, emulation.stop(), status)
}

/// Reports an emulation that has ended.
fn finish(
    args: &Args,
    stopped: Result<Report, StopError>,
    status: Option<ExitStatus>,
) -> miette::Result<ExitCode> {
    let report = stopped.map_err(EmuError::from)?;
    if let Some(path) = &args.json {
        table::write_json(path, &table::to_json(&report, status))?;
    }
    eprint!("{}", table::table(&report));
    Ok(command::exit_code(status))
}

fn tell_of_scheduling(emulation: &Emulation) {
    if let Scheduling::Normal { why } = emulation.scheduling() {
        eprintln!("sounding: timing depends on this machine's load: no real-time priority ({why})");
    }
}

fn tell_of_firewall(emulation: &Emulation) {
    if let Some(device) = emulation.device_of_machine().filter(|_| emulation.is_shut_in()) {
        eprintln!(
            "sounding: this machine's firewall forwards nothing from {device}, so the command reaches only this machine. \
             `iptables -I FORWARD -i {device} -j ACCEPT` lets it out; with ufw it is `ufw route allow in on {device}`, \
             with nftables a rule `iifname {device} accept` in each chain of the hook forward that drops it"
        );
    }
}

fn config(args: &Args) -> miette::Result<Config> {
    let queue = match (args.queue_packets, args.queue_bytes) {
        (Some(packets), _) => QueueLimit::packets(packets),
        (None, Some(bytes)) => QueueLimit::bytes(Bytes::new(bytes)),
        (None, None) => QueueLimit::INFINITE,
    };
    let path = |schedule, own: Option<QueueLimit>, losses: Option<Losses>, way| PathConfig {
        delay: args.delay,
        queue: own.unwrap_or(queue),
        once: args.once,
        losses: losses.unwrap_or_default(),
        // Each direction has its own.
        seed: args.seed.wrapping_mul(2).wrapping_add(way),
        ..PathConfig::new(schedule)
    };
    let [(up, up_name), (down, down_name)] = schedules(args)?;
    let mut config = Config::new(
        path(up, args.up_queue, args.up_loss.or(args.up_outages), 0),
        path(down, args.down_queue, args.down_loss.or(args.down_outages), 1),
    );
    config.logs = Logs {
        up: args.up_log.clone(),
        down: args.down_log.clone(),
        up_name,
        down_name,
        command_line: line::own(),
    };
    config.realtime.overhead_percent = args.punctuality;
    if !args.isolated && args.far.is_none() {
        config.far = Far::Machine;
    }
    Ok(config)
}

/// Both links and their names: as given, or of the capture.
fn schedules(args: &Args) -> miette::Result<[(Schedule, String); 2]> {
    const NO_BOTTLENECK: &str = "1Gbit";
    let given = [("up", &args.up), ("down", &args.down)];
    let Some(path) = &args.capture else {
        let [up, down] = given.map(|(option, value)| {
            let value = value.as_deref().unwrap_or(NO_BOTTLENECK);
            schedule(option, value).map(|schedule| (schedule, value.to_owned()))
        });
        return Ok([up?, down?]);
    };
    let (links, skipped) = captured::read(path, [Direction::Uplink, Direction::Downlink])?;
    skipped.tell();
    let [up, down] = links;
    let [for_up, for_down] = given;
    let choose = |(option, value): (&'static str, &Option<String>),
                  link: captured::Link|
     -> miette::Result<(Schedule, String)> {
        if let Some(value) = value {
            return Ok((schedule(option, value)?, value.clone()));
        }
        let (trace, sentence) = link.trace(path).wrap_err_with(|| {
            format!("--capture has no link for this direction; --{option} gives another one")
        })?;
        eprintln!("sounding: {}: {sentence}", screen::path(path));
        Ok((trace.into(), path.display().to_string()))
    };
    Ok([choose(for_up, up)?, choose(for_down, down)?])
}

/// Why this file is no trace. Bytes that are no text are not shown.
fn not_a_trace(
    option: &'static str,
    path: &Path,
    bytes: &[u8],
    source: ParseTraceError,
) -> EmuError {
    let path = path.into();
    match capture::recognise(bytes) {
        Ok(_) => EmuError::Capture { option, path },
        Err(CaptureError::Packed(kind)) => EmuError::Binary { option, path, kind },
        Err(_) if bytes.contains(&0) => EmuError::Binary { option, path, kind: "no text" },
        Err(_) => EmuError::Trace { option, path, source },
    }
}

/// Parses the value of `--up` or `--down`.
fn schedule(option: &'static str, value: &str) -> Result<Schedule, EmuError> {
    let rate = match value.parse::<Steps>() {
        Ok(steps) => return Ok(steps.into()),
        Err(error) => error,
    };
    let path = Path::new(value);
    let looks_like_rates = value.contains(',') || value.contains(' ');
    if path.metadata().is_ok_and(|about| about.file_type().is_char_device()) {
        let source = std::io::Error::other("is a device, not a trace");
        return Err(EmuError::Read { option, path: path.into(), source });
    }
    match read_at_most(path, MAX_TRACE) {
        Ok(bytes) => mahimahi::parse(&bytes)
            .map(Schedule::from)
            .map_err(|source| not_a_trace(option, path, &bytes, source)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound || looks_like_rates => {
            Err(EmuError::Link { option, value: value.into(), rate })
        }
        Err(source) => Err(EmuError::Read { option, path: path.into(), source }),
    }
}
