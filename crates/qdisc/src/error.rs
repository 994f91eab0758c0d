use std::io;

use sounding_units::Rate;
use thiserror::Error;

/// The reason why a shaper was not read, made, changed or restored.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no netlink.
    #[error("netlink socket: {0}: this kernel offers no routing netlink to this process")]
    Socket(#[source] io::Error),
    /// No device has this name.
    #[error("{device}: no such network device: `ip link` lists them")]
    NoDevice {
        /// The name.
        device: String,
    },
    /// The name cannot be one of a device.
    #[error("{device:?} is no name of a network device: it has 1 to 15 bytes, no space and no /")]
    NoName {
        /// The name.
        device: String,
    },
    /// The rights are missing.
    #[error("{device}: {doing}: not permitted: it takes root or CAP_NET_ADMIN")]
    NotPermitted {
        /// The device.
        device: String,
        /// The request.
        doing: String,
    },
    /// The kernel refuses a request.
    #[error(
        "{device}: {doing}: {error}{words}: `tc -d qdisc show dev {device}` lists the present state"
    )]
    Kernel {
        /// The device.
        device: String,
        /// The request.
        doing: String,
        /// The kernel's error.
        error: io::Error,
        /// The kernel's own explanation in parentheses, or nothing.
        words: String,
    },
    /// The root of the device has no rate that can be set.
    #[error(
        "{device}: its root qdisc is {kind}, whose rate this program cannot set: put a shaper there \
         (`tc qdisc replace dev {device} root cake bandwidth 20mbit`), or have this program make one"
    )]
    NoShaper {
        /// The device.
        device: String,
        /// The kind of its root qdisc.
        kind: String,
    },
    /// The qdisc cannot be used in this state.
    #[error("{device}: qdisc {qdisc}: {why}: {remedy}")]
    Unsuitable {
        /// The device.
        device: String,
        /// Kind and handle.
        qdisc: String,
        /// The reason.
        why: String,
        /// A way out.
        remedy: String,
    },
    /// Another program has changed the rate, or put another qdisc there. It is left alone.
    #[error(
        "{device}: qdisc {qdisc}: another program changed it ({now}): it is left alone; \
         stop one of the two programs, and start this one again"
    )]
    Changed {
        /// The device.
        device: String,
        /// Kind and handle that stood there.
        qdisc: String,
        /// The present state.
        now: String,
    },
    /// The device has gone, and its qdisc with it.
    #[error("{device}: the device has gone, and its qdisc {qdisc} with it")]
    Gone {
        /// The device.
        device: String,
        /// Kind and handle that stood there.
        qdisc: String,
    },
    /// The device went and came back: it has the kernel's default again.
    #[error(
        "{device}: the device went and came back without qdisc {qdisc}: make or adopt it again"
    )]
    Returned {
        /// The device.
        device: String,
        /// Kind and handle that stood there.
        qdisc: String,
    },
    /// No shaper has such a rate.
    #[error("{device}: {rate} is no rate of a shaper: it is at least 8 bit/s")]
    Rate {
        /// The device.
        device: String,
        /// The rate.
        rate: Rate,
    },
    /// The kernel has no such qdisc or filter.
    #[error(
        "{device}: this kernel has no {kind}: install its module (sch_{kind}), or use another kind"
    )]
    NoKind {
        /// The device.
        device: String,
        /// The kind.
        kind: String,
    },
    /// The kernel's answer has another form than expected.
    #[error("{device}: the kernel's answer about {about} is not understood: report its version")]
    Unreadable {
        /// The device.
        device: String,
        /// The request.
        about: String,
    },
}
