//! Which congestion controls are loaded, and with which settings.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use sounding_bpf::{BackgroundConfig, LawConfig, Sharing};
use sounding_laws::{Fallback, Law};

use super::Flags;
use super::file::Cc;
use crate::cli_types::{CcWord, FallbackWord, LACKS_KERNEL, Unused, is_prefix};
use crate::run::config_error::{ConfigError, time};
use crate::run::new_flows::NewFlows;
use crate::run::share::{self, ApplicationWord, ShareWord};

/// A congestion control that is to be loaded.
#[derive(Clone, Debug)]
pub(in crate::run) struct Chosen {
    pub(in crate::run) algorithm: Algorithm,
    pub(in crate::run) name: String,
    pub(in crate::run) new_flows: NewFlows,
}

#[derive(Clone, Debug)]
pub(in crate::run) enum Algorithm {
    Law(LawPlan),
    Copa,
    Background {
        /// The cgroup whose sockets get it.
        cgroup: Option<PathBuf>,
    },
}

#[derive(Clone, Debug)]
pub(in crate::run) struct LawPlan {
    pub(in crate::run) law: Law,
    pub(in crate::run) fallback: Fallback,
    pub(in crate::run) settings: LawConfig,
    pub(in crate::run) sharing: Sharing,
}

/// Those of the flags, with what the file says of each, or else those of the file. Without any it
/// is BISCAY, where this build has programs.
pub(super) fn chosen(file: Vec<Cc>, flags: &Flags) -> Result<Vec<Chosen>, ConfigError> {
    let sections = sections(file, flags);
    let is_law = |cc: &Cc| matches!(cc.word(), CcWord::Law(_));
    let are_laws = sections.iter().any(is_law);
    for (is_given, flag) in [
        (flags.fallback.is_some(), "--fallback"),
        (flags.share.is_some(), "--share"),
        (flags.application.is_some(), "--application"),
        (!flags.weight.is_empty(), "--weight"),
        (flags.allowance.is_some(), "--allowance"),
        (flags.pacing_gain.is_some(), "--pacing-gain"),
    ] {
        if is_given && !are_laws {
            return Err(Unused { flag, owner: "a law such as biscay" }.into());
        }
    }
    let sections = sections.into_iter().filter(|cc| cc.word() != CcWord::None);
    let chosen: Vec<Chosen> =
        sections.enumerate().map(|(at, cc)| cc.chosen(flags, at == 0)).collect::<Result<_, _>>()?;
    if chosen.is_empty() && (flags.default || !flags.route.is_empty()) {
        return Err(Unused { flag: "--default or --route", owner: "a law" }.into());
    }
    refuse_twice(&chosen)?;
    Ok(chosen)
}

/// Those of the flags, or else those of the file.
pub(super) fn sections(file: Vec<Cc>, flags: &Flags) -> Vec<Cc> {
    let mut words = flags.law.clone();
    words.extend(flags.copa.then_some(CcWord::Copa));
    words.extend(flags.background.then_some(CcWord::Background));
    if words.is_empty() {
        let is_usual = file.is_empty() && !LACKS_KERNEL;
        return if is_usual { vec![Cc::default()] } else { file };
    }
    words.iter().map(|word| section(*word, &words, &file)).collect()
}

/// What the file says of the law of this word.
fn section(word: CcWord, words: &[CcWord], file: &[Cc]) -> Cc {
    let of_it = file.iter().find(|cc| cc.word() == word);
    let cc = match (of_it, words, file) {
        (Some(cc), ..) => cc.clone(),
        // One law in the place of another keeps the rest of its section.
        (None, [CcWord::Law(_)], [cc]) if matches!(cc.word(), CcWord::Law(_)) => cc.clone(),
        _ => Cc::default(),
    };
    Cc { law: Some(word), ..cc }
}

/// Refuses what only one of them can have.
fn refuse_twice(chosen: &[Chosen]) -> Result<(), ConfigError> {
    let mut names = HashSet::new();
    if let Some(twice) = chosen.iter().find(|chosen| !names.insert(&chosen.name)) {
        return Err(ConfigError::NameTwice(twice.name.clone()));
    }
    if chosen.iter().filter(|chosen| chosen.new_flows.default).count() > 1 {
        return Err(ConfigError::DefaultTwice);
    }
    let mut routes = HashSet::new();
    let all = chosen.iter().flat_map(|chosen| &chosen.new_flows.routes);
    match all.into_iter().find(|route| !routes.insert(*route)) {
        Some(twice) => Err(ConfigError::RouteTwice(twice.clone())),
        None => Ok(()),
    }
}

impl Cc {
    pub(super) fn word(&self) -> CcWord {
        self.law.unwrap_or(CcWord::Law(Law::default()))
    }

    /// `is_first` says that the flags about one algorithm are about this one.
    fn chosen(self, flags: &Flags, is_first: bool) -> Result<Chosen, ConfigError> {
        let own = |flag: &Option<String>| flag.clone().filter(|_| is_first);
        let word = self.word();
        let name = own(&flags.name).or(self.name.clone());
        let name = name.unwrap_or_else(|| kernel_name(word));
        if !sounding_bpf::is_name(&name) {
            return Err(ConfigError::Name(name));
        }
        let routes = if is_first && !flags.route.is_empty() { &flags.route } else { &self.routes };
        if let Some(wrong) = routes.iter().find(|route| !is_prefix(route)) {
            return Err(ConfigError::Prefix(wrong.clone()));
        }
        let default = (is_first && flags.default) || self.default;
        let new_flows = NewFlows { default, routes: routes.clone() };
        let algorithm = match word {
            CcWord::Law(law) => {
                self.refuse_cgroup()?;
                Algorithm::Law(self.law_plan(law, flags)?)
            }
            CcWord::Copa | CcWord::None => {
                self.refuse_cgroup()?;
                self.refuse_settings(word)?;
                Algorithm::Copa
            }
            CcWord::Background => {
                self.refuse_settings(word)?;
                let cgroup = flags.downlink.cgroup().or(self.cgroup);
                if let Some(folder) = cgroup.as_ref().filter(|folder| !folder.is_dir()) {
                    return Err(ConfigError::Cgroup(folder.clone()));
                }
                Algorithm::Background { cgroup }
            }
        };
        Ok(Chosen { algorithm, name, new_flows })
    }

    fn refuse_cgroup(&self) -> Result<(), ConfigError> {
        match &self.cgroup {
            Some(_) => Err(ConfigError::NotOfIt { key: "cgroup", law: self.word().name() }),
            None => Ok(()),
        }
    }

    /// Refuses what only laws have.
    fn refuse_settings(&self, word: CcWord) -> Result<(), ConfigError> {
        for (is_given, key) in [
            (self.fallback.is_some(), "fallback"),
            (self.allowance.is_some(), "allowance"),
            (self.pacing_gain.is_some(), "pacing_gain"),
            (self.share.is_some(), "share"),
            (self.application.is_some(), "application"),
            (!self.weights.is_empty(), "weights"),
        ] {
            if is_given {
                return Err(ConfigError::NotOfIt { key, law: word.name() });
            }
        }
        Ok(())
    }

    fn law_plan(self, law: Law, flags: &Flags) -> Result<LawPlan, ConfigError> {
        let mut settings = LawConfig::default();
        let allowance = time("cc.allowance", self.allowance.as_deref())?;
        let allowance = flags.allowance.or(allowance);
        let gain = flags.pacing_gain.or(self.pacing_gain);
        if !law.has_settings() && (allowance.is_some() || gain.is_some()) {
            return Err(ConfigError::NotOfThisLaw);
        }
        settings.allowance = allowance.unwrap_or(settings.allowance);
        if settings.allowance > Duration::from_secs(1) {
            return Err(ConfigError::Allowance(settings.allowance));
        }
        if let Some(gain) = gain {
            if !(1.0..=4.0).contains(&gain) {
                return Err(ConfigError::PacingGain(gain));
            }
            settings.pacing_gain_permille = (gain * 1000.0).round() as u32;
        }
        let policy = flags.share.or(self.share).unwrap_or(ShareWord::Equal);
        // In the file it may stand for when it is wanted.
        if flags.application.is_some() && policy != ShareWord::App {
            return Err(Unused { flag: "--application", owner: "--share app" }.into());
        }
        let application = flags.application.or(self.application);
        let application = application.unwrap_or(ApplicationWord::User);
        let sharing = share::sharing(policy, application, self.weights, &flags.weight, false)?;
        let fallback = flags.fallback.or(self.fallback);
        let fallback = fallback.map_or(law.fallback(), FallbackWord::into);
        Ok(LawPlan { law, fallback, settings, sharing })
    }
}

/// The name in this kernel if none is configured.
fn kernel_name(word: CcWord) -> String {
    match word {
        CcWord::Law(law) => law.kernel_name(),
        CcWord::Background => BackgroundConfig::default().name,
        CcWord::Copa | CcWord::None => sounding_bpf::COPA_NAME.to_owned(),
    }
}
