use std::io;

use crate::error::LoadError;

/// Why arrivals are not corrected. [`cure`](Self::cure) says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum ArrivalsError {
    /// The program could not be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// There is no such network device in this network namespace.
    #[error("network device {device}: {source}")]
    Device {
        /// As given.
        device: String,
        /// What the system said.
        source: io::Error,
    },
    /// Another process corrects them already, and both would take off the same.
    #[error("arrivals at {device} are corrected already")]
    Taken {
        /// As given.
        device: String,
    },
    /// The kernel refused to attach the program.
    #[error("attaching to {device}: {source}")]
    Attach {
        /// As given.
        device: String,
        /// What libbpf said.
        source: libbpf_rs::Error,
    },
}

impl ArrivalsError {
    /// What mends it, in one line.
    pub fn cure(&self) -> &'static str {
        match self {
            Self::Load(error) => error.cure(),
            Self::Device { .. } => "`ip link` lists network devices: name the modem's",
            Self::Taken { .. } => {
                "end the other process; what a killed one left before Linux 6.6: tc filter del dev DEVICE ingress pref 21316"
            }
            Self::Attach { .. } => "run as root, or with CAP_NET_ADMIN, CAP_BPF and CAP_PERFMON",
        }
    }
}
