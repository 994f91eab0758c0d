//! Where the commands of one page run: a folder of their own with the project's examples, and, as
//! root, a network of their own. The modem at `/dev/ttyUSB0` is a simulated one.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{SigHandler, Signal, kill, signal};
use nix::unistd::Pid;

use crate::page::{How, Step, missing};

const PORT: &str = "/dev/ttyUSB0";
/// The modem's network device, and a route over it.
const NETWORK: &str = "ip link set lo up
ip link add wwan0 type veth peer name base0
ip link set wwan0 up
ip link set base0 up
ip addr add 192.0.2.2/24 dev wwan0
ip route add 203.0.113.0/24 dev wwan0
echo up
exec sleep 600";
/// What a command that waits for Ctrl-C is given.
const WHILE: Duration = Duration::from_secs(2);
/// No command of a guide takes as long.
const MOST: Duration = Duration::from_secs(60);

pub(crate) struct Shell {
    folder: tempfile::TempDir,
    /// Holds the network namespace of what `sudo` runs; `None` where that cannot be run here.
    network: Option<Running>,
    modem: Option<Running>,
    beside: Vec<(Step, Running)>,
    begun: usize,
}

/// A program that ends when this does.
struct Running {
    child: Child,
    /// Files with what it printed on standard output, and on standard error.
    printed: [PathBuf; 2],
    /// Where the simulated modem is. The page calls it `PORT`.
    port: String,
}

impl Running {
    fn said(&self) -> [String; 2] {
        let read = |path: &PathBuf| fs::read(path).unwrap_or_default();
        let text = |path| String::from_utf8_lossy(&read(path)).replace(&self.port, PORT);
        self.printed.each_ref().map(text)
    }

    fn has_begun(&self) -> bool {
        self.said().iter().any(|text| !text.is_empty())
    }

    /// Whether what runs in the background does its work. A daemon has reports before that.
    fn is_ready(&self, command: &str) -> bool {
        let is_daemon = command.contains("sounding run");
        let ready =
            |text: &String| text.contains(" is in the kernel") || text.contains(" is loaded");
        if is_daemon { self.said().iter().any(ready) } else { self.has_begun() }
    }

    fn interrupt(&self) {
        // It is a child that was not waited for, so the number is its own. Where it has ended there
        // is nothing to end.
        let _ = kill(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGINT);
    }

    /// Whether it ended well, or in time at all.
    fn end(&mut self, within: Duration) -> Result<(), String> {
        let begin = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => return Err(status.to_string()),
                Ok(None) if begin.elapsed() < within => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                other => return Err(format!("not ended after {within:?}: {other:?}")),
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Shell {
    pub(crate) fn new(as_root: bool) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
        fs::create_dir(folder.path().join("bin"))?;
        symlink(env!("CARGO_BIN_EXE_sounding"), folder.path().join("bin/sounding"))?;
        let work = folder.path().join("work");
        fs::create_dir(&work)?;
        for name in ["examples", "python"] {
            symlink(root.join(name), work.join(name))?;
        }
        let mut shell = Self { folder, network: None, modem: None, beside: Vec::new(), begun: 0 };
        if as_root {
            let mut command = Command::new("unshare");
            command.args(["--net", "sh", "-ec", NETWORK]);
            let network = shell.begin(command)?;
            wait_for(|| network.has_begun());
            shell.network = Some(network);
        }
        Ok(shell)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> io::Result<()> {
        fs::write(self.folder.path().join("work").join(name), text)
    }

    /// Whether it ran; where it cannot run here it did not.
    pub(crate) fn run(&mut self, step: &Step) -> Result<bool, String> {
        let (command, as_root) = match step.command.strip_prefix("sudo ") {
            Some(command) => (command, true),
            None => (step.command.as_str(), false),
        };
        if as_root && self.network.is_none() {
            return Ok(false);
        }
        let command = self.with_modem(command).map_err(|error| error.to_string())?;
        let running = self
            .start(&command, as_root, step.how != How::ToItsEnd)
            .map_err(|error| error.to_string())?;
        match step.how {
            How::Not(_) | How::File(_) => return Ok(false),
            How::InTheBackground => {
                wait_for(|| running.is_ready(&step.command));
                self.beside.push((step.clone(), running));
                return Ok(true);
            }
            How::UntilInterrupted => {
                std::thread::sleep(WHILE);
                running.interrupt();
            }
            How::ToItsEnd => {}
        }
        judge(step, running).map(|()| true)
    }

    /// Ends what runs in the background, the last first.
    pub(crate) fn finish(mut self) -> Result<(), String> {
        while let Some((step, running)) = self.beside.pop() {
            running.interrupt();
            judge(&step, running)?;
        }
        Ok(())
    }

    fn with_modem(&mut self, command: &str) -> io::Result<String> {
        if !command.contains(PORT) {
            return Ok(command.into());
        }
        let port = self.port();
        if self.modem.is_none() {
            let program = self.folder.path().join("bin/sounding");
            let mut command = Command::new(program);
            command.args(["modem", "sim", "--link"]).arg(&port);
            self.modem = Some(self.begin(command)?);
            wait_for(|| port.exists());
        }
        Ok(command.replace(PORT, &port.display().to_string()))
    }

    fn port(&self) -> PathBuf {
        self.folder.path().join("ttyUSB0")
    }

    fn start(&mut self, command: &str, as_root: bool, alone: bool) -> io::Result<Running> {
        let mut shell = match self.network.as_ref().filter(|_| as_root) {
            None => Command::new("sh"),
            Some(network) => {
                let mut enter = Command::new("nsenter");
                enter.arg(format!("--net=/proc/{}/ns/net", network.child.id())).arg("sh");
                enter
            }
        };
        // The child itself is interrupted, and receives its signals.
        let exec = if alone { "exec " } else { "" };
        shell.args(["-ec", &format!("{exec}{command}")]);
        self.begin(shell)
    }

    fn begin(&mut self, mut command: Command) -> io::Result<Running> {
        self.begun += 1;
        let begun = self.begun;
        let printed = ["out", "err"].map(|name| self.folder.path().join(format!("{begun}-{name}")));
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .current_dir(self.folder.path().join("work"))
            .env("PATH", format!("{}:{path}", self.folder.path().join("bin").display()))
            .env("SOUNDING_RUN_DIR", self.folder.path().join("run"))
            .env("SOUNDING_BOARD_DIR", self.folder.path().join("run"))
            .env("SOUNDING_STATE_DIR", self.folder.path().join("state"))
            .env_remove("SUDO_UID")
            .env_remove("SUDO_GID")
            .stdin(Stdio::null())
            .stdout(File::create(&printed[0])?)
            .stderr(File::create(&printed[1])?);
        // Tests in the background of a shell ignore Ctrl-C. Their commands must not.
        // SAFETY: signal is async-signal-safe and touches nothing but the child.
        unsafe {
            command.pre_exec(|| Ok(signal(Signal::SIGINT, SigHandler::SigDfl).map(drop)?));
        }
        let port = self.port().display().to_string();
        Ok(Running { child: command.spawn()?, printed, port })
    }
}

fn judge(step: &Step, mut running: Running) -> Result<(), String> {
    let ended = running.end(MOST);
    let [out, err] = running.said();
    let fault = |what: &str| format!("{}: {what}\n{out}{err}", step.command);
    ended.map_err(|how| fault(&how))?;
    match missing(&step.shown, [&out, &err]) {
        None => Ok(()),
        Some(line) => Err(fault(&format!("does not print\n{line}\nbut"))),
    }
}

/// A few seconds at most: what does not come is found out by what waits for it.
fn wait_for(come: impl Fn() -> bool) {
    let begin = Instant::now();
    while !come() && begin.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(5));
    }
}
