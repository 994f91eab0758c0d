//! The text of a plan, the settings of the command line, and the resulting runs.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sounding_baselines::Registry;
use sounding_host::{MAX_TEXT, read_text_at_most};
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use super::tree::{self, Root, Value};
use super::{Plan, PlanError, Seeds, Wrong, controller, set};

/// Most runs of one plan: more is a typing error.
const MAX_RUNS: usize = 100_000;

/// Approximate limit on the memory of their plans, in bytes: each run has a plan.
const MAX_KEPT: usize = 300_000_000;

/// Approximate size of one of its devices, carriers, links or flows, in bytes.
const ENTRY: usize = 1_000;

/// The text of a plan.
#[derive(Clone, Debug)]
pub struct Text {
    name: String,
    text: String,
    folder: PathBuf,
    sets: Vec<Set>,
    controllers: Registry,
}

/// A key that the command line sets.
#[derive(Clone, Debug)]
struct Set {
    written: String,
    key: String,
    /// Place of its value in `written`.
    value_at: usize,
    /// Start of this text's places: behind those of all before.
    base: usize,
    /// A table of the value alone, behind as many blanks as bring it to its place.
    padded: String,
}

impl Set {
    /// Its value; a string if it is not TOML.
    fn value(&self) -> Value<'_> {
        let table = DeTable::parse(&self.padded).ok().map(Spanned::into_inner);
        let only = table.filter(|table| table.len() == 1);
        only.and_then(|mut table| table.remove(NAME)).unwrap_or_else(|| {
            let begin = self.base + self.value_at;
            let written = self.padded.get(begin..).unwrap_or_default();
            let begin = begin + written.len() - written.trim_start().len();
            let word = written.trim();
            Spanned::new(begin..begin + word.len(), DeValue::String(word.into()))
        })
    }
}

/// Key of a set value while it is read; with the equals sign as long as the shortest key with its
/// own.
const NAME: &str = "v";

/// One run: a plan without sweeps, and one seed.
#[derive(Clone, Debug)]
pub struct Run {
    /// Counted from 1.
    pub number: usize,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The values of the swept keys, as in the text.
    pub values: Vec<(String, String)>,
    /// The plan.
    pub plan: Plan,
    /// The folder of its files.
    pub folder: PathBuf,
    /// The controllers that its flows may have.
    pub controllers: Registry,
    /// Index among all combinations of the swept values.
    combination: usize,
}

impl Text {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`PlanError`] if the file cannot be read, is too large or no UTF-8.
    pub fn read(path: &Path) -> Result<Self, PlanError> {
        let name = path.display().to_string();
        let text = read_text_at_most(path, MAX_TEXT).map_err(|error| PlanError {
            name: name.clone(),
            text: String::new(),
            span: None,
            key: String::new(),
            message: format!("cannot read it: {error}"),
        })?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(Self::new(name, text, folder))
    }

    /// A plan from its text; its traces are relative to `folder`.
    pub fn new(name: impl Into<String>, text: impl Into<String>, folder: PathBuf) -> Self {
        let controllers = Registry::default();
        Self { name: name.into(), text: text.into(), folder, sets: Vec::new(), controllers }
    }

    /// The same plan, with these controllers available to its flows.
    #[must_use]
    pub fn with_controllers(self, controllers: Registry) -> Self {
        Self { controllers, ..self }
    }

    /// The text itself.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The settings, as given.
    pub fn sets(&self) -> Vec<String> {
        self.sets.iter().map(|set| set.written.clone()).collect()
    }

    /// Sets a key, as in `flows.0.controller=bbr`: the value is TOML, or text where it is not.
    ///
    /// # Errors
    ///
    /// [`PlanError`] if the text is no KEY=VALUE.
    pub fn set(&mut self, written: &str) -> Result<(), PlanError> {
        let wrong = |message: &str| PlanError {
            name: format!("--set {written}"),
            text: written.into(),
            span: None,
            key: String::new(),
            message: message.into(),
        };
        let Some((key, value)) = written.split_once('=') else {
            return Err(wrong("is no KEY=VALUE, as in duration=5s"));
        };
        if key.trim().split('.').any(str::is_empty) {
            return Err(wrong("has no key before the =, as in duration=5s"));
        }
        let last = self.sets.last();
        let base = last.map_or(self.text.len() + 1, |set| set.base + set.written.len() + 1);
        let value_at = written.len() - value.len();
        let blanks = base + value_at - NAME.len() - 1;
        let padded = format!("{}{NAME}={value}", " ".repeat(blanks));
        let key = key.trim().to_owned();
        self.sets.push(Set { written: written.into(), key, value_at, base, padded });
        Ok(())
    }

    /// All runs, in the order of the plan: the last key of a sweep changes fastest, and seeds
    /// before it.
    ///
    /// # Errors
    ///
    /// [`PlanError`] with its place in the text, if a key or value is wrong, or the sweep comes to
    /// too many runs.
    pub fn runs(&self) -> Result<Vec<Run>, PlanError> {
        let (axes, root) = self.root()?;
        let combinations =
            axes.iter().try_fold(1_usize, |runs, axis| runs.checked_mul(axis.values.len()));
        let combinations = combinations.filter(|&runs| runs <= MAX_RUNS).ok_or_else(|| {
            self.error(None, "sweep".into(), format!("comes to more than {MAX_RUNS} runs"))
        })?;
        let mut runs = Vec::new();
        let mut kept = 0_usize;
        // A run has one of the swept values of each axis.
        let others = axes.iter().map(|axis| axis.len_of_others(self.text.len()));
        let own = self.text.len().saturating_sub(others.sum());
        let sweeps_seeds = axes.iter().any(|axis| axis.path == "seeds");
        for combination in 0..combinations {
            let (swept, values) = self.combine(&root, &axes, combination)?;
            let plan = self.plan(&swept)?;
            let seeds = plan.seeds.all().len();
            kept = kept.saturating_add(seeds.saturating_mul(own + plan.entries() * ENTRY));
            // If seeds are not swept, each run has the same number of them: an excess is refused
            // before it is made.
            let to_come = if sweeps_seeds { 1 } else { combinations - combination };
            if runs.len() + seeds.saturating_mul(to_come) > MAX_RUNS || kept > MAX_KEPT {
                let message = format!(
                    "with all seeds, more than {MAX_RUNS} runs, or fewer that are too large"
                );
                return Err(self.error(None, "sweep".into(), message));
            }
            for &seed in plan.seeds.all() {
                let plan = Plan { seeds: Seeds::from(seed), ..plan.clone() };
                let (number, values) = (runs.len() + 1, values.clone());
                let (folder, controllers) = (self.folder.clone(), self.controllers.clone());
                runs.push(Run { number, seed, values, plan, folder, controllers, combination });
            }
        }
        Ok(runs)
    }

    /// Adds the place in the plan to a fault of a run.
    pub fn locate(&self, run: &Run, wrong: Wrong) -> PlanError {
        let swept =
            self.root().and_then(|(axes, root)| self.combine(&root, &axes, run.combination));
        match swept {
            Ok((root, _)) => self.wrong(&root, wrong),
            Err(error) => error,
        }
    }

    /// The swept axes, and the rest with all set values in it.
    fn root(&self) -> Result<(Vec<Axis<'_>>, Root<'_>), PlanError> {
        let mut root = DeTable::parse(&self.text)
            .map_err(|error| self.error(error.span(), String::new(), error.message().into()))?;
        self.put_sets(&mut root)?;
        self.sweeps(root)
    }

    fn put_sets<'i>(&'i self, root: &mut Root<'i>) -> Result<(), PlanError> {
        for set in &self.sets {
            let path: Vec<&str> = set.key.split('.').collect();
            tree::put(root.get_mut(), &path, &set.value()).map_err(|message| {
                let span = set.base..set.base + set.value_at.saturating_sub(1);
                self.error(Some(span), set.key.clone(), message)
            })?;
        }
        Ok(())
    }

    fn sweeps<'i>(&self, mut root: Root<'i>) -> Result<(Vec<Axis<'i>>, Root<'i>), PlanError> {
        let Some(sweep) = root.get_mut().remove("sweep") else { return Ok((Vec::new(), root)) };
        let span = sweep.span();
        let DeValue::Table(table) = sweep.into_inner() else {
            let message = "is a table of lists: \"flows.0.controller\" = [\"cubic\", \"bbr\"]";
            return Err(self.error(Some(span), "sweep".into(), message.into()));
        };
        let mut axes = Vec::new();
        for (key, value) in table {
            let (span, path) = (key.span(), key.into_inner().into_owned());
            let values: Vec<(String, Value<'i>)> = match value.into_inner() {
                DeValue::Array(list) => {
                    let mut values = Vec::new();
                    for value in list {
                        let span = value.span();
                        let of = set::values(&path, value, &self.folder).map_err(|message| {
                            self.error(Some(span), format!("sweep.{path}"), message)
                        })?;
                        values.extend(of.into_iter().map(|value| {
                            let label = controller::label(&path, &value, &self.controllers);
                            (label.unwrap_or_else(|| self.written(&value)), value)
                        }));
                    }
                    values
                }
                DeValue::Table(named) => {
                    let mut named: Vec<_> = named.into_iter().collect();
                    named.sort_by_key(|(key, _)| key.span().start);
                    named.into_iter().map(|(key, value)| (key.into_inner().into(), value)).collect()
                }
                _ => Vec::new(),
            };
            if values.is_empty() {
                let message = "takes a list of values, or a table of names and values";
                return Err(self.error(Some(span), format!("sweep.{path}"), message.into()));
            }
            axes.push(Axis { path, span, values });
        }
        // A key that is set is not swept.
        axes.retain(|axis| self.sets.iter().all(|set| set.key != axis.path));
        // In the order of the text, because a table is sorted alphabetically.
        axes.sort_by_key(|axis| axis.span.start);
        Ok((axes, root))
    }

    fn combine<'i>(
        &'i self,
        root: &Root<'i>,
        axes: &[Axis<'i>],
        mut number: usize,
    ) -> Result<(Root<'i>, Vec<(String, String)>), PlanError> {
        let mut swept = root.clone();
        let mut values = Vec::new();
        for axis in axes.iter().rev() {
            let (label, value) = &axis.values[number % axis.values.len()];
            number /= axis.values.len();
            let path: Vec<&str> = axis.path.split('.').collect();
            tree::put(swept.get_mut(), &path, value).map_err(|message| {
                self.error(Some(axis.span.clone()), format!("sweep.{}", axis.path), message)
            })?;
            values.push((axis.path.clone(), label.clone()));
        }
        values.reverse();
        // Settings inside swept values are applied again, because the sweep has replaced them.
        self.put_sets(&mut swept)?;
        swept.get_mut().remove("sweep");
        Ok((swept, values))
    }

    fn plan(&self, root: &Root<'_>) -> Result<Plan, PlanError> {
        let mut plan = Plan::deserialize(Deserializer::from(root.clone())).map_err(|error| {
            let key = error.span().map(|span| tree::key_at(root.get_ref(), &span));
            self.error(error.span(), key.unwrap_or_default(), error.message().into())
        })?;
        plan.check(&self.controllers).map_err(|wrong| self.wrong(root, wrong))?;
        Ok(plan)
    }

    fn wrong(&self, root: &Root<'_>, wrong: Wrong) -> PlanError {
        self.error(tree::place(root, &wrong.key), wrong.key, wrong.message)
    }

    /// An error at a place of the text, or of a setting.
    fn error(&self, span: Option<Range<usize>>, key: String, message: String) -> PlanError {
        let set = span
            .as_ref()
            .and_then(|span| self.sets.iter().rev().find(|set| span.start >= set.base));
        let (name, text, span) = match (set, span) {
            (Some(set), Some(span)) => {
                let inside = |at: usize| (at - set.base).min(set.written.len());
                let span = inside(span.start)..inside(span.end.max(span.start));
                (format!("--set {}", set.written), set.written.clone(), Some(span))
            }
            (_, span) => (self.name.clone(), self.text.clone(), span),
        };
        PlanError { name, text, span, key, message }
    }

    /// The text of a value, without quotes.
    fn written(&self, value: &Value<'_>) -> String {
        if let Some(text) = value.get_ref().as_str() {
            return text.into();
        }
        let set = self.sets.iter().rev().find(|set| value.span().start >= set.base);
        let (text, base) = set.map_or((&self.text, 0), |set| (&set.written, set.base));
        let span = value.span();
        let written = text.get(span.start - base..span.end - base).unwrap_or_default();
        written.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// A key that is swept.
struct Axis<'i> {
    path: String,
    span: Range<usize>,
    /// Name and value of each.
    values: Vec<(String, Value<'i>)>,
}

impl Axis<'_> {
    /// Size of its values in a text of this length, except the longest.
    fn len_of_others(&self, text: usize) -> usize {
        let spans = self.values.iter().map(|(_, value)| value.span());
        let lens = spans.filter(|span| span.end <= text).map(|span| span.len());
        lens.clone().sum::<usize>() - lens.max().unwrap_or_default()
    }
}
