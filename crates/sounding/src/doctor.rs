mod beside;
mod held;
mod holders;
mod limits;
mod listen;
mod manager;
mod methods;
mod offloads;
mod ports;
#[cfg(feature = "kernel")]
mod programs;
mod sniffers;
mod udev;
mod udev_rule;
mod usb;

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::Args;
use miette::{IntoDiagnostic as _, Result};
use serde::Serialize;
use sounding_host::Priority;
use sounding_modem::{SnifferSource, Source};

use crate::cli_types::{RouterUser, SnifferUser, source_parser};
use crate::{screen, signals};
pub(crate) use beside::{Opened, open, tell_end, tell_lost};
pub(crate) use held::refuse_held;
use methods::MethodCheck;
use ports::Port;
pub(crate) use usb::hardware_behind;

/// Checks what this machine and its modem can do, and names the cure for each problem
#[derive(Args, Debug)]
#[command(after_help = "\
Exit code 0 if everything that `sounding demo` needs is there, 1 if not. A modem is not needed for that, but with --listen exit \
code 1 also means that no modem was listened to.

Every port that could be a modem's is asked for its version, whatever it is called. Once one port of a modem has answered, its \
others are left alone. A port that another program holds is named with that program, and left alone too. A port that `sounding run` \
holds is read beside it, with --listen too.

With --listen, a modem that answers is asked for every record that a method needs, for the given time. Then the old log mask is put \
back; after a kill, the next command that reads this modem puts it back. The area `records` says which records came, in which \
versions, and whether they are readable. The area `methods` says which methods work with them, and what is known about NR. The mark \
`--` stands for an unknown answer: no such record came. Let something send and receive meanwhile.

Without --listen and --write-udev-rule nothing is changed.

ModemManager may take the port of a modem at any time. --udev-rule prints a rule of udev against that, for the vendor, the product and \
the interface of the port that has answered. --write-udev-rule writes it to a file. No package installs such a rule.

The area `router` has the fast paths that lead packets past a shaper: flowtables, OpenWrt's options, vendors' engines.

Examples:
  sudo sounding doctor
  sudo sounding doctor --listen 10s
  sudo sounding doctor --device tcp:192.168.1.5:43555 --listen 10s
  sudo sounding doctor --listen 10s --json | jq 'select(.area == \"methods\" and .works == false)'
  sudo sounding doctor --sniffer udp:127.0.0.1:6767
  sudo sounding doctor --udev-rule
  sudo sounding doctor --json | jq 'select(.area == \"modem\")'
  sudo sounding doctor --json --no-ports | jq 'select(.area == \"router\")'")]
pub(crate) struct Doctor {
    /// One JSON object a check
    #[arg(long)]
    json: bool,
    /// Do not open ports to ask whether a modem answers
    #[arg(long)]
    no_ports: bool,
    /// Folder in which to look for ports
    #[arg(long, value_name = "DIR", default_value = "/dev", conflicts_with = "no_ports")]
    ports: PathBuf,
    /// Ask only this source, instead of looking for ports: a device, tcp:HOST:PORT, router[:NAME]
    /// or vendor-router[:NAME], with non-hdlc: before it if the modem has the HDLC framing
    /// switched off
    #[arg(long, value_name = "SOURCE", value_parser = source_parser(), conflicts_with_all = ["no_ports", "ports"])]
    device: Option<Source>,
    /// Folder in which the kernel shows devices
    #[arg(long, value_name = "DIR", default_value = "/sys", hide = true)]
    sys: PathBuf,
    /// Listen to each modem that answers for this long, and say which of its records are readable
    /// and which methods work with them
    #[arg(long, value_name = "TIME", value_parser = span, conflicts_with = "no_ports")]
    listen: Option<Duration>,
    /// Print only the rule of udev that makes ModemManager leave alone the port that has answered
    #[arg(long, conflicts_with_all = ["json", "no_ports", "listen", "sniffer", "write_udev_rule"])]
    udev_rule: bool,
    /// Write this rule to /etc/udev/rules.d, which takes root
    #[arg(long, conflicts_with_all = ["json", "no_ports", "listen", "sniffer"])]
    write_udev_rule: bool,
    /// Folder of udev's rules
    #[arg(long, value_name = "DIR", default_value = udev::FOLDER, hide = true)]
    udev_rules: PathBuf,
    /// A sniffer that `sounding run` is to read, as udp:127.0.0.1:6767 or dcilog:FILE: it is
    /// listened to for two seconds
    #[arg(long, value_name = "SNIFFER")]
    sniffer: Vec<SnifferSource>,
    #[command(flatten)]
    sniffer_user: SnifferUser,
    #[command(flatten)]
    router: RouterUser,
}

/// A time to listen.
fn span(text: &str) -> std::result::Result<Duration, String> {
    const SPANS: std::ops::RangeInclusive<Duration> =
        Duration::from_secs(1)..=Duration::from_secs(3600);
    let span = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    SPANS.contains(&span).then_some(span).ok_or_else(|| "it is 1s to 1h".into())
}

/// One check.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Check {
    /// The purpose that needs it.
    pub(crate) area: &'static str,
    pub(crate) name: String,
    pub(crate) ok: bool,
    pub(crate) detail: String,
    /// The cure; empty if nothing is wrong.
    pub(crate) cure: String,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) more: Option<More>,
}

/// More about a check, for programs.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum More {
    Port(Port),
    Record { record: serde_json::Value },
    Method(MethodCheck),
}

impl Check {
    fn mark(&self) -> &'static str {
        match &self.more {
            _ if self.ok => "ok",
            Some(More::Method(method)) if method.is_unknown() => "--",
            _ => "no",
        }
    }
}

pub(crate) fn run(args: &Doctor) -> Result<ExitCode> {
    if args.udev_rule || args.write_udev_rule {
        return udev_rule::run(args);
    }
    let named = args.sniffer_user.of(args.sniffer.clone(), None).into_diagnostic()?;
    let mut checks = needed_for_demo();
    let works = checks.iter().all(|check| check.ok);
    #[cfg(feature = "kernel")]
    checks.extend(programs::offers());
    #[cfg(feature = "lab")]
    checks.push(tool("setpriv", "util-linux"));
    checks.push(real_time());
    #[cfg(feature = "kernel")]
    checks.extend(programs::downlink().chain(programs::background()));
    checks.extend(offloads::checks());
    checks.extend(sniffers::checks(&named));
    match &args.device {
        Some(source) => {
            let source = args.router.of(source.clone()).into_diagnostic()?;
            checks.push(ports::only(&args.sys, &source));
        }
        None if args.no_ports => {}
        None => checks.extend(ports::checks(&args.ports, &args.sys, args.router)),
    }
    checks.iter().for_each(|check| print(check, args.json));
    let Some(span) = args.listen else {
        return Ok(if works { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    };
    let has_listened = listen(&checks, span, args)?;
    Ok(if works && has_listened { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Listens to every modem that has answered; whether there was one that could be read.
fn listen(checks: &[Check], span: Duration, args: &Doctor) -> Result<bool> {
    let stop = signals::stop_flag().into_diagnostic()?;
    let mut has_listened = false;
    for source in checks.iter().filter_map(ports::answered) {
        let source: Source = source.parse().into_diagnostic()?;
        let source = args.router.if_router(source);
        let name = source.to_string();
        let time = humantime::format_duration(span);
        eprintln!("sounding: listening to {} for {time}", screen::inline(&name));
        let checks = match listen::listen(&source, span, &stop) {
            Ok(heard) => {
                has_listened = true;
                methods::checks(&name, &heard)
            }
            Err(error) => {
                vec![check(
                    "records",
                    &name,
                    Err(error.to_string()),
                    "try again; `sounding record` has more",
                )]
            }
        };
        checks.iter().for_each(|check| print(check, args.json));
        if signals::is_stopping() {
            break;
        }
    }
    if !has_listened {
        let found = Err("no modem was listened to".into());
        let cure = "see the area `modem` above";
        print(&check("records", "modem", found, cure), args.json);
    }
    Ok(has_listened)
}

fn print(check: &Check, json: bool) {
    if json {
        println!("{}", serde_json::json!(check));
        return;
    }
    let [name, detail, cure] =
        [&check.name, &check.detail, &check.cure].map(|text| screen::inline(text));
    println!("{}  {:<9} {name:<16} {detail}", check.mark(), check.area);
    if !check.ok {
        println!("    {:<9} {:<16} cure: {cure}", "", "");
    }
}

/// The requirements of `sounding demo` and `sounding run`.
pub(crate) fn needed_for_demo() -> Vec<Check> {
    let mut checks = Vec::from(limits::checks());
    #[cfg(feature = "kernel")]
    checks.extend(programs::needed());
    checks.extend(emulator());
    checks
}

/// The requirements of an emulated link.
#[cfg(feature = "demo")]
fn emulator() -> Vec<Check> {
    vec![tun(), namespaces(), tool("ip", "iproute2"), tool("unshare", "util-linux")]
}

/// Only `ip`, which sets and restores routes: this build emulates nothing.
#[cfg(not(feature = "demo"))]
fn emulator() -> Vec<Check> {
    vec![tool("ip", "iproute2")]
}

fn check(
    area: &'static str,
    name: &str,
    found: std::result::Result<String, String>,
    cure: &str,
) -> Check {
    let (ok, detail) = match found {
        Ok(detail) => (true, detail),
        Err(detail) => (false, detail),
    };
    let cure = if ok { String::new() } else { cure.into() };
    Check { area, name: name.into(), ok, detail, cure, more: None }
}

#[cfg(feature = "demo")]
fn tun() -> Check {
    const PATH: &str = "/dev/net/tun";
    let opened = std::fs::OpenOptions::new().read(true).write(true).open(PATH);
    const CURE: &str = "run as root; if it is missing, `modprobe tun`";
    let cure = limits::cure_of(&opened, CURE);
    let found = opened.map(|_| PATH.to_string()).map_err(|error| format!("{PATH}: {error}"));
    check("emulator", "tun", found, &cure)
}

#[cfg(feature = "demo")]
fn namespaces() -> Check {
    let made = sounding_emu::Netns::new();
    let cure = limits::cure_of(&made, "run as root, or with CAP_SYS_ADMIN");
    let found =
        made.map(|_| "network namespaces can be made".into()).map_err(|error| error.to_string());
    check("emulator", "namespaces", found, &cure)
}

fn tool(name: &'static str, package: &str) -> Check {
    let output = Command::new(sounding_host::tool(name)).arg("-V").output();
    let cure = limits::cure_of(&output, &format!("apt-get install {package}"));
    let found = output
        .map(|output| {
            String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or(name).to_string()
        })
        .map_err(|error| format!("{name}: {error}"));
    check("emulator", name, found, &cure)
}

fn real_time() -> Check {
    // In a thread that takes the priority with it when it ends.
    let taking = std::thread::Builder::new().spawn(|| Priority::RoundRobin(1).take());
    let taken = taking.and_then(|thread| {
        thread.join().unwrap_or_else(|_| Err(std::io::Error::other("the test broke off")))
    });
    const CURE: &str = "run as root or with CAP_SYS_NICE: timing depends on the load without it";
    let cure = limits::cure_of(&taken, CURE);
    let found = taken.map(|()| "SCHED_FIFO".into()).map_err(|error| error.to_string());
    check("emulator", "real time", found, &cure)
}
