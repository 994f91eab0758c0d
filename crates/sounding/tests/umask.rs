//! Files that identify a person are their owner's alone, under any umask of the process.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::stat::{Mode, umask};
use sounding_testbed::radio::RadioLink;

/// The modes of what the verbs write with this umask.
fn written_with(mask: u32, folder: &Path) {
    for arguments in [
        &["record", "drive.qmdl", "out.qmdl"][..],
        &["convert", "drive.qmdl", "out.jsonl", "--no-redact"],
    ] {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
        command.args(arguments).current_dir(folder).stdin(Stdio::null());
        // SAFETY: umask is async-signal-safe, and touches nothing but the child.
        unsafe {
            command.pre_exec(move || {
                umask(Mode::from_bits_truncate(mask));
                Ok(())
            });
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?} with umask {mask:03o}: {said}");
        let out = folder.join(arguments[2]);
        let mode = std::fs::metadata(&out).unwrap().permissions().mode() & 0o7777;
        // A mask can take away rights of the owner too.
        assert_eq!(mode, 0o600 & !mask, "{arguments:?} with umask {mask:03o}");
        std::fs::remove_file(out).unwrap();
    }
}

fn all(masks: impl IntoIterator<Item = u32>) {
    let folder = tempfile::tempdir().unwrap();
    let capture = RadioLink::generated(5, Duration::from_secs(1)).unwrap().capture;
    std::fs::write(folder.path().join("drive.qmdl"), capture).unwrap();
    masks.into_iter().for_each(|mask| written_with(mask, folder.path()));
}

#[test]
fn files_with_identities_are_their_owners_alone_under_usual_umasks_and_none() {
    all([0o000, 0o002, 0o007, 0o022, 0o027, 0o077]);
}

mod long {
    #[test]
    #[ignore = "a minute"]
    fn files_with_identities_are_their_owners_alone_under_every_umask() {
        super::all(0..=0o777);
    }
}
