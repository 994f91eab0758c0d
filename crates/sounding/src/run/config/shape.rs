//! `[shape]`, and the flags of `sounding shape`: a shaper for each direction.

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use sounding_kpi::Direction;
use sounding_shape::LimitsError;
use sounding_units::Rate;

use crate::cli_types::is_default;
use crate::run::config_error::ConfigError;
use crate::run::outputs::shape::{ShapeLimits, ShapeSection};

/// `[shape]` of the file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    #[serde(skip_serializing_if = "is_default")]
    modem: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    interface: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    manage: bool,
    #[serde(skip_serializing_if = "is_default")]
    observe: bool,
    #[serde(skip_serializing_if = "is_default")]
    uplink: Option<Side>,
    #[serde(skip_serializing_if = "is_default")]
    downlink: Option<Side>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
struct Side {
    #[serde(skip_serializing_if = "is_default")]
    device: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    min: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    base: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    max: Option<String>,
}

/// The flags of `sounding shape` about shapers.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ShapeFlags {
    /// The WAN's network device, as wwan0. By default the one that belongs to the modem's port
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,
    /// Make the shapers: CAKE, or HTB where this kernel has none, and an IFB for the downlink.
    /// Without it, a shaper that stands there already gets other rates, and nothing else changes
    #[arg(long)]
    manage: bool,
    /// Print what the rates would be, and change nothing
    #[arg(long, conflicts_with = "manage")]
    observe: bool,
    /// Shape one direction alone
    #[arg(long, value_enum, value_name = "DIRECTION")]
    only: Option<Only>,
    /// Without --manage: the device at whose root the downlink's shaper stands, usually an IFB. By
    /// default ifb4 and the name of the interface, if there is one
    #[arg(long, value_name = "NAME")]
    downlink_device: Option<String>,
    /// The lowest rate, both ways
    #[arg(long, value_name = "RATE")]
    min: Option<Rate>,
    /// The rate while the modem is not heard, both ways. By default the average that the link
    /// carried at its capacity in earlier runs, which a file keeps; at the first start the rate of
    /// the shaper that stands there, or 10 Mbit/s
    #[arg(long, value_name = "RATE")]
    base: Option<Rate>,
    /// The highest rate, both ways
    #[arg(long, value_name = "RATE")]
    max: Option<Rate>,
    /// The same for one direction
    #[arg(long, value_name = "RATE")]
    uplink_min: Option<Rate>,
    #[arg(long, value_name = "RATE", hide_short_help = true)]
    uplink_base: Option<Rate>,
    #[arg(long, value_name = "RATE", hide_short_help = true)]
    uplink_max: Option<Rate>,
    #[arg(long, value_name = "RATE", hide_short_help = true)]
    downlink_min: Option<Rate>,
    #[arg(long, value_name = "RATE", hide_short_help = true)]
    downlink_base: Option<Rate>,
    #[arg(long, value_name = "RATE", hide_short_help = true)]
    downlink_max: Option<Rate>,
}

/// One direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Only {
    /// What this machine and the devices behind it send
    Uplink,
    /// What they receive
    Downlink,
}

/// The shapers that are wanted.
#[derive(Clone, Debug)]
pub(in crate::run) struct ShapePlan {
    modem: Option<String>,
    interface: Option<String>,
    manage: bool,
    observe: bool,
    sides: Vec<(Direction, Option<String>, ShapeLimits)>,
}

/// Reads both. Flags win. Of several sections each gets the limits of the flags.
pub(super) fn chosen(
    mut file: Vec<File>,
    flags: Option<ShapeFlags>,
) -> Result<Vec<ShapePlan>, ConfigError> {
    if file.is_empty() && flags.is_some() {
        file.push(File::default());
    }
    let flags = flags.unwrap_or_default();
    for (is_given, flag) in [
        (flags.interface.is_some(), "--interface"),
        (flags.downlink_device.is_some(), "--downlink-device"),
    ] {
        if is_given && file.len() > 1 {
            return Err(ConfigError::FlagOfOneModem(flag));
        }
    }
    file.into_iter().map(|file| plan(file, &flags)).collect()
}

fn plan(file: File, flags: &ShapeFlags) -> Result<ShapePlan, ConfigError> {
    // A file that names no direction means both.
    let all = file.uplink.is_none() && file.downlink.is_none();
    let wants = |direction, side: &Option<Side>| match flags.only {
        Some(Only::Uplink) => direction == Direction::Uplink,
        Some(Only::Downlink) => direction == Direction::Downlink,
        None => all || side.is_some(),
    };
    let mut sides = Vec::new();
    if wants(Direction::Uplink, &file.uplink) {
        let side = file.uplink.unwrap_or_default();
        let own = [flags.uplink_min, flags.uplink_base, flags.uplink_max];
        sides.push((Direction::Uplink, side.device.clone(), limits(flags, own, &side)?));
    }
    if wants(Direction::Downlink, &file.downlink) {
        let side = file.downlink.unwrap_or_default();
        let own = [flags.downlink_min, flags.downlink_base, flags.downlink_max];
        let device = flags.downlink_device.clone().or(side.device.clone());
        sides.push((Direction::Downlink, device, limits(flags, own, &side)?));
    }
    let interface = flags.interface.clone().or(file.interface);
    let named = sides.iter().filter_map(|(_, device, _)| device.as_ref());
    for device in named.chain(&interface) {
        sounding_qdisc::check_name(device).map_err(ConfigError::ShapeDevice)?;
    }
    Ok(ShapePlan {
        modem: file.modem,
        interface,
        manage: flags.manage || file.manage,
        observe: flags.observe || file.observe,
        sides,
    })
}

fn limits(
    flags: &ShapeFlags,
    own: [Option<Rate>; 3],
    side: &Side,
) -> Result<ShapeLimits, ConfigError> {
    let rate = |key, text: &Option<String>| {
        let rate = text.as_deref().map(str::parse).transpose();
        rate.map_err(|error| ConfigError::Rate { key, error })
    };
    let [min, base, max] = own;
    let limits = ShapeLimits {
        min: min.or(flags.min).or(rate("shape.min", &side.min)?),
        base: base.or(flags.base).or(rate("shape.base", &side.base)?),
        max: max.or(flags.max).or(rate("shape.max", &side.max)?),
    };
    check(limits)?;
    Ok(limits)
}

/// Checks the limits that are given, whatever the others turn out to be.
fn check(ShapeLimits { min, base, max }: ShapeLimits) -> Result<(), ConfigError> {
    if min == Some(Rate::ZERO) {
        return Err(ConfigError::Limits(LimitsError::NoMin));
    }
    let (min, base, max) = (("min", min), ("base", base), ("max", max));
    for ((above, rate), (below, most)) in [(min, base), (base, max), (min, max)] {
        if let (Some(rate), Some(most)) = (rate, most)
            && rate > most
        {
            return Err(ConfigError::LimitsOrder { above, rate, below, most });
        }
    }
    Ok(())
}

impl ShapePlan {
    /// The network device of the modem that is named for it.
    pub(super) fn interface(&self) -> Option<&String> {
        self.interface.as_ref()
    }

    /// The modem that is named for it.
    pub(super) fn modem(&self) -> Option<&str> {
        self.modem.as_deref()
    }

    /// The directions that are shaped.
    pub(super) fn directions(&self) -> impl Iterator<Item = Direction> {
        self.sides.iter().map(|(direction, ..)| *direction)
    }

    /// The sections, at these network devices of the modem. A modem that is named is part of their
    /// names.
    pub(super) fn sections(&self, interfaces: &[String]) -> Vec<ShapeSection> {
        let interface = self.interface.as_ref().or(interfaces.first());
        let section =
            |(direction, device, limits): &(Direction, Option<String>, ShapeLimits)| ShapeSection {
                modem: self.modem.clone(),
                direction: *direction,
                interface: interface.cloned(),
                device: device.clone(),
                limits: *limits,
                manage: self.manage,
                observe: self.observe,
            };
        self.sides.iter().map(section).collect()
    }
}
