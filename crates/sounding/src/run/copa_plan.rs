use std::time::Duration;

use sounding_bpf::PeersConfig;
use sounding_modem::Source;
use sounding_units::Rate;

/// The program that `--copa` loads, its source of delays, and its users.
#[derive(Clone, Debug)]
pub(super) struct CopaPlan {
    /// `None` for plain Copa.
    pub(super) device: Option<Source>,
    /// Whether the modem is given the log mask that this needs.
    pub(super) mask: bool,
    /// Whether that holds also for a mask that the modem does not tell.
    pub(super) sets_untold: bool,
    /// What the modem may send, if that is limited.
    pub(super) budget: Option<Rate>,
    pub(super) name: String,
    pub(super) default: bool,
    pub(super) routes: Vec<String>,
    /// Whose reports of what their radio adds are used, if any are.
    pub(super) peers: Option<PeersConfig>,
    /// The modem's network devices.
    pub(super) interfaces: Vec<String>,
    /// How long a processor may take to wake, if that is limited.
    pub(super) cpu_latency: Option<Duration>,
}
