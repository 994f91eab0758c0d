//! Which new flows get an algorithm without asking for it.

#[cfg(feature = "kernel")]
use miette::{IntoDiagnostic, Result};

#[cfg(feature = "kernel")]
use crate::guard::Guard;

/// The default of a network namespace, and routes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NewFlows {
    pub(super) default: bool,
    pub(super) routes: Vec<String>,
}

#[cfg(feature = "kernel")]
impl NewFlows {
    /// Gives them the algorithm of this name, as the last change: from here on the guard takes no
    /// others.
    pub(super) fn take(&self, name: &str, guard: &mut Guard) -> Result<()> {
        if self.default {
            guard.set_default(name).into_diagnostic()?;
        }
        for route in &self.routes {
            guard.set_route(route, name).into_diagnostic()?;
        }
        guard.close().into_diagnostic()
    }
}
