//! Datagrams as a socket receives them, with the kernel's time stamps.

use std::io;
use std::mem;
use std::os::fd::AsRawFd;

use nix::sys::socket::{setsockopt, sockopt};
use socket2::Socket;
use sounding_units::HostInstant;

use super::FlowError;

/// One datagram that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpArrival {
    /// Its number, from 0.
    pub number: u64,
    /// When it was sent, by the sender's own stamp.
    pub sent: HostInstant,
    /// When the receiver's kernel took it, on CLOCK_REALTIME in nanoseconds.
    pub received_realtime_ns: u64,
}

/// Receptions of one system call.
const BATCH: usize = 64;

/// The most bytes that come at once: datagrams that were received together are one superpacket.
const LONGEST: usize = 65_535;

/// Receives datagrams and their time stamps.
pub(super) struct Arriving {
    data: Vec<u8>,
    control: [Control; BATCH],
}

#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Control([u8; 64]);

/// The kernel's control data of a received datagram.
#[derive(Default)]
struct Beside {
    realtime_ns: u64,
    /// Bytes of each datagram but the last; `None` of a single one.
    datagram: Option<usize>,
}

impl Arriving {
    /// Enables time stamps, and reception of several datagrams at once, as a QUIC stack does.
    pub(super) fn ask(socket: &Socket) -> Result<(), FlowError> {
        setsockopt(socket, sockopt::ReceiveTimestampns, &true)
            .map_err(|error| FlowError::socket("ask for time stamps")(error.into()))?;
        setsockopt(socket, sockopt::UdpGroSegment, &true)
            .map_err(|error| FlowError::socket("ask for superpackets")(error.into()))
    }

    pub(super) fn new() -> Self {
        Self { data: vec![0; LONGEST * BATCH], control: [Control([0; 64]); BATCH] }
    }

    /// Waits for datagrams; returns none after a timeout.
    pub(super) fn receive(&mut self, socket: &Socket) -> Result<Vec<UdpArrival>, FlowError> {
        let mut vectors: Vec<libc::iovec> = self
            .data
            .chunks_exact_mut(LONGEST)
            .map(|data| libc::iovec { iov_base: data.as_mut_ptr().cast(), iov_len: data.len() })
            .collect();
        let mut messages: Vec<libc::mmsghdr> = vectors
            .iter_mut()
            .zip(&mut self.control)
            .map(|(vector, control)| {
                // SAFETY: an all-zero mmsghdr is a valid one.
                let mut message: libc::mmsghdr = unsafe { mem::zeroed() };
                message.msg_hdr.msg_iov = vector;
                message.msg_hdr.msg_iovlen = 1;
                message.msg_hdr.msg_control = control.0.as_mut_ptr().cast();
                message.msg_hdr.msg_controllen = control.0.len();
                message
            })
            .collect();
        // SAFETY: every message points to one vector and one control buffer, all alive here.
        let count = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                messages.as_mut_ptr(),
                messages.len() as u32,
                libc::MSG_WAITFORONE,
                std::ptr::null_mut(),
            )
        };
        let Ok(count) = usize::try_from(count) else {
            return match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::WouldBlock => Ok(Vec::new()),
                error if error.kind() == io::ErrorKind::Interrupted => Ok(Vec::new()),
                error => Err(FlowError::socket("receive datagrams")(error)),
            };
        };
        let received = messages.iter().take(count).zip(self.data.chunks_exact(LONGEST));
        let datagrams = received.flat_map(|(message, data)| {
            let beside = beside(message);
            let bytes = &data[..LONGEST.min(message.msg_len as usize)];
            let datagrams = bytes.chunks(beside.datagram.unwrap_or(LONGEST).max(1));
            datagrams.map(move |datagram| arrival(datagram, beside.realtime_ns))
        });
        Ok(datagrams.collect())
    }
}

fn arrival(datagram: &[u8], received_realtime_ns: u64) -> UdpArrival {
    let word = |at: usize| {
        let bytes = datagram.get(at..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    };
    UdpArrival { number: word(0), sent: HostInstant::from_nanos(word(8)), received_realtime_ns }
}

fn beside(message: &libc::mmsghdr) -> Beside {
    let mut beside = Beside::default();
    // SAFETY: the kernel filled in the header and the control buffer it points to, which is aligned
    // for a cmsghdr; what is read of a control message is what its kind has.
    unsafe {
        let mut control = libc::CMSG_FIRSTHDR(&raw const message.msg_hdr);
        while let Some(header) = control.as_ref() {
            let data = libc::CMSG_DATA(control);
            match (header.cmsg_level, header.cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                    let stamp = data.cast::<libc::timespec>().read_unaligned();
                    beside.realtime_ns = stamp.tv_sec as u64 * 1_000_000_000 + stamp.tv_nsec as u64;
                }
                (libc::SOL_UDP, libc::UDP_GRO) => {
                    let size = data.cast::<libc::c_int>().read_unaligned();
                    beside.datagram = usize::try_from(size).ok();
                }
                _ => {}
            }
            control = libc::CMSG_NXTHDR(&raw const message.msg_hdr, control);
        }
    }
    beside
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use socket2::{Domain, Type};

    use super::*;
    use crate::flow::any_port;

    #[test]
    fn datagrams_that_come_together_are_distinguished() {
        let socket = || Socket::new(Domain::IPV4, Type::DGRAM, None).expect("a socket");
        let (sending, receiving) = (socket(), socket());
        receiving.bind(&any_port(Ipv4Addr::LOCALHOST).into()).expect("a port");
        Arriving::ask(&receiving).expect("options of a socket");
        sending.connect(&receiving.local_addr().expect("bound")).expect("connected");
        // The last is shorter.
        let datagrams: Vec<u8> = (0..4_u64)
            .flat_map(|number| [number, 1000 + number, 0, 0].map(u64::to_le_bytes).concat())
            .take(4 * 32 - 8)
            .collect();
        setsockopt(&sending, sockopt::UdpGsoSegment, &32).expect("an option");
        sending.send(&datagrams).expect("sent");
        let mut arriving = Arriving::new();
        let mut arrivals = Vec::new();
        while arrivals.len() < 4 {
            arrivals.extend(arriving.receive(&receiving).expect("received"));
        }
        let told: Vec<_> = arrivals.iter().map(|one| (one.number, one.sent.as_nanos())).collect();
        assert_eq!(told, [(0, 1000), (1, 1001), (2, 1002), (3, 1003)]);
        assert!(arrivals.iter().all(|one| one.received_realtime_ns > 0));
    }
}
