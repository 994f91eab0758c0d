//! Shapers that a killed keeper has left, and their files.
//!
//! ```text
//! /run/sounding/shape-1-wwan0        how wwan0 was before, and the rates that were set last
//! ```
//!
//! The number is the network namespace's. The keeper holds its files locked. A file that can be
//! locked belongs to a killed keeper.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use sounding_qdisc::{Before, Restored, Tc};

/// No state is longer.
const LONGEST: u64 = 256 << 10;

/// A file that outlives this process, locked.
#[derive(Debug)]
pub(super) struct Note {
    path: PathBuf,
    file: Flock<File>,
    /// The place of the rates in it.
    rates_at: u64,
}

impl Note {
    /// Keeps how a device was. An earlier note of the same keeper is replaced.
    pub(super) fn keep(before: &Before) -> io::Result<Self> {
        let path = file_of(before.device())?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        // The whole note has the name, or nothing has: others may look at any time.
        let draft = path.with_file_name(format!(".shape-{}", std::process::id()));
        // Never into an existing file: it may be a symbolic link that another user has made.
        remove(&draft)?;
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        let kept = Self::write(file, before)
            .and_then(|(file, rates_at)| fs::rename(&draft, &path).map(|()| (file, rates_at)));
        match kept {
            Ok((file, rates_at)) => Ok(Self { path, file, rates_at }),
            Err(error) => {
                // Each start would leave one on a full disk.
                let _ = remove(&draft);
                Err(error)
            }
        }
    }

    fn write(file: File, before: &Before) -> io::Result<(Flock<File>, u64)> {
        let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock);
        let mut file = lock.map_err(|(_, error)| error)?;
        let mut text = serde_json::to_vec(before)?;
        text.push(b'\n');
        let rates_at = text.len() as u64;
        text.extend(rates_line([0; 2]).as_bytes());
        file.write_all(&text)?;
        Ok((file, rates_at))
    }

    /// From now on the kernel has one of these rates, in bytes a second.
    pub(super) fn tell(&self, rates: [u64; 2]) -> io::Result<()> {
        // One write of one length: a kill leaves the line before or this one.
        self.file.write_all_at(rates_line(rates).as_bytes(), self.rates_at)
    }

    /// The machine is as it was.
    pub(super) fn forget(self) -> io::Result<()> {
        remove(&self.path)
    }
}

fn rates_line(rates: [u64; 2]) -> String {
    let [before, after] = rates;
    format!("{before:020} {after:020}\n")
}

/// Whether a living keeper has this device.
pub(super) fn is_kept(device: &str) -> bool {
    let opened = file_of(device).and_then(|path| open(&path));
    opened.is_ok_and(|file| Flock::lock(file, FlockArg::LockExclusiveNonblock).is_err())
}

/// Whether a living keeper has any device of this namespace, except these of this process's own.
pub(super) fn is_any_kept(own: &[String]) -> bool {
    let devices = notes().unwrap_or_default().into_iter().filter_map(|path| {
        let (_, device) = path.file_name()?.to_str()?.split_once('-')?.1.split_once('-')?;
        Some(device.to_owned())
    });
    devices.into_iter().any(|device| !own.contains(&device) && is_kept(&device))
}

/// The notes of this namespace.
fn notes() -> io::Result<Vec<PathBuf>> {
    let Some(folder) = sounding_host::runtime_folder() else { return Ok(Vec::new()) };
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let prefix = prefix()?;
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.retain(|name| name.to_str().is_some_and(|name| name.starts_with(&prefix)));
    names.sort();
    Ok(names.into_iter().map(|name| folder.join(name)).collect())
}

/// Restores devices that a keeper was killed over, with all that it says of each. It takes
/// CAP_NET_ADMIN. A living keeper's devices are left alone.
///
/// # Errors
///
/// The folder cannot be read, or a socket cannot be opened. A device that cannot be restored is a
/// line of the answer.
pub(crate) fn restore_left() -> io::Result<Vec<String>> {
    let notes = notes()?;
    if notes.is_empty() {
        return Ok(Vec::new());
    }
    let tc = Tc::open().map_err(io::Error::other)?;
    Ok(notes.iter().filter_map(|note| restore_one(&tc, note)).collect())
}

fn restore_one(tc: &Tc, path: &Path) -> Option<String> {
    let of = |what: &str| Some(format!("{}: {what}", path.display()));
    let file = match open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => return of(&format!("{error}: remove it if nothing is left to restore")),
        Ok(file) => file,
    };
    // A living keeper's.
    let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock).ok()?;
    let mut text = Vec::new();
    let read = (&*lock).take(LONGEST).read_to_end(&mut text);
    let (before, rates) = match read.map_err(|e| e.to_string()).and_then(|_| parse(&text)) {
        Ok(found) => found,
        Err(error) => return of(&format!("{error}: it is no note of a shaper: remove it")),
    };
    let device = before.device();
    let said = match before.restore_after(tc, Some(&rates)) {
        Err(error) => return Some(format!("not restored: {error}")),
        Ok(Restored::Restored) => Some(format!("{device}: restored after a kill")),
        Ok(Restored::Others) => {
            Some(format!("{device}: not restored: another program has changed its shaper since"))
        }
        Ok(Restored::Nothing) => None,
    };
    if let Err(error) = remove(path) {
        return of(&format!("{error}"));
    }
    said
}

/// How a device was, and the rates that were set last.
fn parse(text: &[u8]) -> Result<(Before, Vec<u64>), String> {
    let mut lines = text.split(|byte| *byte == b'\n');
    let before = serde_json::from_slice(lines.next().unwrap_or_default());
    let rates = std::str::from_utf8(lines.next().unwrap_or_default());
    let rates = rates.map_err(|error| error.to_string())?;
    let rates: Result<Vec<u64>, _> = rates.split_whitespace().map(str::parse).collect();
    Ok((before.map_err(|e| e.to_string())?, rates.map_err(|e| e.to_string())?))
}

/// A note, if it is this user's own file.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(path)?;
    let about = file.metadata()?;
    if about.is_file() && about.uid() == nix::unistd::geteuid().as_raw() {
        return Ok(file);
    }
    Err(io::Error::other("it is no file of this user's own"))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn prefix() -> io::Result<String> {
    let namespace = match namespace_cookie() {
        Ok(cookie) => cookie,
        // Before Linux 5.14.
        Err(_) => fs::metadata("/proc/thread-self/ns/net")?.ino(),
    };
    Ok(format!("shape-{namespace}-"))
}

/// The number of this network namespace, which no other one gets. The number of its file goes to
/// another one after its end.
fn namespace_cookie() -> io::Result<u64> {
    let socket = UnixDatagram::unbound()?;
    let mut cookie: u64 = 0;
    let mut len = size_of::<u64>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `len` bytes to `cookie`.
    let asked = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_NETNS_COOKIE,
            (&raw mut cookie).cast(),
            &raw mut len,
        )
    };
    if asked == 0 { Ok(cookie) } else { Err(io::Error::last_os_error()) }
}

fn file_of(device: &str) -> io::Result<PathBuf> {
    let folder = sounding_host::runtime_folder()
        .ok_or_else(|| io::Error::other("no folder for it: set SOUNDING_RUN_DIR"))?;
    if device.contains('/') {
        return Err(io::Error::other(format!("{device:?} is no name of a device")));
    }
    Ok(folder.join(prefix()? + device))
}
