//! The report of an emulation that has ended.

use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use miette::{Context, IntoDiagnostic};
use serde_json::json;
use sounding_emu::{DirectionReport, Lateness, Report, Scheduling};

use crate::output::write_text;
use crate::screen;

/// The moved packets, and the punctuality of the emulation.
pub(super) fn table(report: &Report) -> String {
    let mut out = format!(
        "\n{:<12}{:>12}{:>12}{:>10}{:>10}{:>12}{:>26}\n",
        "", "arrived", "delivered", "dropped", "queued", "Mbit/s", "late p50/p95/p99/max us"
    );
    for (name, way) in [("up", &report.up), ("down", &report.down)] {
        out += &format!(
            "{name:<12}{:>12}{:>12}{:>10}{:>10}{:>12.3}{:>26}\n",
            way.arrived,
            way.delivered,
            way.dropped,
            way.queued,
            way.delivered_bytes.per(report.ran).mbit_per_sec(),
            lateness(&way.lateness),
        );
    }
    out += &format!("{:<66}{:>26}\n", "the network's steps", lateness(&report.pace.steps));
    out += &format!(
        "ran {:.3} s, {:.1} % of a core to move packets\n",
        report.ran.as_secs_f64(),
        100.0 * report.cpu.as_secs_f64() / report.ran.as_secs_f64().max(1e-9)
    );
    let pace = &report.pace;
    if pace.times_behind > 0 {
        out += &format!(
            "the network fell behind the clock {} times, {:.3} s in all, {:.1} ms at worst: it takes more than \
             this machine has\n",
            pace.times_behind,
            pace.behind_for.as_secs_f64(),
            pace.steps.max().as_secs_f64() * 1e3
        );
    }
    if report.diag_lost > 0 {
        out += &format!(
            "{} pieces of what modems wrote were lost: their ports are too slow\n",
            report.diag_lost
        );
    }
    if report.has_foreign_loss() {
        out += "packets were lost outside the emulated queues:";
        for (name, way) in [("up", &report.up), ("down", &report.down)] {
            out += &format!(
                " {name} {} before the link, {} after it, {} without a buffer;",
                way.kernel.before_link,
                way.kernel.after_link + way.refused,
                way.unbuffered
            );
        }
        out += " the machine was too slow for this link\n";
    }
    if report.records_lost > 0 {
        out += &format!("{} log lines were lost: the disk was too slow\n", report.records_lost);
    }
    out
}

fn lateness(late: &Lateness) -> String {
    let micros = |at: Duration| at.as_micros();
    format!(
        "{}/{}/{}/{}",
        micros(late.quantile(0.5)),
        micros(late.quantile(0.95)),
        micros(late.quantile(0.99)),
        micros(late.max())
    )
}

fn lateness_json(late: &Lateness) -> serde_json::Value {
    let quantile = |quantile| late.quantile(quantile).as_nanos() as f64 / 1e3;
    json!({
        "p50": quantile(0.5),
        "p95": quantile(0.95),
        "p99": quantile(0.99),
        "max": late.max().as_nanos() as f64 / 1e3,
    })
}

pub(super) fn to_json(report: &Report, status: Option<ExitStatus>) -> serde_json::Value {
    let way = |way: &DirectionReport| {
        json!({
            "arrived_packets": way.arrived,
            "arrived_bytes": way.arrived_bytes.count(),
            "delivered_packets": way.delivered,
            "delivered_bytes": way.delivered_bytes.count(),
            "dropped_packets": way.dropped,
            "dropped_bytes": way.dropped_bytes.count(),
            "queued_packets": way.queued,
            "queued_bytes": way.queued_bytes.count(),
            "refused_packets": way.refused,
            "unbuffered_packets": way.unbuffered,
            "kernel_dropped_before_link_packets": way.kernel.before_link,
            "kernel_dropped_after_link_packets": way.kernel.after_link,
            "lateness_us": lateness_json(&way.lateness),
        })
    };
    let (realtime, why) = match &report.scheduling {
        Scheduling::Fifo { priority } => (Some(priority), None),
        Scheduling::Normal { why } => (None, Some(why)),
    };
    json!({
        "exit_code": status.and_then(|status| status.code()),
        "duration_s": report.ran.as_secs_f64(),
        "cpu_s": report.cpu.as_secs_f64(),
        "fifo_priority": realtime,
        "no_fifo_because": why,
        "log_lines_lost": report.records_lost,
        "step_lateness_us": lateness_json(&report.pace.steps),
        "times_behind": report.pace.times_behind,
        "behind_s": report.pace.behind_for.as_secs_f64(),
        "diag_pieces_lost": report.diag_lost,
        "up": way(&report.up),
        "down": way(&report.down),
    })
}

pub(super) fn write_json(path: &Path, value: &serde_json::Value) -> miette::Result<()> {
    write_text(path, &format!("{value:#}\n"))
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot write {}", screen::path(path)))
}
