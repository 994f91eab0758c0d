//! The TCP sockets of this network namespace under given congestion controls, as the kernel lists
//! them (`sock_diag`(7)). This takes no rights.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::time::Duration;

use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto,
    setsockopt, socket, sockopt,
};
use nix::sys::time::{TimeVal, TimeValLike as _};
use sounding_units::Rate;

/// A socket, and how fast it sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpSocket {
    /// AF_INET or AF_INET6.
    pub family: u32,
    /// Local port.
    pub local_port: u16,
    /// Remote port.
    pub remote_port: u16,
    /// The pacing rate that its congestion control has set; `None` where it sets none.
    pub pacing: Option<Rate>,
}

/// Bytes of a message's head, of a request, and of a socket in an answer (linux/inet_diag.h).
const HEAD: usize = 16;
const REQUEST: usize = 56;
const SOCKET: usize = 72;
/// linux/netlink.h and linux/sock_diag.h.
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const DUMP: u16 = 0x301;
/// linux/inet_diag.h.
const INFO: u16 = 2;
const CONG: u16 = 4;
/// Where `tcpi_pacing_rate` stands in `struct tcp_info` (linux/tcp.h).
const PACING: usize = 104;
/// ESTABLISHED, FIN-WAIT, CLOSE-WAIT, LAST-ACK and CLOSING: what may still send.
const SENDING: u32 = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;

/// The kernel answers at once.
const PATIENCE: Duration = Duration::from_secs(2);

/// Calls `each` for every socket that one of these congestion controls has.
///
/// # Errors
///
/// The kernel's error, if it does not list sockets.
pub fn tcp_sockets(names: &[String], mut each: impl FnMut(TcpSocket)) -> io::Result<()> {
    let (kind, flags) = (SockType::Datagram, SockFlag::SOCK_CLOEXEC);
    let diag = SockProtocol::NetlinkSockDiag;
    let netlink: OwnedFd = socket(AddressFamily::Netlink, kind, flags, diag)?;
    let patience = TimeVal::milliseconds(PATIENCE.as_millis() as i64);
    setsockopt(&netlink, sockopt::ReceiveTimeout, &patience)?;
    let mut buffer = vec![0; 1 << 16];
    for family in [libc::AF_INET, libc::AF_INET6] {
        let request = request(family as u8);
        sendto(netlink.as_raw_fd(), &request, &NetlinkAddr::new(0, 0), MsgFlags::empty())?;
        loop {
            let count = recv(netlink.as_raw_fd(), &mut buffer, MsgFlags::empty())?;
            if count == 0 || messages(buffer.get(..count).unwrap_or_default(), names, &mut each)? {
                break;
            }
        }
    }
    Ok(())
}

fn request(family: u8) -> [u8; HEAD + REQUEST] {
    let mut bytes = [0; HEAD + REQUEST];
    bytes[..4].copy_from_slice(&((HEAD + REQUEST) as u32).to_ne_bytes());
    bytes[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes[6..8].copy_from_slice(&DUMP.to_ne_bytes());
    bytes[HEAD] = family;
    bytes[HEAD + 1] = libc::IPPROTO_TCP as u8;
    bytes[HEAD + 2] = 1 << (INFO - 1) | 1 << (CONG - 1);
    bytes[HEAD + 4..HEAD + 8].copy_from_slice(&SENDING.to_ne_bytes());
    bytes
}

/// The sockets in one read. True if the list ends in it.
fn messages(
    mut bytes: &[u8],
    names: &[String],
    each: &mut impl FnMut(TcpSocket),
) -> io::Result<bool> {
    while let Some(head) = bytes.first_chunk::<HEAD>() {
        let [l0, l1, l2, l3, k0, k1, ..] = *head;
        let len = u32::from_ne_bytes([l0, l1, l2, l3]) as usize;
        let Some(payload) = bytes.get(HEAD..len) else { return Ok(true) };
        match u16::from_ne_bytes([k0, k1]) {
            NLMSG_DONE => return Ok(true),
            NLMSG_ERROR => {
                let code = payload.first_chunk::<4>().map_or(0, |code| i32::from_ne_bytes(*code));
                return Err(io::Error::from_raw_os_error(-code));
            }
            SOCK_DIAG_BY_FAMILY => {
                if let Some(found) = socket_of(payload, names) {
                    each(found);
                }
            }
            _ => {}
        }
        bytes = bytes.get(len.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(false)
}

/// A socket of the list, if one of these has it.
fn socket_of(payload: &[u8], names: &[String]) -> Option<TcpSocket> {
    let (socket, mut attributes) = payload.split_first_chunk::<SOCKET>()?;
    let [family, _, _, _, s0, s1, d0, d1, ..] = *socket;
    let (mut is_ours, mut pacing) = (false, None);
    while let Some(head) = attributes.first_chunk::<4>() {
        let [l0, l1, k0, k1] = *head;
        let len = usize::from(u16::from_ne_bytes([l0, l1]));
        let value = attributes.get(4..len)?;
        match u16::from_ne_bytes([k0, k1]) {
            CONG => {
                let name = value.split(|byte| *byte == 0).next().unwrap_or_default();
                is_ours = names.iter().any(|known| known.as_bytes() == name);
            }
            INFO => {
                let rate = value.get(PACING..).and_then(|rest| rest.first_chunk::<8>());
                pacing = rate.map(|rate| u64::from_ne_bytes(*rate)).filter(|rate| *rate < u64::MAX);
            }
            _ => {}
        }
        attributes = attributes.get(len.next_multiple_of(4)..).unwrap_or_default();
    }
    is_ours.then(|| TcpSocket {
        family: u32::from(family),
        local_port: u16::from_be_bytes([s0, s1]),
        remote_port: u16::from_be_bytes([d0, d1]),
        pacing: pacing.map(Rate::from_bytes_per_sec),
    })
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    fn congestion(socket: &TcpStream) -> String {
        let name = nix::sys::socket::getsockopt(socket, sockopt::TcpCongestion).expect("TCP");
        name.to_string_lossy().trim_end_matches('\0').to_owned()
    }

    #[test]
    fn a_connection_is_listed_by_the_name_of_its_congestion_control() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else {
                assert!(address.contains("::1"), "loopback is there");
                continue;
            };
            let far = listener.local_addr().expect("bound");
            let stream = TcpStream::connect(far).expect("it listens");
            let near = stream.local_addr().expect("bound");
            let listed = |names: &[String]| {
                let mut found = Vec::new();
                tcp_sockets(names, |socket| found.push(socket)).expect("the kernel lists them");
                found.into_iter().any(|socket| {
                    (socket.local_port, socket.remote_port) == (near.port(), far.port())
                })
            };
            assert!(listed(&[congestion(&stream)]), "{address}");
            assert!(!listed(&["no_such_name".into()]), "{address}");
        }
    }

    #[test]
    fn a_list_that_is_cut_or_refused_ends() {
        let mut none = |_| panic!("no socket");
        let done = [&16u32.to_ne_bytes()[..], &NLMSG_DONE.to_ne_bytes(), &[0; 10]].concat();
        assert!(messages(&done, &[], &mut none).expect("it ends"));
        assert!(messages(&done[..15], &[], &mut none).is_ok_and(|is_over| !is_over));
        let long = [&99u32.to_ne_bytes()[..], &[0; 12]].concat();
        assert!(messages(&long, &[], &mut none).expect("it ends"));
        let short = [&8u32.to_ne_bytes()[..], &[0; 12]].concat();
        assert!(messages(&short, &[], &mut none).expect("it ends"), "a length within its head");
        let error = [
            &20u32.to_ne_bytes()[..],
            &NLMSG_ERROR.to_ne_bytes(),
            &[0; 10],
            &(-1i32).to_ne_bytes(),
        ];
        assert!(messages(&error.concat(), &[], &mut none).is_err());
    }
}
