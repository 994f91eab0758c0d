use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use libbpf_rs::{MapCore, MapFlags, MapHandle};
use sounding_laws::Phase;
use sounding_units::{HostInstant, Rate};

use crate::intf::{WireFlow, WireTransition, read};
use crate::radios::MAX_MODEMS;
use crate::reports::{Reason, Transition};

/// The phase of this number in the kernel (`enum flow_phase`); none if this version does not know
/// it.
fn phase(code: u32) -> Option<Phase> {
    Phase::ALL.get(code as usize).copied()
}

/// The kernel side's state of one socket. Read without a lock: fields may be one ACK apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Where the law believes the bottleneck to be.
    pub phase: Phase,
    /// Why it is in this phase.
    pub reason: Reason,
    /// When the phase began.
    pub since: HostInstant,
    /// Number of changes of state for [`poll_transition`](crate::Instance::poll_transition) so
    /// far.
    pub transitions: u32,
    /// This flow's part of the link, of IP packets.
    pub share: Rate,
    /// BBR's bandwidth filter, payload.
    pub e2e: Rate,
    /// The largest delivery of the last judged round (BISCAY), or of the last acknowledgement that
    /// measured it, payload.
    pub delivery: Rate,
    /// Window set, in segments.
    pub cwnd: u32,
    /// Pacing rate set, payload.
    pub pacing: Rate,
    /// Flows that shared the link at the last ACK, this one included.
    pub flows: u32,
    /// ACKs seen.
    pub acks: u64,
    /// BBR's own window, in segments.
    pub shadow_cwnd: u32,
    /// BBR's own pacing rate, payload.
    pub shadow_pacing: Rate,
    /// BBR's mode: 0 startup, 1 drain, 2 probe bandwidth, 3 probe RTT.
    pub bbr_mode: u32,
    /// The kernel's windowed minimum of the RTT, if it has one.
    pub rtt_min: Option<Duration>,
}

impl Flow {
    /// `None` if the phase has a number that this version does not know.
    fn read(wire: WireFlow) -> Option<Self> {
        let status = wire.status;
        Some(Self {
            phase: phase(status.phase)?,
            reason: status.reason.into(),
            since: HostInstant::from_nanos(status.since_ns),
            transitions: status.transitions,
            share: Rate::from_bytes_per_sec(status.share_bytes_per_sec),
            e2e: Rate::from_bytes_per_sec(wire.e2e_bytes_per_sec),
            delivery: Rate::from_bytes_per_sec(status.delivery_bytes_per_sec),
            cwnd: status.cwnd,
            pacing: Rate::from_bytes_per_sec(status.pacing_bytes_per_sec),
            flows: status.n_flows,
            acks: wire.acks,
            shadow_cwnd: wire.shadow_cwnd,
            shadow_pacing: Rate::from_bytes_per_sec(wire.shadow_pacing),
            bbr_mode: wire.bbr_mode,
            rtt_min: (wire.rtt_min_us > 0)
                .then(|| Duration::from_micros(u64::from(wire.rtt_min_us))),
        })
    }
}

impl Transition {
    /// `None` if a phase has a number that this version does not know.
    fn read(wire: WireTransition) -> Option<Self> {
        Some(Self {
            at: HostInstant::from_nanos(wire.at_ns),
            from: phase(wire.from)?,
            to: phase(wire.to)?,
            reason: wire.reason.into(),
            share: Rate::from_bytes_per_sec(wire.share_bytes_per_sec),
            e2e: Rate::from_bytes_per_sec(wire.e2e_bytes_per_sec),
            flows: wire.n_flows,
            cookie: NonZeroU64::new(wire.cookie),
            family: wire.family,
            local_port: wire.local_port as u16,
            remote_port: wire.remote_port as u16,
            modem: Some(wire.modem as usize).filter(|place| *place < MAX_MODEMS),
        })
    }
}

/// Why a socket's state could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FlowError {
    /// The process or its descriptor could not be reached.
    #[error("descriptor {fd} of process {pid}: {source}; needs CAP_SYS_PTRACE over it")]
    Descriptor {
        /// The process.
        pid: u32,
        /// Its descriptor.
        fd: i32,
        /// The kernel's error.
        source: io::Error,
    },
    /// The map refused the look-up.
    #[error("socket storage of descriptor {fd}: {source}")]
    Storage {
        /// The socket's descriptor.
        fd: i32,
        /// libbpf's error.
        source: libbpf_rs::Error,
    },
}

/// The state of a socket; `None` if it does not run under this instance.
pub(crate) fn flow(map: &MapHandle, socket: impl AsFd) -> Result<Option<Flow>, FlowError> {
    stored(map, socket, |value| read::<WireFlow>(value).and_then(Flow::read))
}

/// What a map keeps for a socket; `None` if it keeps nothing, or another version's value.
pub(crate) fn stored<T>(
    map: &impl MapCore,
    socket: impl AsFd,
    read: impl FnOnce(&[u8]) -> Option<T>,
) -> Result<Option<T>, FlowError> {
    let fd = socket.as_fd().as_raw_fd();
    match map.lookup(&fd.to_ne_bytes(), MapFlags::ANY) {
        Ok(value) => Ok(value.as_deref().and_then(read)),
        Err(source) => Err(FlowError::Storage { fd, source }),
    }
}

/// A duplicate of another process's descriptor.
///
/// # Errors
///
/// [`FlowError::Descriptor`] if there is no such process or descriptor, or this one lacks
/// CAP_SYS_PTRACE over it.
pub fn borrow_descriptor(pid: u32, fd: i32) -> Result<OwnedFd, FlowError> {
    let fail = || FlowError::Descriptor { pid, fd, source: io::Error::last_os_error() };
    // SAFETY: plain system calls on integers; what they return is a new descriptor or -1.
    let process = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    if process < 0 {
        return Err(fail());
    }
    // SAFETY: a descriptor that the kernel has just made for us.
    let process = unsafe { OwnedFd::from_raw_fd(process as i32) };
    // SAFETY: as above.
    let copy = unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), fd, 0) };
    if copy < 0 {
        return Err(fail());
    }
    // SAFETY: as above.
    Ok(unsafe { OwnedFd::from_raw_fd(copy as i32) })
}

/// One record of the ring, or `None` if it is short.
pub(crate) fn transition(record: &[u8]) -> Option<Transition> {
    read::<WireTransition>(record).and_then(Transition::read)
}
