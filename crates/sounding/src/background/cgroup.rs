//! A cgroup that exists for one command.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use sounding_bpf::cgroup_root;

/// The folder of a cgroup without processes. Dropping it removes it, if it has none.
pub(super) struct Transient {
    path: PathBuf,
}

impl Transient {
    /// Makes it below the cgroup of this process.
    pub(super) fn make(name: &str) -> io::Result<Self> {
        let root = cgroup_root().ok_or_else(|| io::Error::other("no cgroup v2 is mounted"))?;
        let lines = fs::read_to_string("/proc/self/cgroup")?;
        // The hierarchy of version 2 has number 0 and no controllers.
        let home = lines.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or_default();
        let home = root.join(home.trim_start_matches('/'));
        // A process of another process namespace may have this number too.
        let id = std::process::id();
        for more in 0..1000 {
            let path = home.join(format!("{name}-{id}-{more}"));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
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

impl Drop for Transient {
    fn drop(&mut self) {
        // The keeper removes one that has processes when they have ended.
        let _ = fs::remove_dir(&self.path);
    }
}

/// Whether a process is in it, or in a cgroup below; `false` if it is gone.
pub(super) fn is_populated(path: &Path) -> bool {
    fs::read_to_string(path.join("cgroup.events"))
        .is_ok_and(|events| events.lines().any(|line| line == "populated 1"))
}
