//! Where the socket of a port is, and whose folder that may be.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;

use crate::Source;

/// Folders that only root makes: those of a daemon that root started, and of the service.
const SYSTEM: [&str; 2] = ["/run/sounding", "/run/sounding-service"];

/// A port's name, without links.
pub(super) fn port(source: &Source) -> String {
    let place = match source.place() {
        Source::Path(path) => path.canonicalize().map_or(source.place().clone(), Source::Path),
        place => place.clone(),
    };
    place.to_string()
}

/// The name of its socket. Two ports may have the same one: the greeting tells them apart.
pub(super) fn file_name(port: &str) -> String {
    // The address of a socket has 107 bytes, and the folder needs some.
    const MOST: usize = 40;
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = port.chars().map(plain).collect();
    format!("records-{}", name[name.len().saturating_sub(MOST)..].trim_start_matches('-'))
}

/// Folders that may have the socket, if these processes hold the port.
pub(super) fn candidates(holders: &[u32]) -> Vec<PathBuf> {
    if std::env::var_os(sounding_host::RUNTIME_OVERRIDE).is_some() {
        return sounding_host::runtime_folder().into_iter().collect();
    }
    let mut folders: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    let users = holders.iter().filter_map(|process| user_of(*process));
    let theirs = users.map(|user| PathBuf::from(format!("/run/user/{user}/sounding")));
    for folder in sounding_host::runtime_folder().into_iter().chain(theirs) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

/// The user of a process.
fn user_of(process: u32) -> Option<u32> {
    fs::metadata(format!("/proc/{process}")).ok().map(|about| about.uid())
}

/// The owner of a folder whose sockets may be believed: it is root's, this user's, a holder's, or
/// one that root has made for the service. Others may not write there.
pub(super) fn owner(folder: &Path, holders: &[u32]) -> io::Result<Option<u32>> {
    let about = fs::symlink_metadata(folder)?;
    let user = about.uid();
    let is_known = user == 0
        || user == geteuid().as_raw()
        || holders.iter().any(|process| user_of(*process) == Some(user))
        || is_systems(folder);
    Ok((about.is_dir() && is_closed(&about) && is_known).then_some(user))
}

/// Whether it is a system's folder, and root alone decides whose.
fn is_systems(folder: &Path) -> bool {
    let roots = |about: Metadata| about.uid() == 0 && is_closed(&about);
    SYSTEM.iter().any(|known| Path::new(known) == folder)
        && folder.parent().and_then(|run| fs::symlink_metadata(run).ok()).is_some_and(roots)
}

/// Whether only its owner makes files there.
fn is_closed(about: &Metadata) -> bool {
    about.mode() & 0o022 == 0
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_folder_that_others_may_write_has_no_owner_to_believe() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("run");
        fs::create_dir(&folder).expect("a folder");
        for (mode, is_believed) in
            [(0o755, true), (0o700, true), (0o775, false), (0o757, false), (0o1777, false)]
        {
            fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).expect("it is ours");
            let found = owner(&folder, &[]).expect("it is there");
            assert_eq!(found, is_believed.then(|| geteuid().as_raw()), "{mode:o}");
        }
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("it is ours");
        let link = root.path().join("link");
        symlink(&folder, &link).expect("a link");
        assert_eq!(owner(&link, &[]).expect("it is there"), None, "a link");
    }

    #[test]
    fn a_name_leads_out_of_no_folder() {
        assert_eq!(file_name("/dev/ttyUSB0"), "records-dev-ttyUSB0");
        assert_eq!(file_name("tcp:[::1]:43555"), "records-tcp----1--43555");
        assert_eq!(file_name(&format!("/../{}", "ü/".repeat(60))).len(), "records-".len());
    }
}
