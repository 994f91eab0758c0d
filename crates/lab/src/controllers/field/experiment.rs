use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use miette::{Context, IntoDiagnostic};
use sounding_experiment::provenance::Begun;
use sounding_experiment::simulate::About;
use sounding_host::files;
use sounding_report::findings::GROUPS;

use crate::controllers::field::{Choice, Link, chosen, compare, markdown, plan, table};
use crate::experiment::{Card, Experiment, Host, Outcome, Sweep, jobs};

/// The controllers and the oracle over the available recorded links, in virtual time; needs no
/// rights
///
/// Without --controllers all except `biscay-cubic` and `sounding-cubic`, which are plain CUBIC
/// without a modem. Every fourth link of hundreds of Mbit/s is used, unless --thinned changes that.
///
/// The setting is that of BISCAY's Figure 8: one bulk flow, an endless queue. The seeds of a link
/// differ in the part of the trace that a flow uses, and in the random numbers of controllers.
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// Only links whose file's name contains this, as `mahimahi` or `taxi`
    #[arg(long, value_name = "TEXT", default_value = "")]
    links: String,

    /// Use every Nth link of hundreds of Mbit/s; 1 for all
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    thinned: u16,

    /// Only these controllers, also with parameters as `copa:delta=0.1:mode=default`, and the
    /// oracle [default: all but those that fall back to CUBIC]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    controllers: Vec<String>,

    /// How long each run lasts
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Seeds of each link
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    seeds: u32,

    /// Runs at once [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// Folder with traces
    #[arg(long, value_name = "DIR", env = "SOUNDING_DATA", default_value = "../shared/data")]
    data: PathBuf,

    /// Keep the runs here, as `sounding lab sweep` does, and continue with missing ones; `sounding
    /// lab report` makes a report
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// See the module.
pub(crate) struct FieldExperiment;

impl Experiment for FieldExperiment {
    type Flags = Flags;

    fn card(&self) -> Card {
        Card::new("field", "the controllers and the oracle over recorded links").lasts("10 min")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let begun = Begun::now();
        let mut choice = Choice {
            filter: flags.links,
            thinned: flags.thinned.into(),
            duration: flags.duration,
            seeds: flags.seeds,
            ..Choice::default()
        };
        if !flags.controllers.is_empty() {
            choice.controllers = flags.controllers;
        }
        let links = chosen(&flags.data, &choice).map_err(|error| {
        miette::miette!(
            help = "name the folder with --data or SOUNDING_DATA; others' recordings are in it, with an index of them",
            "the index of traces in {}: {error}",
            host.shown(&flags.data)
        )
    })?;
        if links.is_empty() {
            return Err(miette::miette!(
                help = "name the folder with --data, or others with --links",
                "no recorded link in {} is called {:?}",
                host.shown(&flags.data),
                choice.filter
            ));
        }
        let text = plan(&flags.data, &links, &choice);
        let about = About::new(&text);
        let scratch = tempfile::tempdir().into_diagnostic()?;
        let is_kept = flags.out.is_some();
        let out = flags.out.unwrap_or_else(|| scratch.path().join("field"));
        let sweep =
            Sweep { text: &text, about: &about, out: &out, jobs: jobs(flags.jobs), stays: is_kept };
        let Some(finished) = host.sweep(&sweep)? else { return Ok(None) };
        write(host, &out.join("field.toml"), text.text())?;
        write(host, &out.join(GROUPS), &grouped(&links)?)?;
        let groups = compare(&finished.outcomes, &links);
        let page = format!("{}\n{}", markdown(&groups), begun.end());
        let mut outcome = Outcome::new(table(&groups), page, &groups)?;
        if is_kept {
            let out = host.shown(&out);
            outcome
                .notes
                .push(format!("its figures: sounding lab report {out} --out {out}/report"));
        }
        Ok(Some(outcome))
    }
}

fn write(host: &dyn Host, path: &Path, text: &str) -> miette::Result<()> {
    files::write(path, text.as_bytes())
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot write {}", host.shown(path)))
}

/// The groups of links in a report.
fn grouped(links: &[Link]) -> miette::Result<String> {
    let groups = links.iter().map(|link| (link.file.as_str(), link.group.to_string()));
    serde_json::to_string_pretty(&groups.collect::<BTreeMap<_, _>>()).into_diagnostic()
}
