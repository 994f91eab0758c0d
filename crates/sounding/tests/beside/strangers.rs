//! Other users of the machine: who may not open the port, and who poses as its holder.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt as _;
use std::path::Path;

use sounding_testdata::{Need, STRANGER, as_stranger, copy_program, skip};

use crate::rig::{Rig, text};

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_user_who_may_not_open_the_port_may_not_look_either() {
    if !nix::unistd::geteuid().is_root() {
        return skip(Need::Root, "root is needed, to act as another user");
    }
    let rig = Rig::plain();
    set_mode(rig.folder.path(), 0o755);
    set_mode(&rig.path("run"), 0o755);
    let copy = rig.path("sounding");
    copy_program(assert_cmd::cargo::cargo_bin!("sounding"), &copy);
    set_mode(&copy, 0o755);
    let folder = rig.path("strangers");
    fs::create_dir(&folder).unwrap();
    std::os::unix::fs::chown(&folder, Some(STRANGER), Some(STRANGER)).unwrap();
    let record = |name: &str, group: Option<u32>| {
        let mut command = std::process::Command::new(&copy);
        let groups: Vec<_> = group.map(nix::unistd::Gid::from_raw).into_iter().collect();
        command.arg("record").arg(rig.path("modem")).arg(folder.join(name)).args(["--for", "1s"]);
        command.env("SOUNDING_RUN_DIR", rig.path("run")).stdin(std::process::Stdio::null());
        // SAFETY: these calls are async-signal-safe and touch nothing but the child.
        unsafe {
            command.pre_exec(move || {
                nix::unistd::setgroups(&groups)?;
                nix::unistd::setgid(STRANGER.into())?;
                Ok(nix::unistd::setuid(STRANGER.into())?)
            });
        }
        command.output().unwrap()
    };
    // The port's group, as `dialout` is on most systems.
    const GROUP: u32 = STRANGER + 1;
    std::os::unix::fs::chown(rig.path("modem"), None, Some(GROUP)).unwrap();
    set_mode(&rig.path("modem"), 0o660);
    for (name, group) in [("refused.qmdl", None), ("other.qmdl", Some(GROUP + 1))] {
        let output = record(name, group);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("may not open the port"), "{said}");
        assert!(!folder.join(name).exists());
    }
    for (mode, group) in [(0o660, Some(GROUP)), (0o666, None)] {
        set_mode(&rig.path("modem"), mode);
        let output = record(&format!("read-{mode:o}.qmdl"), group);
        let said = text(&output.stderr);
        assert!(output.status.success() && said.contains("is read beside"), "{mode:o}: {said}");
    }
}

#[test]
fn the_socket_of_an_impostor_is_not_read() {
    let rig = Rig::plain();
    let other = rig.path("other");
    fs::create_dir(&other).unwrap();
    set_mode(rig.folder.path(), 0o755);
    set_mode(&other, 0o777);
    let path = other.join(rig.socket().file_name().unwrap());
    let Some(bound) = as_stranger(|| UnixListener::bind(&path)) else { return };
    let _listener = bound.unwrap();
    let record = || {
        let mut command = rig.command(&["record", "modem", "out.qmdl", "--for", "1s"]);
        command.env("SOUNDING_RUN_DIR", &other).output().unwrap()
    };
    for (mode, why) in [(0o777, "other users may write there"), (0o755, "does not hold the port")] {
        set_mode(&other, mode);
        let output = record();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        // The error may be broken into lines.
        let words =
            said.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(words.contains(why), "{said}");
        assert!(!rig.path("out.qmdl").exists());
    }
}

#[test]
fn a_folder_that_others_may_write_gets_no_socket() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    fs::create_dir(&run).unwrap();
    set_mode(&run, 0o777);
    let pty = sounding_modem::Pty::create(Some(&folder.path().join("modem"))).unwrap();
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
    command.args(["run", "--law", "none", "--feed", "wan", "--json", "--device", "modem"]);
    command.current_dir(folder.path()).env("SOUNDING_RUN_DIR", &run);
    command.env("SOUNDING_BOARD_DIR", folder.path().join("boards"));
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
    let mut daemon = sounding_testdata::Running(command.spawn().unwrap());
    let out = std::io::BufReader::new(daemon.stdout.take().unwrap());
    let mut lines = std::io::BufRead::lines(out).map_while(Result::ok);
    let line = lines.find(|line| line.contains("not_beside")).unwrap();
    assert!(line.contains("other users may write there"), "{line}");
    let mut sockets = fs::read_dir(&run).unwrap().flatten();
    assert!(sockets.all(|file| !file.file_name().to_string_lossy().contains("records")));
    drop(pty);
}
