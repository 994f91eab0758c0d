//! A server without a modem: its flows use what the devices at their other ends report.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use miette::{IntoDiagnostic, Result, WrapErr};
use sounding_bpf::Instance;
use sounding_host::monotonic_now;

use super::config::Config;
use super::events::Events;
use super::peers::Hearing;
use super::subordinates::Watched;
use super::supervisor::Supervisor;
use super::{TICK, steps};
use crate::guard::Guard;
use crate::signals;

/// Flows whose other ends report what they carry.
pub(super) struct Server {
    hearing: Option<Hearing>,
    subordinates: Watched,
    instance: Instance,
    guard: Guard,
    events: Events,
    supervisor: Supervisor,
    stop: Arc<AtomicBool>,
}

impl Server {
    /// Puts the law into the kernel. An error ends it, and what was changed until then is restored.
    pub(super) fn start(config: &Config, json: bool) -> Result<Self> {
        let stop = signals::stop_flag().into_diagnostic()?;
        let (mut events, supervisor) = steps::start_reports(config, json)?;
        steps::limit_interfaces(config)?;
        let mut instance = steps::load_law(config)?;
        let mut guard = steps::start_guard(&instance)?;
        let hearing =
            config.downlink.listen(&mut instance, &mut events).wrap_err("peers are not heard")?;
        let subordinates =
            steps::follow_subordinates([instance.subordinates()].into_iter(), &mut events)?;
        steps::take_new_flows(config, &mut guard)?;
        steps::drop_rights()?;
        events.serving(&config.name);
        supervisor.ready();
        Ok(Self { hearing, subordinates, instance, guard, events, supervisor, stop })
    }

    /// Reports what flows do, until `stop`.
    pub(super) fn serve(&mut self) {
        while !self.stop.load(Ordering::Relaxed) {
            std::thread::sleep(TICK);
            self.supervisor.beat(monotonic_now());
            while let Some(transition) = self.instance.poll_transition() {
                self.events.transition(&transition);
            }
            self.subordinates.attend(&mut self.events);
            if let Some(hearing) = &mut self.hearing {
                hearing.attend(monotonic_now(), &mut self.events);
            }
        }
    }

    /// Takes the law out of the kernel, and restores what pointed to it.
    pub(super) fn stop(self) {
        self.supervisor.stopping();
        let counts = self.hearing.map(Hearing::end);
        drop((self.subordinates, self.instance, self.guard));
        self.events.served(counts.unwrap_or_default());
    }
}
