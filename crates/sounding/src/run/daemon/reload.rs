//! A new configuration while the daemon runs (SIGHUP). Unchanged sections go on untouched.
//!
//! ```text
//!   file ─wrong──▶ reported, and nothing changes
//!     └──right──▶ congestion controls: those that are gone end, new ones start
//!                 modems that are gone: log mask back, their outputs end  ─▶ then new ones open
//!                 modems that stay: their outputs that are gone end, new ones start
//! ```
//!
//! Two sections are the same if all their values are. The loader starts outputs, because this
//! thread has dropped its rights.

use std::collections::HashSet;
use std::io::{IsTerminal as _, stderr, stdin, stdout};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, TryRecvError};

use miette::{Report, Result, miette};
use sounding_bpf::MAX_MODEMS;
use sounding_host::{MAX_TEXT, read_text_at_most};

use super::{Daemon, Read, Start, find_devices, min_latency, needs};
use crate::run::config::{Config, Flags, ModemPlan};
use crate::run::devices::Devices;
use crate::run::events::Changes;
use crate::run::loader::Loader;
use crate::run::modem::Opened;
use crate::run::output::{Asked, Section};
use crate::run::reader::Order;
use crate::{board, cli_types};

/// Where the configuration came from.
pub(in crate::run) struct Origin {
    pub(in crate::run) path: PathBuf,
    pub(in crate::run) flags: Flags,
    /// Which of the standard streams were a terminal at the start.
    terminals: [bool; 3],
}

/// A modem that is to be opened.
pub(in crate::run) struct Coming {
    plan: ModemPlan,
    devices: Devices,
    sections: Vec<Arc<dyn Section>>,
    /// Once the loader is at it.
    opened: Option<Receiver<Result<Opened>>>,
}

impl Origin {
    pub(in crate::run) fn new(path: PathBuf, flags: Flags) -> Self {
        Self { path, flags, terminals: terminals() }
    }

    /// Whether a terminal that this was started in is gone: its end sends SIGHUP too.
    pub(in crate::run) fn has_lost_its_terminal(&self) -> bool {
        self.terminals.iter().zip(terminals()).any(|(before, now)| *before && !now)
    }

    fn read(&self) -> Result<Config> {
        read_config(Some(&self.path), self.flags.clone())
    }

    /// The line of the file that an error is about, as far as it names one or a key.
    fn line(&self, reason: &str) -> Option<usize> {
        let said = reason.split("TOML parse error at line ").nth(1);
        if let Some(said) = said {
            return said.split(|of: char| !of.is_ascii_digit()).next()?.parse().ok();
        }
        let text = read_text_at_most(&self.path, MAX_TEXT).ok()?;
        let (section, key) = reason.split_once(':')?.0.rsplit_once('.')?;
        line_of(&text, section, key)
    }
}

fn terminals() -> [bool; 3] {
    [stdin().is_terminal(), stdout().is_terminal(), stderr().is_terminal()]
}

/// Reads and checks a configuration.
pub(in crate::run) fn read_config(path: Option<&std::path::Path>, flags: Flags) -> Result<Config> {
    let config = Config::load(path, flags).map_err(Report::from_err)?;
    if let Some(board) = &config.board {
        board::subscription(&board.section.kpis)?;
    }
    Ok(config)
}

/// The line, from 1, with this key of a section, if there is one such line.
fn line_of(text: &str, section: &str, key: &str) -> Option<usize> {
    let (mut is_inside, mut found) = (false, None);
    for (line, number) in text.lines().map(str::trim).zip(1..) {
        if line.starts_with('[') {
            is_inside = line.trim_matches(['[', ']', ' ']) == section;
        }
        let named = line.split_once('=').map(|(named, _)| named.trim());
        if is_inside && named == Some(key) && found.replace(number).is_some() {
            return None;
        }
    }
    found
}

/// An error without the picture of its line.
fn in_one_line(reason: &str) -> String {
    let lines: Vec<&str> = reason.lines().collect();
    let picture = lines.iter().rposition(|line| line.trim_start().starts_with('|'));
    match (&lines[..], picture) {
        ([first, ..], Some(at)) => format!("{first}: {}", lines[at + 1..].join(" ")),
        _ => lines.join(" "),
    }
}

/// A section's value, for comparison.
fn value(section: &Arc<dyn Section>) -> String {
    format!("{section:?}")
}

/// The same, and its output's name.
pub(in crate::run) fn named(section: &Arc<dyn Section>) -> (String, String) {
    (value(section), section.name())
}

impl Daemon {
    /// Reads the file again, and does what is new in it.
    pub(in crate::run) fn reload(&mut self) {
        let Some(origin) = &self.origin else { return };
        let path = origin.path.clone();
        let read = origin.read().and_then(|config| self.with_devices(config));
        match read {
            Ok((config, devices)) => {
                let changes = self.change_to(config, devices);
                self.events.reloaded(&path, &changes);
            }
            Err(why) => {
                let reason = why.chain().map(ToString::to_string).collect::<Vec<_>>().join(": ");
                let line = self.origin.as_ref().and_then(|origin| origin.line(&reason));
                self.events.not_reloaded(&path, line, &in_one_line(&reason));
            }
        }
    }

    /// Finds the network devices of the modems. Those of a modem that stays are known.
    fn with_devices(&self, mut config: Config) -> Result<(Config, Vec<Devices>)> {
        let devices = find_devices(&mut config, |plan| {
            let read = self.modems.iter().find(|read| read.plan.is_same(plan))?;
            Some(read.devices.clone()).filter(|devices| !devices.found().is_empty())
        })?;
        Ok((config, devices))
    }

    fn change_to(&mut self, config: Config, devices: Vec<Devices>) -> Changes {
        let mut changes = Changes::default();
        let asked = config.sections();
        self.events.fall_back_to(asked.iter().filter_map(|asked| asked.section.stock()));
        self.change_algorithms(&asked, &mut changes);
        self.end_modems(&config, &mut changes);
        for (plan, devices) in config.modems.iter().zip(devices) {
            let own: Vec<Asked> = asked
                .iter()
                .filter(|asked| asked.modem.as_deref() == Some(&plan.name))
                .cloned()
                .collect();
            match self.modems.iter_mut().find(|read| read.plan.is_same(plan)) {
                Some(read) => read.change_outputs(&own, &config, &mut changes),
                None => {
                    changes.started.push(format!("modem {}", plan.name));
                    changes.started.extend(own.iter().map(|asked| asked.section.name()));
                    let sections = own.into_iter().map(|asked| asked.section).collect();
                    let plan = plan.clone();
                    self.coming.push(Coming { plan, devices, sections, opened: None });
                }
            }
        }
        let latency = min_latency(&config);
        if latency != min_latency(&self.config) {
            match cli_types::awake(latency) {
                Ok(awake) => self.awake = awake,
                Err(why) => self.events.not_awake(&why),
            }
        }
        self.config = config;
        self.name_modems();
        changes
    }

    fn change_algorithms(&mut self, asked: &[Asked], changes: &mut Changes) {
        let asked: Vec<&Asked> = asked.iter().filter(|asked| asked.modem.is_none()).collect();
        let wanted: HashSet<String> = asked.iter().map(|asked| value(&asked.section)).collect();
        let before: Vec<(String, String)> = self.outputs.sections().map(named).collect();
        let names = |gone: &HashSet<String>| {
            let is_gone = |(value, _): &&(String, String)| !gone.contains(value);
            before.iter().filter(is_gone).map(|(_, name)| name.clone()).collect::<Vec<_>>()
        };
        changes.ended.extend(names(&wanted));
        for number in self.outputs.remove(|section| !wanted.contains(&format!("{section:?}"))) {
            for read in &self.modems {
                read.reader.order(Order::Leave(number));
            }
        }
        let had: HashSet<&String> = before.iter().map(|(value, _)| value).collect();
        let new: Vec<&&Asked> =
            asked.iter().filter(|asked| !had.contains(&value(&asked.section))).collect();
        changes.started.extend(new.iter().map(|asked| asked.section.name()));
        self.outputs.add(new.iter().map(|asked| asked.section.clone()).collect());
    }

    /// Has the threads of modems that are gone, or are others now, end.
    fn end_modems(&mut self, config: &Config, changes: &mut Changes) {
        let is_gone = |read: &mut Read| !config.modems.iter().any(|plan| read.plan.is_same(plan));
        for mut read in self.modems.extract_if(.., is_gone) {
            changes.ended.push(format!("modem {}", read.plan.name));
            changes.ended.extend(read.sections.iter().map(|(_, name)| name.clone()));
            read.reader.handle_end();
            self.ending.push(read);
            self.has_fewer = true;
        }
    }

    /// Whether what the last reload began is done.
    pub(in crate::run) fn is_settled(&self) -> bool {
        self.ending.is_empty() && self.coming.is_empty()
    }

    /// Takes leave of modems that have ended, and then opens and starts new ones, whose ports may
    /// be the same.
    pub(in crate::run) fn attend_changes(&mut self) -> Result<()> {
        let ended: Vec<Read> = self.ending.extract_if(.., |read| read.reader.has_ended()).collect();
        for read in ended {
            match read.reader.join() {
                Ok(ended) => {
                    self.accounts.push(ended.account);
                    self.last.join(ended.last);
                }
                Err(why) => self.events.modem_failed(&read.plan.name, &why),
            }
        }
        if !self.ending.is_empty() {
            return Ok(());
        }
        for mut coming in std::mem::take(&mut self.coming) {
            let opened = coming.opened.get_or_insert_with(|| open(&coming.plan, &self.loader));
            match opened.try_recv() {
                Ok(Ok(opened)) => self.start_coming(coming, opened)?,
                Ok(Err(why)) => self.events.modem_failed(&coming.plan.name, &why),
                Err(TryRecvError::Empty) => self.coming.push(coming),
                Err(TryRecvError::Disconnected) => {
                    let why = miette!("nothing opens it");
                    self.events.modem_failed(&coming.plan.name, &why);
                }
            }
        }
        Ok(())
    }

    fn start_coming(&mut self, coming: Coming, opened: Opened) -> Result<()> {
        let Coming { plan, devices, sections, .. } = coming;
        let taken = |place: &usize| self.modems.iter().any(|read| read.reader.place == *place);
        let place = (0..MAX_MODEMS).find(|place| !taken(place));
        let place = place.ok_or_else(|| miette!("no place is left for modem {}", plan.name))?;
        let mut outputs = self.outputs.empty(self.loader.as_ref());
        let values = sections.iter().map(named).collect();
        outputs.add(sections);
        self.start_modem(Start { place, plan, devices, opened, outputs, sections: values })?;
        self.name_modems();
        Ok(())
    }
}

/// Has the loader open a modem.
fn open(plan: &ModemPlan, loader: &Option<Loader>) -> Receiver<Result<Opened>> {
    let (done, opened) = mpsc::channel();
    let plan = plan.clone();
    if let Some(loader) = loader {
        loader.work(move || drop(done.send(Opened::open(&plan))));
    }
    opened
}

impl Read {
    /// Ends outputs of a modem that stays, and starts others.
    fn change_outputs(&mut self, own: &[Asked], config: &Config, changes: &mut Changes) {
        let wanted: Vec<String> = own.iter().map(|asked| value(&asked.section)).collect();
        let is_gone = |(value, _): &&(String, String)| !wanted.contains(value);
        let gone: Vec<_> = self.sections.iter().filter(is_gone).cloned().collect();
        let is_new = |asked: &&Asked| {
            !self.sections.iter().any(|(known, _)| *known == value(&asked.section))
        };
        let new: Vec<&Asked> = own.iter().filter(is_new).collect();
        changes.ended.extend(gone.iter().map(|(_, name)| name.clone()));
        changes.started.extend(new.iter().map(|asked| asked.section.name()));
        let ended = gone.into_iter().map(|(value, _)| value).collect();
        let added = new.iter().map(|asked| asked.section.clone()).collect();
        let needs = needs(config, &self.plan.name);
        self.reader.order(Order::Change { ended, added, needs });
        self.sections = own.iter().map(|asked| named(&asked.section)).collect();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::fd::AsRawFd as _;

    use super::*;

    #[test]
    fn an_error_of_toml_is_one_line_with_its_place() {
        let wrong = toml::from_str::<toml::Table>("a = 1\nb = ?\n").expect_err("no value");
        let said = in_one_line(&format!("file.toml: {wrong}"));
        assert!(said.starts_with("file.toml: TOML parse error at line 2"), "{said}");
        assert!(!said.contains('\n') && !said.contains('|'), "{said}");
        assert_eq!(in_one_line("no such file"), "no such file");
    }

    #[test]
    fn a_file_without_an_end_is_read_no_further_than_a_file_may_be() {
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        let piece = [b'a'; 1 << 16];
        let wrote = std::thread::spawn(move || {
            (0..1024).take_while(|_| writer.write_all(&piece).is_ok()).count() * piece.len()
        });
        let path = format!("/proc/self/fd/{}", reader.as_raw_fd()).into();
        let origin = Origin { path, flags: Flags::default(), terminals: [false; 3] };
        assert_eq!(origin.line("modem.device: it is missing"), None);
        drop(reader);
        let wrote = wrote.join().expect("it ends");
        assert!(wrote < 4 * MAX_TEXT as usize, "{wrote} bytes were read");
    }

    #[test]
    fn the_line_of_a_key_is_found_in_its_section() {
        let text = "[link]\nmethod = 'x'\n[[modem]]\n  budget = 'no'\n[board]\nname = 'b'\n";
        assert_eq!(line_of(text, "modem", "budget"), Some(4));
        assert_eq!(line_of(text, "board", "name"), Some(6));
        assert_eq!(line_of(text, "link", "name"), None);
        let twice = format!("{text}[[modem]]\nbudget = 'no'\n");
        assert_eq!(line_of(&twice, "modem", "budget"), None);
    }
}
