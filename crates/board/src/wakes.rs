//! The sockets of readers that want to be woken, and how many of them there may be.

use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::{UnixListener, UnixStream};

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, getsockopt, recv, send, sockopt::PeerCredentials};

/// The byte that a reader receives after a post.
const NEWS: u8 = 1;

/// Sent to a reader that is not accepted, before the socket ends: the writer lives, and has no
/// space for it.
pub(crate) const FULL: u8 = 2;

/// More readers than this are not woken: each costs a system call for every post.
const MOST: usize = 64;

/// More readers than this of one user are not, so that no user takes the place of all others.
/// Chosen.
const MAX_OF_A_USER: usize = 16;

/// Most new readers that one call accepts or turns away: a client that connects without end must
/// not keep the writer from its modem.
const MAX_AT_ONCE: usize = 16;

#[derive(Debug)]
pub(crate) struct Wakes {
    listener: UnixListener,
    readers: Vec<Reader>,
}

#[derive(Debug)]
struct Reader {
    user: u32,
    socket: UnixStream,
}

impl Wakes {
    /// `listener` does not block.
    pub(crate) fn new(listener: UnixListener) -> Self {
        Self { listener, readers: Vec::new() }
    }

    /// Wakes every reader, and forgets readers that have disconnected.
    pub(crate) fn wake(&mut self) {
        self.readers.retain(|reader| tell(&reader.socket, NEWS));
    }

    /// Accepts the clients that have connected, as far as there is space.
    pub(crate) fn let_in(&mut self) {
        let mut looked = false;
        for _ in 0..MAX_AT_ONCE {
            let Ok((socket, _)) = self.listener.accept() else { return };
            let (Ok(peer), Ok(())) =
                (getsockopt(&socket, PeerCredentials), socket.set_nonblocking(true))
            else {
                continue;
            };
            let user = peer.uid();
            if !self.has_room(user) && !looked {
                looked = true;
                self.readers.retain(Reader::is_there);
            }
            // Wake it at once, because it missed the posts since it connected.
            if !self.has_room(user) {
                tell(&socket, FULL);
            } else if tell(&socket, NEWS) {
                self.readers.push(Reader { user, socket });
            }
        }
    }

    fn has_room(&self, user: u32) -> bool {
        let of_user = self.readers.iter().filter(|reader| reader.user == user).count();
        self.readers.len() < MOST && of_user < MAX_OF_A_USER
    }
}

impl Reader {
    /// Readers send nothing. A readable socket means that its reader has disconnected.
    fn is_there(&self) -> bool {
        let flags = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
        match recv(self.socket.as_fd().as_raw_fd(), &mut [0], flags) {
            Ok(count) => count > 0,
            Err(errno) => matches!(errno, Errno::EAGAIN | Errno::EINTR),
        }
    }
}

/// Makes a reader's socket readable; whether the reader is still there.
fn tell(reader: &UnixStream, word: u8) -> bool {
    match send(reader.as_raw_fd(), &[word], MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL) {
        // A full socket is readable already.
        Ok(_) | Err(Errno::EAGAIN | Errno::EINTR) => true,
        Err(_) => false,
    }
}
