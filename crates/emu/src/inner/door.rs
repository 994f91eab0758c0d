//! The end of the emulator outside, which is root's.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, UnixAddr, accept4, bind, getsockopt, listen,
    socket, sockopt,
};
use nix::sys::stat::{Mode, umask};
use nix::unistd::{Pid, fchdir, geteuid, getpgid, setpgid};
use sounding_host::tool;

use super::message::{self, DESCRIPTORS, NAME, Wanted};
use crate::device::{self, Settings, tun_name};
use crate::outside::Outside;
use crate::{Names, Netns, RunAs, StartError, counters};

/// Links inside one another. Chosen: users of mahimahi nest some four.
const DEEPEST: u32 = 8;
/// Links of one emulation at a time, at all depths.
const MOST: usize = 32;
const MTU: u16 = 1500;
/// How often a door looks whether the emulation goes on, and whether a command does.
const LOOK_MS: u16 = 100;
const SOON_MS: u16 = 5;

/// Lets emulators in a namespace have links of their own. Dropping it ends them all.
#[derive(Debug)]
pub struct Door {
    house: Arc<House>,
    command: Arc<AtomicU32>,
}

/// What all doors of an emulation share.
#[derive(Debug)]
struct House {
    user: RunAs,
    names: Names,
    /// The far end of the outermost link.
    base: Ipv4Addr,
    links: AtomicUsize,
    stop: AtomicBool,
}

impl Door {
    /// Opens a door in `near` for processes that run as `user`. Their commands look names up as
    /// `names` says.
    ///
    /// # Errors
    ///
    /// The kernel's error.
    pub fn open(near: &Netns, user: RunAs, names: Names, base: Ipv4Addr) -> io::Result<Self> {
        let stop = AtomicBool::new(false);
        let house = Arc::new(House { user, names, base, links: AtomicUsize::new(0), stop });
        let command = Arc::default();
        open(near.try_clone()?, house.clone(), Arc::clone(&command), 1)?;
        Ok(Self { house, command })
    }

    /// The command in the namespace: a process is let in if it has the same view of files.
    pub fn let_in(&self, command: &Child) {
        self.command.store(command.id(), Ordering::Release);
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.house.stop.store(true, Ordering::Relaxed);
    }
}

/// Serves a namespace that is behind `depth` links.
fn open(near: Netns, house: Arc<House>, command: Arc<AtomicU32>, depth: u32) -> io::Result<()> {
    let listener = near.enter(|| -> nix::Result<OwnedFd> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let socket = socket(AddressFamily::Unix, SockType::SeqPacket, flags, None)?;
        bind(socket.as_raw_fd(), &UnixAddr::new_abstract(NAME)?)?;
        listen(&socket, Backlog::new(8)?)?;
        Ok(socket)
    });
    let listener = listener.map_err(io::Error::other)??;
    let serve = move || {
        while !house.stop.load(Ordering::Relaxed) && !is_over(&command) {
            if !is_readable(&listener, LOOK_MS) {
                continue;
            }
            let Ok(guest) = accept4(listener.as_raw_fd(), SockFlag::SOCK_CLOEXEC) else { continue };
            // SAFETY: the kernel has just made this descriptor for this process.
            let guest = unsafe { <OwnedFd as std::os::fd::FromRawFd>::from_raw_fd(guest) };
            let (near, house, command) = (near.try_clone(), house.clone(), command.clone());
            // If no thread starts, the guest sees the end of the socket.
            let _ = thread::Builder::new().name("emu-guest".into()).spawn(move || {
                let Ok(near) = near else { return };
                if house.links.fetch_add(1, Ordering::Relaxed) < MOST {
                    receive(&guest, &near, &house, &command, depth);
                } else {
                    refuse(&guest, "there are 32 links inside this one already");
                }
                house.links.fetch_sub(1, Ordering::Relaxed);
            });
        }
    };
    thread::Builder::new().name("emu-door".into()).spawn(serve)?;
    Ok(())
}

/// The mark of a command that has ended, in place of its number.
const OVER: u32 = u32::MAX;

fn is_over(command: &AtomicU32) -> bool {
    command.load(Ordering::Acquire) == OVER
}

fn is_readable(socket: &impl AsFd, up_to_ms: u16) -> bool {
    let mut sockets = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
    poll(&mut sockets, PollTimeout::from(up_to_ms)).is_ok_and(|ready| ready > 0)
}

fn refuse(guest: &OwnedFd, why: &str) {
    // It may be gone.
    let _ = message::send(guest, format!("refused {why}").as_bytes(), &[]);
}

fn receive(guest: &OwnedFd, near: &Netns, house: &Arc<House>, command: &AtomicU32, depth: u32) {
    let served = check(guest, house, command).and_then(|pid| {
        if depth >= DEEPEST {
            return Err(format!("{DEEPEST} links inside one another are the limit"));
        }
        serve(guest, pid, near, house, depth).map_err(|error| error.to_string())
    });
    if let Err(why) = served {
        refuse(guest, &why);
    }
}

/// The number of the process at the other end, if it may ask: it is the user's, and it is not in a
/// box that this service would lead out of.
fn check(guest: &OwnedFd, house: &House, command: &AtomicU32) -> Result<u32, String> {
    let peer = getsockopt(guest, sockopt::PeerCredentials).map_err(|error| error.to_string())?;
    let uid = match house.user {
        RunAs::User { uid, .. } => uid,
        _ => geteuid().as_raw(),
    };
    if peer.uid() != uid {
        return Err("this emulation is another user's".into());
    }
    let pid = peer.pid().cast_unsigned();
    let of = |pid: u32| -> io::Result<_> {
        let link = |name| std::fs::read_link(format!("/proc/{pid}/ns/{name}"));
        let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
        let filters = status.lines().filter(|line| line.starts_with("Seccomp"));
        let filters: Vec<String> = filters.map(str::to_owned).collect();
        let root = std::fs::read_link(format!("/proc/{pid}/root"))?;
        Ok((link("mnt")?, link("user")?, root, filters))
    };
    let is_same = || -> io::Result<bool> { Ok(of(command.load(Ordering::Acquire))? == of(pid)?) };
    // The command is named some moments after it has started.
    let mut tries = 0;
    while command.load(Ordering::Acquire) == 0 && tries < 200 {
        tries += 1;
        thread::sleep(Duration::from_millis(5));
    }
    match is_same() {
        Ok(true) => Ok(pid),
        Ok(false) => Err("this process is in a container or sandbox inside the emulation".into()),
        Err(error) => Err(format!("this process cannot be looked at ({error})")),
    }
}

/// A command, which ends with this, and with it everything that it has started.
struct Running {
    child: Child,
    number: Arc<AtomicU32>,
    status: Option<ExitStatus>,
}

impl Running {
    fn status(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() {
            self.status = self.child.try_wait()?;
        }
        Ok(self.status)
    }

    fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        // It is a child of this process and not waited for yet, so the number is still its own.
        let _ = kill(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGKILL);
        let status = self.child.wait()?;
        self.status = Some(status);
        Ok(status)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.number.store(OVER, Ordering::Release);
        let _ = self.end();
    }
}

fn serve(
    guest: &OwnedFd,
    pid: u32,
    outer: &Netns,
    house: &Arc<House>,
    depth: u32,
) -> Result<(), StartError> {
    let system = |doing| move |source: io::Error| StartError::System { doing, source };
    let broken = system("speak with the emulator inside");
    let inner = Netns::new().map_err(system("make a network namespace"))?;
    let (far_tun, outside) = Outside::make(outer, MTU, false)?;
    let settings = Settings {
        side: "near",
        name: &tun_name(0),
        is_default: true,
        address: outside.near,
        peer: outside.far,
        mtu: MTU,
        sysctls: &[],
    };
    let near_tun = device::create(&inner, &settings)?;
    let text = format!("link {} {} {}", outside.near, outside.far, house.base);
    message::send(guest, text.as_bytes(), &[near_tun.as_fd(), far_tun.as_fd()]).map_err(broken)?;
    // The link ends with the emulator inside.
    drop((near_tun, far_tun));
    let Some((bytes, given)) = message::receive(guest).map_err(broken)? else { return Ok(()) };
    let wrong = || broken(io::Error::from(io::ErrorKind::InvalidData));
    let wanted = Wanted::from_bytes(&bytes).ok_or_else(wrong)?;
    let given: [OwnedFd; DESCRIPTORS] = given.try_into().map_err(|_| wrong())?;
    let command = Arc::<AtomicU32>::default();
    let near = inner.try_clone().map_err(system("hold the namespace"))?;
    open(near, house.clone(), command.clone(), depth + 1).map_err(system("open a door"))?;
    let child = start(&inner, house, pid, &wanted, given);
    let child = child.map_err(system("start the command inside"))?;
    command.store(child.id(), Ordering::Release);
    let mut running = Running { child, number: command, status: None };
    let status = loop {
        if let Some(status) = running.status().map_err(broken)? {
            break status;
        }
        // A word of the emulator inside: it has ended, or wants the command to.
        if is_readable(guest, SOON_MS) || house.stop.load(Ordering::Relaxed) {
            break running.end().map_err(broken)?;
        }
    };
    message::send(guest, ended(status, &inner, outer, &outside).as_bytes(), &[]).map_err(broken)
}

/// A command's status, and the packets that the kernel dropped: before and after the link at the
/// near end, and at the far end.
fn ended(status: ExitStatus, inner: &Netns, outer: &Netns, outside: &Outside) -> String {
    let near = counters::read(inner, &tun_name(0)).unwrap_or_default();
    let far = counters::read(outer, &outside.device).unwrap_or_default();
    let [a, b, c, d] = [near.before_link, near.after_link, far.before_link, far.after_link];
    format!("ended {} {a} {b} {c} {d}", status.into_raw())
}

/// The variable that carries the command's environment past programs of root, which do not know it.
const ENVIRONMENT: &str = "SOUNDING_ENVIRONMENT";
const BECOME: &str =
    r#"exports=$SOUNDING_ENVIRONMENT; unset SOUNDING_ENVIRONMENT; eval "$exports"; exec "$@""#;

/// Starts the command. What it has of its user, it gets after it has become that user: programs of
/// root before it hear nothing of the environment.
fn start(
    inner: &Netns,
    house: &House,
    pid: u32,
    wanted: &Wanted,
    given: [OwnedFd; DESCRIPTORS],
) -> io::Result<Child> {
    let mut command: Command = inner.command_as(&house.user, house.names, tool("sh"));
    command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    // As a variable and not as arguments, which every user of the machine may read.
    command.env(ENVIRONMENT, wanted.exports());
    command.args(["-c", BECOME, "sh"]).args(&wanted.words);
    let [input, output, error, folder] = given;
    let group = getpgid(Some(Pid::from_raw(pid.cast_signed()))).ok();
    let (folder_fd, mask): (RawFd, _) =
        (folder.as_raw_fd(), Mode::from_bits_truncate(wanted.umask));
    let prepare = move || -> io::Result<()> {
        // SAFETY: the descriptor is open until the spawn has returned.
        fchdir(unsafe { std::os::fd::BorrowedFd::borrow_raw(folder_fd) })?;
        umask(mask);
        // So that the terminal's keys reach it. It cannot join a group of another session, and
        // then there are no keys.
        if let Some(group) = group {
            let _ = setpgid(Pid::from_raw(0), group);
        }
        Ok(())
    };
    // SAFETY: only system calls are made, which are safe after a fork.
    unsafe { command.pre_exec(prepare) };
    command.stdin(Stdio::from(input)).stdout(Stdio::from(output)).stderr(Stdio::from(error));
    let child = command.spawn();
    drop(folder);
    child
}
