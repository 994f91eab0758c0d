//! Links that outlive the process that made them: in a bpffs that is already mounted for such
//! processes, else in one that is mounted for this process and goes with it.

use std::env::var_os;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use libbpf_rs::Link;
use nix::mount::{MntFlags, MsFlags, mount, umount2};

use super::error::DownlinkError;
use super::walk::exhaust;
use super::{claim, claims, pins_of};

/// Names a bpffs in which a process keeps its pins that has no right to mount one.
const GIVEN: &str = "SOUNDING_BPFFS";

const ATTACHED: &str = "downlink";
const RELEASE: &str = "release";

/// The longest that the feed of a killed writer is fresh. A socket that is released earlier is
/// taken again with its next acknowledgement, on kernels where only the socket itself can end that
/// (Linux before 6.12).
const FRESH_AT_MOST: Duration = Duration::from_millis(100);

/// The bpffs that was mounted for processes like this one, if one was.
pub(super) fn given() -> Option<PathBuf> {
    var_os(GIVEN).map(PathBuf::from)
}

/// Pins both links under an unused name, and returns where.
pub(super) fn pin(
    name: &str,
    attached: &mut Link,
    release: &mut Link,
) -> Result<PathBuf, DownlinkError> {
    let path = pins_of(name);
    // Pins of a daemon that was killed together with its guard.
    release_pinned(&path).map_err(|source| DownlinkError::Pin { path: path.clone(), source })?;
    match pin_in(&path, attached, release) {
        Ok(()) => Ok(path),
        Err(source) => {
            let _ = unpin(&path);
            Err(DownlinkError::Pin { path, source })
        }
    }
}

fn pin_in(path: &Path, attached: &mut Link, release: &mut Link) -> io::Result<()> {
    fs::create_dir_all(path)?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    let mount = || mount(Some("bpf"), path, Some("bpf"), flags, Some("mode=0700"));
    if given().is_none()
        && let Err(refused) = mount()
    {
        // Without the right to mount there is none to unmount either, and the folder could not be
        // removed.
        let _ = fs::remove_dir(path);
        return Err(refused.into());
    }
    release.pin(path.join(RELEASE)).map_err(io::Error::other)?;
    attached.pin(path.join(ATTACHED)).map_err(io::Error::other)
}

/// Puts back what an instance had changed that was pinned there and whose process is gone, in the
/// sockets of this thread's network namespace, and takes the pins away. Nothing to do is no error.
///
/// # Errors
///
/// The kernel's error, if it refuses the pins or the walk over its sockets.
pub fn release_pinned(path: &Path) -> io::Result<()> {
    match File::open(path.join(RELEASE)) {
        // Opening a pinned walk makes one, reading it lets it go.
        Ok(mut walk) => {
            thread::sleep(FRESH_AT_MOST);
            exhaust(&mut walk)?;
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    unpin(path)?;
    claim::sweep(&claims())
}

/// Takes the pins away, and with the last of them the program. The files first: another mount
/// namespace may have this bpffs too, and would keep them.
pub(super) fn unpin(path: &Path) -> io::Result<()> {
    for name in [ATTACHED, RELEASE] {
        match fs::remove_file(path.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    if given().is_none() {
        match umount2(path, MntFlags::MNT_DETACH) {
            // Not there, or not a mount.
            Ok(()) | Err(nix::errno::Errno::ENOENT | nix::errno::Errno::EINVAL) => {}
            Err(error) => return Err(error.into()),
        }
    }
    match fs::remove_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    Ok(())
}
