//! A netlink socket: a request, its answers, and the kernel's refusal.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto,
    setsockopt, socket, sockopt,
};
use nix::sys::time::{TimeVal, TimeValLike as _};

use crate::message::{Attributes, Message, Received, messages, u32_at};
use crate::numbers::{BATCH_BEGIN, BATCH_END, CAPPED, ERROR_WORDS, HAS_WORDS, HEADER_BYTES};

/// The kernel sends no larger datagram: `netlink_dump` allocates at most 32 KiB, and an answer
/// about one object is smaller.
const LARGEST: usize = 64 << 10;

/// The kernel answers in the time of the request. This only keeps a fault of it from hanging us.
const PATIENCE_S: i64 = 5;

/// A socket to the kernel's netlink in the network namespace of the thread that opened it.
#[derive(Debug)]
pub struct Socket {
    socket: OwnedFd,
    /// Of the newest request: answers repeat it.
    sequence: Cell<u32>,
}

/// The kernel's refusal.
#[derive(Debug)]
pub struct Refusal {
    /// Its number.
    pub errno: Errno,
    /// The kernel's own explanation, or nothing.
    pub words: String,
}

impl From<Errno> for Refusal {
    fn from(errno: Errno) -> Self {
        Self { errno, words: String::new() }
    }
}

impl Socket {
    pub(crate) fn open() -> io::Result<Self> {
        Self::open_for(SockProtocol::NetlinkRoute)
    }

    /// To another part of the kernel than routing.
    ///
    /// # Errors
    ///
    /// The kernel's error, if it has no such part.
    pub fn open_for(protocol: SockProtocol) -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC;
        let socket = socket(AddressFamily::Netlink, SockType::Raw, flags, protocol)?;
        setsockopt(&socket, sockopt::ReceiveTimeout, &TimeVal::seconds(PATIENCE_S))?;
        // Without these only the kernel's explanations are missing (before Linux 4.12).
        for option in [libc::NETLINK_EXT_ACK, libc::NETLINK_CAP_ACK] {
            let on: libc::c_int = 1;
            // SAFETY: the kernel reads one integer of the given size.
            unsafe {
                libc::setsockopt(
                    socket.as_raw_fd(),
                    libc::SOL_NETLINK,
                    option,
                    (&raw const on).cast(),
                    size_of_val(&on) as libc::socklen_t,
                );
            }
        }
        Ok(Self { socket, sequence: Cell::new(0) })
    }

    /// Sends a request and reads its answers up to the end that the kernel marks: of a dump, or the
    /// acknowledgement that every other request asks for.
    ///
    /// # Errors
    ///
    /// The kernel's refusal.
    pub fn ask(&self, request: Message, mut each: impl FnMut(Received<'_>)) -> Result<(), Refusal> {
        let sequence = self.next_number();
        let kernel = NetlinkAddr::new(0, 0);
        let bytes = request.finish(sequence);
        sendto(self.socket.as_raw_fd(), &bytes, &kernel, MsgFlags::empty())?;
        let mut buffer = vec![0; LARGEST];
        loop {
            let length = match recv(self.socket.as_raw_fd(), &mut buffer, MsgFlags::empty()) {
                Err(Errno::EINTR) => continue,
                length => length?,
            };
            for message in messages(&buffer[..length]) {
                // An answer to an earlier request that was given up.
                if message.sequence != sequence {
                    continue;
                }
                match end(message) {
                    None => each(message),
                    Some(end) => return end,
                }
            }
        }
    }
}

impl Socket {
    /// Sends requests to a subsystem of netfilter that it carries out together or not at all. Each
    /// of them has to ask for an acknowledgement.
    ///
    /// # Errors
    ///
    /// The first refusal.
    pub fn commit(&self, subsystem: u8, requests: Vec<Message>) -> Result<(), Refusal> {
        // `struct nfgenmsg`, with the subsystem in the network's order.
        let mark = |kind| {
            let flags = u16::try_from(libc::NLM_F_REQUEST).unwrap_or_default();
            Message::new(kind, flags).raw(&[0, 0, 0, subsystem])
        };
        let mut bytes = Vec::new();
        let begin = self.next_number();
        bytes.extend(mark(BATCH_BEGIN).finish(begin));
        let mut last = begin;
        for request in requests {
            last = self.next_number();
            bytes.extend(request.finish(last));
        }
        bytes.extend(mark(BATCH_END).finish(self.next_number()));
        let kernel = NetlinkAddr::new(0, 0);
        sendto(self.socket.as_raw_fd(), &bytes, &kernel, MsgFlags::empty())?;
        let mut buffer = vec![0; LARGEST];
        let mut first = Ok(());
        loop {
            let length = match recv(self.socket.as_raw_fd(), &mut buffer, MsgFlags::empty()) {
                Err(Errno::EINTR) => continue,
                length => length?,
            };
            for message in messages(&buffer[..length]) {
                let number = message.sequence.wrapping_sub(begin);
                let (true, Some(end)) = (number <= last.wrapping_sub(begin) + 1, end(message))
                else {
                    continue;
                };
                first = first.and(end);
                // Who may not do this at all hears it of the beginning alone.
                if message.sequence == last || number == 0 {
                    return first;
                }
            }
        }
    }

    fn next_number(&self) -> u32 {
        let number = self.sequence.get().wrapping_add(1);
        self.sequence.set(number);
        number
    }
}

impl From<Socket> for OwnedFd {
    fn from(socket: Socket) -> Self {
        socket.socket
    }
}

/// The end of the answers, if the message is one.
fn end(message: Received<'_>) -> Option<Result<(), Refusal>> {
    let kind = i32::from(message.kind);
    if ![libc::NLMSG_DONE, libc::NLMSG_ERROR].contains(&kind) {
        return None;
    }
    let Some(code) = u32_at(message.content, 0).map(u32::cast_signed) else {
        return Some(Err(Errno::EBADMSG.into()));
    };
    // The end of a list has its length there, or none.
    if code >= 0 {
        return Some(Ok(()));
    }
    let refusal = Refusal {
        errno: Errno::from_raw(code.saturating_neg()),
        words: words(message).unwrap_or_default(),
    };
    Some(Err(refusal))
}

/// The kernel's explanation behind the repeated request, or behind its header alone.
fn words(error: Received<'_>) -> Option<String> {
    if error.flags & HAS_WORDS == 0 {
        return None;
    }
    let repeated = match error.flags & CAPPED {
        0 => usize::try_from(u32_at(error.content, 4)?).ok()?,
        _ => HEADER_BYTES,
    };
    let attributes = Attributes::after(error.content, repeated.checked_add(4)?);
    // It is one line of the kernel's; a terminal gets no control characters.
    let words = attributes.text(ERROR_WORDS)?;
    Some(words.chars().filter(|c| !c.is_control()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(code: i32, flags: u16, rest: &[u8]) -> Vec<u8> {
        let kind = u16::try_from(libc::NLMSG_ERROR).expect("it is small");
        let message = Message::new(kind, flags).raw(&code.to_ne_bytes()).raw(&[0; HEADER_BYTES]);
        message.raw(rest).finish(1)
    }

    fn refusal(bytes: &[u8]) -> Option<Result<(), Refusal>> {
        end(messages(bytes).next().expect("a message"))
    }

    #[test]
    fn a_refusal_has_the_words_of_the_kernel() {
        let words = [&[8, 0, 1, 0][..], b"no\n\0"].concat();
        let refused = refusal(&error(-17, HAS_WORDS | CAPPED, &words));
        let refused = refused.expect("an end").expect_err("a refusal");
        assert_eq!((refused.errno, &*refused.words), (Errno::EEXIST, "no"));
        let refused = refusal(&error(-17, 0, &words)).expect("an end").expect_err("a refusal");
        assert_eq!(refused.words, "", "no words are announced");
    }

    #[test]
    fn an_acknowledgement_ends_the_answers() {
        assert!(matches!(refusal(&error(0, 0, &[])), Some(Ok(()))));
        let done = u16::try_from(libc::NLMSG_DONE).expect("it is small");
        assert!(matches!(refusal(&Message::new(done, 0).raw(&[0; 4]).finish(1)), Some(Ok(()))));
        assert!(refusal(&Message::new(36, 0).finish(1)).is_none());
    }
}
