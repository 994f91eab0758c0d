use std::io;
use std::path::PathBuf;

/// Why an emulation did not start. Nothing of it stays behind.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The process may not make network namespaces.
    #[error(
        "making a network namespace needs CAP_SYS_ADMIN: run as root (sudo), or in a container with --privileged"
    )]
    NotPermitted,
    /// The kernel knows no network namespaces.
    #[error("this kernel makes no network namespaces ({source}): it needs CONFIG_NET_NS")]
    NoNamespaces {
        /// The kernel's error.
        source: io::Error,
    },
    /// This process is in a namespace of an emulation.
    #[error(
        "this is already behind an emulated link (its device is {device}), and a network with another far end would take its \
         place. Leave a plan, --far and --isolated out, put both links into one plan, or start this one outside"
    )]
    Inside {
        /// The device that reports it.
        device: String,
    },
    /// The TUN driver is not there.
    #[error(
        "/dev/net/tun is absent: load the driver with `modprobe tun`, or pass the device into the container"
    )]
    NoTun,
    /// The TUN driver refuses this process.
    #[error(
        "/dev/net/tun refuses this process ({source}): a TUN device needs CAP_NET_ADMIN, run as root (sudo)"
    )]
    TunNotPermitted {
        /// The kernel's error.
        source: io::Error,
    },
    /// Some other step inside a namespace failed.
    #[error("cannot {doing} in the {side} namespace: {source}")]
    Setup {
        /// The failed step.
        doing: String,
        /// `near` or `far`.
        side: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// The rules for the way to this machine's network cannot be made.
    #[error(
        "cannot make rules of nftables for the way to this machine's network ({source}{}{words}): this needs Linux 5.12 \
         with nft_masq and nft_dup_ipv4. With --isolated the command needs no such way", if words.is_empty() { "" } else { ": " }
    )]
    Rules {
        /// The kernel's error.
        source: io::Error,
        /// The kernel's own explanation, or nothing.
        words: String,
    },
    /// All names of devices at this machine's end are taken.
    #[error("this machine has 127 emulated links already: end some of them")]
    Full,
    /// A way to this machine's network for more than one device.
    #[error("only one device can have a way to this machine's network, and here are {count}")]
    OneDevice {
        /// The number of devices.
        count: usize,
    },
    /// The largest packet is out of range.
    #[error("an MTU of {mtu} is outside 576..=9000")]
    Mtu {
        /// The request.
        mtu: u16,
    },
    /// Too many devices, or none.
    #[error("{count} devices with hosts: 1 to 64 are possible, each has a network namespace")]
    Devices {
        /// The requested number.
        count: usize,
    },
    /// A packet log was requested for a network without links.
    #[error("a packet log tells of a link, and this network is none: leave the log out")]
    NoLink,
    /// A packet log cannot be created.
    #[error("cannot create the packet log {path}: {source}", path = path.display())]
    Log {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A thread cannot be started, or a descriptor cannot be made.
    #[error("cannot {doing}: {source}")]
    System {
        /// The failed step.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

/// The error when an emulation ended. Its namespaces are gone in any case.
#[derive(Debug, thiserror::Error)]
pub enum StopError {
    /// The thread that moves packets ended early.
    #[error("the emulation ended early: {source}")]
    Engine {
        /// The cause.
        source: io::Error,
    },
    /// A packet log is incomplete.
    #[error("the packet log is incomplete: {source}")]
    Log {
        /// The system's error.
        source: io::Error,
    },
    /// A thread of the emulation panicked: a defect of this crate.
    #[error("a thread of the emulation panicked")]
    Panicked,
    /// The kernel's own counters cannot be read.
    #[error("cannot read the kernel's drop counters: {source}")]
    Counters {
        /// The system's error.
        source: io::Error,
    },
}

/// The error of a step that failed.
pub(crate) fn system(doing: &'static str) -> impl Fn(io::Error) -> StartError {
    move |source| StartError::System { doing, source }
}
