//! The rate that a link last carried, in a file for the next start: its base, where none is given.
//!
//! ```text
//! /var/lib/sounding/base-uplink-wwan0        7300000 bit/s
//! ```
//!
//! Root writes there, so only a folder of this user's own counts, and no link is followed.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{OFlag, openat, renameat};
use nix::sys::stat::Mode;
use nix::unistd::{UnlinkatFlags, unlinkat};
use sounding_kpi::Direction;
use sounding_shape::{Decision, Limits};
use sounding_units::{HostInstant, Rate};

use super::MAX;
use super::carried::Carried;
use super::state_folder::state_folder;

/// More bytes than a rate has.
const LONGEST: u64 = 64;
const UNIT: &str = " bit/s";

/// A program that is killed loses no more than this.
const KEPT_EVERY: Duration = Duration::from_secs(60);
/// A file is not written again for less of a change than one in so many. A router's flash wears.
const CHANGE: u64 = 20;

/// What a link carried, and its file.
#[derive(Debug)]
pub(super) struct Remembered {
    carried: Carried,
    /// In the file.
    kept: Option<Rate>,
    /// `None` if it cannot be written, or is not to be.
    file: Option<Place>,
    looked_at: Option<HostInstant>,
    /// Why nothing is read or written, until that is reported.
    wrong: Option<String>,
}

impl Remembered {
    /// What an earlier run left about a device. A file that is none is reported, and replaced.
    pub(super) fn read(direction: Direction, device: Option<&str>, writes: bool) -> Self {
        let opened = device.map(|device| Place::open(direction, device, writes)).transpose();
        let (file, kept, wrong) = match opened {
            Ok(None | Some(None)) => (None, None, None),
            Ok(Some(Some(place))) => match place.read() {
                Ok(kept) => (Some(place), kept, None),
                Err(error) => {
                    let wrong = format!("{}: {error}", place.path().display());
                    (Some(place), None, Some(wrong))
                }
            },
            Err(wrong) => (None, None, Some(wrong)),
        };
        let (carried, file) = (Carried::new(kept), file.filter(|_| writes));
        Self { carried, kept, file, looked_at: None, wrong }
    }

    /// The rate that the link carries; `None` if it is unknown.
    pub(super) fn rate(&self) -> Option<Rate> {
        self.carried.rate()
    }

    pub(super) fn handle(&mut self, decision: Decision) {
        self.carried.handle(decision);
    }

    /// Writes the file if it is due.
    pub(super) fn attend(&mut self, now: HostInstant) {
        let looked_at = *self.looked_at.get_or_insert(now);
        if now - looked_at >= KEPT_EVERY {
            self.looked_at = Some(now);
            // The loop that sets rates does not wait for a disk.
            self.write(false);
        }
    }

    /// Why nothing is kept; said once.
    pub(super) fn poll_wrong(&mut self) -> Option<String> {
        self.wrong.take()
    }

    fn write(&mut self, syncs: bool) {
        let (Some(file), Some(rate)) = (&self.file, self.carried.rate()) else { return };
        let (new, old) = (rate.bits_per_sec(), self.kept.unwrap_or_default().bits_per_sec());
        if new.abs_diff(old) <= old / CHANGE {
            return;
        }
        match file.write(rate, syncs) {
            Ok(()) => self.kept = Some(rate),
            Err(error) => {
                self.wrong = Some(format!("{}: {error}", file.path().display()));
                self.file = None;
            }
        }
    }
}

impl Drop for Remembered {
    fn drop(&mut self) {
        self.write(true);
        if let Some(wrong) = self.wrong.take() {
            eprintln!("sounding: {wrong}: the link's rate is not kept");
        }
    }
}

/// A file in an open folder: who replaces the folder later gets nothing.
#[derive(Debug)]
struct Place {
    folder: OwnedFd,
    at: PathBuf,
    name: String,
}

impl Place {
    /// The file of a device in the folder of this user. `None` if there is no folder and none
    /// is `made`.
    fn open(direction: Direction, device: &str, made: bool) -> Result<Option<Self>, String> {
        if device.is_empty() || device.contains('/') {
            return Err(format!("{device:?} is no name of a device"));
        }
        let at = state_folder().ok_or("no folder for the link's rate: set SOUNDING_STATE_DIR")?;
        let wrong = |error: io::Error| format!("{}: {error}", at.display());
        if made {
            at.parent().map_or(Ok(()), fs::create_dir_all).map_err(wrong)?;
            match DirBuilder::new().mode(0o700).create(&at) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(wrong(error));
                }
                _ => {}
            }
        }
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW);
        let folder = match options.open(&at) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(wrong)?,
        };
        let about = folder.metadata().map_err(wrong)?;
        if !is_own(&about) || about.mode() & 0o022 != 0 {
            let why = "it is no folder that only this user writes: set SOUNDING_STATE_DIR";
            return Err(format!("{}: {why}", at.display()));
        }
        let name = format!("base-{direction}-{device}");
        Ok(Some(Self { folder: folder.into(), at, name }))
    }

    fn path(&self) -> PathBuf {
        self.at.join(&self.name)
    }

    /// Its rate; `None` if there is no file.
    fn read(&self) -> io::Result<Option<Rate>> {
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let other = |why: &str| io::Error::other(format!("{why}: it is not believed"));
        let file = match openat(&self.folder, self.name.as_str(), flags, Mode::empty()) {
            Err(Errno::ENOENT) => return Ok(None),
            Err(Errno::ELOOP) => return Err(other("it is a link")),
            opened => File::from(opened?),
        };
        let about = file.metadata()?;
        if !about.is_file() || !is_own(&about) {
            return Err(other("it is no file of this user's own"));
        }
        let mut text = Vec::new();
        file.take(LONGEST).read_to_end(&mut text)?;
        let rate = str::from_utf8(&text).ok().and_then(|text| text.trim_end().strip_suffix(UNIT));
        let rate = rate.and_then(|bits| bits.parse().ok()).map(Rate::from_bits_per_sec);
        let rate = rate.filter(|rate| (Limits::LEAST..=MAX).contains(rate));
        rate.map(Some).ok_or_else(|| other("it has no rate in bit/s"))
    }

    /// A reader finds the old rate or the new one.
    fn write(&self, rate: Rate, syncs: bool) -> io::Result<()> {
        let draft = format!(".{}", self.name);
        match unlinkat(&self.folder, draft.as_str(), UnlinkatFlags::NoRemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_CLOEXEC;
        let mode = Mode::S_IRUSR | Mode::S_IWUSR;
        let mut file = File::from(openat(&self.folder, draft.as_str(), flags, mode)?);
        file.write_all(format!("{}{UNIT}\n", rate.bits_per_sec()).as_bytes())?;
        if syncs {
            file.sync_all()?;
        }
        Ok(renameat(&self.folder, draft.as_str(), &self.folder, self.name.as_str())?)
    }
}

fn is_own(about: &fs::Metadata) -> bool {
    about.uid() == nix::unistd::geteuid().as_raw()
}
