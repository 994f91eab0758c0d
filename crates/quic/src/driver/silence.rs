//! Silences of a controller: times in which it wants nothing to leave.
//!
//! A stack has no timer for its controller. While the window is closed and nothing is in flight,
//! only its application can wake a connection. So two segments may stay in flight during a silence
//! (RFC 9002 §7.2), and the acknowledgement of one ends it. Where the application says that it
//! wakes the connection, nothing leaves.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sounding_units::HostInstant;

/// Called when a silence begins, with how long it lasts.
pub type Wake = Arc<dyn Fn(Duration) + Send + Sync>;

/// What is known of silences.
#[derive(Clone, Default)]
pub(super) struct Silence {
    wake: Option<Wake>,
    /// The end of the silence that the application was last called for.
    called_for: Option<HostInstant>,
}

impl Silence {
    pub(super) fn waking(wake: Wake) -> Self {
        Self { wake: Some(wake), called_for: None }
    }

    /// The same for another path.
    pub(super) fn renewed(&self) -> Self {
        Self { wake: self.wake.clone(), called_for: None }
    }

    /// The window during a silence; never zero, which stacks take for a mistake.
    pub(super) fn window(&self, least: u64) -> u64 {
        if self.wake.is_some() { 1 } else { least }
    }

    /// A silence lasts until then. The application is called once for each.
    pub(super) fn handle(&mut self, now: HostInstant, until: HostInstant) {
        if self.called_for != Some(until) {
            self.called_for = Some(until);
            if let Some(wake) = &self.wake {
                wake(until - now);
            }
        }
    }
}

impl fmt::Debug for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Silence").field("called_for", &self.called_for).finish_non_exhaustive()
    }
}
