//! The configuration of cake-autorate, read as text, as one of this project.
//!
//! It is a bash file, which is never run. [`import`] reads its literal assignments, writes those
//! with an equivalent as TOML, and makes a [`Remark`] about each of the others.

mod commands;
mod keys;
mod reader;
mod shell;
mod write;

use alloc::borrow::Cow;
use alloc::borrow::ToOwned as _;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use sounding_units::Rate;

use crate::Limits;
use keys::{Limit, Meaning, Way};
pub use reader::Unread;
use reader::Value;
use shell::{Kind, Statement, Statements};

/// A file as this project's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The section `[shape]`, as TOML. Remarks with a fault leave comments in it.
    pub toml: String,
    /// How many settings of the file are in it.
    pub mapped: usize,
    /// All that is not in it, in the order of the lines.
    pub remarks: Vec<Remark>,
}

/// A part of the file that is not in the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Its first line, from 1.
    pub line: usize,
    /// Its last line.
    pub last: usize,
    /// Its key, if it sets one; at most forty characters of it.
    pub key: Option<String>,
    /// What it is.
    pub what: What,
}

/// Why a part of the file is not in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The key is known and has no equivalent, for this reason.
    NoEquivalent(&'static str),
    /// A later line sets the key again.
    Replaced {
        /// That line.
        by: usize,
    },
    /// It cannot be read.
    Unread(Unread),
    /// The value is not one that the key can have; the text says which it can.
    Value(&'static str),
    /// No known version of cake-autorate has the key.
    Unknown,
    /// With this line the limits of a direction are not in order.
    Order,
}

impl What {
    /// Whether the output may lack something that the file means.
    pub const fn is_fault(self) -> bool {
        !matches!(self, Self::NoEquivalent(_) | Self::Replaced { .. })
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.last > self.line {
            write!(f, "lines {} to {}: ", self.line, self.last)?;
        } else {
            write!(f, "line {}: ", self.line)?;
        }
        if let Some(key) = &self.key {
            write!(f, "{key}: ")?;
        }
        match self.what {
            What::NoEquivalent(reason) => write!(f, "no equivalent: {reason}"),
            What::Replaced { by } => write!(f, "line {by} sets it again"),
            What::Unread(why) => write!(f, "not read: {}", why.words()),
            What::Value(wanted) => write!(f, "not read: its value is not {wanted}"),
            What::Unknown => f.write_str("not read: cake-autorate 1.0 to 3.5 has no such key"),
            What::Order => f.write_str(
                "the limits of this direction must be above zero and in the order min, base, max: \
                 correct them in the output",
            ),
        }
    }
}

/// A setting of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Setting<T> {
    /// No line sets it: cake-autorate uses its default.
    #[default]
    Absent,
    /// This line sets it to this.
    Read(T, usize),
    /// This line sets it, and cannot be read.
    Unread(usize),
}

/// A direction's settings.
#[derive(Debug, Default)]
struct Direction {
    device: Setting<String>,
    adjusts: Setting<bool>,
    /// In kbit/s, in the order of [`Limit`].
    limits: [Setting<u64>; 3],
}

/// Settings that have an equivalent.
#[derive(Debug, Default)]
struct Settings {
    uplink: Direction,
    downlink: Direction,
}

/// Reads a configuration; `None` if no line of it sets a key of cake-autorate.
pub fn import(text: &str) -> Option<Imported> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let text = match text.contains("\r\n") {
        true => Cow::Owned(text.replace("\r\n", "\n")),
        false => Cow::Borrowed(text),
    };
    let mut settings = Settings::default();
    let mut remarks = Vec::new();
    let mut is_one = false;
    for Statement { first, last, kind } in Statements::of(&text) {
        let (key, value) = match kind {
            Kind::Set { key, value } => (key, value),
            Kind::Other(why) => {
                remarks.push(Remark { line: first, last, key: None, what: What::Unread(why) });
                continue;
            }
        };
        let what = match keys::meaning(key) {
            None => Some(What::Unknown),
            Some(meaning) => {
                is_one = true;
                settings.handle(meaning, value, first, |line| {
                    let what = What::Replaced { by: first };
                    remarks.push(Remark { line, last: line, key: Some(short(key)), what });
                })
            }
        };
        if let Some(what) = what {
            remarks.push(Remark { line: first, last, key: Some(short(key)), what });
        }
    }
    for (way, direction) in [(Way::Uplink, &settings.uplink), (Way::Downlink, &settings.downlink)] {
        remarks.extend(direction.disorder(way));
    }
    remarks.sort_by_key(|remark| remark.line);
    let toml = write::section(&settings);
    is_one.then(|| Imported { toml, mapped: settings.count(), remarks })
}

/// At most forty characters of a key.
fn short(key: &str) -> String {
    match key.get(..40) {
        Some(begin) if key.len() > 40 => [begin, "…"].concat(),
        _ => key.to_owned(),
    }
}

impl<T> Setting<T> {
    /// Takes what a line says. A line that said something before is given to `replaced`.
    fn set(
        &mut self,
        read: Result<T, What>,
        line: usize,
        replaced: impl FnOnce(usize),
    ) -> Option<What> {
        if let Self::Read(_, before) = self {
            replaced(*before);
        }
        let (setting, what) = match read {
            Ok(value) => (Self::Read(value, line), None),
            Err(what) => (Self::Unread(line), Some(what)),
        };
        *self = setting;
        what
    }

    const fn is_read(&self) -> bool {
        matches!(self, Self::Read(..))
    }
}

impl Settings {
    fn direction(&mut self, way: Way) -> &mut Direction {
        match way {
            Way::Uplink => &mut self.uplink,
            Way::Downlink => &mut self.downlink,
        }
    }

    /// Takes a line; returns the remark about it, if there is one.
    fn handle(
        &mut self,
        meaning: Meaning,
        value: Result<Value, Unread>,
        line: usize,
        replaced: impl FnOnce(usize),
    ) -> Option<What> {
        if let Meaning::Nothing(reason) = meaning {
            // So it is, whatever the value.
            return Some(What::NoEquivalent(reason));
        }
        let word = match value {
            Ok(Value::Word(word)) => Ok(word),
            Ok(Value::List) => Err(What::Value("one word")),
            Err(why) => Err(What::Unread(why)),
        };
        match meaning {
            Meaning::Device(way) => {
                self.direction(way).device.set(word.and_then(device), line, replaced)
            }
            Meaning::Adjusts(way) => {
                let adjusts = word.and_then(|word| Ok(whole(&word)? != 0));
                self.direction(way).adjusts.set(adjusts, line, replaced)
            }
            Meaning::Rate(way, limit) => {
                let [min, base, max] = &mut self.direction(way).limits;
                let setting = match limit {
                    Limit::Min => min,
                    Limit::Base => base,
                    Limit::Max => max,
                };
                setting.set(word.and_then(|word| rate(&word)), line, replaced)
            }
            Meaning::Nothing(_) => None,
        }
    }

    /// How many lines of the file are in the output.
    fn count(&self) -> usize {
        let of = |direction: &Direction| {
            let Direction { device, adjusts, limits } = direction;
            usize::from(device.is_read())
                + usize::from(adjusts.is_read())
                + limits.iter().filter(|limit| limit.is_read()).count()
        };
        of(&self.uplink) + of(&self.downlink)
    }
}

impl Direction {
    /// The limits in kbit/s, with cake-autorate's defaults; `None` where one cannot be read.
    fn limits_kbps(&self, way: Way) -> Option<[u64; 3]> {
        let mut all = write::DEFAULT_KBPS[way as usize];
        for (limit, setting) in all.iter_mut().zip(&self.limits) {
            match setting {
                Setting::Absent => {}
                Setting::Read(kbps, _) => *limit = *kbps,
                Setting::Unread(_) => return None,
            }
        }
        Some(all)
    }

    /// The remark about limits that are not in order, at the last line that sets one.
    fn disorder(&self, way: Way) -> Option<Remark> {
        if matches!(self.adjusts, Setting::Read(false, _)) {
            return None;
        }
        let [min, base, max] =
            self.limits_kbps(way)?.map(|kbps| Rate::from_bits_per_sec(kbps.saturating_mul(1_000)));
        if Limits::new(min, base, max).is_ok() {
            return None;
        }
        let lines = self.limits.iter().filter_map(|limit| match limit {
            Setting::Read(_, line) => Some(*line),
            _ => None,
        });
        let line = lines.max()?;
        Some(Remark { line, last: line, key: None, what: What::Order })
    }
}

/// A network device's name, by the kernel's rules and in printable ASCII.
fn device(name: String) -> Result<String, What> {
    let is_name = (1..=15).contains(&name.len())
        && !matches!(name.as_str(), "." | "..")
        && name.bytes().all(|byte| byte.is_ascii_graphic() && !b"/:\"\\".contains(&byte));
    is_name.then_some(name).ok_or(What::Value("the name of a network device"))
}

/// A whole number as bash has it. One that begins with a zero is octal there.
fn whole(word: &str) -> Result<u64, What> {
    let is_decimal = word.bytes().all(|byte| byte.is_ascii_digit());
    let is_plain = is_decimal && (word == "0" || !word.starts_with('0'));
    let number = is_plain.then(|| word.parse().ok()).flatten();
    number.ok_or(What::Value("a whole number, without a zero before it"))
}

/// A rate in kbit/s that fits in bit/s.
fn rate(word: &str) -> Result<u64, What> {
    let kbps = whole(word)?;
    kbps.checked_mul(1_000).map(|_| kbps).ok_or(What::Value("a rate below 2^64 bit/s"))
}

#[cfg(test)]
mod tests;
