//! `background` in the kernel, for transfers that use what the cell leaves over. It reads no modem.

use std::path::PathBuf;

use miette::{IntoDiagnostic, Result};
use sounding_bpf::{Background, BackgroundConfig};
use sounding_units::HostInstant;

use crate::background::Failure;
use crate::guard::Guard;
use crate::run::events::{Events, LastWords};
use crate::run::new_flows::NewFlows;
use crate::run::output::{Output, Section};

/// `[cc]` with `law = "background"`.
#[derive(Clone, Debug)]
pub(in crate::run) struct BackgroundSection {
    pub(in crate::run) name: String,
    pub(in crate::run) new_flows: NewFlows,
    /// The cgroup whose sockets get it, if it is not for those that choose it alone.
    pub(in crate::run) cgroup: Option<PathBuf>,
}

impl Section for BackgroundSection {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn is_algorithm(&self) -> bool {
        true
    }

    fn start(&self) -> Result<Box<dyn Output>> {
        let config = BackgroundConfig {
            name: self.name.clone(),
            cgroup: self.cgroup.clone(),
            ..BackgroundConfig::default()
        };
        let loaded = Background::load(&config).map_err(Failure::Load)?;
        let mut guard = Guard::start().into_diagnostic()?;
        guard.keep_name(loaded.name(), loaded.outlasting()).into_diagnostic()?;
        self.new_flows.take(&self.name, &mut guard)?;
        Ok(Box::new(BackgroundOutput { loaded, _guard: guard }))
    }
}

struct BackgroundOutput {
    loaded: Background,
    _guard: Guard,
}

impl Output for BackgroundOutput {
    fn attend(&mut self, _now: HostInstant, _events: &mut Events) -> Result<()> {
        Ok(())
    }

    fn last_words(&mut self, last: &mut LastWords) {
        last.say(Events::background(&self.loaded.counts()));
    }
}
