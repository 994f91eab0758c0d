//! What another user of the machine can read or do, a bridge that closes at once, and a machine
//! without free resources.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::fs::{self, File, Permissions};
use std::io;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use sounding_testbed::radio::RadioLink;
use sounding_testdata::{Need, STRANGER, as_stranger, on_small_disk, skip, write_script};

fn program() -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
    command.stdin(Stdio::null()).env_remove("SUDO_UID").env_remove("SUDO_GID");
    command
}

fn said(output: &Output) -> String {
    [&output.stdout[..], &output.stderr].iter().map(|said| String::from_utf8_lossy(said)).collect()
}

/// A folder that every user may look into, with a capture in it and a program that every user may
/// run: the build's own folder may be closed to others.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let capture = RadioLink::generated(5, Duration::from_secs(2)).unwrap().capture;
        fs::write(folder.path().join("drive.qmdl"), capture).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn program(&self) -> PathBuf {
        let path = self.path("sounding");
        // Another process makes the copy: a test beside this one that forks meanwhile would hold it
        // open for writing.
        let copied =
            Command::new("cp").arg(assert_cmd::cargo::cargo_bin!("sounding")).arg(&path).status();
        assert!(copied.unwrap().success());
        path
    }
}

/// Every file below, and the folder itself.
fn all(path: &Path) -> Vec<PathBuf> {
    let mut found = vec![path.to_path_buf()];
    for entry in fs::read_dir(path).into_iter().flatten() {
        found.extend(all(&entry.unwrap().path()));
    }
    found
}

#[test]
fn what_identifies_somebody_is_written_for_its_owner_alone() {
    let folder = Folder::new();
    let drive = folder.path("drive.qmdl");
    let record = |out: &Path, more: &[(&str, &str)]| {
        let mut command = program();
        command.arg("record").arg(&drive).arg(out).envs(more.iter().copied());
        command.output().unwrap()
    };
    let convert = |out: &Path, flag: &str, more: &[(&str, &str)]| {
        let mut command = program();
        command.arg("convert").arg(&drive).arg(out).arg(flag).envs(more.iter().copied());
        command.output().unwrap()
    };
    let caller = [("SUDO_UID", STRANGER.to_string()), ("SUDO_GID", STRANGER.to_string())];
    let caller = caller.each_ref().map(|(name, value)| (*name, value.as_str()));
    let mut outs = Vec::new();
    let is_root = nix::unistd::geteuid().is_root();
    for (by, more) in [("self", &[][..]), ("sudo", &caller)] {
        let own = folder.path(by);
        fs::create_dir(&own).unwrap();
        if by == "sudo" && is_root {
            std::os::unix::fs::chown(&own, Some(STRANGER), Some(STRANGER)).unwrap();
        }
        let out = own.join("recorded.qmdl");
        let output = record(&out, more);
        assert!(output.status.success(), "{}", said(&output));
        outs.push((by, out));
        for name in
            ["lines.jsonl", "again.qmdl", "packed.hdf.gz", "messages.pcapng", "tables.parquet"]
        {
            let out = own.join(name);
            let output = convert(&out, "--no-redact", more);
            assert!(output.status.success(), "{name}: {}", said(&output));
            outs.push((by, out));
        }
    }
    assert!(outs.iter().any(|(_, out)| out.is_dir()), "several tables are a folder");
    for (by, out) in &outs {
        for file in all(out) {
            let about = fs::metadata(&file).unwrap();
            let mode = if about.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(about.mode() & 0o777, mode, "{}", file.display());
            let owner =
                if *by == "sudo" && is_root { STRANGER } else { nix::unistd::geteuid().as_raw() };
            assert_eq!(about.uid(), owner, "{}", file.display());
        }
    }
    let (_, own) = &outs[0];
    if let Some(opened) = as_stranger(|| File::open(own).map(drop)) {
        assert_eq!(opened.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }
    // A file that identifies no person is as open as everything else.
    let out = folder.path("sudo").join("shown.jsonl");
    assert!(convert(&out, "--redact", &caller).status.success());
    let about = fs::metadata(&out).unwrap();
    let usual = fs::metadata(&drive).unwrap();
    let owner = if is_root { STRANGER } else { usual.uid() };
    assert_eq!((about.mode() & 0o777, about.uid()), (usual.mode() & 0o777, owner));
}

/// A bridge that takes every connection and closes it at once, as one does whose modem is gone.
struct Bridge {
    source: String,
    stop: Arc<AtomicBool>,
    taken: Arc<AtomicUsize>,
}

impl Bridge {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let source = format!("tcp:{}", listener.local_addr().unwrap());
        let (stop, taken) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (until, count) = (Arc::clone(&stop), Arc::clone(&taken));
        std::thread::spawn(move || {
            while !until.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok(_) => drop(count.fetch_add(1, Ordering::Relaxed)),
                    Err(_) => std::thread::sleep(Duration::from_millis(1)),
                }
            }
        });
        Self { source, stop, taken }
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn end(child: &Child) {
    // SAFETY: the child has not been waited for, so the id is its own.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
}

#[test]
fn a_bridge_that_closes_at_once_is_tried_less_and_less_often() {
    let folder = Folder::new();
    let out = folder.path("out.qmdl").display().to_string();
    let name = format!("bridge_{}", std::process::id() % 1_000_000);
    let mut verbs = vec![vec!["record", "SOURCE", &out], vec!["board", "SOURCE", "--name", "x"]];
    match sounding_bpf::preflight(&name).into_iter().find(|check| !check.ok) {
        None => verbs.push(vec!["run", "--device", "SOURCE", "--name", &name]),
        Some(missing) => skip(Need::Kernel, format_args!("run: {}", missing.detail)),
    }
    for mut verb in verbs {
        let bridge = Bridge::new();
        verb.iter_mut().filter(|word| **word == "SOURCE").for_each(|word| *word = &bridge.source);
        let child = program()
            .args(&verb)
            .env("SOUNDING_RUN_DIR", folder.path("run"))
            .env("SOUNDING_BOARD_DIR", folder.path("boards"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let begin = Instant::now();
        while bridge.taken.load(Ordering::Relaxed) == 0 {
            assert!(begin.elapsed() < Duration::from_secs(60), "{verb:?} does not come");
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_secs(5));
        end(&child);
        let output = child.wait_with_output().unwrap();
        let (lines, taken) = (said(&output).lines().count(), bridge.taken.load(Ordering::Relaxed));
        assert!(said(&output).contains("closed"), "{verb:?}: {}", said(&output));
        assert!(taken >= 3, "{verb:?} tries again: {taken} connections");
        assert!(taken <= 20 && lines <= 60, "{verb:?}: {taken} connections, {lines} lines in 5 s");
    }
}

/// The doctor's checks under a limit of this shell, as this user.
fn doctor(folder: &Folder, limit: &str, user: Option<u32>) -> (Vec<Json>, String) {
    let script = format!("{limit} && exec \"$0\" doctor --json --ports \"$1\"");
    let ports = folder.path("ports");
    fs::create_dir_all(&ports).unwrap();
    let mut command = match user {
        Some(user) => {
            let mut command = Command::new("setpriv");
            command.args([format!("--reuid={user}"), format!("--regid={user}")]);
            command.args(["--clear-groups", "--inh-caps=-all", "bash"]);
            command
        }
        None => Command::new("bash"),
    };
    command.args(["-c", &script]).arg(folder.path("sounding")).arg(ports).stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let checks = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (checks, said(&output))
}

#[test]
fn the_doctor_says_what_has_run_out_and_blames_nothing_else() {
    let folder = Folder::new();
    folder.program();
    let mut limits = vec![];
    for descriptors in 4..=24 {
        limits.push((format!("ulimit -n {descriptors}"), None, "descriptors", "ulimit -n"));
    }
    if nix::unistd::geteuid().is_root() {
        limits.push(("ulimit -u 1".into(), Some(STRANGER), "processes", "ulimit -u"));
    } else {
        skip(Need::Root, "this process may not act as another user: run as root");
    }
    for (limit, user, name, cure) in limits {
        let (checks, said) = doctor(&folder, &limit, user);
        assert!(!said.contains("panicked"), "{limit}: {said}");
        let of = |name: &str| checks.iter().find(|check| check["name"] == name);
        let what = of(name).unwrap_or_else(|| panic!("{limit}: it does not say: {said}"));
        assert!(what["ok"] == false && what["cure"].as_str().unwrap().contains(cure), "{what}");
        for check in checks.iter().filter(|check| check["ok"] == false) {
            let (detail, says) =
                (check["detail"].as_str().unwrap(), check["cure"].as_str().unwrap());
            let ran_out = detail.contains("Too many open files")
                || detail.contains("Resource temporarily unavailable");
            assert!(!ran_out || says.contains("ulimit"), "{limit}: {check}");
            // Both are installed here.
            assert!(!says.contains("apt-get"), "{limit}: {check}");
        }
    }
}

/// Before a port is opened, the program checks whether another one has it: if it may not check, it
/// does not know.
#[test]
fn a_port_is_not_taken_for_free_by_a_program_that_cannot_look() {
    let folder = Folder::new();
    let pty = sounding_modem::Pty::create(Some(&folder.path("modem"))).unwrap();
    let output = Command::new("bash")
        .args(["-c", "ulimit -n 4 && exec \"$0\" record \"$1\" \"$2\" --for 1s"])
        .arg(assert_cmd::cargo::cargo_bin!("sounding"))
        .arg(pty.path())
        .arg(folder.path("out.qmdl"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = said(&output);
    assert!(!output.status.success() && !said.contains("panicked"), "{said}");
    assert!(said.contains("cannot be seen") && said.contains("ulimit -n"), "{said}");
}

#[test]
fn a_downlink_that_fails_leaves_nothing_in_run() {
    if !nix::unistd::geteuid().is_root() {
        return skip(Need::Root, "only root holds downlinks");
    }
    let kernel = sounding_bpf::preflight("leaves_none").into_iter();
    let missing = kernel.chain(sounding_bpf::downlink_preflight()).find(|check| !check.ok);
    if let Some(check) = missing {
        return skip(Need::Kernel, format_args!("{}: {}", check.name, check.detail));
    }
    let folder = Folder::new();
    let pty = sounding_modem::Pty::create(Some(&folder.path("modem"))).unwrap();
    let program = assert_cmd::cargo::cargo_bin!("sounding").display().to_string();
    let run =
        format!("{program} run --device {} --law none --downlink window", pty.path().display());
    for (script, says) in [
        // It may do everything but mount what its pins are kept in.
        (format!("setpriv --bounding-set=-sys_admin --inh-caps=-all {run}"), "pins in"),
        (format!("{run} --cgroup /tmp"), "cgroup"),
    ] {
        let script = format!("timeout -s INT 10 {script} >&2; find /run -mindepth 1");
        let Some(output) = on_small_disk(Path::new("/run"), "1m", &script) else { return };
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(error.contains(says), "it does not fail as it should: {error}");
        let left = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(left, "", "left behind: {error}");
    }
}

/// A user that sets root's search path, or may write to a folder along it, does not choose which
/// `ip` is run.
#[test]
fn no_program_is_looked_for_along_the_path() {
    let folder = Folder::new();
    let (evil, mark) = (folder.path("evil"), folder.path("ran"));
    fs::create_dir(&evil).unwrap();
    for name in ["ip", "unshare", "sh", "setpriv"] {
        let script = format!("#!/bin/bash\necho {name} >>{}\nexit 1\n", mark.display());
        write_script(&evil.join(name), &script);
    }
    let path = format!("{}:{}", evil.display(), std::env::var("PATH").unwrap());
    let ran = || fs::read_to_string(&mark).unwrap_or_default();
    let by_path = Command::new("sh").env("PATH", &path).args(["-c", "ip"]).status().unwrap();
    assert!(!by_path.success() && ran() == "sh\n", "the check below would prove nothing");
    fs::remove_file(&mark).unwrap();

    let doctor = program().args(["doctor", "--no-ports"]).env("PATH", &path).output().unwrap();
    assert_eq!(ran(), "", "{}", said(&doctor));
    if sounding_testdata::may_emulate() {
        let emu = ["emu", "--far", "exit 0", "--as-root", "--", "/bin/true"];
        let output = program().args(emu).env("PATH", &path).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        assert_eq!(ran(), "");
    }
    let name = format!("path_{}", std::process::id() % 1_000_000);
    if let Some(missing) = sounding_bpf::preflight(&name).into_iter().find(|check| !check.ok) {
        return skip(Need::Kernel, format_args!("run: {}", missing.detail));
    }
    // The guard, which sets routes for root.
    let pty = sounding_modem::Pty::create(Some(&folder.path("modem"))).unwrap();
    let script = format!(
        "ip link set lo up && ip route add 10.9.0.0/16 dev lo && PATH={path} SOUNDING_RUN_DIR={run} \
         exec /usr/bin/timeout -s INT 5 {program} run --device {device} --name {name} --route 10.9.0.0/16",
        run = folder.path("run").display(),
        program = assert_cmd::cargo::cargo_bin!("sounding").display(),
        device = pty.path().display(),
    );
    let output = Command::new("unshare").args(["--net", "bash", "-c", &script]).output().unwrap();
    assert!(said(&output).contains("is in the kernel"), "{}", said(&output));
    assert_eq!(ran(), "", "{}", said(&output));
}
