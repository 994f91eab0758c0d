//! A host on the path, or one that guesses: writes segments in the name of the device that a server
//! sends to, with an arbitrary option.

use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, recv, sendto, socket,
};
use sounding_emu::{EnterError, Netns};

/// In what a forged segment differs from the device's own that it copies, besides the option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forgery {
    /// In nothing, like a host that reads the traffic.
    Nothing,
    /// It acknowledges this many bytes more.
    Acknowledges(i32),
    /// It is this many bytes further in the device's stream.
    Sequence(i32),
    /// Its time stamp is this many ticks later.
    Stamp(i32),
    /// It has no time stamp.
    NoStamp,
    /// It is a SYN too.
    Syn,
    /// Its option has version 2.
    Whole,
    /// And longer than that version's, as a later one's may be.
    Longer,
    /// And says a state that no version has.
    NoState,
}

const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

/// What is said in the device's name: capacity, kbit/s.
const CLAIM: u32 = 1_000_000;
/// The same as version 2 has it, with a fair share, two users and one carrier.
const WHOLE: [u8; 8] = [0x86, 0xE7, 0x80, 0, 2 << 3 | 1, 0, 0, 0];
const EXID: [u8; 2] = [0xB1, 0x5C];
/// The option's kind (RFC 4727) and a time stamp's (RFC 7323).
const EXPERIMENTAL: u8 = 253;
const STAMP: u8 = 8;

/// Forges until it is dropped.
pub(crate) struct Forger {
    stop: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
    thread: Option<JoinHandle<Result<(), EnterError>>>,
}

impl Forger {
    /// At a server in this namespace, for each segment that comes from `device`.
    pub(crate) fn start(server: &Netns, device: Ipv4Addr, forgery: Forgery) -> Self {
        let (stop, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stopped, count) = (Arc::clone(&stop), Arc::clone(&sent));
        let thread = server.spawn_thread("forger", move || {
            let heard = open(AddressFamily::Packet, SockType::Datagram, SockProtocol::EthAll);
            let said = open(AddressFamily::Inet, SockType::Raw, SockProtocol::Raw);
            let mut packet = [0; 65536];
            while !stopped.load(Ordering::Relaxed) {
                let Some(length) = receive(&heard, &mut packet) else { continue };
                let Some((to, forged)) = forge(&packet[..length], device, forgery) else {
                    continue;
                };
                let to = SockaddrIn::from(std::net::SocketAddrV4::new(to, 0));
                // A full buffer is one forgery less.
                if sendto(said.as_raw_fd(), &forged, &to, MsgFlags::empty()).is_ok() {
                    count.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        Self { stop, sent, thread: Some(thread.expect("a thread")) }
    }

    /// Segments so far.
    pub(crate) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }
}

impl Drop for Forger {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("it ends").expect("it was in the namespace");
        }
    }
}

fn open(family: AddressFamily, kind: SockType, protocol: SockProtocol) -> OwnedFd {
    socket(family, kind, SockFlag::SOCK_CLOEXEC, protocol).expect("a socket that takes root")
}

fn receive(socket: &OwnedFd, packet: &mut [u8]) -> Option<usize> {
    let wait = PollTimeout::try_from(Duration::from_millis(20)).expect("short");
    let mut polled = [PollFd::new(std::os::fd::AsFd::as_fd(socket), PollFlags::POLLIN)];
    match poll(&mut polled, wait) {
        Ok(0) | Err(Errno::EINTR) => return None,
        waited => waited.expect("it can be waited for"),
    };
    recv(socket.as_raw_fd(), packet, MsgFlags::empty()).ok()
}

/// A segment from `device` with another's word in it, and where it goes; `None` of what is none, or
/// is forged already.
fn forge(packet: &[u8], device: Ipv4Addr, forgery: Forgery) -> Option<(Ipv4Addr, Vec<u8>)> {
    let header = usize::from(packet.first()? & 0xF) * 4;
    let (ip, tcp) = (packet.get(..20)?, packet.get(header..header + 20)?);
    let is_ours = ip[0] >> 4 == 4 && ip[9] == 6 && ip[12..16] == device.octets();
    if !is_ours || tcp[13] & (SYN | RST) != 0 || tcp[13] & ACK == 0 {
        return None;
    }
    let options = packet.get(header + 20..header + usize::from(tcp[12] >> 4) * 4)?;
    let mut stamp = None;
    let mut rest = options;
    while let [kind, after @ ..] = rest {
        rest = match (*kind, after) {
            (0, _) => break,
            (1, _) => after,
            (EXPERIMENTAL, _) => return None,
            (STAMP, [10, body @ ..]) => {
                stamp = Some(<[u8; 8]>::try_from(body.get(..8)?).ok()?);
                body.get(8..)?
            }
            (_, [length, ..]) => rest.get(usize::from(*length).max(2)..)?,
            _ => return None,
        };
    }
    let mut segment = tcp.to_vec();
    segment[13] = ACK;
    match forgery {
        Forgery::Acknowledges(more) => add(&mut segment[8..12], more),
        Forgery::Sequence(more) => add(&mut segment[4..8], more),
        Forgery::Stamp(later) => add(&mut stamp.as_mut()?[..4], later),
        Forgery::NoStamp => stamp = None,
        Forgery::Syn => segment[13] |= SYN,
        Forgery::Nothing | Forgery::Whole | Forgery::Longer | Forgery::NoState => {}
    }
    if let Some(stamp) = stamp {
        segment.extend([1, 1, STAMP, 10]);
        segment.extend(stamp);
    }
    let said = match forgery {
        Forgery::Whole => WHOLE.to_vec(),
        Forgery::Longer => [&WHOLE[..], &[0xFF; 4]].concat(),
        Forgery::NoState => [&WHOLE[..5], &[7 << 5, 0, 0]].concat(),
        _ => CLAIM.to_be_bytes().to_vec(),
    };
    segment.extend([EXPERIMENTAL, 4 + said.len() as u8]);
    segment.extend(EXID);
    segment.extend(said);
    segment[12] = ((segment.len() / 4) as u8) << 4;
    segment[16..18].fill(0);
    let mut pseudo = ip[12..20].to_vec();
    pseudo.extend([0, 6]);
    pseudo.extend((segment.len() as u16).to_be_bytes());
    pseudo.extend(&segment);
    let sum = checksum(&pseudo);
    segment[16..18].copy_from_slice(&sum.to_be_bytes());
    let mut forged = ip.to_vec();
    forged[0] = 0x45;
    forged[2..4].copy_from_slice(&((20 + segment.len()) as u16).to_be_bytes());
    // The kernel sums the header up itself.
    forged[10..12].fill(0);
    forged.extend(segment);
    let to = <[u8; 4]>::try_from(&ip[16..20]).ok()?;
    Some((to.into(), forged))
}

fn add(number: &mut [u8], more: i32) {
    let was = u32::from_be_bytes((&*number).try_into().expect("four bytes"));
    number.copy_from_slice(&was.wrapping_add_signed(more).to_be_bytes());
}

/// RFC 1071's, of an even number of bytes.
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
    let mut sum: u32 = words.sum();
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !(sum as u16)
}
