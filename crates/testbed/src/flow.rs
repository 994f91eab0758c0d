//! Traffic through an emulation: bulk TCP under any congestion control, and UDP at a constant rate.

mod arriving;
mod connection;
mod tcp;
mod tcp_info;
mod traffic;
mod udp;

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use sounding_emu::{Direction, Emulation, EnterError, Netns, monotonic_now};
use sounding_sim::Device;
use sounding_units::HostInstant;

pub use arriving::UdpArrival;
pub use tcp::{RunningTcp, SampleHook, TcpFlow, TcpResult, TcpSample};
pub use tcp_info::{InfoError, TcpInfo};
pub use udp::{RunningUdp, UdpFlow, UdpResult};

/// Why a flow did not run.
#[derive(Debug, thiserror::Error)]
pub enum FlowError {
    /// A namespace could not be entered.
    #[error(transparent)]
    Enter(#[from] EnterError),
    /// A flow of a device without a host.
    #[error("device {} has no host in this emulation: it needs a network namespace to send from", .0.0)]
    NoHost(Device),
    /// The kernel does not know the congestion control, or does not let this process choose it.
    #[error(
        "congestion control {name:?} is refused ({source}): `sysctl net.ipv4.tcp_available_congestion_control` lists those loaded"
    )]
    Congestion {
        /// Its name.
        name: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// A socket call failed.
    #[error("cannot {doing}: {source}")]
    Socket {
        /// The failed step.
        doing: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// The other end never answered.
    #[error("no connection within {seconds} s: is the link of either direction an outage?")]
    NoConnection {
        /// Time that was waited.
        seconds: u64,
    },
    /// A thread of the flow panicked: a defect of this crate.
    #[error("a thread of the flow panicked")]
    Panicked,
}

impl FlowError {
    pub(crate) fn socket(doing: &'static str) -> impl Fn(io::Error) -> FlowError {
        move |source| FlowError::Socket { doing, source }
    }
}

/// The two ends of a flow: namespaces, and an address in each.
#[derive(Clone, Copy, Debug)]
pub struct Ends<'a> {
    /// The end that an uplink begins at.
    pub near: (&'a Netns, Ipv4Addr),
    /// The other.
    pub far: (&'a Netns, Ipv4Addr),
}

impl<'a> Ends<'a> {
    fn of(emulation: &'a Emulation, device: Device) -> Result<Self, FlowError> {
        let near = emulation.host(device).zip(emulation.address(device));
        let near = near.ok_or(FlowError::NoHost(device))?;
        Ok(Self { near, far: (emulation.far(), emulation.far_address()) })
    }

    /// The sending end and the receiving one.
    fn in_order(self, direction: Direction) -> [(&'a Netns, Ipv4Addr); 2] {
        match direction {
            Direction::Uplink => [self.near, self.far],
            Direction::Downlink => [self.far, self.near],
        }
    }
}

fn any_port(address: Ipv4Addr) -> SocketAddrV4 {
    SocketAddrV4::new(address, 0)
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

fn sleep_until(at: HostInstant) {
    std::thread::sleep(at - monotonic_now());
}

pub(crate) fn thread_cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}
