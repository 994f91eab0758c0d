//! A cgroup that exists for one command.
//!
//! Its makers keep its folder locked. The kernel unlocks it when the last of them has ended, in any
//! way. A cgroup without a lock and without a process is therefore left behind, and the next start
//! removes it.

use std::collections::VecDeque;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use sounding_bpf::cgroup_root;

/// How all names begin.
const NAME: &str = "sounding-background-";

/// Other users reach the files in it, but cannot open the folder, and so cannot lock it.
const MODE: u32 = 0o711;

/// Cgroups that a start looks at: other users may make any number. Chosen.
const MOST: usize = 10_000;

/// The folder of a cgroup without processes. Dropping it removes it, if it has none.
pub(super) struct Transient {
    path: PathBuf,
    /// What it keeps locked.
    folder: File,
}

impl Transient {
    /// Makes it below `home`. `tell` gets each path before there is a cgroup: its receiver can then
    /// remove the cgroup at any moment at which this process ends.
    pub(super) fn make(
        home: &Path,
        mut tell: impl FnMut(&Path) -> io::Result<()>,
    ) -> io::Result<Self> {
        let random = RandomState::new();
        for attempt in 0..1000 {
            // The number of a process is another one's in another process namespace, and later
            // another one's here.
            let path = home.join(format!(
                "{NAME}{}-{:016x}",
                std::process::id(),
                random.hash_one(attempt)
            ));
            tell(&path)?;
            match DirBuilder::new().mode(MODE).create(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            // Another start may have taken it for one that was left behind.
            if let Some(folder) = lock(&path)? {
                return Ok(Self { path, folder });
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What a process writes 0 to, to enter.
    pub(super) fn entrance(&self) -> io::Result<File> {
        OpenOptions::new().write(true).open(self.path.join("cgroup.procs"))
    }

    pub(super) fn is_populated(&self) -> bool {
        is_populated(&self.path)
    }
}

impl AsFd for Transient {
    /// What keeps it from being taken for one that was left behind.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }
}

impl Drop for Transient {
    fn drop(&mut self) {
        // The keeper removes one that has processes when they have ended.
        let _ = remove(&self.path);
    }
}

/// The cgroup of this process.
pub(super) fn home() -> io::Result<PathBuf> {
    let root = cgroup_root().ok_or_else(|| io::Error::other("no cgroup v2 is mounted"))?;
    let lines = fs::read_to_string("/proc/self/cgroup")?;
    // The hierarchy of version 2 has number 0 and no controllers.
    let home = lines.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or_default();
    Ok(root.join(home.trim_start_matches('/')))
}

/// Removes what killed processes left behind, first in `home`, then in all cgroups.
pub(super) fn sweep(home: &Path) {
    let mut waiting: VecDeque<PathBuf> = [home.to_path_buf()].into();
    waiting.extend(cgroup_root());
    for _ in 0..MOST {
        let Some(folder) = waiting.pop_front() else { return };
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if entry.file_name().as_encoded_bytes().starts_with(NAME.as_bytes()) {
                sweep_one(&entry.path());
            } else {
                waiting.push_back(entry.path());
            }
        }
    }
}

fn sweep_one(path: &Path) {
    let own = nix::unistd::geteuid().as_raw();
    let is_own = |path: &Path| fs::symlink_metadata(path).is_ok_and(|about| about.uid() == own);
    // The lock is kept until it is removed: its maker, if there is one, then makes another.
    if is_own(path)
        && let Ok(Some(_lock)) = lock(path)
        && !is_populated(path)
    {
        let _ = remove(path);
    }
}

/// Locks a folder. `None` if another process has it, or if it is gone.
fn lock(path: &Path) -> io::Result<Option<File>> {
    let gone = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Ok(None),
        _ => Err(error),
    };
    let folder = match File::open(path) {
        Ok(folder) => folder,
        Err(error) => return gone(error),
    };
    match folder.try_lock() {
        Ok(()) => {}
        Err(fs::TryLockError::WouldBlock) => return Ok(None),
        Err(fs::TryLockError::Error(error)) => return Err(error),
    }
    match fs::metadata(path) {
        Ok(named) => Ok((named.ino() == folder.metadata()?.ino()).then_some(folder)),
        Err(error) => gone(error),
    }
}

/// Whether a process is in it, or in a cgroup below; `false` if it is gone.
pub(super) fn is_populated(path: &Path) -> bool {
    fs::read_to_string(path.join("cgroup.events"))
        .is_ok_and(|events| events.lines().any(|line| line == "populated 1"))
}

/// Removes a cgroup and those that the command made below it.
pub(super) fn remove(cgroup: &Path) -> io::Result<()> {
    for entry in fs::read_dir(cgroup).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove(&entry.path())?;
        }
    }
    match fs::remove_dir(cgroup) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
