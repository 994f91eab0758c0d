use std::ffi::OsString;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::builder::styling::Style;
use miette::{Diagnostic, IntoDiagnostic};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use sounding_emu::{
    Config, DirectionReport, Emulation, Logs, Report, Scheduling, StartError, StopError,
};
use sounding_sim::{PathConfig, QueueLimit};
use sounding_trace::{ParseStepsError, ParseTraceError, Schedule, Steps, mahimahi};
use sounding_units::Bytes;

/// Run a command behind an emulated link, in real time.
///
/// COMMAND runs in a network namespace of its own, as a device on a radio link. The only other host it can reach is
/// $SOUNDING_FAR (also $MAHIMAHI_BASE, as under mahimahi), the server at the other end of the link. Nothing of this
/// machine's network is touched, and nothing stays behind when the command ends, however it ends.
///
/// TRACE is a mahimahi packet-delivery trace: one time in milliseconds a line, each an opportunity for one packet of
/// 1500 bytes. Such a link follows mm-link to the byte. RATE is a rate (12Mbit, 1.5Gbit); STEPS are rates from given
/// times on (`0s 20Mbit, 5s 5Mbit`). The order of the stages is that of `mm-delay D mm-link UP DOWN`.
///
/// Needs CAP_SYS_ADMIN and CAP_NET_ADMIN: run it with sudo.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// The uplink, from COMMAND to the far end
    #[arg(long, value_name = "TRACE|RATE|STEPS", default_value = "1Gbit")]
    up: String,

    /// The downlink, from the far end to COMMAND
    #[arg(long, value_name = "TRACE|RATE|STEPS", default_value = "1Gbit")]
    down: String,

    /// Propagation delay in each direction
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = humantime::parse_duration)]
    delay: Duration,

    /// Drop what does not fit into a queue of N packets, in each direction
    #[arg(long, value_name = "N", conflicts_with = "queue_bytes")]
    queue_packets: Option<u64>,

    /// Drop what does not fit into a queue of N bytes, in each direction
    #[arg(long, value_name = "N")]
    queue_bytes: Option<u64>,

    /// Write every packet of the uplink to FILE, in the format of mm-link
    #[arg(long, value_name = "FILE")]
    up_log: Option<PathBuf>,

    /// Write every packet of the downlink to FILE, in the format of mm-link
    #[arg(long, value_name = "FILE")]
    down_log: Option<PathBuf>,

    /// Play traces once and end with the first that ends, instead of repeating them
    #[arg(long)]
    once: bool,

    /// Run this shell command at the far end first, as `iperf3 -s`
    #[arg(long, value_name = "COMMAND")]
    far: Option<String>,

    /// Write the result as JSON to FILE; `-` is standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    json: Option<PathBuf>,

    /// Percent of a core for punctuality; more is more punctual at high rates
    #[arg(long, value_name = "PERCENT", default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=100), hide_short_help = true)]
    punctuality: u8,

    /// What to run, with its arguments
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  A shell behind a 12 Mbit/s link with 20 ms each way:
    sudo sounding emu --up 12Mbit --down 12Mbit --delay 20ms -- bash

  A download over a recorded LTE downlink, with a log that mm-throughput-graph reads:
    sudo sounding emu --down TMobile-LTE-driving.down --delay 20ms --down-log down.log \\
         --far 'iperf3 -s' -- sh -c 'sleep 1; iperf3 -c $SOUNDING_FAR -R -t 60'

  A link that drops from 20 to 5 Mbit/s and recovers, with a short queue, result as JSON:
    sudo sounding emu --down '0s 20Mbit, 5s 5Mbit, 10s 20Mbit' --queue-packets 100 --json result.json -- ping -c 20 100.64.0.2

Exit status: that of COMMAND; 128+N if signal N ended it; 1 if the emulation could not start.";

/// Why `emu` did not run or did not finish.
#[derive(Debug, thiserror::Error, Diagnostic)]
enum EmuError {
    #[error("--{option} {value:?} is neither a file nor a rate: {rate}")]
    #[diagnostic(help(
        "give a mahimahi trace file, a rate as 12Mbit, or steps as '0s 20Mbit, 5s 5Mbit'"
    ))]
    Link { option: &'static str, value: String, rate: ParseStepsError },
    #[error("--{option}: cannot read {path}: {source}", path = path.display())]
    Read { option: &'static str, path: PathBuf, source: std::io::Error },
    #[error("--{option}: {path} is not a mahimahi trace: {source}", path = path.display())]
    Trace { option: &'static str, path: PathBuf, source: ParseTraceError },
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Stop(#[from] StopError),
    #[error("cannot run {command:?}: {source}")]
    #[diagnostic(help(
        "`unshare` of util-linux must be installed: commands run in a process namespace of their own"
    ))]
    Spawn { command: String, source: std::io::Error },
    #[error("the command at the far end ended at once with {status}")]
    #[diagnostic(help("run it by hand to see why: --far takes one shell command"))]
    FarEnded { status: ExitStatus },
}

/// Runs the verb.
pub(crate) fn run(args: Args) -> miette::Result<ExitCode> {
    let config = config(&args)?;
    // Before anything is started, so that no signal finds a half-made emulation.
    let interrupts = Interrupts::catch().into_diagnostic()?;
    let emulation = Emulation::start(config).map_err(EmuError::from)?;
    if let Scheduling::Normal { why } = emulation.scheduling() {
        eprintln!("sounding: timing depends on this machine's load: no real-time priority ({why})");
    }
    let far = start_far(&args, &emulation)?;
    let name = args.command[0].to_string_lossy().into_owned();
    let mut command = emulation.near().command(&args.command[0]);
    command.args(&args.command[1..]);
    environment(&mut command, &emulation);
    let near = command.spawn().map_err(|source| EmuError::Spawn { command: name, source })?;
    let status = wait(near, &emulation, &interrupts).into_diagnostic()?;
    if let Some(far) = far {
        end(far);
    }
    let report = emulation.stop().map_err(EmuError::from)?;
    if let Some(path) = &args.json {
        write_json(path, &to_json(&report, status)).into_diagnostic()?;
    }
    eprint!("{}", table(&report));
    Ok(exit_code(status))
}

fn config(args: &Args) -> Result<Config, EmuError> {
    let queue = match (args.queue_packets, args.queue_bytes) {
        (Some(packets), _) => QueueLimit::packets(packets),
        (None, Some(bytes)) => QueueLimit::bytes(Bytes::new(bytes)),
        (None, None) => QueueLimit::INFINITE,
    };
    let path = |option, value: &str| -> Result<PathConfig, EmuError> {
        let schedule = schedule(option, value)?;
        Ok(PathConfig { delay: args.delay, queue, once: args.once, ..PathConfig::new(schedule) })
    };
    let mut config = Config::new(path("up", &args.up)?, path("down", &args.down)?);
    config.logs = Logs {
        up: args.up_log.clone(),
        down: args.down_log.clone(),
        up_name: args.up.clone(),
        down_name: args.down.clone(),
        command_line: std::env::args()
            .map(|word| format!("'{word}'"))
            .collect::<Vec<_>>()
            .join(" "),
    };
    config.realtime.overhead_percent = args.punctuality;
    Ok(config)
}

/// Reads what `--up` or `--down` says.
fn schedule(option: &'static str, value: &str) -> Result<Schedule, EmuError> {
    let rate = match value.parse::<Steps>() {
        Ok(steps) => return Ok(steps.into()),
        Err(error) => error,
    };
    let path = Path::new(value);
    let looks_like_rates = value.contains(',') || value.contains(' ');
    match fs::read(path) {
        Ok(bytes) => mahimahi::parse(&bytes)
            .map(Schedule::from)
            .map_err(|source| EmuError::Trace { option, path: path.into(), source }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound || looks_like_rates => {
            Err(EmuError::Link { option, value: value.into(), rate })
        }
        Err(source) => Err(EmuError::Read { option, path: path.into(), source }),
    }
}

fn environment(command: &mut Command, emulation: &Emulation) {
    command
        .env("MAHIMAHI_BASE", emulation.far_address().to_string())
        .env("SOUNDING_FAR", emulation.far_address().to_string())
        .env("SOUNDING_NEAR", emulation.near_address().to_string());
}

fn start_far(args: &Args, emulation: &Emulation) -> Result<Option<Child>, EmuError> {
    let Some(line) = &args.far else { return Ok(None) };
    let mut command = emulation.far().command("sh");
    command.args(["-c", line]).stdin(std::process::Stdio::null());
    // The far end's own output would mix with that of COMMAND.
    command.stdout(std::io::stderr());
    environment(&mut command, emulation);
    let mut child =
        command.spawn().map_err(|source| EmuError::Spawn { command: line.clone(), source })?;
    // A server needs a moment before it listens, and one that cannot listen ends in it.
    let ready = Instant::now() + Duration::from_millis(300);
    while Instant::now() < ready {
        if let Ok(Some(status)) = child.try_wait() {
            if !status.success() {
                return Err(EmuError::FarEnded { status });
            }
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(Some(child))
}

/// Signals that end the run.
struct Interrupts {
    raised: Arc<AtomicBool>,
}

impl Interrupts {
    fn catch() -> std::io::Result<Self> {
        Ok(Self { raised: crate::signals::stop_flag()? })
    }

    fn raised(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
    }
}

/// How long COMMAND has to end by itself after an interrupt; the terminal has sent it the same signal.
const GRACE: Duration = Duration::from_secs(2);

fn wait(
    mut child: Child,
    emulation: &Emulation,
    interrupts: &Interrupts,
) -> std::io::Result<Option<ExitStatus>> {
    let mut ends_at = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if ends_at.is_none() && interrupts.raised() {
            ends_at = Some(Instant::now() + GRACE);
        }
        if emulation.is_finished() || emulation.has_failed() {
            end(child);
            return Ok(None);
        }
        if ends_at.is_some_and(|at| Instant::now() >= at) {
            end(child);
            return Ok(Some(ExitStatus::from_raw(Signal::SIGINT as i32)));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Ends a command and everything it started.
fn end(mut child: Child) {
    let pid = Pid::from_raw(child.id() as i32);
    // It is a child of this process and not waited for yet, so the number is still its own.
    let _ = kill(pid, Signal::SIGKILL);
    let _ = child.wait();
}

fn exit_code(status: Option<ExitStatus>) -> ExitCode {
    let Some(status) = status else { return ExitCode::SUCCESS };
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

fn table(report: &Report) -> String {
    let mut out = format!(
        "\n{:<12}{:>12}{:>12}{:>10}{:>10}{:>12}{:>26}\n",
        "", "arrived", "delivered", "dropped", "queued", "Mbit/s", "late p50/p95/p99/max us"
    );
    for (name, way) in [("up", &report.up), ("down", &report.down)] {
        out += &format!(
            "{name:<12}{:>12}{:>12}{:>10}{:>10}{:>12.3}{:>26}\n",
            way.arrived,
            way.delivered,
            way.dropped,
            way.queued,
            way.delivered_bytes.per(report.ran).mbit_per_sec(),
            lateness(way),
        );
    }
    out += &format!(
        "ran {:.3} s, {:.1} % of a core to move packets\n",
        report.ran.as_secs_f64(),
        100.0 * report.cpu.as_secs_f64() / report.ran.as_secs_f64().max(1e-9)
    );
    if report.has_foreign_loss() {
        let bold = Style::new().bold();
        out += &format!("{bold}packets were lost outside the emulated queues:{bold:#}");
        for (name, way) in [("up", &report.up), ("down", &report.down)] {
            out += &format!(
                " {name} {} before the link, {} after it, {} without a buffer;",
                way.kernel.before_link,
                way.kernel.after_link + way.refused,
                way.unbuffered
            );
        }
        out += " the machine was too slow for this link\n";
    }
    if report.records_lost > 0 {
        out += &format!("{} log lines were lost: the disk was too slow\n", report.records_lost);
    }
    out
}

fn lateness(way: &DirectionReport) -> String {
    let late = &way.lateness;
    let micros = |at: Duration| at.as_micros();
    format!(
        "{}/{}/{}/{}",
        micros(late.quantile(0.5)),
        micros(late.quantile(0.95)),
        micros(late.quantile(0.99)),
        micros(late.max())
    )
}

fn to_json(report: &Report, status: Option<ExitStatus>) -> serde_json::Value {
    let way = |way: &DirectionReport| {
        let quantile = |quantile| way.lateness.quantile(quantile).as_nanos() as f64 / 1e3;
        json!({
            "arrived_packets": way.arrived,
            "arrived_bytes": way.arrived_bytes.count(),
            "delivered_packets": way.delivered,
            "delivered_bytes": way.delivered_bytes.count(),
            "dropped_packets": way.dropped,
            "dropped_bytes": way.dropped_bytes.count(),
            "queued_packets": way.queued,
            "queued_bytes": way.queued_bytes.count(),
            "refused_packets": way.refused,
            "unbuffered_packets": way.unbuffered,
            "kernel_dropped_before_link_packets": way.kernel.before_link,
            "kernel_dropped_after_link_packets": way.kernel.after_link,
            "lateness_us": {
                "p50": quantile(0.5),
                "p95": quantile(0.95),
                "p99": quantile(0.99),
                "max": way.lateness.max().as_nanos() as f64 / 1e3,
            },
        })
    };
    let (realtime, why) = match &report.scheduling {
        Scheduling::Fifo { priority } => (Some(priority), None),
        Scheduling::Normal { why } => (None, Some(why)),
    };
    json!({
        "exit_code": status.and_then(|status| status.code()),
        "duration_s": report.ran.as_secs_f64(),
        "cpu_s": report.cpu.as_secs_f64(),
        "fifo_priority": realtime,
        "no_fifo_because": why,
        "log_lines_lost": report.records_lost,
        "up": way(&report.up),
        "down": way(&report.down),
    })
}

fn write_json(path: &Path, value: &serde_json::Value) -> std::io::Result<()> {
    if path == Path::new("-") {
        println!("{value:#}");
        Ok(())
    } else {
        fs::write(path, format!("{value:#}\n"))
    }
}
