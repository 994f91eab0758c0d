//! The daemon killed at any moment of its life, and together with its guard under every algorithm:
//! the machine is as before.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sounding_emu::{Config, Emulation};
use sounding_modem::Pty;
use sounding_sim::PathConfig;
use sounding_testdata::{MARK, processes_marked, steadily};
use sounding_trace::Steps;
use sounding_units::Rate;

use crate::restore::{Kept, not_guessed, settings};
use crate::rig::{PROGRAM, skipped};

/// Everything that a daemon may load and make the default.
const FORMS: [&[&str]; 7] = [
    &["--device", "MODEM", "--law", "biscay"],
    &["--device", "MODEM", "--law", "sounding"],
    &["--peers", "--law", "sounding"],
    &["--peers", "--law", "pbe-cc"],
    &["--peers", "--law", "cqic"],
    &["--copa", "--device", "MODEM"],
    &["--background"],
];

/// A network namespace with a default route, and a modem that says nothing.
struct Rig {
    emulation: Emulation,
    _folder: tempfile::TempDir,
    _pty: Pty,
    device: PathBuf,
    /// Its notes of defaults.
    kept: Kept,
}

impl Rig {
    fn start(name: &str) -> Self {
        let wide = || PathConfig::new(Steps::constant(Rate::from_bits_per_sec(1_000_000)));
        let emulation = Emulation::start(Config::new(wide(), wide())).expect("an emulation");
        let folder = tempfile::tempdir().expect("a folder");
        let device = folder.path().join("modem");
        let pty = Pty::create(Some(&device)).expect("a pty");
        let name = format!("{}{name}", std::process::id() % 1_000_000);
        let kept = Kept { name };
        let rig = Self { emulation, _folder: folder, _pty: pty, device, kept };
        rig.emulation
            .near()
            .enter(|| {
                std::fs::write("/proc/sys/net/ipv4/tcp_congestion_control", not_guessed())
                    .expect("it is allowed here");
            })
            .expect("the namespace is there");
        rig
    }

    fn name(&self) -> &str {
        &self.kept.name
    }

    fn settings(&self) -> (String, String) {
        self.emulation.near().enter(settings).expect("the namespace is there")
    }

    /// A daemon that makes its algorithm the default.
    fn daemon(&self, form: &[&str]) -> Child {
        let device = self.device.to_str().expect("a name");
        let mut command = Command::new(PROGRAM);
        command.args(["run", "--json", "--name", self.name(), "--default", "--route", "default"]);
        command.args(form.iter().map(|word| if *word == "MODEM" { device } else { *word }));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).env(MARK, self.name());
        self.emulation.near().bring_in(&mut command);
        command.spawn().expect("it runs")
    }
}

/// Waits for a daemon's first event of that kind.
fn wait_until_ready(daemon: &mut Child, form: &[&str]) {
    let events = BufReader::new(daemon.stdout.take().expect("it was asked for"));
    let is_ready = events.lines().map_while(Result::ok).any(|line| line.contains("\"ready\""));
    assert!(is_ready, "{form:?} has ended");
}

/// Kills a daemon and its guard, the guard first.
fn kill_both(mut daemon: Child) {
    let children = format!("/proc/{0}/task/{0}/children", daemon.id());
    let guards = std::fs::read_to_string(children).expect("it lives");
    assert!(!guards.is_empty(), "a daemon has its guard");
    for guard in guards.split_whitespace() {
        let guard = Pid::from_raw(guard.parse().expect("a number"));
        kill(guard, Signal::SIGKILL).expect("it lives");
    }
    daemon.kill().expect("it lives");
    daemon.wait().expect("it ended");
}

/// Kills a daemon of each form together with its guard. The next daemon restores the machine.
fn pairs_killed(forms: impl IntoIterator<Item = &'static &'static [&'static str]>) {
    if skipped() {
        return;
    }
    for form in forms {
        steadily(|| {
            let rig = Rig::start("u");
            let before = rig.settings();
            let mut first = rig.daemon(form);
            wait_until_ready(&mut first, form);
            kill_both(first);
            let left = rig.settings();
            assert_eq!(left.0, rig.name(), "{form:?}: the check below would prove nothing");
            let mut second = rig.daemon(form);
            wait_until_ready(&mut second, form);
            kill(Pid::from_raw(second.id() as i32), Signal::SIGTERM).expect("it lives");
            assert!(second.wait().expect("it ends").success(), "{form:?}");
            assert_eq!(rig.settings(), before, "{form:?}");
            assert_eq!(rig.kept.files(), Vec::<PathBuf>::new(), "{form:?}");
        });
    }
}

#[test]
fn the_next_daemon_undoes_a_killed_ones_changes_under_other_algorithms() {
    pairs_killed(FORMS.iter().step_by(3));
}

/// Kills so many daemons, each at a moment between its start and a little after it is ready.
fn kills(times: u32, seed: u64) {
    if skipped() {
        return;
    }
    steadily(|| {
        let rig = Rig::start("m");
        let before = rig.settings();
        let begun = Instant::now();
        let mut daemon = rig.daemon(FORMS[0]);
        wait_until_ready(&mut daemon, FORMS[0]);
        let whole = begun.elapsed() * 5 / 4;
        kill(Pid::from_raw(daemon.id() as i32), Signal::SIGTERM).expect("it lives");
        assert!(daemon.wait().expect("it ends").success());
        let mut dice = seed;
        for number in 0..times {
            // Knuth's MMIX generator.
            dice = dice
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let part = (dice >> 40) as f64 / f64::from(1 << 24);
            let form = FORMS[number as usize % FORMS.len()];
            let mut daemon = rig.daemon(form);
            sleep(whole.mul_f64(part));
            daemon.kill().expect("it lives");
            daemon.wait().expect("it ended");
            let is_over = || {
                rig.settings() == before
                    && rig.kept.files().is_empty()
                    && processes_marked(rig.name()).is_empty()
            };
            let until = Instant::now() + Duration::from_secs(5);
            while !is_over() && Instant::now() < until {
                sleep(Duration::from_millis(20));
            }
            let what = format!("{form:?} was killed after {part:.3} of its start");
            assert_eq!(rig.settings(), before, "{what}");
            assert_eq!(rig.kept.files(), Vec::<PathBuf>::new(), "{what}");
            assert_eq!(processes_marked(rig.name()), Vec::<i32>::new(), "{what}");
        }
    });
}

#[test]
fn a_kill_at_any_moment_leaves_the_machine_as_before() {
    kills(7, 1);
}

mod long {
    #[test]
    #[ignore = "a minute"]
    fn the_next_daemon_undoes_a_killed_ones_changes_under_every_algorithm() {
        super::pairs_killed(&super::FORMS);
    }

    #[test]
    #[ignore = "minutes"]
    fn sixty_kills_at_any_moment_leave_the_machine_as_before() {
        super::kills(60, 2);
    }
}
