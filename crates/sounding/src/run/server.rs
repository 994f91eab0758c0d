//! A server without a modem: its flows use what the devices at their other ends report.

use std::sync::atomic::{AtomicBool, Ordering};

use miette::{IntoDiagnostic, Result, WrapErr};
use sounding_host::monotonic_now;

use super::config::Config;
use super::events::Events;
use super::peers::Hearing;
use super::supervisor::Supervisor;
use super::{TICK, drop_rights, load};
use crate::guard::Guard;

/// Serves flows whose other ends say what they carry, until `stop`.
pub(super) fn serve(
    config: &Config,
    bpf: &sounding_bpf::Config,
    stop: &AtomicBool,
    (mut events, mut supervisor): (Events, Supervisor),
) -> Result<()> {
    let instance = load(bpf)?;
    let mut guard = Guard::start().into_diagnostic()?;
    guard.keep_name(&instance).into_diagnostic()?;
    let mut hearing =
        config.downlink.listen(&instance, &mut events).wrap_err("peers are not heard")?;
    if config.default {
        guard.set_default(&config.name).into_diagnostic()?;
    }
    for route in &config.routes {
        guard.set_route(route, &config.name).into_diagnostic()?;
    }
    guard.close().into_diagnostic()?;
    drop_rights()?;
    events.serving(&config.name);
    supervisor.ready();
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(TICK);
        supervisor.beat(monotonic_now());
        while let Some(transition) = instance.poll_transition() {
            events.transition(&transition);
        }
        if let Some(hearing) = &mut hearing {
            hearing.attend(monotonic_now(), &mut events);
        }
    }
    supervisor.stopping();
    let counts = hearing.map(Hearing::end);
    drop((instance, guard));
    events.served(counts.unwrap_or_default());
    Ok(())
}
