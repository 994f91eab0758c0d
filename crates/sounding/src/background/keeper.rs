//! A second process that keeps the algorithm in the kernel as long as a process of the command
//! lives, and removes the cgroup after it. So nothing is left behind if this program is killed, and
//! the command's connections stay background.
//!
//! It is there before the cgroup, and hears of the cgroup's path before the cgroup is made.

use std::ffi::OsStr;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use miette::IntoDiagnostic;
use nix::errno::Errno;
use nix::sys::signal::{SigHandler, SigSet, Signal, signal};
use nix::sys::socket::{
    AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, recvmsg,
    sendmsg, socketpair,
};
use sounding_bpf::Background;

use crate::apart;

use super::cgroup::{Transient, is_populated, remove};

/// The hidden verb under which this program is its own keeper.
pub(crate) const VERB: &str = "background-keep";

/// Until the cgroup of a process that has ended is empty, the kernel needs some milliseconds.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often a keeper looks whether the last process has ended.
const LOOK: Duration = Duration::from_millis(100);
const SOON: Duration = Duration::from_millis(5);

/// How a message begins: the path of a cgroup that may be made from now on.
const CGROUP: u8 = b'c';
/// Descriptors to hold; behind it the number of the map and the name that outlast them, if there
/// are any.
const HOLD: u8 = b'h';

/// A path in a message, and the descriptors with it, are not longer.
const LONGEST: usize = 8192;
const MOST: usize = 16;

/// The keeper, from outside.
pub(super) struct Keeper {
    child: Child,
    socket: Option<OwnedFd>,
}

impl Keeper {
    /// Starts it in a separate session.
    pub(super) fn start() -> io::Result<Self> {
        let (ours, its) =
            socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
        let mut command = apart::under(VERB);
        // A reader may wait until the command's output is closed.
        command.stdin(Stdio::from(its)).stdout(Stdio::null()).stderr(Stdio::null());
        command.current_dir("/");
        // SAFETY: sigprocmask is async-signal-safe.
        unsafe {
            command.pre_exec(|| SigSet::empty().thread_set_mask().map_err(io::Error::from));
        }
        Ok(Self { child: command.spawn()?, socket: Some(ours) })
    }

    /// A cgroup will be made there. The keeper removes it when this process has ended, if it is
    /// there.
    pub(super) fn expect(&self, cgroup: &Path) -> io::Result<()> {
        self.tell(CGROUP, cgroup.as_os_str(), &[])
    }

    /// Hands over what keeps the algorithm in the kernel, and the cgroup locked.
    pub(super) fn hold(&self, loaded: &Background, cgroup: &Transient) -> io::Result<()> {
        let kept = loaded.keeps();
        let kept: Vec<RawFd> =
            kept.iter().map(AsRawFd::as_raw_fd).chain([cgroup.as_fd().as_raw_fd()]).collect();
        let outlasting = loaded.outlasting().map(|map| format!("{map} {}", loaded.name()));
        self.tell(HOLD, OsStr::new(&outlasting.unwrap_or_default()), &kept)
    }

    fn tell(&self, kind: u8, text: &OsStr, descriptors: &[RawFd]) -> io::Result<()> {
        let Some(socket) = &self.socket else { return Ok(()) };
        let kind = [kind];
        let words = [IoSlice::new(&kind), IoSlice::new(text.as_bytes())];
        let rights = [ControlMessage::ScmRights(descriptors)];
        let rights = if descriptors.is_empty() { &rights[..0] } else { &rights[..] };
        sendmsg::<()>(socket.as_raw_fd(), &words, rights, MsgFlags::MSG_NOSIGNAL, None)?;
        Ok(())
    }

    /// The command has ended. Waits until the keeper has removed the cgroup, unless a process that
    /// the command started goes on.
    pub(super) fn end(mut self, cgroup: &Transient) {
        drop(self.socket.take());
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            sleep(SOON);
        }
        if cgroup.is_populated() {
            eprintln!(
                "sounding: processes of the command go on, and their connections stay background"
            );
        }
    }
}

/// What a keeper has heard.
#[derive(Default)]
struct Kept {
    /// One that another process had made is asked for under another path.
    cgroup: Option<PathBuf>,
    outlasting: Option<(u32, String)>,
    descriptors: Vec<OwnedFd>,
}

/// The keeper.
pub(crate) fn main() -> miette::Result<()> {
    for ignored in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT] {
        // SAFETY: ignoring a signal installs no handler.
        unsafe { signal(ignored, SigHandler::SigIgn) }.into_diagnostic()?;
    }
    nix::sys::prctl::set_name(c"sounding").into_diagnostic()?;
    let mut kept = Kept::default();
    // It ends when the other end is closed, however that comes.
    while kept.hear(&io::stdin()).into_diagnostic()? {}
    let removed = kept.cgroup.as_deref().map_or(Ok(()), remove_after).into_diagnostic();
    if let Some((map, name)) = &kept.outlasting {
        sounding_bpf::unregister(name, *map).into_diagnostic()?;
    }
    removed
}

impl Kept {
    /// Takes one message in; `false` at the end.
    fn hear(&mut self, socket: &impl AsFd) -> io::Result<bool> {
        let mut text = [0; LONGEST];
        let mut space = nix::cmsg_space!([RawFd; MOST]);
        let (len, rights) = {
            let mut into = [IoSliceMut::new(&mut text)];
            let flags = MsgFlags::MSG_CMSG_CLOEXEC;
            let fd = socket.as_fd().as_raw_fd();
            let message = match recvmsg::<()>(fd, &mut into, Some(&mut space), flags) {
                Ok(message) => message,
                Err(Errno::EINTR) => return Ok(true),
                Err(error) => return Err(error.into()),
            };
            let rights: Vec<RawFd> = message
                .cmsgs()?
                .filter_map(|one| match one {
                    ControlMessageOwned::ScmRights(rights) => Some(rights),
                    _ => None,
                })
                .flatten()
                .collect();
            (message.bytes, rights)
        };
        // SAFETY: the kernel has just made these descriptors for this process.
        let rights = rights.into_iter().map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
        self.descriptors.extend(rights);
        match text.get(..len).and_then(<[u8]>::split_first) {
            None => return Ok(false),
            Some((&CGROUP, path)) => self.cgroup = Some(OsStr::from_bytes(path).into()),
            Some((_, outlasting)) => {
                let outlasting = String::from_utf8_lossy(outlasting);
                let outlasting = outlasting.split_once(' ');
                self.outlasting =
                    outlasting.and_then(|(map, name)| Some((map.parse().ok()?, name.to_owned())));
            }
        }
        Ok(true)
    }
}

/// Removes a cgroup when its last process has ended.
fn remove_after(cgroup: &Path) -> io::Result<()> {
    let begun = Instant::now();
    loop {
        let is_new = begun.elapsed() < PATIENCE;
        if !is_populated(cgroup) {
            match remove(cgroup) {
                // A process came meanwhile, or one is not gone yet.
                Err(_) if is_new || is_populated(cgroup) => {}
                removed => return removed,
            }
        }
        sleep(if is_new { SOON } else { LOOK });
    }
}
