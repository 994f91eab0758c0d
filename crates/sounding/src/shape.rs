//! The verb `shape`: a router's shaper follows its modem. It is `run` with this one output.

mod import;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use miette::{IntoDiagnostic, Result};
use sounding_units::Rate;

use crate::cli_types::{RouterUser, UntoldMask};
use crate::{run, shapers};

/// Sets a router's shaper from its modem's records
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true,
    after_help = "\
A shaper before the modem keeps the queue where CAKE or fq_codel rule, and not in the modem. Its rate \
follows the radio's: up to the capacity that the modem's grants show, never down after its own limit. \
Without the modem it has the base rate. When this program ends, or is killed, the shaper is as before.

Rates are of IP packets. A small process of its own has the right to set them, within the limits.

Examples:
  Print what it would do, and change nothing:
    sounding shape --device /dev/ttyUSB0 --observe

  Make CAKE for both directions, or for one:
    sudo sounding shape --device /dev/ttyUSB0 --manage
    sudo sounding shape --device /dev/ttyUSB0 --manage --only uplink --min 1Mbit --base 10Mbit --max 60Mbit

  Set the shapers that are there:
    sudo sounding shape --device /dev/ttyUSB0 --interface wwan0 --downlink-device ifb4wwan0

  With a file, or with that of cake-autorate:
    sudo sounding shape --config /etc/sounding/router.toml
    sounding shape import config.primary.sh

  After both of its processes were killed:
    sudo sounding shape --restore"
)]
pub(crate) struct Shape {
    #[command(subcommand)]
    action: Option<Action>,
    /// Put back what a killed program of this kind left, and end
    #[arg(long, exclusive = true)]
    restore: bool,
    #[command(flatten)]
    flags: Box<ShapeArgs>,
}

#[derive(Args, Debug)]
struct ShapeArgs {
    /// Configuration file of `sounding run`, with a section [shape]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Source of the modem's Diag, as of `sounding run`
    #[arg(long, short, value_name = "SOURCE")]
    device: Option<String>,
    #[command(flatten)]
    router: RouterUser,
    /// Leave the modem's log mask unchanged, and read the records that come
    #[arg(long)]
    no_mask: bool,
    #[command(flatten)]
    untold: UntoldMask,
    /// Limit of the modem's records; 0bit is no limit
    #[arg(long, value_name = "RATE")]
    budget: Option<Rate>,
    /// Let no processor sleep so deep that it takes longer to wake
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    cpu_latency: Option<Duration>,
    #[command(flatten)]
    shape: run::ShapeFlags,
    /// Check the configuration and do nothing
    #[arg(long)]
    check_config: bool,
    /// Print what happens as JSON lines on standard output
    #[arg(long)]
    json: bool,
    /// Say how the link stands only when its state changes, and not each minute
    #[arg(long)]
    quiet: bool,
}

#[derive(Subcommand, Debug)]
enum Action {
    Import(import::Import),
}

pub(crate) fn run(args: Shape) -> Result<ExitCode> {
    if let Some(Action::Import(args)) = &args.action {
        return import::run(args);
    }
    if args.restore {
        return restore();
    }
    let ShapeArgs {
        config,
        device,
        router,
        no_mask,
        untold,
        budget,
        cpu_latency,
        shape,
        check_config,
        json,
        quiet,
    } = *args.flags;
    let mask = (no_mask, untold);
    let flags = run::Flags::of_shapers(device, router, mask, budget, cpu_latency, shape);
    let how = run::How { check_config, json, quiet };
    run::start(config.as_deref(), flags, how)
}

fn restore() -> Result<ExitCode> {
    let lines = shapers::restore_left().into_diagnostic()?;
    if lines.is_empty() {
        println!("nothing is left to put back");
    }
    for line in lines {
        println!("{line}");
    }
    Ok(ExitCode::SUCCESS)
}
