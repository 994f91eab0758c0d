//! A plan in real time: its flows in this kernel, or a command of the user's at its first device.

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use std::{fmt, thread};

use miette::{IntoDiagnostic, Result, WrapErr};
use serde_json::{Value as Json, json};
use sounding_experiment::plan::{Run, Text};
use sounding_testbed::emulate::{
    self, EmulateError, Emulated, Ended, FlowFigures, Settings, Users,
};

use super::command::{self, Interrupts, Watch};
use super::{Args, table, tell_of_scheduling};
use crate::sim::shown;

/// Above this share of a processor a network may not keep up with the clock: the rest goes into
/// moving packets and modems.
const FULL: f64 = 0.7;

/// Runs the plan.
pub(super) fn run(args: &Args, path: &Path) -> Result<ExitCode> {
    let lonely = [("--as-root", args.as_root), ("--far", args.far.is_some())];
    if let Some((option, _)) = lonely.iter().find(|(_, given)| args.command.is_empty() && *given) {
        let text = format!(
            "{option} is for a command, and here the plan's flows run: put `-- COMMAND` at the end, or leave the option out\n"
        );
        clap::Error::raw(clap::error::ErrorKind::MissingRequiredArgument, text).exit();
    }
    let mut text = Text::read(path).map_err(shown)?;
    for set in &args.set {
        text.set(set).map_err(shown)?;
    }
    let runs = text.runs().map_err(shown)?;
    // The signal handler comes first, so that no signal can interrupt a half-made emulation.
    let interrupts = Interrupts::catch().into_diagnostic()?;
    if !args.command.is_empty() {
        if runs.len() > 1 {
            let (runs, help) = (runs.len(), "--set the swept keys, or take the sweep out");
            return Err(miette::miette!(
                help = help,
                "the plan comes to {runs} runs, and a command takes one"
            ));
        }
        return guest(args, &text, &runs[0], &interrupts);
    }
    let mut results = Vec::new();
    for run in &runs {
        if interrupts.raised() {
            break;
        }
        let (figures, ended) = flows(args, &text, run, &interrupts)?;
        if runs.len() > 1 {
            eprintln!("run {} of {}: {}", run.number, runs.len(), Of(run));
        }
        print_unless_json(args, &figures, &ended);
        results.push(as_json(run, &figures, &ended));
    }
    if interrupts.raised() {
        let left = runs.len() - results.len();
        eprintln!("sounding: interrupted: the last run was cut short, {left} were not begun");
    }
    if let Some(path) = &args.json {
        let result = json!({
            "plan": text.text(),
            "set": text.sets(),
            "complete": !interrupts.raised(),
            "runs": results,
        });
        table::write_json(path, &result)?;
    }
    Ok(if interrupts.raised() { ExitCode::from(130) } else { ExitCode::SUCCESS })
}

fn settings(args: &Args, users: Users) -> Settings {
    Settings {
        users,
        place: args.port.place(),
        behaviour: args.port.behaviour(1),
        overhead_percent: args.punctuality,
        sniffer: args.sniffer.clone(),
        sysctls: Vec::new(),
    }
}

fn start(args: &Args, text: &Text, run: &Run, users: Users) -> Result<Emulated> {
    let located = |error| located(text, run, error);
    let load = emulate::load(run).map_err(|wrong| located(wrong.into()))?;
    if load > FULL {
        eprintln!(
            "sounding: this network takes {:.0} % of a processor when its flows are busy: it will fall behind the clock. \
             Fewer carriers, devices or resource blocks take less",
            100.0 * load
        );
    }
    let emulated = Emulated::start(run, &settings(args, users)).map_err(located)?;
    tell_of_scheduling(emulated.emulation());
    for modem in emulated.modems() {
        eprintln!("modem of {}: {}", modem.name, modem.source);
    }
    Ok(emulated)
}

fn guest(args: &Args, text: &Text, run: &Run, interrupts: &Interrupts) -> Result<ExitCode> {
    let emulated = start(args, text, run, Users::Guest)?;
    let status = command::run(args, emulated.emulation(), interrupts)?;
    let ended = emulated.stop().into_diagnostic()?;
    if let Some(path) = &args.json {
        table::write_json(path, &table::to_json(&ended.report, status))?;
    }
    eprint!("{}", table::table(&ended.report));
    Ok(command::exit_code(status))
}

fn flows(
    args: &Args,
    text: &Text,
    run: &Run,
    interrupts: &Interrupts,
) -> Result<(Vec<FlowFigures>, Ended)> {
    let program = std::env::current_exe().into_diagnostic()?;
    let emulated = start(args, text, run, Users::Flows { program })?;
    let mut watch = Watch::new(args)?;
    let sent = thread::scope(|scope| {
        let stop: &AtomicBool = &interrupts.raised;
        let sending = thread::Builder::new().spawn_scoped(scope, || emulated.send(stop))?;
        while !sending.is_finished() {
            watch.look(emulated.emulation());
            thread::sleep(Duration::from_millis(20));
        }
        Ok::<_, std::io::Error>(sending.join())
    });
    watch.finish(emulated.emulation());
    let sent = sent.into_diagnostic().wrap_err("a thread of the flows cannot be started")?;
    let sent = sent.map_err(|_| miette::miette!("a thread of the flows broke off"))?;
    // The last packets still belong to the plan, up to its end.
    let end = Instant::now()
        + (emulated.emulation().started() + run.plan.duration - sounding_emu::monotonic_now());
    while Instant::now() < end && sent.is_ok() && !interrupts.raised() {
        thread::sleep(Duration::from_millis(5));
    }
    let ended = emulated.stop().into_diagnostic();
    let (sent, ended) = (sent.map_err(|error| located(text, run, error))?, ended?);
    Ok((emulate::figures(&run.plan, &ended.report, &sent), ended))
}

fn print_unless_json(args: &Args, figures: &[FlowFigures], ended: &Ended) {
    if args.json.as_deref() != Some(Path::new("-")) {
        print!("{}", flow_table(figures));
    }
    for modem in &ended.modems {
        match &modem.tally {
            Some(tally) => eprintln!(
                "modem of {}: {} records read, {} not asked for, {} lost without a reader; {} requests answered",
                modem.name, tally.sent, tally.masked, tally.lost, tally.answered
            ),
            None => eprintln!("modem of {}: its port broke", modem.name),
        }
    }
    eprint!("{}", table::table(&ended.report));
}

fn flow_table(figures: &[FlowFigures]) -> String {
    let mut out = format!(
        "{:<16}{:<6}{:<12}{:>10}{:>12}{:>10}{:>10}{:>10}{:>10}{:>10}\n",
        "flow",
        "way",
        "controller",
        "Mbit/s",
        "delay mean",
        "p50",
        "p95",
        "p99 ms",
        "loss %",
        "sent again"
    );
    for flow in figures {
        let delay = flow.one_way_ms;
        out += &format!(
            "{:<16}{:<6}{:<12}{:>10.3}{:>12.1}{:>10.1}{:>10.1}{:>10.1}{:>10.2}{:>10}\n",
            flow.name,
            flow.direction,
            flow.controller,
            flow.throughput_mbit_per_sec,
            delay.mean,
            delay.p50,
            delay.p95,
            delay.p99,
            100.0 * flow.loss,
            flow.retransmitted
        );
    }
    out
}

fn as_json(run: &Run, figures: &[FlowFigures], ended: &Ended) -> Json {
    let values: serde_json::Map<_, _> =
        run.values.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
    let modems = ended.modems.iter().map(|modem| {
        let tally = modem.tally.map(|tally| {
            json!({
                "sent": tally.sent,
                "masked": tally.masked,
                "lost": tally.lost,
                "broken": tally.broken,
                "answered": tally.answered,
                "drained": tally.drained,
            })
        });
        json!({ "device": modem.name, "records": tally })
    });
    json!({
        "run": run.number,
        "seed": run.seed,
        "values": values,
        "flows": figures,
        "modems": modems.collect::<Vec<_>>(),
        "daemons": ended.daemons.iter().map(|(name, events)| fed(name, events)).collect::<Vec<_>>(),
        "emulation": table::to_json(&ended.report, None),
    })
}

/// What a daemon's estimates said; the fair share where its device has a sniffer.
fn fed(name: &str, events: &[Json]) -> Json {
    let estimates = events.iter().filter(|event| event["event"] == "estimate");
    let values = |key: &str| {
        let mut values: Vec<u64> =
            estimates.clone().filter_map(|event| event[key].as_u64()).collect();
        values.sort_unstable();
        values
    };
    let fair = values("fair_share_bits_per_sec");
    let median = |values: &[u64]| values.get(values.len() / 2).copied();
    json!({
        "name": name,
        "estimates": estimates.clone().count(),
        "rate_bits_per_sec_median": median(&values("rate_bits_per_sec")),
        "with_fair_share": fair.len(),
        "fair_share_bits_per_sec_median": median(&fair),
        "users_median": median(&values("users")),
        "carriers_median": median(&values("carriers")),
    })
}

/// The values of a run that are swept.
struct Of<'a>(&'a Run);

impl fmt::Display for Of<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (key, value) in &self.0.values {
            write!(f, "{key}={value} ")?;
        }
        write!(f, "seed={}", self.0.seed)
    }
}

/// Adds the value's place in the plan to an error about it.
fn located(text: &Text, run: &Run, error: EmulateError) -> miette::Report {
    match error {
        EmulateError::Plan(wrong) => shown(text.locate(run, wrong)),
        other => miette::miette!("{other}"),
    }
}
