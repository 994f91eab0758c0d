//! The section `[shape]` of a configuration, as text.

use alloc::string::String;
use core::fmt::{self, Write as _};

use super::keys::Way;
use super::{Direction, Setting, Settings};

/// cake-autorate's defaults of min, base and max in kbit/s, by [`Way`]. They hold for keys that a
/// file does not set, and are the same in all versions that have such keys (3.0 to 3.5).
pub(super) const DEFAULT_KBPS: [[u64; 3]; 2] = [[5_000, 20_000, 35_000], [5_000, 20_000, 80_000]];
/// The same for the devices.
const DEFAULT_DEVICES: [&str; 2] = ["wan", "ifb-wan"];
const NOT_SET: &str = "  # cake-autorate's default: the file does not set it";

/// The section, with a comment in the place of each setting that cannot be read.
pub(super) fn section(settings: &Settings) -> String {
    let mut out = String::new();
    // Writing into a string cannot fail.
    let _ = write(settings, &mut out);
    out
}

fn write(settings: &Settings, out: &mut String) -> fmt::Result {
    out.push_str("# From a configuration of cake-autorate.\n[shape]\n");
    write_device(out, "interface", &settings.uplink, Way::Uplink)?;
    out.push_str("# The shaper that is there is used. With true Sounding makes its own.\n");
    out.push_str("manage = false\n");
    let is_off = |direction: &Direction| matches!(direction.adjusts, Setting::Read(false, _));
    if is_off(&settings.uplink) && is_off(&settings.downlink) {
        out.push_str(
            "# cake-autorate changed no rate. `sounding shape --observe` does the same.\n",
        );
    }
    for (way, direction) in [(Way::Uplink, &settings.uplink), (Way::Downlink, &settings.downlink)] {
        let (name, sign) = match way {
            Way::Uplink => ("uplink", "ul"),
            Way::Downlink => ("downlink", "dl"),
        };
        out.push('\n');
        match direction.adjusts {
            Setting::Absent | Setting::Read(true, _) => {
                writeln!(out, "[shape.{name}]")?;
                write_direction(direction, way, out)?;
            }
            Setting::Read(false, line) => writeln!(
                out,
                "# No [shape.{name}]: adjust_{sign}_shaper_rate is 0 in line {line}."
            )?,
            Setting::Unread(line) => writeln!(
                out,
                "# No [shape.{name}]: adjust_{sign}_shaper_rate in line {line} could not be read."
            )?,
        }
    }
    Ok(())
}

fn write_direction(direction: &Direction, way: Way, out: &mut String) -> fmt::Result {
    write_device(out, "device", direction, way)?;
    let limits = ["min", "base", "max"].into_iter().zip(&direction.limits);
    for ((name, limit), default) in limits.zip(DEFAULT_KBPS[way as usize]) {
        match limit {
            Setting::Read(kbps, _) => writeln!(out, "{name} = \"{}\"", Text(*kbps))?,
            Setting::Absent => writeln!(out, "{name} = \"{}\"{NOT_SET}", Text(default))?,
            Setting::Unread(line) => write_unread(out, name, *line)?,
        }
    }
    Ok(())
}

fn write_device(out: &mut String, key: &str, direction: &Direction, way: Way) -> fmt::Result {
    match &direction.device {
        Setting::Read(name, _) => writeln!(out, "{key} = \"{name}\""),
        Setting::Absent => writeln!(out, "{key} = \"{}\"{NOT_SET}", DEFAULT_DEVICES[way as usize]),
        Setting::Unread(line) => write_unread(out, key, *line),
    }
}

fn write_unread(out: &mut String, key: &str, line: usize) -> fmt::Result {
    writeln!(out, "# {key} = …  # line {line} could not be read")
}

/// A rate as configurations have it.
struct Text(u64);

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            kbps if kbps > 0 && kbps.is_multiple_of(1_000) => write!(f, "{}Mbit", kbps / 1_000),
            kbps => write!(f, "{kbps}kbit"),
        }
    }
}
