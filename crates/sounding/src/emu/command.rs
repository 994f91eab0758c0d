//! A command of the user's at one end of an emulation, and another at its other end.

use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use miette::{Context as _, IntoDiagnostic};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sounding_emu::{Door, Emulation, Names};
use sounding_host::tool;

use super::guest::Guest;
use super::meter::Meter;
use super::{Args, EmuError, shell};

/// Runs the command in the namespace of the first device, and the `--far` commands at the other
/// end.
pub(super) fn run(
    args: &Args,
    emulation: &Emulation,
    interrupts: &Interrupts,
) -> miette::Result<Option<ExitStatus>> {
    let guest = Guest::of(args.as_root).map_err(EmuError::from)?;
    let base = base(emulation);
    let mut watch = Watch::new(args)?;
    let far = start_far(args.far.as_ref(), emulation, &guest)?;
    let door = Door::open(emulation.near(), guest.user().clone(), names(emulation), base)
        .into_diagnostic()
        .wrap_err("emulators inside cannot be served")?;
    let shell = args.command.is_empty().then(|| shell::of(&guest));
    let words = shell.as_ref().map_or(&args.command, |shell| &shell.words);
    let name = words.first().map(OsString::as_os_str).unwrap_or_default();
    let mut command = emulation.near().command_as(guest.user(), names(emulation), name);
    command.args(words.iter().skip(1));
    command.envs(variables(emulation, base));
    guest.at_home(&mut command);
    if let Some(shell) = &shell {
        command.envs(shell.environment.iter().cloned());
    }
    let name = name.to_string_lossy().into_owned();
    let near = command.spawn().map_err(|source| EmuError::Spawn { command: name, source })?;
    door.let_in(&near);
    let status = wait(near, emulation, interrupts, &mut watch).into_diagnostic()?;
    watch.finish(emulation);
    if let Some(far) = far {
        end(far);
    }
    Ok(status)
}

fn names(emulation: &Emulation) -> Names {
    match emulation.device_of_machine() {
        Some(_) => Names::At(emulation.far_address()),
        None => Names::Nowhere,
    }
}

/// Reports a network that falls behind the clock, while it does, and shows the meter.
pub(super) struct Watch {
    told: u64,
    meter: Meter,
}

impl Watch {
    pub(super) fn new(args: &Args) -> miette::Result<Self> {
        Ok(Self { told: 0, meter: Meter::open(args.meter.as_ref())? })
    }

    /// Shows the end of the meter.
    pub(super) fn finish(&mut self, emulation: &Emulation) {
        self.meter.finish(emulation);
    }

    pub(super) fn look(&mut self, emulation: &Emulation) {
        self.meter.look(emulation);
        let times = emulation.times_behind();
        // The first three, and then each that makes ten times as many.
        if times > self.told && (times <= 3 || times >= 10 * self.told) {
            self.told = times;
            let lag = emulation.lag().as_millis();
            eprintln!(
                "sounding: the network has fallen behind the clock ({times} times so far, {lag} ms now): packets come late \
                 and in bursts until it has caught up"
            );
        }
    }
}

/// The addresses that commands find in their environment. `base` is the far end of the outermost
/// link.
pub(super) fn variables(emulation: &Emulation, base: Ipv4Addr) -> [(&'static str, OsString); 3] {
    let near = emulation.near_address();
    [("MAHIMAHI_BASE", base), ("SOUNDING_FAR", base), ("SOUNDING_NEAR", near)]
        .map(|(name, address)| (name, address.to_string().into()))
}

/// The far end of the outermost link. Root's emulator inside another finds it as the outer one has
/// named it.
fn base(emulation: &Emulation) -> Ipv4Addr {
    let named = || std::env::var("MAHIMAHI_BASE").ok()?.parse().ok();
    let is_inside = sounding_emu::refuse_inside().is_err();
    is_inside.then(named).flatten().unwrap_or(emulation.far_address())
}

/// Runs a shell command at the far end.
fn start_far(
    line: Option<&String>,
    emulation: &Emulation,
    guest: &Guest,
) -> Result<Option<Child>, EmuError> {
    let Some(line) = line else { return Ok(None) };
    let mut command = emulation.far().command_as(guest.user(), Names::Nowhere, tool("sh"));
    command.args(["-c", line]).stdin(std::process::Stdio::null());
    // The far end's own output would mix with that of COMMAND.
    command.stdout(std::io::stderr());
    command.envs(variables(emulation, emulation.far_address()));
    guest.at_home(&mut command);
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
pub(super) struct Interrupts {
    pub(super) raised: Arc<AtomicBool>,
}

impl Interrupts {
    pub(super) fn catch() -> std::io::Result<Self> {
        Ok(Self { raised: crate::signals::stop_flag()? })
    }

    pub(super) fn raised(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
    }
}

/// The time that COMMAND has to end after an interrupt. The terminal has sent it the same signal.
pub(super) const GRACE: Duration = Duration::from_secs(2);

/// Waits for the end of the command or the emulation, or for an interrupt.
fn wait(
    mut child: Child,
    emulation: &Emulation,
    interrupts: &Interrupts,
    watch: &mut Watch,
) -> std::io::Result<Option<ExitStatus>> {
    let mut ends_at = None;
    loop {
        watch.look(emulation);
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
            return Ok(Some(interrupted()));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The status of a command that an interrupt has ended.
pub(super) fn interrupted() -> ExitStatus {
    ExitStatus::from_raw(Signal::SIGINT as i32)
}

/// Ends a command and everything it started.
fn end(mut child: Child) {
    let pid = Pid::from_raw(child.id() as i32);
    // It is a child of this process and not waited for yet, so the number is still its own.
    let _ = kill(pid, Signal::SIGKILL);
    let _ = child.wait();
}

pub(super) fn exit_code(status: Option<ExitStatus>) -> ExitCode {
    let Some(status) = status else { return ExitCode::SUCCESS };
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
