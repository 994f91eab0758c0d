//! Reads the modem's own records, and sets the sending rate to what the radio can carry now.

#![cfg_attr(
    not(feature = "lab"),
    allow(dead_code, unused_imports, reason = "verbs are left out, and parts that only they need")
)]

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[macro_use]
mod say;

mod apart;
#[cfg(feature = "kernel")]
mod background;
#[cfg(feature = "kernel")]
mod before;
mod board;
mod capture_args;
mod captured;
mod cli_types;
#[cfg(feature = "lab")]
mod convert;
#[cfg(feature = "kernel")]
mod corrected;
#[cfg(feature = "lab")]
mod coverage;
mod cqi_rates;
#[cfg(feature = "lab")]
mod dataset;
#[cfg(feature = "lab")]
mod decode;
#[cfg(feature = "demo")]
mod demo;
mod describe;
mod doctor;
#[cfg(feature = "lab")]
mod emu;
#[cfg(feature = "kernel")]
mod guard;
mod input;
mod kinds;
mod kpi;
#[cfg(feature = "lab")]
mod lab;
mod left_out;
mod link;
#[cfg(feature = "lab")]
mod modem;
mod offload;
mod output;
mod patient;
#[cfg(any(test, not(feature = "lab")))]
mod plain_report;
mod progress;
mod record;
mod rights;
mod run;
mod screen;
mod session_report;
mod shape;
mod shapers;
mod signals;
#[cfg(feature = "lab")]
mod sim;
mod skipped;
mod sniffer;
mod watch;

/// It follows the commands of the user that starts it: with file capabilities, every user of the
/// machine would have its rights.
fn raised() -> miette::Report {
    miette::miette!(
        help = "take them away: `setcap -r FILE` for capabilities, `chmod ug-s FILE` for setuid and setgid; then run it with \
                sudo, or as the systemd unit sounding@.service",
        "this program was started with rights that its caller does not have (AT_SECURE), and does nothing with them"
    )
}

const EXIT_CODES: &str = "\
Exit codes: 0 done, 2 arguments that do not parse, 1 everything else that is wrong (the message says what to do). A capture that \
is cut or damaged is read as far as it can be, and what was passed over is said on standard error: that is 0.

First steps:
  A look at this machine, and at this modem:
    sounding doctor
    sudo sounding doctor --listen 10s

  Record a modem into a file, and print the rate of that link over time:
    sounding record /dev/ttyUSB0 drive.qmdl
    sounding link drive.qmdl";

/// More first steps.
#[cfg(feature = "lab")]
const MORE_STEPS: &str = "

  Everything at once, without a modem:
    sounding demo

  A transfer that yields to all other users:
    sudo sounding background -- rsync -a photos/ backup@example.com:";
#[cfg(not(feature = "lab"))]
const MORE_STEPS: &str = "

  Set the shapers of a router from its modem:
    sudo sounding shape --device /dev/ttyUSB0 --interface wwan0 --manage";

/// Reads the modem's own records, and sets the sending rate to what the radio can carry now
#[derive(Parser)]
#[command(
    name = describe::NAME,
    version,
    propagate_version = true,
    after_help = [EXIT_CODES, MORE_STEPS].concat()
)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    #[cfg(feature = "demo")]
    Demo(demo::Demo),
    Doctor(doctor::Doctor),
    #[cfg(feature = "kernel")]
    Background(background::Args),
    #[cfg(feature = "lab")]
    Decode(decode::Decode),
    #[cfg(feature = "lab")]
    Board(board::Board),
    Kpi(kpi::Kpi),
    #[cfg(feature = "lab")]
    Convert(convert::Convert),
    Link(link::Link),
    #[cfg(feature = "lab")]
    Emu(Box<emu::Args>),
    #[cfg(feature = "lab")]
    Sim(sim::Args),
    #[cfg(feature = "lab")]
    Lab(lab::Args),
    #[cfg(feature = "lab")]
    Modem(modem::Modem),
    Record(record::Record),
    Run(Box<run::Run>),
    Shape(shape::Shape),
    Watch(watch::Watch),
    Completions(describe::Completions),
    Manual(describe::Manual),
    #[cfg(feature = "kernel")]
    #[command(name = guard::VERB, hide = true)]
    Guard,
    #[cfg(feature = "kernel")]
    #[command(name = background::keeper::VERB, hide = true)]
    Keep,
    #[command(name = shapers::VERB, hide = true)]
    KeepShapers,
}

fn main() -> ExitCode {
    say::set_up_reports();
    // This comes before the program reads any input of the caller, including the environment.
    if sounding_host::is_raised() {
        eprintln!("{:?}", raised());
        return ExitCode::FAILURE;
    }
    say::set_up_log();
    let arguments: Vec<OsString> = std::env::args_os().collect();
    #[cfg(feature = "lab")]
    let arguments = match emu::translate(&arguments) {
        Some(Ok(translated)) => translated,
        Some(Err(wrong)) => {
            eprintln!("{wrong}");
            return ExitCode::from(2);
        }
        None => arguments,
    };
    if describe::asks_for_version(&arguments) {
        println!("{}", describe::version());
        return ExitCode::SUCCESS;
    }
    #[cfg(feature = "demo")]
    sounding_experiment::provenance::made_from(describe::COMMIT);
    let outcome = match say::parse::<Cli>(describe::command::<Cli>(), &arguments).verb {
        #[cfg(feature = "demo")]
        Verb::Demo(args) => demo::run(&args),
        Verb::Doctor(args) => doctor::run(&args),
        #[cfg(feature = "kernel")]
        Verb::Background(args) => background::run(&args),
        #[cfg(feature = "lab")]
        Verb::Board(args) => board::run(args),
        #[cfg(feature = "lab")]
        Verb::Decode(args) => decode::run(&args),
        Verb::Kpi(args) => kpi::run(args),
        #[cfg(feature = "lab")]
        Verb::Convert(args) => convert::run(&args),
        Verb::Link(args) => link::run(&args),
        #[cfg(feature = "lab")]
        Verb::Emu(args) => emu::run(&args),
        #[cfg(feature = "lab")]
        Verb::Sim(args) => sim::run(args),
        #[cfg(feature = "lab")]
        Verb::Lab(args) => lab::run(args),
        #[cfg(feature = "lab")]
        Verb::Modem(args) => modem::run(&args),
        Verb::Record(args) => record::run(&args),
        Verb::Run(args) => run::run(*args),
        Verb::Shape(args) => shape::run(args),
        Verb::Watch(args) => watch::run(&args),
        Verb::Completions(args) => Ok(args.run::<Cli>()),
        Verb::Manual(args) => args.run::<Cli>(),
        #[cfg(feature = "kernel")]
        Verb::Keep => background::keeper::main().map(|()| ExitCode::SUCCESS),
        Verb::KeepShapers => {
            shapers::main().map(|()| ExitCode::SUCCESS).map_err(|e| miette::miette!("{e}"))
        }
        #[cfg(feature = "kernel")]
        Verb::Guard => {
            guard::main().map(|()| ExitCode::SUCCESS).map_err(|e| miette::miette!("{e}"))
        }
    };
    let code = outcome.unwrap_or_else(|report| {
        // The reader of a pipe has had enough, and that is no failure.
        let error = report.downcast_ref::<input::CaptureError>();
        if matches!(error, Some(input::CaptureError::Unread)) {
            return ExitCode::SUCCESS;
        }
        say::say_failure(&report);
        ExitCode::FAILURE
    });
    if say::is_lost() { ExitCode::FAILURE } else { code }
}
