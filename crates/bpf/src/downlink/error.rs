use std::io;
use std::path::PathBuf;

use crate::error::LoadError;

/// Why senders are not limited, or a peer's reports are not read. [`cure`](Self::cure) says what to
/// do about it.
#[derive(Debug, thiserror::Error)]
pub enum DownlinkError {
    /// The program could not be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Sockets are chosen by cgroup, and there are none.
    #[error("no cgroup v2 is mounted")]
    NoCgroup,
    /// Not a cgroup, or not one of version 2.
    #[error("cgroup {path}: {source}")]
    Cgroup {
        /// As given, or the root.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// There are too many.
    #[error("interfaces: {0}")]
    Interfaces(#[source] io::Error),
    /// The network namespace cannot be identified.
    #[error("number of this network namespace: {0}")]
    Namespace(#[source] io::Error),
    /// Another instance limits the senders of some of these sockets, or of all.
    #[error("{by} tells the senders of {what} already")]
    Taken {
        /// Whose it is.
        by: String,
        /// Which sockets it has.
        what: String,
    },
    /// Other instances' claims cannot be read, or this one's cannot be written.
    #[error("{path}: {source}")]
    Claim {
        /// Path of the claims.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The kernel refused to attach a program.
    #[error("attaching {what}: {source}")]
    Attach {
        /// Which of the programs.
        what: &'static str,
        /// What libbpf said.
        source: libbpf_rs::Error,
    },
    /// The links could not be pinned.
    #[error("pins in {path}: {source}")]
    Pin {
        /// Where.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The sockets could not be walked over.
    #[error("walk over the TCP sockets: {0}")]
    Walk(#[source] io::Error),
}

impl DownlinkError {
    /// What mends it, in one line.
    pub fn cure(&self) -> &'static str {
        match self {
            Self::Load(error) => error.cure(),
            Self::NoCgroup => "mount -t cgroup2 none /sys/fs/cgroup/unified",
            Self::Cgroup { .. } => "name a folder of the cgroup2 file system with --cgroup",
            Self::Interfaces(_) => "name only those of one modem",
            Self::Namespace(_) => "run Linux 5.14 or newer",
            Self::Taken { .. } => "name each modem's own devices with --interface, or end that one",
            Self::Claim { .. } => "run as root, with room in /run",
            Self::Attach { .. } => "run as root, or with CAP_NET_ADMIN, CAP_BPF and CAP_PERFMON",
            Self::Pin { .. } => "run as root: pins are kept in a bpffs mounted for them",
            Self::Walk(_) => "run Linux 5.9 or newer",
        }
    }
}
