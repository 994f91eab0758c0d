//! The end of the emulator inside, which has no rights.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};
use nix::sys::stat::{Mode, umask};

use super::message::{self, NAME, Wanted};
use crate::KernelDrops;

/// Why an emulator outside gives no link.
#[derive(Debug, thiserror::Error)]
pub enum VisitError {
    /// It is none that gives links.
    #[error(
        "the emulator around this one gives no links ({0}): it is too old, or runs in another way than as \
         `sounding emu … -- COMMAND`"
    )]
    Absent(io::Error),
    /// It refuses.
    #[error("the emulator around this one refuses: {0}")]
    Refused(String),
    /// It has ended.
    #[error("the emulator around this one has ended or does not answer ({0})")]
    Broken(io::Error),
}

/// A link from the emulator outside: its devices, and the addresses at its ends.
#[derive(Debug)]
pub struct InnerLink {
    pub(crate) near_tun: OwnedFd,
    pub(crate) far_tun: OwnedFd,
    pub(crate) near: Ipv4Addr,
    pub(crate) far: Ipv4Addr,
}

/// The connection to the emulator outside. Its end ends the command.
#[derive(Debug)]
pub struct Visit {
    socket: OwnedFd,
    base: Ipv4Addr,
}

impl Visit {
    /// Asks the emulator around this process for a link inside its own.
    ///
    /// # Errors
    ///
    /// [`VisitError`] if none gives one.
    pub fn begin() -> Result<(Self, InnerLink), VisitError> {
        let asked = || -> nix::Result<OwnedFd> {
            let flags = SockFlag::SOCK_CLOEXEC;
            let socket = socket(AddressFamily::Unix, SockType::SeqPacket, flags, None)?;
            connect(socket.as_raw_fd(), &UnixAddr::new_abstract(NAME)?)?;
            Ok(socket)
        };
        let socket = asked().map_err(|error| VisitError::Absent(error.into()))?;
        let (text, tuns) = hear(&socket)?;
        let words: Vec<&str> = text.split(' ').collect();
        let address = |at: usize| -> Option<Ipv4Addr> { words.get(at)?.parse().ok() };
        let broken = || VisitError::Broken(io::ErrorKind::InvalidData.into());
        let (Some(near), Some(far), Some(base)) = (address(1), address(2), address(3)) else {
            return Err(broken());
        };
        let [near_tun, far_tun]: [OwnedFd; 2] = tuns.try_into().map_err(|_| broken())?;
        Ok((Self { socket, base }, InnerLink { near_tun, far_tun, near, far }))
    }

    /// The far end of the outermost link: the machine, or the server of `--far`.
    pub fn base(&self) -> Ipv4Addr {
        self.base
    }

    /// Has the command run behind the link, with this process's standard streams and folder.
    ///
    /// # Errors
    ///
    /// [`VisitError::Broken`] if the emulator outside does not take it.
    pub fn run(&self, words: Vec<OsString>, environment: Vec<OsString>) -> Result<(), VisitError> {
        let mask = umask(Mode::empty());
        umask(mask);
        let wanted = Wanted { umask: mask.bits(), words, environment };
        // It may be a folder that this user may enter and not list.
        let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
        let folder = OpenOptions::new().read(true).custom_flags(flags).open(".");
        let folder = folder.map_err(VisitError::Broken)?;
        let (input, output, error) = (io::stdin(), io::stdout(), io::stderr());
        let fds = [input.as_fd(), output.as_fd(), error.as_fd(), folder.as_fd()];
        message::send(&self.socket, &wanted.to_bytes(), &fds).map_err(VisitError::Broken)
    }

    /// The command's status and the kernel's drops once it has ended, `None` before.
    ///
    /// # Errors
    ///
    /// [`VisitError`] if the emulator outside has ended or could not start the command.
    pub fn poll_end(&self) -> Result<Option<(ExitStatus, [KernelDrops; 2])>, VisitError> {
        let mut sockets = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        if !poll(&mut sockets, PollTimeout::ZERO).is_ok_and(|ready| ready > 0) {
            return Ok(None);
        }
        self.wait().map(Some)
    }

    /// Ends the command.
    ///
    /// # Errors
    ///
    /// As [`poll_end`](Self::poll_end).
    pub fn end(&self) -> Result<(ExitStatus, [KernelDrops; 2]), VisitError> {
        message::send(&self.socket, b"end", &[]).map_err(VisitError::Broken)?;
        self.wait()
    }

    fn wait(&self) -> Result<(ExitStatus, [KernelDrops; 2]), VisitError> {
        let (text, _) = hear(&self.socket)?;
        let numbers: Vec<u64> = text.split(' ').filter_map(|word| word.parse().ok()).collect();
        let [status, a, b, c, d] = numbers[..] else {
            return Err(VisitError::Broken(io::ErrorKind::InvalidData.into()));
        };
        let status = ExitStatus::from_raw(i32::try_from(status).unwrap_or(-1));
        let up = KernelDrops { before_link: a, after_link: d };
        let down = KernelDrops { before_link: c, after_link: b };
        Ok((status, [up, down]))
    }
}

fn hear(socket: &OwnedFd) -> Result<(String, Vec<OwnedFd>), VisitError> {
    let heard = message::receive(socket).map_err(VisitError::Broken)?;
    let ended = || VisitError::Broken(io::ErrorKind::UnexpectedEof.into());
    let (bytes, fds) = heard.ok_or_else(ended)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    match text.strip_prefix("refused ") {
        Some(why) => Err(VisitError::Refused(why.into())),
        None => Ok((text, fds)),
    }
}
