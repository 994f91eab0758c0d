//! A video call of a real WebRTC stack in real time (Gandalf §5.3): as it is, with a blind mean, and corrected by the cell's modem.

mod figures;
mod page;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use miette::{IntoDiagnostic, miette};
use sounding_experiment::plan::{Run, Wrong};
use sounding_experiment::provenance::Begun;
use sounding_testbed::call::{CallConfig, CallSeen, Corrected, call, may_call};

use super::{Evidence, Row, rig, scene};
use crate::experiment::{End, Experiment, Host, Needs, Outcome, program, report};
use crate::paper::{Ours, PaperItem, Report, paper_item};

/// When the signal of the scenes with a fall drops, after the start of the network's time.
const DROP: Duration = Duration::from_secs(15);
/// dB after it.
const AFTER_DB: f64 = 7.0;

/// Figs. 23 to 26 on an unmodified libwebrtc: rate, resolution, frame rate and delay of a video call over a modelled cell
///
/// The call's sender is libwebrtc from npm, its receiver sounding-rtc-peer, and the modem's records come over the bytes of its Diag
/// port. In each scene the receiver reports arrivals as they are (stock), as means over 10 ms (blind), and as the modem's records
/// correct them. In some scenes the cell's rate falls below the video's. Node and npm must be installed.
#[derive(clap::Args)]
pub(crate) struct CallFlags {
    /// Length of each call
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = humantime::parse_duration)]
    length: Duration,

    /// Seeds of the cells, once for each
    #[arg(long, value_name = "SEED", default_value = "1001")]
    seed: Vec<u64>,

    /// Only rows whose names contain this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// Folder for a page with each call over time; it must not exist
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// The folder of the call's sender, in this project's sources
    #[arg(long, value_name = "DIR", default_value = "crates/rtc/call")]
    caller: PathBuf,

    /// The call's receiver; default: sounding-rtc-peer beside this program
    #[arg(long, value_name = "FILE")]
    peer: Option<PathBuf>,
}

/// The item.
pub(crate) struct CallItem;

const FILES: PaperItem = paper_item!("gandalf", "webrtc");

/// A cell.
struct Place {
    name: &'static str,
    sets: Vec<String>,
    drops: bool,
}

fn places() -> Vec<Place> {
    let walks = "cell.devices.phone.channel.fading.surroundings_mps=1.4".to_owned();
    let nr = "cell.carriers=[{ rat = \"nr\", numerology = 1, tdd = \"DDDDDDDSUU\", prb = 51, frequency_mhz = 3550.0 }]";
    let narrow = "cell.carriers=[{ prb = 15 }]".to_owned();
    let levels = format!(
        "cell.devices.phone.channel.levels=[{{ at_s = 0.0, sinr_db = 20.0 }}, {{ at_s = {}, sinr_db = {AFTER_DB:.1} }}]",
        DROP.as_secs_f64()
    );
    let place = |name, sets, drops| Place { name, sets, drops };
    vec![
        place("LTE, static", Vec::new(), false),
        place("LTE, mobile", vec![walks.clone()], false),
        place("5G, static", vec![nr.to_owned()], false),
        place("5G, mobile", vec![nr.to_owned(), walks], false),
        place("LTE, rate falls", vec![narrow, levels], true),
    ]
}

/// A run of the plan with these keys set.
fn run(sets: impl IntoIterator<Item = String>) -> Result<(Run, scene::Shared), Wrong> {
    scene::run(FILES, sets)
}

/// What the cell carries after the fall, Mbit/s: BBR's throughput in the simulator.
fn capacity(place: &Place, seed: u64) -> Result<f64, Wrong> {
    let levels =
        format!("cell.devices.phone.channel.levels=[{{ at_s = 0.0, sinr_db = {AFTER_DB:.1} }}]");
    let more = [levels, "duration=\"12s\"".into(), "flows.0.controller=bbr".into()];
    let seeds = format!("seeds={seed}");
    let (run, shared) = run(place.sets.iter().cloned().chain(more).chain([seeds]))?;
    Ok(rig::observe(&run, &shared, None)?.mbit_per_sec(Duration::from_secs(4)))
}

fn failed(wrong: Wrong) -> miette::Report {
    miette!("{} {}", wrong.key, wrong.message)
}

impl Experiment for CallItem {
    type Flags = CallFlags;

    fn name(&self) -> &'static str {
        FILES.experiment
    }

    fn about(&self) -> &'static str {
        "a video call of libwebrtc with and without the radio's own delays"
    }

    fn needs(&self) -> Needs {
        Needs::Root
    }

    fn duration(&self) -> Option<&'static str> {
        Some("8 min")
    }

    fn run(&self, flags: CallFlags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let peer = match flags.peer {
            Some(peer) => peer,
            None => program()?.with_file_name("sounding-rtc-peer"),
        };
        if !peer.exists() {
            return Err(miette!(
                help = "cargo build --package sounding-rtc, or --peer FILE",
                "there is no {}",
                host.shown(&peer)
            ));
        }
        let caller = flags.caller.canonicalize().map_err(|error| {
            let help = "run it in this project's sources, or name the folder with --caller";
            miette!(help = help, "no sender in {}: {error}", host.shown(&flags.caller))
        })?;
        may_call(&caller).map_err(|why| miette!("no call here: {why}"))?;
        let stop = host.stop()?;
        let begun = Begun::now();
        let mut rows: Vec<Row> = Vec::new();
        let mut calls = Vec::new();
        'all: for place in places() {
            for corrected in [Corrected::Stock, Corrected::Blind, Corrected::Reported] {
                let name = format!("{}: {}", place.name, corrected.name());
                if flags.only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
                    continue;
                }
                let mut all = Vec::new();
                for &seed in &flags.seed {
                    if stop.load(Ordering::Relaxed) {
                        break 'all;
                    }
                    let (figures, seen) =
                        one(&place, corrected, seed, flags.length, (&peer, &caller))?;
                    all.push(figures);
                    let (place, corrected) = (place.name, corrected.name());
                    calls.push(page::Shown { place, corrected, seed, seen });
                }
                report(host, format_args!("{name}: {}", figures::line(&all)));
                rows.push(figures::mean_row(name, &all));
            }
        }
        figures::compare(&mut rows);
        let expected = FILES.expected().into_diagnostic()?;
        let table = rows.iter().map(|row| (row.name.clone(), figures::cells(row)));
        let mut ours = Ours::new(figures::COLUMNS.iter().copied(), table);
        for (row, short) in figures::short(&rows) {
            let short: Vec<&str> = short.iter().map(String::as_str).collect();
            ours.misses.push(expected.miss(&row, &short));
        }
        let evidence = Evidence { figures: rows };
        let result = Report::new(self.about(), expected, ours, evidence, begun.end());
        let mut outcome = result.outcome()?;
        outcome.page = flags.out.map(|folder| (folder, page::page(&result, &calls)));
        if stop.load(Ordering::Relaxed) {
            outcome.end = End::Interrupted;
        }
        Ok(Some(outcome))
    }
}

fn one(
    place: &Place,
    corrected: Corrected,
    seed: u64,
    length: Duration,
    (peer, caller): (&Path, &Path),
) -> miette::Result<(super::Figures, CallSeen)> {
    let (run, _) =
        run(place.sets.iter().cloned().chain([format!("seeds={seed}")])).map_err(failed)?;
    let config = CallConfig {
        peer: peer.to_owned(),
        caller: caller.to_owned(),
        corrected,
        length,
        modem_dies: None,
        most_kbit: None,
    };
    let seen = call(&run, &config).into_diagnostic()?;
    let drop = if place.drops { Some(capacity(place, seed).map_err(failed)?) } else { None };
    Ok((figures::of(&seen, drop.map(|mbit| (DROP, mbit))), seen))
}
