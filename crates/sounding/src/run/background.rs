//! `sounding run --background`: the algorithm is loaded, and sockets choose it, until Ctrl-C.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use miette::{IntoDiagnostic, Result, WrapErr};
use sounding_bpf::{Background, BackgroundConfig};
use sounding_host::{Capabilities, keep_only, monotonic_now};

use super::supervisor::Supervisor;
use crate::background::{Failure, tell};
use crate::guard::Guard;
use crate::signals;

/// What is loaded, and who gets it.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    pub(super) name: Option<String>,
    pub(super) cgroup: Option<PathBuf>,
    pub(super) default: bool,
    pub(super) routes: Vec<String>,
}

const TICK: Duration = Duration::from_millis(100);

pub(super) fn run(wanted: Wanted, json: bool) -> Result<ExitCode> {
    let stop = signals::stop_flag().into_diagnostic()?;
    let mut supervisor = Supervisor::find().into_diagnostic()?;
    let mut config = BackgroundConfig { cgroup: wanted.cgroup, ..BackgroundConfig::default() };
    if let Some(name) = wanted.name {
        config.name = name;
    }
    let loaded = Background::load(&config).map_err(Failure::Load)?;
    let mut guard = Guard::start().into_diagnostic()?;
    guard.keep_name(loaded.name(), loaded.outlasting()).into_diagnostic()?;
    if wanted.default {
        guard.set_default(loaded.name()).into_diagnostic()?;
    }
    for route in &wanted.routes {
        guard.set_route(route, loaded.name()).into_diagnostic()?;
    }
    guard.close().into_diagnostic()?;
    keep_only(Capabilities::empty())
        .into_diagnostic()
        .wrap_err("capabilities cannot be dropped")?;
    if json {
        println!("{}", serde_json::json!({ "event": "ready", "name": loaded.name() }));
    } else {
        eprintln!(
            "sounding: {} is loaded: any socket may choose it (TCP_CONGESTION)",
            loaded.name()
        );
    }
    supervisor.ready();
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(TICK);
        supervisor.beat(monotonic_now());
    }
    supervisor.stopping();
    let counts = loaded.counts();
    drop((loaded, guard));
    if json {
        let ended = serde_json::json!({
            "event": "ended", "connections": counts.flows, "by_delay": counts.by_delay,
            "without_memory": counts.without_memory, "chosen": counts.chosen, "refused": counts.refused,
        });
        println!("{ended}");
    } else {
        eprintln!(
            "sounding: {} connections were background; those that go on stay so",
            counts.flows
        );
        tell(&counts);
    }
    Ok(ExitCode::SUCCESS)
}
