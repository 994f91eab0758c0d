//! Which modems are read, and how each is named.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use sounding_bpf::{MAX_MODEMS, MAX_RADIOS};
use sounding_kpi::Direction;
use sounding_link::Method;
use sounding_modem::{SnifferSource, Source};
use sounding_units::Rate;

use super::file::{Link, Modem};
use super::{BUDGET, Flags, sniffers};
use crate::cli_types::{Unused, user};
use crate::run::config_error::{ConfigError, time};

/// A modem that is read, and with which sniffers.
#[derive(Clone, Debug)]
pub(in crate::run) struct ModemPlan {
    /// What outputs and events call it.
    pub(in crate::run) name: String,
    pub(in crate::run) source: Source,
    /// Whether the modem is given the log mask that the outputs need.
    pub(in crate::run) mask: bool,
    /// Whether that holds also for a mask that the modem does not tell.
    pub(in crate::run) sets_untold: bool,
    /// What the modem may send, if that is limited.
    pub(in crate::run) budget: Option<Rate>,
    /// Its network devices that are named.
    pub(in crate::run) interfaces: Vec<String>,
    /// Those, or others that were found by its port.
    pub(in crate::run) devices: Vec<String>,
    /// Sniffers of the device's carriers, in their order.
    pub(in crate::run) sniffers: Vec<SnifferSource>,
    /// The direction of a sniffer's log that has one log for each.
    pub(in crate::run) sniffed: Direction,
    /// Where rates by CQI are kept, if they are.
    pub(in crate::run) cqi_rates: Option<PathBuf>,
    /// How long a processor may take to wake, if that is limited.
    pub(in crate::run) cpu_latency: Option<Duration>,
}

/// How estimates are made by which sniffers and files are chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct By {
    pub(super) method: Method,
    /// Whether any estimate goes by the channel.
    pub(super) cqi: bool,
    pub(super) sniffed: Direction,
}

/// The name of the only modem, if it has no other.
pub(super) const ONLY: &str = "modem";

/// Reads the modems of the file, and the flags about the only one.
pub(super) fn chosen(
    mut sections: Vec<Modem>,
    link: &Link,
    flags: &Flags,
    by: By,
) -> Result<Vec<ModemPlan>, ConfigError> {
    if sections.len() > MAX_MODEMS {
        return Err(ConfigError::Modems(sections.len()));
    }
    let are_several = sections.len() > 1;
    if are_several {
        refuse_of_one(link, flags)?;
    } else if sections.is_empty() {
        sections.push(Modem::default());
    }
    if flags.cqi_rates.is_some() && !by.cqi {
        return Err(Unused { flag: "--cqi-rates", owner: "--method cqi" }.into());
    }
    let plans: Result<Vec<_>, _> =
        sections.into_iter().map(|section| section.plan(link, flags, by, are_several)).collect();
    let plans: Vec<ModemPlan> = plans?.into_iter().flatten().collect();
    refuse_twice(&plans)?;
    Ok(plans)
}

/// Refuses what is about one modem where there are several.
fn refuse_of_one(link: &Link, flags: &Flags) -> Result<(), ConfigError> {
    for (is_given, flag) in [
        (flags.device.is_some(), "--device"),
        (flags.router.is_named(), "--router-user"),
        (flags.no_mask, "--no-mask"),
        (flags.untold.set_untold_mask, "--set-untold-mask"),
        (flags.budget.is_some(), "--budget"),
        (!flags.interface.is_empty(), "--interface"),
        (!flags.sniffer.is_empty(), "--sniffer"),
        (flags.cqi_rates.is_some(), "--cqi-rates"),
    ] {
        if is_given {
            return Err(ConfigError::FlagOfOneModem(flag));
        }
    }
    for (is_given, key) in
        [(!link.sniffers.is_empty(), "sniffers"), (link.cqi_rates.is_some(), "cqi_rates")]
    {
        if is_given {
            return Err(ConfigError::LinkOfOneModem(key));
        }
    }
    Ok(())
}

/// Refuses what only one of them can have.
fn refuse_twice(plans: &[ModemPlan]) -> Result<(), ConfigError> {
    let (mut names, mut places, mut files) = (HashSet::new(), HashSet::new(), HashSet::new());
    let mut interfaces = HashSet::new();
    for plan in plans {
        let twice = |key, value: String| ConfigError::ModemTwice { key, value };
        if !names.insert(&plan.name) {
            return Err(twice("name", plan.name.clone()));
        }
        if !places.insert(plan.source.place().to_string()) {
            return Err(twice("device", plan.source.to_string()));
        }
        if let Some(file) = plan.cqi_rates.as_ref().filter(|file| !files.insert(*file)) {
            return Err(twice("cqi_rates", file.display().to_string()));
        }
        if let Some(named) = plan.interfaces.iter().find(|named| !interfaces.insert(*named)) {
            return Err(twice("interfaces", named.clone()));
        }
    }
    Ok(())
}

/// Whether it is a name of a modem.
fn is_name(name: &str) -> bool {
    let is_of_it = |byte: u8| matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-');
    (1..=15).contains(&name.len()) && name.bytes().all(is_of_it)
}

impl ModemPlan {
    /// Whether the configuration says the same of both. Devices that were found count for nothing.
    pub(in crate::run) fn is_same(&self, other: &Self) -> bool {
        let said = |plan: &Self| format!("{:?}", Self { devices: Vec::new(), ..plan.clone() });
        said(self) == said(other)
    }
}

impl Modem {
    /// `None` where no device is named and none is needed.
    fn plan(
        self,
        link: &Link,
        flags: &Flags,
        by: By,
        are_several: bool,
    ) -> Result<Option<ModemPlan>, ConfigError> {
        let name = match self.name {
            None if are_several => return Err(ConfigError::ModemUnnamed),
            name => name.unwrap_or_else(|| ONLY.to_owned()),
        };
        if !is_name(&name) {
            return Err(ConfigError::ModemName(name));
        }
        let file = if self.sniffers.is_empty() { &link.sniffers } else { &self.sniffers };
        let sniffers = sniffers::chosen(flags.sniffer.clone(), file, by.method)?;
        let sniffer_user = link.sniffer_user.as_deref().map(user).transpose();
        let sniffer_user = sniffer_user.map_err(ConfigError::SnifferUser)?;
        let sniffers = flags.sniffer_user.of(sniffers, sniffer_user)?;
        let budget = self.budget.as_deref().map(str::parse).transpose();
        let budget = budget.map_err(|error| ConfigError::Rate { key: "modem.budget", error })?;
        let budget = flags.budget.or(budget).unwrap_or(BUDGET);
        let cpu_latency = time("modem.cpu_latency", self.cpu_latency.as_deref())?;
        let interfaces =
            if flags.interface.is_empty() { self.interfaces } else { flags.interface.clone() };
        if interfaces.len() > MAX_RADIOS {
            return Err(ConfigError::Interfaces(interfaces.len()));
        }
        let user = self.router_user.as_deref().map(user).transpose();
        let user = user.map_err(ConfigError::RouterUser)?;
        let Some(text) = flags.device.clone().or(self.device) else {
            return if are_several { Err(ConfigError::ModemWithoutDevice(name)) } else { Ok(None) };
        };
        let source = flags.router.of(text.parse()?)?;
        let source = if flags.router.is_named() { source } else { source.served_by(user) };
        Ok(Some(ModemPlan {
            name,
            source,
            mask: !flags.no_mask && self.mask.unwrap_or(true),
            sets_untold: flags.untold.set_untold_mask || self.set_untold_mask,
            budget: (budget > Rate::default()).then_some(budget),
            interfaces,
            devices: Vec::new(),
            // It says nothing without them.
            sniffed: if sniffers.is_empty() { Direction::Uplink } else { by.sniffed },
            sniffers,
            // In the file it may stand for when it is wanted.
            cqi_rates: (flags.cqi_rates.clone())
                .or(self.cqi_rates)
                .or(link.cqi_rates.clone())
                .filter(|_| by.cqi),
            cpu_latency: flags.cpu_latency.or(cpu_latency),
        }))
    }
}

/// The modem that a section names, or the only one. `section` is how the file writes it.
pub(super) fn of_section(
    plans: &[ModemPlan],
    section: &'static str,
    named: Option<&str>,
) -> Result<String, ConfigError> {
    let known = || plans.iter().map(|plan| plan.name.clone()).collect::<Vec<_>>().join(", ");
    match (named, plans) {
        (Some(named), _) if plans.iter().any(|plan| plan.name == named) => Ok(named.to_owned()),
        (Some(named), [_, ..]) => {
            Err(ConfigError::NoSuchModem { section, named: named.to_owned(), known: known() })
        }
        (None, [only]) => Ok(only.name.clone()),
        (_, []) => Err(ConfigError::NoDevice),
        (None, [first, ..]) => {
            let example = first.name.clone();
            Err(ConfigError::WhichModem { section, known: known(), example })
        }
    }
}
