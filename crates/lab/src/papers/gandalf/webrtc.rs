//! A video call of a real WebRTC stack in real time (Gandalf §5.3): unmodified, with a blind mean,
//! and corrected by the cell's modem.

mod downlink;
mod figures;
mod page;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use miette::{IntoDiagnostic, miette};
use sounding_experiment::plan::{Run, Wrong};
use sounding_experiment::provenance::Begun;
use sounding_testbed::call::{
    CallConfig, CallError, CallSeen, Corrected, Media, Size, call, may_call,
};

use super::{Evidence, Figures, Row, rig, scene};
use crate::experiment::{Card, Experiment, Host, Needs, Outcome, program, report};
use crate::paper::{Ours, PaperItem, Report, no_row, paper_item};
pub(crate) use downlink::DownlinkItem;

/// When the signal of the scenes with a fall drops, after the start of the network's time.
const DROP: Duration = Duration::from_secs(15);

/// Flags of calls in both directions.
// Without a line of documentation for clap: it would take it for that of the command.
#[derive(clap::Args)]
#[allow(missing_docs)]
struct MediaFlags {
    /// Length of each call
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = humantime::parse_duration)]
    length: Duration,

    /// Seeds of the cells, such as 1001 or "1001..1010". Each row has a call of each, and two or
    /// more are compared in pairs
    #[arg(long, value_name = "SEEDS", default_value = "1001")]
    seeds: String,

    /// Size of the source's pictures
    #[arg(long, value_enum, default_value_t = SizeWord::P360)]
    size: SizeWord,

    /// Only rows whose names contain this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// Folder for a page with each call over time; it must not exist
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// The folder of the call's sender, in this project's sources
    #[arg(long, value_name = "DIR", default_value = "crates/rtc/call")]
    caller: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum SizeWord {
    /// 640 × 360, which libwebrtc encodes at 1.7 Mbit/s at most
    #[value(name = "360p")]
    P360,
    /// 1280 × 720, which it encodes at 2.5 Mbit/s at most
    #[value(name = "720p")]
    P720,
}

/// Figs. 23 to 26 on an unmodified libwebrtc: rate, resolution, frame rate and delay of a video
/// call over a modelled cell
///
/// The call's sender is libwebrtc from npm, its receiver sounding-rtc-peer, and the modem's records
/// come over the bytes of its Diag port. In each scene the receiver reports arrivals as they are
/// (stock), as means over 10 ms (blind), and as the modem's records correct them (reported). In
/// some scenes the cell's rate falls below the video's. Node and npm must be installed.
#[derive(clap::Args)]
pub(crate) struct CallFlags {
    #[command(flatten)]
    media: MediaFlags,

    /// The call's receiver; default: sounding-rtc-peer beside this program
    #[arg(long, value_name = "FILE")]
    peer: Option<PathBuf>,
}

/// The item.
pub(crate) struct CallItem;

const FILES: PaperItem = paper_item!("gandalf", "webrtc")
    .about("a video call of libwebrtc with and without the radio's own delays")
    .lasts("8 min");

/// A cell.
struct Place {
    name: String,
    sets: Vec<String>,
    /// dB after the fall of its signal, if it falls.
    after_db: Option<f64>,
}

/// The cells. In the last one the signal falls to this, dB.
fn places(size: Size, after_db: f64) -> Vec<Place> {
    let walks = "cell.devices.phone.channel.fading.surroundings_mps=1.4".to_owned();
    let nr = "cell.carriers=[{ rat = \"nr\", numerology = 1, tdd = \"DDDDDDDSUU\", prb = 51, frequency_mhz = 3550.0 }]";
    let narrow = "cell.carriers=[{ prb = 15 }]".to_owned();
    let levels = format!(
        "cell.devices.phone.channel.levels=[{{ at_s = 0.0, sinr_db = 20.0 }}, {{ at_s = {}, sinr_db = {after_db:.1} }}]",
        DROP.as_secs_f64()
    );
    let place = |name: &str, sets, after_db| {
        let name = match size {
            Size::P360 => name.to_owned(),
            Size::P720 => format!("{name}, 720p"),
        };
        Place { name, sets, after_db }
    };
    vec![
        place("LTE, static", Vec::new(), None),
        place("LTE, mobile", vec![walks.clone()], None),
        place("5G, static", vec![nr.to_owned()], None),
        place("5G, mobile", vec![nr.to_owned(), walks], None),
        place("LTE, rate falls", vec![narrow, levels], Some(after_db)),
    ]
}

/// What the cell carries after the fall, Mbit/s: BBR's throughput in the simulator.
fn capacity(place: &Place, after_db: f64, direction: &str, seed: u64) -> Result<f64, Wrong> {
    let levels =
        format!("cell.devices.phone.channel.levels=[{{ at_s = 0.0, sinr_db = {after_db:.1} }}]");
    let more = [levels, "duration=\"12s\"".into(), "flows.0.controller=bbr".into()];
    let direction = format!("flows.0.direction={direction}");
    let more = more.into_iter().chain([direction, format!("seeds={seed}")]);
    let (run, shared) = scene::run(FILES, place.sets.iter().cloned().chain(more))?;
    Ok(rig::observe(&run, &shared, false)?.mbit_per_sec(Duration::from_secs(4)))
}

impl MediaFlags {
    fn media(&self) -> Media {
        Media { size: self.size(), ..Media::of(self.length) }
    }

    fn size(&self) -> Size {
        match self.size {
            SizeWord::P360 => Size::P360,
            SizeWord::P720 => Size::P720,
        }
    }

    fn seeds(&self) -> miette::Result<Vec<u64>> {
        let is_one = self.seeds.parse::<u64>().is_ok();
        let seeds = &self.seeds;
        let set = if is_one { format!("seeds={seeds}") } else { format!("seeds={seeds:?}") };
        let mut text = FILES.text();
        text.set(&set).into_diagnostic()?;
        Ok(text.runs().into_diagnostic()?.iter().map(|run| run.seed).collect())
    }

    /// The folder of the call's ends, with their packages.
    fn caller(&self, host: &dyn Host) -> miette::Result<PathBuf> {
        let caller = self.caller.canonicalize().map_err(|error| {
            let help = "run it in this project's sources, or name the folder with --caller";
            miette!(help = help, "no sender in {}: {error}", host.shown(&self.caller))
        })?;
        may_call(&caller).map_err(|why| miette!("no call here: {why}"))?;
        Ok(caller)
    }
}

/// The calls of an item: what differs between its rows of a cell, and how one is made.
struct Calls<'a> {
    files: PaperItem,
    about: &'static str,
    /// Of the data, as plans write it.
    direction: &'static str,
    /// dB to which the signal falls where it does.
    after_db: f64,
    /// Names of what differs; the first is the unmodified call.
    ways: &'a [&'static str],
    /// Makes a call of the way with this number.
    call: &'a dyn Fn(&Run, usize) -> Result<CallSeen, CallError>,
}

impl Calls<'_> {
    fn make(self, flags: MediaFlags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let stop = host.stop()?;
        let begun = Begun::now();
        let seeds = flags.seeds()?;
        let places = places(flags.size(), self.after_db);
        let named = |place: &Place, word: &str| format!("{}: {word}", place.name);
        let pairs = places.iter().flat_map(|place| self.ways.iter().map(move |word| (place, word)));
        let names: Vec<String> = pairs.map(|(place, word)| named(place, word)).collect();
        if let Some(only) = &flags.only
            && !names.iter().any(|name| name.contains(only.as_str()))
        {
            return Err(miette!("--only {}", no_row(only, &names)));
        }
        let mut rows: Vec<(Row, Vec<Figures>)> = Vec::new();
        let mut calls = Vec::new();
        'all: for place in places {
            for (way, &word) in self.ways.iter().enumerate() {
                let name = named(&place, word);
                if flags.only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
                    continue;
                }
                let mut all = Vec::new();
                for &seed in &seeds {
                    if stop.load(Ordering::Relaxed) {
                        break 'all;
                    }
                    let (figures, seen) = self.one(&place, way, seed, flags.size())?;
                    all.push(figures);
                    calls.push(page::Shown {
                        place: place.name.clone(),
                        corrected: word,
                        seed,
                        seen,
                    });
                }
                report(host, format_args!("{name}: {}", figures::line(&all)));
                rows.push((figures::mean_row(name, &all), all));
            }
        }
        let rows = figures::compared(rows);
        let expected = self.files.expected().into_diagnostic()?;
        let table = rows.iter().map(|row| (row.name.clone(), figures::cells(row)));
        let mut ours = Ours::new(figures::COLUMNS.iter().copied(), table);
        for (row, short) in figures::short(&rows) {
            let short: Vec<&str> = short.iter().map(String::as_str).collect();
            ours.misses.push(expected.miss(&row, &short));
        }
        let evidence = Evidence { figures: rows };
        let result = Report::new(self.about, expected, ours, evidence, begun.end());
        let page = flags.out.map(|folder| (folder, page::page(&result, &calls)));
        let complete = !stop.load(Ordering::Relaxed);
        Ok(Some(Outcome { page, ..result.outcome()?.ended(complete) }))
    }

    fn one(
        &self,
        place: &Place,
        way: usize,
        seed: u64,
        size: Size,
    ) -> miette::Result<(Figures, CallSeen)> {
        let sets = place.sets.iter().cloned().chain([format!("seeds={seed}")]);
        let (run, _) = scene::run(FILES, sets).into_diagnostic()?;
        let seen = (self.call)(&run, way).into_diagnostic()?;
        let drop = match place.after_db {
            Some(db) => Some((DROP, capacity(place, db, self.direction, seed).into_diagnostic()?)),
            None => None,
        };
        Ok((figures::of(&seen, drop, size), seen))
    }
}

impl Experiment for CallItem {
    type Flags = CallFlags;

    fn card(&self) -> Card {
        FILES.card().needs(Needs::Root)
    }

    fn run(&self, flags: CallFlags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        const WAYS: [Corrected; 3] = [Corrected::Stock, Corrected::Blind, Corrected::Reported];
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
        let caller = flags.media.caller(host)?;
        let media = flags.media.media();
        let one = |run: &Run, way: usize| up(run, WAYS[way], &media, (&peer, &caller));
        let ways = WAYS.map(Corrected::name);
        let (files, about) = (FILES, FILES.about);
        let calls = Calls { files, about, direction: "up", after_db: 7.0, ways: &ways, call: &one };
        calls.make(flags.media, host)
    }
}

fn up(
    run: &Run,
    corrected: Corrected,
    media: &Media,
    (peer, caller): (&Path, &Path),
) -> Result<CallSeen, CallError> {
    let (peer, caller) = (peer.to_owned(), caller.to_owned());
    call(run, &CallConfig { peer, caller, corrected, media: *media })
}
