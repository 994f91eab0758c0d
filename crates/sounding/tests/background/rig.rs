//! A link between two namespaces, this program at its near end, and a server at its far end.

use std::fs::{self, Permissions};
use std::io::Read as _;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sounding_bpf::{background_preflight, cgroup_root};
use sounding_emu::{Config, Emulation};
use sounding_experiment::plan::Text;
use sounding_sim::PathConfig;
use sounding_testbed::emulate::{Emulated, Settings};
use sounding_testbed::flow::TcpResult;
use sounding_testdata::may_emulate;
use sounding_trace::Steps;
use sounding_units::HostInstant;

/// Whether the kernel takes the algorithm and this process may emulate.
pub(crate) fn skipped() -> bool {
    let missing = background_preflight("bg_test").into_iter().find(|check| !check.ok);
    if let Some(check) = &missing {
        sounding_testdata::skip(
            sounding_testdata::Need::Kernel,
            format_args!("{}: {}", check.name, check.detail),
        );
    }
    missing.is_some() || !may_emulate()
}

/// The cell of a plan in real time, whose devices are network namespaces.
pub(crate) fn emulated(plan: &str) -> Emulated {
    let runs = Text::new("a cell", plan, PathBuf::new()).runs().unwrap();
    let settings = Settings::flows(assert_cmd::cargo::cargo_bin!("sounding"));
    Emulated::start(&runs[0], &settings).unwrap()
}

/// Megabits a second that were acknowledged between two times.
pub(crate) fn rate(result: &TcpResult, from: HostInstant, to: HostInstant) -> f64 {
    let at = |time| {
        let before = result.samples.iter().take_while(|sample| sample.at <= time).last();
        before.map_or(0, |sample| sample.info.acked.count())
    };
    (at(to) - at(from)) as f64 * 8.0 / 1e6 / (to - from).as_secs_f64()
}

/// A link of 20 Mbit/s with 10 ms each way, and a listener at its far end.
pub(crate) struct Rig {
    pub(crate) emulation: Emulation,
    folder: tempfile::TempDir,
    port: u16,
    received: Arc<AtomicU64>,
}

impl Rig {
    pub(crate) fn start() -> Self {
        Self::with(&[])
    }

    /// With these settings in both namespaces.
    pub(crate) fn with(settings: &[(&str, &str)]) -> Self {
        let link = || {
            let rate: Steps = "20Mbit".parse().unwrap();
            PathConfig { delay: Duration::from_millis(10), ..PathConfig::new(rate) }
        };
        let mut config = Config::new(link(), link());
        config.sysctls =
            settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let emulation = Emulation::start(config).unwrap();
        let address = emulation.far_address();
        let listener = emulation.far().enter(|| TcpListener::bind((address, 0)).unwrap()).unwrap();
        let port = listener.local_addr().unwrap().port();
        let received = Arc::new(AtomicU64::new(0));
        let count = received.clone();
        thread::spawn(move || {
            for connection in listener.incoming() {
                let (mut connection, count) = (connection.unwrap(), count.clone());
                thread::spawn(move || {
                    let mut buffer = vec![0; 1 << 16];
                    while let Ok(len @ 1..) = connection.read(&mut buffer) {
                        count.fetch_add(len as u64, Ordering::Relaxed);
                    }
                });
            }
        });
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        Self { emulation, folder, port, received }
    }

    /// Bytes that arrived at the far end.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// A path in a folder that every user may write to.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Where the far end listens, as variables of a command's environment.
    pub(crate) fn address(&self) -> [(&'static str, String); 2] {
        [("FAR", self.emulation.far_address().to_string()), ("PORT", self.port.to_string())]
    }

    /// `sounding` at the near end, as root called it.
    pub(crate) fn sounding(&self) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
        command.env_remove("SUDO_UID").env_remove("SUDO_GID").stdin(Stdio::null());
        command.envs(self.address());
        self.emulation.near().bring_in(&mut command);
        command
    }

    /// The same as another user of the machine, without rights; the build's own folder may be
    /// closed to it.
    pub(crate) fn sounding_of_stranger(&self) -> Command {
        let own = self.path("sounding");
        if !own.exists() {
            let copied = Command::new("cp")
                .arg(assert_cmd::cargo::cargo_bin!("sounding"))
                .arg(&own)
                .status();
            assert!(copied.unwrap().success());
        }
        let id = sounding_testdata::STRANGER;
        let mut command = Command::new("setpriv");
        command.arg(format!("--reuid={id}")).arg(format!("--regid={id}")).arg("--clear-groups");
        command.args(["--inh-caps=-all", "--"]).arg(own);
        command.env_remove("SUDO_UID").env_remove("SUDO_GID").stdin(Stdio::null()).env("HOME", "/");
        command.envs(self.address());
        command.current_dir(self.folder.path());
        self.emulation.near().bring_in(&mut command);
        command
    }
}

/// A program that connects, sends so many bytes and prints the algorithm of its socket.
pub(crate) fn transfer(bytes: u64) -> Vec<String> {
    let script = format!(
        "import os, socket, time\n\
         s = socket.create_connection((os.environ['FAR'], int(os.environ['PORT'])))\n\
         time.sleep(0.2)\n\
         s.sendall(bytes({bytes}))\n\
         name = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).split(b'\\0')[0].decode()\n\
         print(name, os.getuid(), flush=True)\n"
    );
    ["/usr/bin/env", "python3", "-c", &script].map(Into::into).to_vec()
}

/// Cgroups of commands, below the cgroup of this process.
pub(crate) fn cgroups() -> Vec<PathBuf> {
    let lines = fs::read_to_string("/proc/self/cgroup").unwrap();
    let home = lines.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or_default();
    let home = cgroup_root().unwrap().join(home.trim_start_matches('/'));
    let below = fs::read_dir(home).unwrap().flatten().map(|entry| entry.path());
    below.filter(|path| path.to_string_lossy().contains("/sounding-background-")).collect()
}

/// Whether the kernel knows a congestion control of this name.
pub(crate) fn is_registered(name: &str) -> bool {
    let list = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    fs::read_to_string(list).unwrap().split_whitespace().any(|known| known == name)
}

pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < until, "waited for {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Standard error in one line: miette breaks lines where it likes.
pub(crate) fn stderr(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    said.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
