//! A daemon that serves, without rights, and a simulated modem on a pty.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use sounding_host::monotonic_now;
use sounding_modem::{Pty, Replay, ReplaySchedule};
use sounding_testbed::radio::RadioLink;
use sounding_testdata::{Running, under_test};

pub(crate) const FEED: &str = "wan";

/// A daemon with a file.
pub(crate) struct Rig {
    pub(crate) folder: tempfile::TempDir,
    pty: Option<Pty>,
    pub(crate) daemon: Running,
    events: Receiver<Json>,
    pub(crate) address: SocketAddr,
}

impl Rig {
    /// One with this in `[serve]`, beside an address, and what else is in the file.
    pub(crate) fn new(serve: &str, more: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let pty = Pty::create(Some(&folder.path().join("modem"))).unwrap();
        write(folder.path(), Some(serve), more);
        let child = command(folder.path())
            .args(["run", "--json", "--config"])
            .arg(folder.path().join("modem.toml"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn();
        let mut daemon = Running(child.unwrap());
        let (sender, events) = mpsc::channel();
        let stdout = BufReader::new(daemon.0.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let event: Json = serde_json::from_str(&line).unwrap();
                if event["event"] != "estimate" && sender.send(event).is_err() {
                    return;
                }
            }
        });
        let address = "127.0.0.1:0".parse().unwrap();
        let mut rig = Self { folder, pty: Some(pty), daemon, events, address };
        rig.address = address_of(&rig.wait_for("serving"));
        rig.wait_for("ready");
        rig
    }

    /// One with a token and a feed.
    pub(crate) fn usual() -> Self {
        Self::new("", "[feed]\nname = 'wan'\n")
    }

    /// Writes the file anew and has it read.
    pub(crate) fn reload(&self, serve: Option<&str>, more: &str) -> Json {
        write(self.folder.path(), serve, more);
        let pid = nix::unistd::Pid::from_raw(self.daemon.0.id().cast_signed());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGHUP).unwrap();
        self.wait_for("reloaded")
    }

    /// The next event of a kind.
    pub(crate) fn wait_for(&self, kind: &str) -> Json {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let event = self.events.recv_timeout(left);
            let event = event.unwrap_or_else(|_| panic!("{kind} does not come"));
            if event["event"] == kind {
                return event;
            }
        }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("run").join(format!("{FEED}.rate"))
    }

    pub(crate) fn token_file(&self) -> PathBuf {
        self.folder.path().join("state").join("serve.token")
    }

    pub(crate) fn token(&self) -> String {
        fs::read_to_string(self.token_file()).unwrap().trim().into()
    }

    /// A request with these lines in its head, and a `Host`.
    pub(crate) fn ask(&self, path: &str, lines: &str) -> String {
        let host = self.address;
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{lines}\r\n"))
    }

    pub(crate) fn send(&self, request: &str) -> String {
        let mut text = String::new();
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    /// The body of a path, with the token.
    pub(crate) fn get(&self, path: &str) -> String {
        let answer = self.ask(path, &self.bearer());
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 "), "{path}: {head}");
        body.into()
    }

    pub(crate) fn bearer(&self) -> String {
        format!("Authorization: Bearer {}\r\n", self.token())
    }

    /// The feed over HTTP, as lines.
    pub(crate) fn events(&self) -> impl Iterator<Item = String> + use<> {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let (host, bearer) = (self.address, self.bearer());
        write!(stream, "GET /feed HTTP/1.1\r\nHost: {host}\r\n{bearer}\r\n").unwrap();
        let lines = BufReader::new(stream).lines().map_while(Result::ok);
        lines.filter_map(|line| line.strip_prefix("data: ").map(str::to_owned))
    }

    /// Plays a link's records while something else goes on.
    pub(crate) fn play<T: Send>(
        &mut self,
        seconds: u64,
        meanwhile: impl FnOnce(&Self) -> T + Send,
    ) -> T {
        let link = RadioLink::generated(5, Duration::from_secs(seconds)).unwrap();
        let pty = self.pty.take().unwrap();
        let (over, is_over) = mpsc::channel::<()>();
        let player = std::thread::spawn(move || {
            let schedule = ReplaySchedule::of(&link.capture);
            let mut replay = Replay::new(&link.capture, schedule, pty, 1.0);
            replay.run(monotonic_now(), &AtomicBool::new(false), |_| {}).unwrap();
            drop(over);
            replay.into_pty()
        });
        let found = meanwhile(self);
        let _ = is_over.recv();
        self.pty = Some(player.join().unwrap());
        found
    }
}

pub(crate) fn address_of(serving: &Json) -> SocketAddr {
    serving["address"].as_str().unwrap().parse().unwrap()
}

fn write(folder: &Path, serve: Option<&str>, more: &str) {
    let modem = folder.join("modem");
    let serve = serve.map(|serve| format!("[serve]\naddress = '127.0.0.1:0'\n{serve}\n"));
    let text = format!(
        "[modem]\ndevice = '{}'\n[cc]\nlaw = 'none'\n{}{more}",
        modem.display(),
        serve.unwrap_or_default()
    );
    fs::write(folder.join("modem.toml"), text).unwrap();
}

pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new(under_test(assert_cmd::cargo::cargo_bin!("sounding")));
    command.env("SOUNDING_BOARD_DIR", folder.join("run"));
    command.env("SOUNDING_RUN_DIR", folder.join("notes"));
    command.env("SOUNDING_STATE_DIR", folder.join("state"));
    command
}
