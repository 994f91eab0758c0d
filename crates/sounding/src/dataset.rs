use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use miette::{Context, IntoDiagnostic};
use sounding_experiment::dataset::{
    ABOUT, BISCAY_MOBILE, BISCAY_STATIC, Comparison, Entry, Figures, Made, Order, Rat, comparison,
    entries, make_all, real,
};
use sounding_experiment::simulate::{Files, Output, Place};
use sounding_host::files::{self, make_folder};

use crate::output::{Access, Folder, Over};
use crate::progress::{self, ProgressBar};
use crate::{screen, signals, sim};

/// Make a set of traces like BISCAY's from modelled cells.
///
/// Each trace is a folder. It holds the packet deliveries of a saturating flow in each direction,
/// as mahimahi traces (up.trace, down.trace), and the Diag log of the device's modem during these
/// runs (up.qmdl.zst, down.qmdl.zst). It also holds the plan, with which `sounding sim` repeats the
/// run. Half of the traces are LTE and half NR, static or mobile, on peak or off, in the shares of
/// the paper. Existing traces are kept, so an interrupted set can be continued. The same options
/// give the same bytes.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder of the set
    dir: PathBuf,

    /// Number of traces; the paper has 260
    #[arg(long, value_name = "N", default_value_t = 260, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    traces: u32,

    /// Length of each trace
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Seed of the traces
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Traces made at once [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// Folder with real traces to compare with
    #[arg(long, value_name = "DIR", env = "SOUNDING_DATA", default_value = "../shared/data")]
    data: PathBuf,

    /// Print the comparison as JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub(crate) fn run(args: Args) -> miette::Result<ExitCode> {
    let Args { traces, duration, seed, .. } = args;
    if duration < Duration::from_secs(1) {
        return Err(miette::miette!("--duration: a trace is at least 1s long"));
    }
    let order = Order { traces, duration, seed };
    make_folder(&args.dir)
        .into_diagnostic()
        .wrap_err_with(|| format!("the folder of the set, {}", screen::path(&args.dir)))?;
    let (mut made, mut missing) = (Vec::new(), Vec::new());
    for entry in entries(&order) {
        match there(&args.dir, &entry)? {
            Some(there) => made.push(there),
            None => missing.push(entry),
        }
    }
    if !made.is_empty() {
        eprintln!("{} of {traces} traces are there already", made.len());
    }
    let stop = signals::stop_flag().into_diagnostic()?;
    let jobs = args.jobs.map_or_else(sim::processors, usize::from);
    let bar = bar(missing.len() as u64);
    let open = |entry: &Entry| -> io::Result<Box<dyn Place>> {
        let folder = Folder::begin(&args.dir.join(&entry.name), Access::Usual)?;
        Ok(Box::new(TraceFolder { folder, failed: Arc::default() }))
    };
    let result = make_all(&missing, jobs, &stop, &open, &mut |_| bar.inc(1));
    bar.finish_and_clear();
    made.extend(result.into_diagnostic()?);
    made.sort_by(|one, other| one.name.cmp(&other.name));
    if stop.load(Ordering::Relaxed) {
        eprintln!(
            "sounding: stopped: {} of {traces} traces are there and whole; the same command goes on",
            made.len()
        );
        return Ok(ExitCode::FAILURE);
    }
    let manifest = serde_json::json!({
        "order": order,
        "traces": made,
    });
    let manifest = serde_json::to_string_pretty(&manifest).into_diagnostic()? + "\n";
    let path = args.dir.join("manifest.json");
    files::write(&path, manifest.as_bytes())
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot write {}", screen::path(&path)))?;
    let rows = compare(&made, &args.data);
    if args.json {
        println!("{}", serde_json::to_string_pretty(&rows).into_diagnostic()?);
    } else {
        print!("{}", table(&rows));
    }
    Ok(ExitCode::SUCCESS)
}

/// The contents of a folder of this name, if there is one; a folder from another order is an error.
fn there(dir: &Path, entry: &Entry) -> miette::Result<Option<Made>> {
    let path = dir.join(&entry.name).join(ABOUT);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(error).into_diagnostic().wrap_err_with(|| screen::path(&path).to_string());
        }
    };
    let made: Made = serde_json::from_slice(&text)
        .into_diagnostic()
        .wrap_err_with(|| format!("{} is not what this program writes", screen::path(&path)))?;
    if made.plan != entry.plan {
        return Err(miette::miette!(
            help = "give the --seed and --duration it was made with, or another folder",
            "{} is a trace of another order",
            screen::path(&path)
        ));
    }
    Ok(Some(made))
}

/// A trace's folder; Diag logs are packed, to a tenth.
struct TraceFolder {
    folder: Folder,
    /// The error at the end of a packed file.
    failed: Arc<Mutex<Option<io::Error>>>,
}

impl Files for TraceFolder {
    fn create(&mut self, name: &str) -> io::Result<Output> {
        if !name.ends_with(".qmdl") {
            return Ok(Box::new(BufWriter::new(self.folder.file(name)?)));
        }
        let out = BufWriter::new(self.folder.file(&format!("{name}.zst"))?);
        let failed = Arc::clone(&self.failed);
        let packed = zstd::stream::write::Encoder::new(out, 3)?.on_finish(move |end| {
            if let Err(error) = end.and_then(|mut out| out.flush()) {
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        });
        Ok(Box::new(packed))
    }
}

impl Place for TraceFolder {
    fn finish(self: Box<Self>) -> io::Result<()> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        failed.map_or(Ok(()), Err)?;
        self.folder.finish(Over::Nothing)
    }
}

/// Ours by kind and way, and beneath each the public ones of the same kind.
fn compare(made: &[Made], data: &Path) -> Vec<Comparison> {
    let real = real(data).unwrap_or_else(|error| {
        eprintln!("no public traces to compare with: {}: {error}", screen::path(data));
        Vec::new()
    });
    let mut rows = Vec::new();
    for (rat, network) in [(Rat::Lte, "LTE"), (Rat::Nr, "NR")] {
        for (mobile, mobility) in [(false, "static"), (true, "mobile")] {
            for way in ["up", "down"] {
                let kind = format!("{network} {mobility} {way}");
                let ours = made
                    .iter()
                    .filter(|made| made.scenario.rat == rat && made.scenario.mobile == mobile);
                let ours: Vec<Figures> = ours
                    .map(|made| Figures::from(if way == "up" { &made.up } else { &made.down }))
                    .collect();
                let public: Vec<Figures> = real
                    .iter()
                    .filter(|real| (real.0, real.1, real.2) == (rat, mobile, way))
                    .map(|real| real.3)
                    .collect();
                rows.extend(comparison(kind.clone(), &ours));
                rows.extend(comparison(format!("{kind}, public"), &public));
            }
        }
    }
    rows
}

fn table(rows: &[Comparison]) -> String {
    let mut text = format!(
        "{:<24}{:>7}{:>10}{:>10}{:>10}{:>10}{:>10}\n",
        "Mbit/s", "traces", "least", "median", "most", "p5/mean", "p95/mean"
    );
    for row in rows {
        let [least, median, most] = row.means_mbit_per_sec;
        text.push_str(&format!(
            "{:<24}{:>7}{least:>10.2}{median:>10.2}{most:>10.2}{:>10.2}{:>10.2}\n",
            row.kind, row.traces, row.p5_over_mean, row.p95_over_mean
        ));
    }
    text.push_str(&format!(
        "BISCAY Table 2, two flows together, both ways and networks: {BISCAY_MOBILE:.1} mobile, {BISCAY_STATIC:.1} static\n"
    ));
    text
}

fn bar(traces: u64) -> ProgressBar {
    progress::line("{bar:40} {pos}/{len} traces, {elapsed} gone, {eta} to go", Some(traces))
}
