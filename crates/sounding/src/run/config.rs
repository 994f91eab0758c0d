//! The configuration of `sounding run`: each section of it is present or absent, and asks for one
//! output.

mod cc;
mod feed;
mod file;
mod flags;
mod modems;
mod print;
mod serve;
mod shape;
mod sniffers;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sounding_kpi::Direction;
use sounding_laws::Law;
use sounding_link::{Bound, Config as Link, Method, Source as LinkSource};
use sounding_units::Rate;

use super::config_error::{ConfigError, time};
use super::downlink;
use super::output::{Asked, Section};
#[cfg(feature = "kernel")]
use super::outputs::arrivals::ArrivalsSection;
#[cfg(feature = "kernel")]
use super::outputs::background::BackgroundSection;
use super::outputs::board::BoardSection;
use super::outputs::calls::CallsSection;
#[cfg(feature = "kernel")]
use super::outputs::copa::CopaSection;
#[cfg(feature = "kernel")]
use super::outputs::downlink::DownlinkSection;
use super::outputs::feed::{FeedPlan, FeedSection};
#[cfg(feature = "kernel")]
use super::outputs::law::LawSection;
use super::outputs::serve::{ServePlan, ServeSection};
use crate::cli_types::{BoundWord, CcWord, LACKS_KERNEL, Unused};
use cc::{Algorithm, Chosen};
use file::File;
pub(crate) use flags::Flags;
use modems::By;
pub(super) use modems::ModemPlan;
pub(crate) use shape::ShapeFlags;
use shape::ShapePlan;

/// The configuration of `sounding run`, from its file and its flags; flags win.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// Empty where no modem is needed.
    pub(super) modems: Vec<ModemPlan>,
    pub(super) algorithms: Vec<Chosen>,
    /// Whether flows of other algorithms share the links, because the modems' network devices are
    /// known.
    pub(super) counts_others: bool,
    /// The downlink in the other direction: as a device and as a server.
    pub(super) downlink: downlink::Plan,
    /// Name of the board to publish, and its KPIs; the usual ones if none is named.
    pub(super) board: Option<Of<BoardSection>>,
    pub(super) feed: Option<FeedPlan>,
    pub(super) serve: Option<ServePlan>,
    /// The network device at which arrivals are corrected.
    arrivals: Option<Of<String>>,
    pub(super) calls: Option<Of<CallsSection>>,
    shapes: Vec<Of<ShapePlan>>,
    /// The modem whose downlink it is.
    downlink_modem: Option<String>,
    /// How an estimate is made that no output needs.
    pub(super) base: Link,
    /// How estimates are made, as far as no law decides.
    estimates: EstimatePlan,
}

/// A section about one modem, by its name.
#[derive(Clone, Debug)]
pub(super) struct Of<T> {
    modem: String,
    pub(super) section: T,
}

/// How estimates are made: as configured, or else as each law needs it.
#[derive(Clone, Copy, Debug)]
struct EstimatePlan {
    direction: Direction,
    method: Option<Method>,
    window: Option<Duration>,
    assume: Option<Bound>,
}

/// The commented example with every section.
const EXAMPLE: &str = include_str!("example.toml");

/// Sections of it that load programs.
const OF_THE_KERNEL: [&str; 4] = ["[cc]", "[cc.weights]", "[downlink]", "[arrivals]"];

/// The commented example, which `--example-config` prints, and a test reads, with the sections of
/// this build.
pub(crate) fn example() -> String {
    // Some are in comments.
    let section = |line: &'static str| line.trim_start_matches(['#', ' ']);
    let is_of_it = |part: &&'static str| {
        !LACKS_KERNEL || !part.lines().any(|line| OF_THE_KERNEL.contains(&section(line)))
    };
    let parts = EXAMPLE.trim_end().split("\n\n").filter(is_of_it);
    let mut text = parts.collect::<Vec<_>>().join("\n\n");
    text.push('\n');
    text
}

/// Four times what the records of a rate estimate come to (Gandalf §4.2.2: below 1 Mbit/s;
/// everything is 100 Mbit/s, and has cut data links).
const BUDGET: Rate = Rate::from_bits_per_sec(4_000_000);

impl EstimatePlan {
    /// For a law. One that goes by channel reports gets what there is in the uplink, which has
    /// none. One that goes by the cell needs a sniffer, which is asked for by hand.
    fn of(&self, law: Option<Law>) -> Link {
        let needs = law.map(Law::needs);
        let wished = needs
            .and_then(|needs| needs.method)
            .filter(|method| *method == LinkSource::Cqi && self.direction == Direction::Downlink);
        let made = Link::new(self.direction).by(wished);
        let made = made.over(self.window.or(needs.and_then(|needs| needs.span)));
        Link { method: self.method.unwrap_or(made.method), assume: self.assume, ..made }
    }
}

impl Config {
    /// Reads the file, if one is given, and lets the flags win.
    pub(crate) fn load(path: Option<&Path>, flags: Flags) -> Result<Self, ConfigError> {
        Self::merge(File::read(path)?, flags)
    }

    /// The same as the text of a file, which alone reads as both.
    pub(crate) fn print(path: Option<&Path>, flags: Flags) -> Result<String, ConfigError> {
        let file = File::read(path)?;
        Self::merge(file.clone(), flags.clone())?;
        let file = file.with(flags);
        toml::to_string(&file).map_err(ConfigError::Print)
    }

    fn merge(file: File, flags: Flags) -> Result<Self, ConfigError> {
        if LACKS_KERNEL {
            refuse_kernel(&file, &flags)?;
        }
        // Pins have a name also where no law does.
        let pinned = file.cc.iter().find_map(|cc| cc.name.clone());
        let algorithms = cc::chosen(file.cc, &flags)?;
        let direction =
            flags.direction.or(file.link.direction).map_or(Direction::Uplink, Into::into);
        let window = flags.window.or(time("link.window", file.link.window.as_deref())?);
        if let Some(window) = window.filter(|window| !WINDOWS.contains(window)) {
            return Err(ConfigError::WindowRange(window));
        }
        let estimates = EstimatePlan {
            direction,
            method: flags.method.or(file.link.method).map(Into::into),
            window,
            assume: match flags.bound.or(file.link.bound) {
                Some(BoundWord::Capacity) => Some(Bound::Capacity),
                Some(BoundWord::Auto) | None => None,
            },
        };
        if estimates.method == Some(Method::Cqi) && direction == Direction::Uplink {
            return Err(ConfigError::NoCqi);
        }
        let laws = || algorithms.iter().filter_map(Chosen::law);
        let made: Vec<Link> = laws().map(|law| estimates.of(Some(law))).collect();
        let base = made.first().copied().unwrap_or_else(|| estimates.of(None));
        let by_cqi =
            base.method == Method::Cqi || made.iter().any(|made| made.method == Method::Cqi);
        let name = algorithms.first().map(|chosen| chosen.name.clone());
        let name = name.or(flags.name.clone()).or(pinned);
        let name = name.unwrap_or_else(|| "downlink".into());
        if !sounding_bpf::is_name(&name) {
            return Err(ConfigError::Name(name));
        }
        let background = algorithms.iter().any(Chosen::is_background);
        let downlink_modem = file.downlink.modem.clone();
        let downlink =
            downlink::Plan::merge(file.downlink, flags.downlink.clone(), &name, background)?;
        let sniffed = downlink.reads_besides(direction).unwrap_or(direction);
        let by = By { method: base.method, cqi: by_cqi, sniffed };
        let mut modems = modems::chosen(file.modem, &file.link, &flags, by)?;
        let of = |section, named: Option<&str>| modems::of_section(&modems, section, named);
        let shapes = shape::chosen(file.shape, flags.shape)?;
        let shapes = shapes
            .into_iter()
            .map(|section| Ok(Of { modem: of("shape", section.modem())?, section }))
            .collect::<Result<Vec<_>, ConfigError>>()?;
        refuse_shaped_twice(&shapes)?;
        let board = flags.board.or(file.board.name);
        if !flags.kpi.is_empty() && board.is_none() {
            return Err(Unused { flag: "--kpi", owner: "--board" }.into());
        }
        let kpis = if flags.kpi.is_empty() { file.board.kpis } else { flags.kpi };
        let feed = feed::chosen(flags.feed, file.feed)?;
        let serve = serve::chosen(flags.serve, file.serve)?;
        let board = board.map(|name| BoardSection { name, kpis });
        let board = about(&modems, "board", file.board.modem.as_deref(), board)?;
        let arrivals = flags.arrivals.or(file.arrivals.interface);
        let arrivals = about(&modems, "arrivals", file.arrivals.modem.as_deref(), arrivals)?;
        let calls = flags.calls.or(file.calls.socket).map(|socket| CallsSection { socket });
        let calls = about(&modems, "calls", file.calls.modem.as_deref(), calls)?;
        let downlink_modem = match downlink.device() {
            Some(_) => Some(of("downlink", downlink_modem.as_deref())?),
            None => None,
        };
        for Of { modem, section } in &shapes {
            // The WAN's device is the modem's.
            let plan = modems.iter_mut().find(|plan| plan.name == *modem);
            if let (Some(plan), Some(named)) = (plan, section.interface())
                && plan.interfaces.is_empty()
            {
                plan.interfaces.push(named.clone());
            }
        }
        let mut config = Self {
            modems,
            algorithms,
            counts_others: false,
            downlink,
            board,
            feed,
            serve,
            arrivals,
            calls,
            shapes,
            downlink_modem,
            base,
            estimates,
        };
        config.check_modems()?;
        for plan in &mut config.modems {
            plan.devices = plan.interfaces.clone();
            config.counts_others |= !plan.devices.is_empty();
        }
        Ok(config)
    }

    /// Refuses several modems if the network device of one is not known.
    pub(super) fn check_devices(&self) -> Result<(), ConfigError> {
        let unknown = self.modems.iter().find(|plan| plan.devices.is_empty());
        match unknown.filter(|_| self.modems.len() > 1) {
            Some(plan) => Err(ConfigError::UnknownDevices(plan.name.clone())),
            None => Ok(()),
        }
    }

    /// Refuses modems that no output reads, and an output that misses its modem.
    fn check_modems(&self) -> Result<(), ConfigError> {
        let hears = self.downlink.server().is_some();
        let has_law = self.algorithms.iter().any(|chosen| chosen.law().is_some());
        let has_copa =
            self.algorithms.iter().any(|chosen| matches!(chosen.algorithm, Algorithm::Copa));
        let reads = self.downlink.device().is_some()
            || self.board.is_some()
            || self.feed.is_some()
            || self.serve.is_some()
            || self.arrivals.is_some()
            || self.calls.is_some()
            || !self.shapes.is_empty();
        match &self.modems[..] {
            [] if reads || (has_law && !hears) => Err(ConfigError::NoDevice),
            [_, ..] if !(reads || has_law || has_copa) => Err(ConfigError::NoReader),
            [] if self.algorithms.is_empty() => Err(ConfigError::NoReader),
            _ => Ok(()),
        }
    }

    /// The sections that ask for an output, in the order in which they start.
    pub(super) fn sections(&self) -> Vec<Asked> {
        let mut asked = self.of_the_kernel();
        if let Some(plan) = &self.serve {
            asked.push(Asked {
                section: Arc::new(ServeSection { plan: plan.clone() }),
                modem: None,
            });
        }
        if self.feed.is_some() || self.serve.is_some() {
            for ModemPlan { name, .. } in &self.modems {
                let section = FeedSection { plan: self.feed.clone(), modem: name.clone() };
                asked.push(Asked::of(name, section));
            }
        }
        if let Some(Of { modem, section }) = &self.calls {
            asked.push(Asked::of(modem, section.clone()));
        }
        for Of { modem, section } in &self.shapes {
            for section in section.sections(self.devices(modem)) {
                asked.push(Asked::of(modem, section));
            }
        }
        if let Some(Of { modem, section }) = &self.board {
            asked.push(Asked::of(modem, section.clone()));
        }
        asked
    }

    /// Those that load programs.
    #[cfg(feature = "kernel")]
    fn of_the_kernel(&self) -> Vec<Asked> {
        let mut asked: Vec<Asked> = Vec::new();
        for Chosen { algorithm, name, new_flows } in &self.algorithms {
            let (name, new_flows) = (name.clone(), new_flows.clone());
            let peers = self.downlink.server().cloned();
            let section: Arc<dyn Section> = match algorithm {
                Algorithm::Law(plan) => Arc::new(LawSection {
                    law: plan.law,
                    name,
                    fallback: plan.fallback,
                    settings: plan.settings,
                    sharing: sounding_bpf::Sharing {
                        others: self.counts_others,
                        ..plan.sharing.clone()
                    },
                    new_flows,
                    link: self.modems.first().map(|_| self.estimates.of(Some(plan.law))),
                    peers,
                }),
                Algorithm::Copa => Arc::new(CopaSection { name, new_flows, peers }),
                Algorithm::Background { cgroup } => {
                    Arc::new(BackgroundSection { name, new_flows, cgroup: cgroup.clone() })
                }
            };
            asked.push(Asked { section, modem: None });
        }
        if let (Some(device), Some(modem)) = (self.downlink.device(), &self.downlink_modem) {
            let interfaces = self.devices(modem).to_vec();
            let config = sounding_bpf::DownlinkConfig { interfaces, ..device.clone() };
            let section = DownlinkSection { config, link: self.downlink_estimate() };
            asked.push(Asked::of(modem, section));
        }
        if let Some(Of { modem, section }) = &self.arrivals {
            asked.push(Asked::of(modem, ArrivalsSection { device: section.clone() }));
        }
        asked
    }

    /// Those that load programs: this build has none, and [`refuse_kernel`] has refused them.
    #[cfg(not(feature = "kernel"))]
    fn of_the_kernel(&self) -> Vec<Asked> {
        Vec::new()
    }

    /// The network devices of the modem of this name.
    fn devices(&self, modem: &str) -> &[String] {
        self.modems.iter().find(|plan| plan.name == modem).map_or(&[], |plan| &plan.devices)
    }

    /// How estimates for senders to this machine are made.
    fn downlink_estimate(&self) -> Link {
        let law = self.algorithms.iter().find_map(Chosen::law);
        let plan = self.estimates;
        let method = plan.of(law).method;
        let made = Link { method, ..Link::new(Direction::Downlink) };
        let window = plan.window.or(self.downlink.span());
        Link { assume: plan.assume, ..made.over(window) }
    }
}

/// A section that may be there, about the modem that it names or the only one.
fn about<T>(
    modems: &[ModemPlan],
    key: &'static str,
    named: Option<&str>,
    section: Option<T>,
) -> Result<Option<Of<T>>, ConfigError> {
    let of = |section| Ok(Of { modem: modems::of_section(modems, key, named)?, section });
    section.map(of).transpose()
}

/// Refuses what only a build with programs for the kernel can do.
fn refuse_kernel(file: &File, flags: &Flags) -> Result<(), ConfigError> {
    let is_law = |word: &CcWord| *word != CcWord::None;
    let is_none = |cc: &file::Cc| cc.law == Some(CcWord::None);
    for (is_given, what) in [
        (!file.cc.iter().all(is_none), "[cc]"),
        (file.downlink != downlink::File::default(), "[downlink]"),
        (file.arrivals != file::Arrivals::default(), "[arrivals]"),
        (flags.law.iter().any(is_law), "--law"),
        (flags.copa, "--copa"),
        (flags.background, "--background"),
        (flags.default, "--default"),
        (!flags.route.is_empty(), "--route"),
        (flags.arrivals.is_some(), "--arrivals"),
        (flags.downlink.is_given(), "--downlink and --peers"),
    ] {
        if is_given {
            return Err(ConfigError::NoPrograms(what));
        }
    }
    Ok(())
}

/// Refuses two shapers of one modem's direction.
fn refuse_shaped_twice(shapes: &[Of<ShapePlan>]) -> Result<(), ConfigError> {
    let mut shaped = HashSet::new();
    for Of { modem, section } in shapes {
        for direction in section.directions() {
            if !shaped.insert((modem, direction.to_string())) {
                return Err(ConfigError::ShapeTwice { modem: modem.clone(), direction });
            }
        }
    }
    Ok(())
}

impl Chosen {
    fn law(&self) -> Option<Law> {
        match &self.algorithm {
            Algorithm::Law(plan) => Some(plan.law),
            Algorithm::Copa | Algorithm::Background { .. } => None,
        }
    }

    fn is_background(&self) -> bool {
        matches!(self.algorithm, Algorithm::Background { .. })
    }
}

/// Spans of time that an estimate may look back.
const WINDOWS: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_secs(10);

// Most of them are about congestion controls.
#[cfg(test)]
#[cfg(feature = "kernel")]
mod tests;
