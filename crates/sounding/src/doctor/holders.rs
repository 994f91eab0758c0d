//! Who has a device open.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use serde::Serialize;

use crate::screen;

/// A process that has a device open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Holder {
    pub(crate) pid: u32,
    /// As the kernel knows it, up to 15 characters.
    pub(crate) name: String,
}

/// Every other process that has the device open, as far as this one may look. The device is what counts, not the name
/// that it was opened by.
pub(crate) fn holders(device: &Path) -> Vec<Holder> {
    let Some(number) = device_number(device) else { return Vec::new() };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut found: Vec<Holder> = processes
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|&pid| pid != std::process::id() && has_open(pid, number))
        .map(|pid| Holder { pid, name: name(pid) })
        .collect();
    found.sort_by_key(|holder| holder.pid);
    found
}

fn device_number(path: &Path) -> Option<u64> {
    let metadata = fs::metadata(path).ok()?;
    metadata.file_type().is_char_device().then(|| metadata.rdev())
}

fn has_open(pid: u32, number: u64) -> bool {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    // Following the link of a descriptor looks at the open file, and opens nothing.
    files.map(|file| file.path()).any(|path| device_number(&path) == Some(number))
}

fn name(pid: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    // A process calls itself what it likes.
    screen::inline(name.trim()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sounding_modem::Pty;
    use std::fs::File;
    use std::process::{Command, Stdio};

    #[test]
    fn the_process_that_has_a_tty_open_is_named() {
        let pty = Pty::create(None).expect("a pty");
        assert_eq!(holders(pty.path()), []);
        let tty = File::options().read(true).write(true).open(pty.path()).expect("opens");
        assert_eq!(holders(pty.path()), [], "this process is not meant");
        let mut child = Command::new("sleep")
            .arg("60")
            .stdin(tty)
            .stdout(Stdio::null())
            .spawn()
            .expect("starts");
        let found = holders(pty.path());
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].pid, child.id());
    }

    #[test]
    fn what_is_no_device_is_held_by_nobody() {
        assert_eq!(holders(Path::new("/nowhere")), []);
        assert_eq!(holders(Path::new("/tmp")), []);
    }
}
