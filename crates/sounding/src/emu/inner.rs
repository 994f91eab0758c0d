//! A link inside another, of an emulator without rights: the one around it makes the devices and
//! starts the command.

use std::ffi::OsString;
use std::process::{ExitCode, ExitStatus};
use std::time::{Duration, Instant};

use miette::{IntoDiagnostic as _, Result};
use sounding_emu::{Config, Emulation, Far, KernelDrops, Visit, refuse_inside};
use sounding_host::{Capabilities, holds};

use super::command::{self, GRACE, Interrupts, Watch};
use super::guest::Guest;
use super::{Args, EmuError, finish, shell, tell_of_scheduling};

/// Whether this emulator has to ask the one around it.
pub(super) fn has_to_ask(config: &Config) -> bool {
    let needed = Capabilities::SYS_ADMIN | Capabilities::NET_ADMIN;
    config.far == Far::Machine && !holds(needed) && refuse_inside().is_err()
}

/// Runs the command behind a link inside the present one.
pub(super) fn run(args: &Args, config: Config, interrupts: &Interrupts) -> Result<ExitCode> {
    if args.as_root {
        return Err(miette::miette!(
            help = "give --as-root to the outermost emulator",
            "--as-root: the command around this one is without rights, and so is all that it starts"
        ));
    }
    let (visit, link) = Visit::begin().map_err(EmuError::from)?;
    let emulation = Emulation::start_inside(config, link).map_err(EmuError::from)?;
    tell_of_scheduling(&emulation);
    let shell = match args.command.is_empty() {
        true => Some(shell::of(&Guest::of(false).map_err(EmuError::from)?)),
        false => None,
    };
    let words = shell.as_ref().map_or(&args.command, |shell| &shell.words);
    let added = shell.iter().flat_map(|shell| shell.environment.iter().cloned());
    let added = command::variables(&emulation, visit.base()).into_iter().chain(added);
    let mut watch = Watch::new(args)?;
    visit.run(words.clone(), environment(added)).map_err(EmuError::from)?;
    let (status, drops) = wait(&visit, &emulation, interrupts, &mut watch)?;
    watch.finish(&emulation);
    finish(args, emulation.stop_inside(drops), status)
}

/// This process's variables, with these in their place.
fn environment(added: impl Iterator<Item = (&'static str, OsString)>) -> Vec<OsString> {
    let added: Vec<(&str, OsString)> = added.collect();
    let is_kept = |(name, _): &(OsString, OsString)| added.iter().all(|(other, _)| name != other);
    let own = std::env::vars_os().filter(is_kept);
    let added = added.iter().map(|(name, value)| (OsString::from(name), value.clone()));
    own.chain(added)
        .map(|(mut text, value)| {
            text.push("=");
            text.push(value);
            text
        })
        .collect()
}

fn wait(
    visit: &Visit,
    emulation: &Emulation,
    interrupts: &Interrupts,
    watch: &mut Watch,
) -> Result<(Option<ExitStatus>, [KernelDrops; 2])> {
    let mut ends_at = None;
    loop {
        watch.look(emulation);
        if let Some((status, drops)) = visit.poll_end().map_err(EmuError::from)? {
            return Ok((Some(status), drops));
        }
        if ends_at.is_none() && interrupts.raised() {
            ends_at = Some(Instant::now() + GRACE);
        }
        if emulation.is_finished() || emulation.has_failed() {
            return Ok((None, visit.end().into_diagnostic()?.1));
        }
        if ends_at.is_some_and(|at| Instant::now() >= at) {
            let (_, drops) = visit.end().into_diagnostic()?;
            return Ok((Some(command::interrupted()), drops));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
