//! The file and the flags as one file.

use std::path::Path;
use std::time::Duration;

use humantime::format_duration;
use sounding_host::{MAX_TEXT, read_text_at_most};
use sounding_units::Rate;

use super::Flags;
use super::cc;
use super::file::{Cc, File, Modem};
use crate::cli_types::CcWord;
use crate::run::config_error::ConfigError;

impl File {
    /// Reads the file, if one is given.
    pub(super) fn read(path: Option<&Path>) -> Result<Self, ConfigError> {
        let Some(path) = path else { return Ok(Self::default()) };
        let at = || path.to_path_buf();
        let text = read_text_at_most(path, MAX_TEXT)
            .map_err(|error| ConfigError::Read { path: at(), error })?;
        toml::from_str(&text)
            .map_err(|error| ConfigError::Parse { path: at(), error: Box::new(error) })
    }

    /// With what the flags say, which have been checked.
    pub(super) fn with(mut self, flags: Flags) -> Self {
        if self.modem.is_empty() {
            self.modem.push(Modem::default());
        }
        if let [modem] = &mut self.modem[..] {
            modem.take(&flags);
        }
        self.modem.retain(|modem| *modem != Modem::default());
        self.cc = cc::sections(self.cc, &flags);
        // Of the sections that are a congestion control.
        let first = self.cc.iter().position(|cc| cc.word() != CcWord::None).unwrap_or(0);
        for (at, cc) in self.cc.iter_mut().enumerate() {
            cc.take(&flags, at == first);
        }
        let link = &mut self.link;
        link.direction = flags.direction.or(link.direction);
        link.method = flags.method.or(link.method);
        link.window = written(flags.window).or(link.window.take());
        link.bound = flags.bound.or(link.bound);
        let user = flags.sniffer_user.number().map(|user| user.to_string());
        link.sniffer_user = user.or(link.sniffer_user.take());
        self.downlink = self.downlink.with(&flags.downlink);
        self.board.name = flags.board.or(self.board.name);
        if !flags.kpi.is_empty() {
            self.board.kpis = flags.kpi;
        }
        self.arrivals.interface = flags.arrivals.or(self.arrivals.interface);
        self.feed.name = flags.feed.or(self.feed.name);
        self.serve.address = flags.serve.or(self.serve.address);
        self.calls.socket = flags.calls.or(self.calls.socket);
        self
    }
}

impl Modem {
    /// Takes the flags about the only one.
    fn take(&mut self, flags: &Flags) {
        self.device = flags.device.clone().or(self.device.take());
        let user = flags.router.number().map(|user| user.to_string());
        self.router_user = user.or(self.router_user.take());
        if flags.no_mask {
            self.mask = Some(false);
        }
        self.set_untold_mask |= flags.untold.set_untold_mask;
        self.budget = rate(flags.budget).or(self.budget.take());
        if !flags.interface.is_empty() {
            self.interfaces.clone_from(&flags.interface);
        }
        if !flags.sniffer.is_empty() {
            self.sniffers = flags.sniffer.iter().map(ToString::to_string).collect();
        }
        self.cqi_rates = flags.cqi_rates.clone().or(self.cqi_rates.take());
        self.cpu_latency = written(flags.cpu_latency).or(self.cpu_latency.take());
    }
}

impl Cc {
    /// Takes the flags about laws, and those about the first of all.
    fn take(&mut self, flags: &Flags, is_first: bool) {
        let word = self.word();
        self.law = Some(word);
        if is_first {
            self.name = flags.name.clone().or(self.name.take());
            self.default |= flags.default;
            if !flags.route.is_empty() {
                self.routes.clone_from(&flags.route);
            }
        }
        match word {
            CcWord::Background => self.cgroup = flags.downlink.cgroup().or(self.cgroup.take()),
            CcWord::Law(_) => {
                self.fallback = flags.fallback.or(self.fallback);
                self.allowance = written(flags.allowance).or(self.allowance.take());
                self.pacing_gain = flags.pacing_gain.or(self.pacing_gain);
                self.share = flags.share.or(self.share);
                self.application = flags.application.or(self.application);
                let pair = |text: &String| {
                    let (owner, factor) = text.rsplit_once('=')?;
                    Some((owner.to_owned(), factor.parse().ok()?))
                };
                self.weights.extend(flags.weight.iter().filter_map(pair));
            }
            CcWord::Copa | CcWord::None => {}
        }
    }
}

fn written(time: Option<Duration>) -> Option<String> {
    time.map(|time| format_duration(time).to_string())
}

fn rate(rate: Option<Rate>) -> Option<String> {
    rate.map(|rate| format!("{}bit", rate.bits_per_sec()))
}
