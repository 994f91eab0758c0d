use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io, thread};

use super::cgroup::cgroup_root;

/// A cgroup with only this process and its children, for experiments that must not touch other
/// processes' sockets. Dropping it moves the process back; its children must have ended before.
#[derive(Debug)]
pub struct OwnCgroup {
    path: PathBuf,
    home: PathBuf,
}

impl OwnCgroup {
    /// Makes it below the current cgroup of this process, and moves the process there. Existing
    /// sockets stay in the old cgroup.
    ///
    /// # Errors
    ///
    /// The kernel's error, if no cgroup v2 is mounted, the name is taken, or this user may make no
    /// cgroup there.
    pub fn enter(name: &str) -> io::Result<Self> {
        let root = cgroup_root().ok_or_else(|| io::Error::other("no cgroup v2 is mounted"))?;
        let lines = fs::read_to_string("/proc/self/cgroup")?;
        // The hierarchy of version 2 has number 0 and no controllers.
        let home = lines.lines().find_map(|line| line.strip_prefix("0::"));
        let home = root.join(home.unwrap_or_default().trim_start_matches('/'));
        let path = home.join(name);
        fs::create_dir(&path)?;
        let own = Self { path, home };
        move_to(&own.path)?;
        Ok(own)
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for OwnCgroup {
    fn drop(&mut self) {
        let _ = move_to(&self.home);
        // A child that has just ended stays in the cgroup until the kernel has removed it.
        for _ in 0..100 {
            match fs::remove_dir(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    thread::sleep(Duration::from_millis(10));
                }
                _ => return,
            }
        }
    }
}

fn move_to(cgroup: &Path) -> io::Result<()> {
    fs::write(cgroup.join("cgroup.procs"), std::process::id().to_string())
}
