//! Who has a device open.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use serde::Serialize;

use super::limits;
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
pub(crate) fn holders(device: &Path) -> io::Result<Vec<Holder>> {
    let Some(number) = device_number(device) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if pid != std::process::id() && has_open(pid, number)? {
            found.push(Holder { pid, name: name(pid) });
        }
    }
    found.sort_by_key(|holder| holder.pid);
    Ok(found)
}

fn device_number(path: &Path) -> Option<u64> {
    let metadata = fs::metadata(path).ok()?;
    metadata.file_type().is_char_device().then(|| metadata.rdev())
}

/// An error where this process cannot look, which says nothing of whether somebody has it.
fn has_open(pid: u32, number: u64) -> io::Result<bool> {
    let files = match fs::read_dir(format!("/proc/{pid}/fd")) {
        Ok(files) => files.flatten(),
        Err(error) if limits::is_one(&error) => return Err(error),
        // It has ended, or is another user's.
        Err(_) => return Ok(false),
    };
    // Following the link of a descriptor looks at the open file, and opens nothing.
    Ok(files.map(|file| file.path()).any(|path| device_number(&path) == Some(number)))
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
        let holders = |path: &Path| holders(path).expect("it may look");
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
        for path in ["/nowhere", "/tmp"] {
            assert_eq!(holders(Path::new(path)).expect("there is nothing to look for"), []);
        }
    }
}
