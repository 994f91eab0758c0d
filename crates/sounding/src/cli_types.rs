//! Types of values on the command line and in configuration files.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use clap::builder::{OsStringValueParser, PossibleValue, TypedValueParser};
use clap::{Args, ValueEnum};
use miette::IntoDiagnostic;
use nix::unistd::{Group, User};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sounding_bpf::Signal;
use sounding_host::Wakefulness;
use sounding_kpi::Direction;
use sounding_laws::{Fallback, Law};
use sounding_link::Method;
use sounding_modem::{SnifferSource, Source};
use thiserror::Error;

/// Whether this build has no programs for the kernel, so that its help says nothing of them.
pub(crate) const LACKS_KERNEL: bool = cfg!(not(feature = "kernel"));

/// Direction of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DirectionWord {
    /// Device to network
    Uplink,
    /// Network to device
    Downlink,
}

impl From<DirectionWord> for Direction {
    fn from(word: DirectionWord) -> Self {
        match word {
            DirectionWord::Uplink => Self::Uplink,
            DirectionWord::Downlink => Self::Downlink,
        }
    }
}

/// Method that computes a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MethodWord {
    /// Sizes of the granted transport blocks, summed
    Grants,
    /// Resource blocks × table row × layers (BISCAY, Equation 1)
    Formula,
    /// Rate of the CQI × the served share of the carrier, downlink only (CQIC)
    Cqi,
    /// Own resource blocks, and a share of the idle ones if there is a sniffer (PBE-CC)
    Cell,
    /// Resource blocks alone: a linear fit made in the first 20 s, for comparison
    Prb,
    /// MCS alone, likewise
    Mcs,
    /// RSRP alone, likewise
    Rsrp,
}

impl From<MethodWord> for Method {
    fn from(word: MethodWord) -> Self {
        match word {
            MethodWord::Grants => Self::Grants,
            MethodWord::Formula => Self::Formula,
            MethodWord::Cqi => Self::Cqi,
            MethodWord::Cell => Self::Cell,
            MethodWord::Prb => Self::Prb,
            MethodWord::Mcs => Self::Mcs,
            MethodWord::Rsrp => Self::Rsrp,
        }
    }
}

/// How the bound of an estimate is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BoundWord {
    /// Decide whether the device had more to send than it was granted
    Auto,
    /// Mark every estimate as all that the radio had
    Capacity,
}

/// A congestion control that the daemon loads, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CcWord {
    /// A law that goes by the link's estimates.
    Law(Law),
    /// Copa, which takes the radio's own delays for no queue.
    Copa,
    /// For transfers that use what the cell leaves over.
    Background,
    /// No congestion control.
    None,
}

impl CcWord {
    const ALL: [Self; Law::ALL.len() + 3] = {
        let mut words = [Self::None; Law::ALL.len() + 3];
        let mut at = 0;
        while at < Law::ALL.len() {
            words[at] = Self::Law(Law::ALL[at]);
            at += 1;
        }
        words[at] = Self::Copa;
        words[at + 1] = Self::Background;
        words
    };

    /// Its name on the command line and in the file.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Law(law) => law.name(),
            Self::Copa => "copa",
            Self::Background => "background",
            Self::None => "none",
        }
    }
}

impl ValueEnum for CcWord {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Self::Law(law) => law.summary(),
            Self::Copa => "Copa to which the radio's own delays are no queue",
            Self::Background => "For transfers that use what the cell leaves over; needs no modem",
            Self::None => "No congestion control: the modem is read for the other outputs",
        };
        Some(PossibleValue::new(self.name()).help(help))
    }
}

impl<'de> Deserialize<'de> for CcWord {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let name = String::deserialize(input)?;
        Self::ALL.into_iter().find(|word| word.name() == name).ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|word| format!("`{}`", word.name())).collect();
            D::Error::custom(format!("unknown law `{name}`, expected {}", known.join(" or ")))
        })
    }
}

impl Serialize for CcWord {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.serialize_str(self.name())
    }
}

/// Algorithm that sets the window while the law does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FallbackWord {
    /// This kernel's BBR
    Bbr,
    /// This kernel's CUBIC, which starts with the law's window
    Cubic,
}

/// Name of a stock algorithm in messages.
pub(crate) const fn fallback(stock: Fallback) -> &'static str {
    match stock {
        Fallback::Bbr => "BBR",
        Fallback::Cubic => "CUBIC",
    }
}

impl From<FallbackWord> for Fallback {
    fn from(word: FallbackWord) -> Self {
        match word {
            FallbackWord::Bbr => Self::Bbr,
            FallbackWord::Cubic => Self::Cubic,
        }
    }
}

/// How a sender is limited to what the downlink carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SignalWord {
    /// By the receive window
    Window,
    /// By a TCP option
    Option,
    /// By both
    Both,
}

impl From<SignalWord> for Signal {
    fn from(word: SignalWord) -> Self {
        match word {
            SignalWord::Window => Self::Window,
            SignalWord::Option => Self::Option,
            SignalWord::Both => Self::Both,
        }
    }
}

/// Reads a source from the command line: the name of a file need not be valid UTF-8.
pub(crate) fn source_parser() -> impl TypedValueParser<Value = Source> {
    OsStringValueParser::new().try_map(|name| match name.to_str() {
        Some(text) => text.parse::<Source>(),
        None => Ok(Source::Path(name.into())),
    })
}

/// An option without effect unless another is given.
#[derive(Debug, Error)]
#[error("{flag} is for {owner}, and has no effect without it")]
pub(crate) struct Unused {
    pub(crate) flag: &'static str,
    pub(crate) owner: &'static str,
}

/// What becomes of a log mask that the modem does not tell.
#[derive(Args, Clone, Copy, Debug, Default)]
#[group(id = "untold_mask_flags")]
pub(crate) struct UntoldMask {
    /// Also set a log mask that the modem refuses to tell. It cannot be restored: its records stay
    /// on, and the end lists them
    #[arg(long)]
    pub(crate) set_untold_mask: bool,
}

/// The user whose process may answer on a router's socket.
#[derive(Args, Clone, Copy, Debug, Default)]
#[group(id = "router_user_flags")]
pub(crate) struct RouterUser {
    /// For router[:NAME] and vendor-router[:NAME]: a user, by name or number, whose process may
    /// answer there besides root's and this user's own; every user can take the name of such a
    /// socket
    #[arg(long, value_name = "USER", value_parser = user)]
    router_user: Option<u32>,
}

impl RouterUser {
    /// The source with that user, if one is named.
    pub(crate) fn of(self, source: Source) -> Result<Source, Unused> {
        if self.is_named() && !source.is_router() {
            let owner = "a router[:NAME] or vendor-router[:NAME]";
            return Err(Unused { flag: "--router-user", owner });
        }
        Ok(source.served_by(self.router_user))
    }

    /// The source with that user, if it is a router.
    pub(crate) fn if_router(self, source: Source) -> Source {
        source.served_by(self.router_user)
    }

    pub(crate) fn is_named(self) -> bool {
        self.router_user.is_some()
    }

    /// That user, if one is named.
    pub(crate) fn number(self) -> Option<u32> {
        self.router_user
    }
}

/// The user whose sniffer is believed on this host.
#[derive(Args, Clone, Copy, Debug, Default)]
#[group(id = "sniffer_user_flags")]
pub(crate) struct SnifferUser {
    /// For --sniffer udp:ADDRESS:PORT on this host: a user, by name or number, whose sockets may
    /// have that port besides root's and this user's own; every user can take it
    #[arg(long, value_name = "USER", value_parser = user)]
    sniffer_user: Option<u32>,
}

impl SnifferUser {
    /// That user, if one is named.
    pub(crate) fn number(self) -> Option<u32> {
        self.sniffer_user
    }

    /// The sniffers with that user, if one is named, else with `configured`.
    pub(crate) fn of(
        self,
        sniffers: Vec<SnifferSource>,
        configured: Option<u32>,
    ) -> Result<Vec<SnifferSource>, Unused> {
        let is_service = |sniffer: &SnifferSource| matches!(sniffer, SnifferSource::Udp { .. });
        if self.sniffer_user.is_some() && !sniffers.iter().any(is_service) {
            return Err(Unused { flag: "--sniffer-user", owner: "--sniffer udp:ADDRESS:PORT" });
        }
        let user = self.sniffer_user.or(configured);
        Ok(sniffers.into_iter().map(|sniffer| sniffer.served_by(user)).collect())
    }
}

/// Whether a key of a file need not be written.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The id of a user, from its name or number.
pub(crate) fn user(text: &str) -> Result<u32, String> {
    let found = |name: &str| Ok(User::from_name(name)?.map(|user| user.uid.as_raw()));
    id("user", text, found)
}

/// The id of a group, from its name or number.
pub(crate) fn group(text: &str) -> Result<u32, String> {
    let found = |name: &str| Ok(Group::from_name(name)?.map(|group| group.gid.as_raw()));
    id("group", text, found)
}

fn id(
    of: &str,
    text: &str,
    found: impl FnOnce(&str) -> nix::Result<Option<u32>>,
) -> Result<u32, String> {
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    match found(text) {
        Ok(Some(id)) => Ok(id),
        Ok(None) => Err(format!("this machine has no {of} {text:?}")),
        Err(error) => Err(format!("{of} {text:?}: {error}")),
    }
}

/// Whether it is a prefix in the syntax of `ip route`.
pub(crate) fn is_prefix(text: &str) -> bool {
    let (address, length) = match text.split_once('/') {
        Some((address, length)) => (address, Some(length)),
        None => (text, None),
    };
    let most: u8 = match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return text == "default",
    };
    length.is_none_or(|length| length.parse::<u8>().is_ok_and(|length| length <= most))
}

/// Keeps processors able to wake within `latency`, if one is given.
pub(crate) fn awake(latency: Option<Duration>) -> miette::Result<Option<Wakefulness>> {
    latency.map(Wakefulness::hold).transpose().into_diagnostic().map_err(|error| {
        error.context("--cpu-latency writes to /dev/cpu_dma_latency, which needs root")
    })
}

/// Why a modem may be read late.
pub(crate) fn no_priority(refused: &io::Error) -> String {
    format!(
        "no real-time priority ({refused}): on a busy machine the modem is read late; run as root, or give CAP_SYS_NICE"
    )
}
