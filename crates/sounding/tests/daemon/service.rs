//! The daemon as its systemd unit starts it: a user without a name, with the capabilities that
//! stand there and no others.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use nix::mount::{MntFlags, umount2};
use sounding_modem::Pty;
use sounding_testbed::daemon::Daemon;
use sounding_testdata::{copy_program, steadily, write_script};

use crate::downloads::assert_held_at_last;
use crate::restore::around_by;
use crate::rig::{self, PROGRAM, Rig, downlink_skipped, skipped};

const UNIT: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../dist/systemd/sounding@.service.in"));

/// A user that no machine has.
pub(crate) const USER: u32 = 4_242_421;

/// What stands in the unit behind a key, the first time.
pub(crate) fn unit(key: &str) -> &'static str {
    let line = UNIT.lines().find_map(|line| line.strip_prefix(key));
    line.unwrap_or_else(|| panic!("the unit has no line {key}"))
}

/// Capabilities of the unit, as setpriv(1) has them.
fn capabilities(key: &str) -> String {
    let names = unit(key).split_whitespace();
    let names = names.map(|name| name.strip_prefix("CAP_").expect("a capability").to_lowercase());
    names.fold("-all".into(), |list, name| format!("{list},+{name}"))
}

/// A program that becomes the daemon as the unit starts it, in a separate folder.
pub(crate) struct Service {
    folder: tempfile::TempDir,
}

impl Service {
    /// `environment` are lines of a shell.
    pub(crate) fn new(environment: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        open_to_all(folder.path());
        let service = Self { folder };
        // The user may have no access to the build's folder.
        copy_program(PROGRAM.as_ref(), &service.path("sounding"));
        let run = service.path("run");
        fs::create_dir(&run).expect("a folder");
        std::os::unix::fs::chown(&run, Some(USER), Some(USER)).expect("a chown");
        let [ambient, bounding] =
            ["AmbientCapabilities=", "CapabilityBoundingSet="].map(capabilities);
        let text = format!(
            r#"#!/bin/sh
            set -eu
            before=
            for word in "$@"; do
                if [ "$before" = --device ]; then
                    chmod 755 "$(dirname "$word")"
                    chown {USER} "$(readlink -f "$word")"
                fi
                before=$word
            done
            export SOUNDING_RUN_DIR={run}
            {environment}
            exec setpriv --reuid {USER} --regid {USER} --clear-groups --no-new-privs \
                --inh-caps={ambient} --ambient-caps={ambient} --bounding-set={bounding} -- {program} "$@"
            "#,
            run = run.display(),
            program = service.path("sounding").display(),
        );
        write_script(&service.program(), &text);
        service
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn program(&self) -> PathBuf {
        self.path("start")
    }
}

pub(crate) fn open_to_all(path: &Path) {
    fs::set_permissions(path, Permissions::from_mode(0o755)).expect("it is ours");
}

/// What a thread of a process may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rights {
    pub(crate) name: String,
    user: u32,
    /// All that it has or could have: permitted, effective, inheritable and ambient capabilities.
    pub(crate) capabilities: u64,
    /// Whether running another program gives it none.
    pub(crate) is_held: bool,
}

/// Of every thread.
pub(crate) fn rights_of(process: u32) -> Vec<Rights> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).expect("it lives").flatten();
    let texts = tasks.filter_map(|task| fs::read_to_string(task.path().join("status")).ok());
    texts
        .map(|text| {
            let value = |key: &str| {
                let line = text.lines().find_map(|line| line.strip_prefix(key));
                line.unwrap_or_else(|| panic!("{key} in {text}")).trim()
            };
            let set = |key| u64::from_str_radix(value(key), 16).expect("a number");
            let user = value("Uid:").split_whitespace().nth(1).expect("the effective one");
            Rights {
                name: value("Name:").into(),
                user: user.parse().expect("a number"),
                capabilities: ["CapPrm:", "CapEff:", "CapInh:", "CapAmb:"]
                    .map(set)
                    .into_iter()
                    .fold(0, |all, one| all | one),
                is_held: value("NoNewPrivs:") == "1",
            }
        })
        .collect()
}

/// A daemon of the unit has none at all.
fn assert_without_rights(process: u32) {
    let rights = rights_of(process);
    assert!(rights.len() > 1, "{rights:?}");
    let none = |rights: &Rights| rights.user == USER && rights.capabilities == 0 && rights.is_held;
    assert!(rights.iter().all(none), "{rights:?}");
}

#[test]
fn the_units_capabilities_suffice_and_are_gone_before_a_modem_is_read() {
    steadily(|| {
        let service = Service::new("");
        let Some(mut rig) = Rig::steady_by("unit", "biscay", &service.program()) else { return };
        assert_without_rights(rig.daemon_id());
        let flow = rig.transfer();
        rig.replay_for(Duration::from_secs(2));
        assert_without_rights(rig.daemon_id());
        flow.stop().expect("the flow ends in good order");
        let events = rig.stop();
        let last = rig::transitions(&events).next_back().expect("it follows");
        assert_eq!(last.to, "radio-limited", "{events:?}");
        assert!(rig::done(&events)["kpis"].as_u64() > Some(500), "{events:?}");
    });
}

#[test]
fn they_are_enough_for_the_default_and_routes_and_for_putting_them_back() {
    let service = Service::new("");
    type End = fn(Daemon);
    let stop: End = |daemon| drop(daemon.stop());
    let kill: End = |daemon| drop(daemon.kill());
    for (name, end) in [("unitstop", stop), ("unitkill", kill)] {
        steadily(|| {
            let end = |daemon: Daemon| {
                assert_without_rights(daemon.id());
                end(daemon);
            };
            let around = around_by(&service.program(), name, end);
            let Some([before, during, after]) = around else { return };
            assert_ne!(before, during);
            assert_eq!(before, after, "{name}");
        });
    }
}

/// A bpffs, prepared by the command of the unit that does that as root.
pub(crate) struct Pins(PathBuf);

impl Pins {
    pub(crate) fn prepare(folder: &Path) -> Self {
        // In the namespace of mounts that this test is in.
        let key = "ExecStartPre=+/usr/bin/nsenter --target 1 --mount /bin/sh -euc '";
        let script = unit(key).strip_suffix('\'').expect("one word");
        let script = script
            .replace("/run/sounding-pins", &folder.to_string_lossy())
            .replace("%i", "modem")
            .replace("$$", "$")
            .replace("sounding:sounding", &format!("{USER}:{USER}"));
        let prepared =
            || Command::new("/bin/sh").args(["-euc", &script]).status().expect("a shell");
        // As for a daemon that is started again.
        assert!(prepared().success() && prepared().success(), "{script}");
        Self(folder.join("modem"))
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }
}

impl Drop for Pins {
    fn drop(&mut self) {
        let _ = umount2(&self.0, MntFlags::MNT_DETACH);
    }
}

#[test]
fn they_are_enough_for_downloads_that_are_held_with_what_root_prepares() {
    if downlink_skipped() {
        return;
    }
    steadily(|| {
        let folder = tempfile::tempdir().expect("a folder");
        open_to_all(folder.path());
        let pins = Pins::prepare(folder.path());
        let service = Service::new(&format!("export SOUNDING_BPFFS={}", pins.0.display()));
        let rig = Rig::downloading_by("unitdown", &service.program());
        let mut rig = rig.expect("nothing is missing");
        assert_without_rights(rig.daemon_id());
        let kept = pins.0.join(rig.name());
        assert!(kept.join("release").exists(), "{kept:?}");
        let flow = rig.transfer();
        rig.replay_for(Duration::from_secs(3));
        let ran = rig.end(flow);
        assert_held_at_last("held", &ran.flow);
        rig.stop();
        assert!(!kept.exists(), "{kept:?} stays");
    });
}

#[test]
fn a_daemon_of_roots_keeps_nothing_that_loading_took() {
    steadily(|| {
        let Some(mut rig) = Rig::steady("rights", "biscay") else { return };
        // To open a port again that another user owns.
        const DAC_OVERRIDE: u64 = 1 << 1;
        let assert_few = |rig: &Rig| {
            let rights = rights_of(rig.daemon_id());
            let few = |rights: &Rights| rights.capabilities & !DAC_OVERRIDE == 0 && rights.is_held;
            assert!(rights.len() > 1 && rights.iter().all(few), "{rights:?}");
            rights
        };
        assert_few(&rig);
        rig.replay_for(Duration::from_millis(500));
        assert_few(&rig);
        // A separate thread looks for the port, and begins later.
        rig.unplug();
        let is_looked_for = (0..500).any(|_| {
            sleep(Duration::from_millis(10));
            assert_few(&rig).iter().any(|rights| rights.name == "reopen")
        });
        assert!(is_looked_for, "the port is not looked for");
        rig.plug();
        rig.replay_for(Duration::from_millis(500));
        assert_few(&rig);
        let events = rig.stop();
        assert!(rig::done(&events)["kpis"].as_u64() > Some(100), "{events:?}");
    });
}

#[test]
fn a_service_manager_hears_when_it_is_ready_that_it_goes_on_and_that_it_ends() {
    if skipped() {
        return;
    }
    steadily(|| {
        let manager = tempfile::tempdir().expect("a folder");
        open_to_all(manager.path());
        let path = manager.path().join("notify");
        let socket = UnixDatagram::bind(&path).expect("a socket");
        fs::set_permissions(&path, Permissions::from_mode(0o777)).expect("it is ours");
        socket.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        let heard = || {
            let mut buffer = [0; 64];
            let len = socket.recv(&mut buffer).expect("it says something");
            String::from_utf8_lossy(&buffer[..len]).trim().to_string()
        };
        let service =
            Service::new(&format!("export NOTIFY_SOCKET={} WATCHDOG_USEC=200000", path.display()));
        let pty = Pty::create(None).expect("a pty");
        let link = manager.path().join("modem");
        std::os::unix::fs::symlink(pty.path(), &link).expect("a link");
        let name = format!("{}_watch", std::process::id() % 1_000_000);
        let daemon = Daemon::start(&service.program(), &link, &name, &[]).expect("ready");
        assert_eq!(heard(), "READY=1");
        // However long a modem is silent.
        for _ in 0..5 {
            assert_eq!(heard(), "WATCHDOG=1");
        }
        // The guard is no daemon, and its reports are ignored.
        let children = format!("/proc/{0}/task/{0}/children", daemon.id());
        let guards = fs::read_to_string(children).expect("it lives");
        let guard = guards.split_whitespace().next().expect("a daemon has its guard");
        let environment = fs::read(format!("/proc/{guard}/environ")).expect("it lives");
        let environment = String::from_utf8_lossy(&environment).into_owned();
        assert!(environment.contains("SOUNDING_RUN_DIR"), "{environment}");
        assert!(!environment.contains("NOTIFY") && !environment.contains("WATCHDOG"));
        daemon.stop();
        let rest = std::iter::repeat_with(heard).find(|word| word != "WATCHDOG=1");
        assert_eq!(rest.as_deref(), Some("STOPPING=1"));
    });
}

#[test]
fn a_guard_outlives_what_ends_a_daemon_that_hangs() {
    steadily(|| {
        let end = |daemon: Daemon| {
            let children = format!("/proc/{0}/task/{0}/children", daemon.id());
            let guards = fs::read_to_string(children).expect("it lives");
            // As a service manager does: all of the service, the guard first.
            for process in
                guards.split_whitespace().map(String::from).chain([daemon.id().to_string()])
            {
                let process = nix::unistd::Pid::from_raw(process.parse().expect("a number"));
                nix::sys::signal::kill(process, nix::sys::signal::SIGABRT).expect("it lives");
            }
            drop(daemon.kill());
        };
        let Some([before, during, after]) = around_by(Path::new(PROGRAM), "abort", end) else {
            return;
        };
        assert_ne!(before, during);
        assert_eq!(before, after);
    });
}
