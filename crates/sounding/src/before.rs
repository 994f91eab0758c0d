//! The default algorithm before this program changed it, in a file that outlives daemon and guard.
//!
//! If both are killed, the default stays, and the kernel names an algorithm that is no longer
//! registered. The next daemon finds it there, and here the default before it. The file belongs to
//! one network namespace and one algorithm. It holds the default before it, and the one before
//! that, as far as this program knows:
//!
//! ```text
//! /run/sounding/default-4026531840-biscay        reno
//! ```

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

use sounding_bpf::is_name;

/// Longer chains of defaults do not occur.
const MOST: usize = 8;

/// Keeps the default algorithm before `ours`, for this thread's network namespace.
pub(crate) fn keep(ours: &str, was: &str) -> io::Result<()> {
    let path = file_of(ours)?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut names = vec![was.to_owned()];
    names.extend(recall(was));
    names.truncate(MOST);
    // Never into an existing file: it may be a symbolic link that another user has made.
    remove(&path)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    file.write_all((names.join(" ") + "\n").as_bytes())
}

/// Forgets it: it has been restored, or another program has changed it since.
pub(crate) fn forget(ours: &str) -> io::Result<()> {
    remove(&file_of(ours)?)
}

/// The defaults before this algorithm, the latest first; empty if unknown.
pub(crate) fn recall(algorithm: &str) -> Vec<String> {
    read(algorithm).unwrap_or_default()
}

/// The default to go back to: `present`, or the latest before it that this kernel still has and
/// that is not `ours`.
pub(crate) fn living(
    present: &str,
    ours: &str,
    is_registered: impl Fn(&str) -> bool,
) -> Option<String> {
    let mut all = std::iter::once(present.to_owned()).chain(recall(present));
    all.find(|name| name != ours && is_registered(name))
}

/// The default to go back to from `ours`: `was`, or the latest before it that this kernel still
/// has. Entries of daemons that have ended since are removed.
pub(crate) fn back_from(
    ours: &str,
    was: &str,
    is_registered: impl Fn(&str) -> bool,
) -> Option<String> {
    let all = std::iter::once(was.to_owned()).chain(recall(ours));
    for name in all.filter(|name| name != ours) {
        if is_registered(&name) {
            return Some(name);
        }
        // A file that stays is harmless: it is read only for a default that is still there.
        let _ = forget(&name);
    }
    None
}

fn read(algorithm: &str) -> io::Result<Vec<String>> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(file_of(algorithm)?)?;
    let about = file.metadata()?;
    let own = nix::unistd::geteuid().as_raw();
    if !about.is_file() || about.uid() != own {
        return Ok(Vec::new());
    }
    let mut text = String::new();
    file.take(512).read_to_string(&mut text)?;
    Ok(text
        .split_whitespace()
        .take(MOST)
        .filter(|name| is_stock_name(name))
        .map(Into::into)
        .collect())
}

/// Linux's own algorithms may have a hyphen too, as `dctcp-reno` has.
fn is_stock_name(name: &str) -> bool {
    is_name(&name.replace('-', "_"))
}

fn remove(path: &PathBuf) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn file_of(algorithm: &str) -> io::Result<PathBuf> {
    if !is_name(algorithm) {
        return Err(io::Error::other(format!("{algorithm:?} is no name of an algorithm")));
    }
    let folder = sounding_host::runtime_folder()
        .ok_or_else(|| io::Error::other("no folder for it: set SOUNDING_RUN_DIR"))?;
    let namespace = fs::metadata("/proc/thread-self/ns/net")?.ino();
    Ok(folder.join(format!("default-{namespace}-{algorithm}")))
}
