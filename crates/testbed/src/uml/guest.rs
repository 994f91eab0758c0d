//! A guest that runs, and commands in it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, SocketAddrV4, TcpStream};
use std::os::fd::AsRawFd;
use std::process::Command;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use sounding_emu::{EnterError, Netns};
use sounding_host::tool;
use thiserror::Error;

use super::process::{GUEST, PORT, command, keep, tap};
use super::{Image, cpu};

/// How long a guest may take to boot: two seconds on a free processor.
const BOOT: Duration = Duration::from_secs(60);

/// How long a command in the guest may take.
const COMMAND: Duration = Duration::from_secs(30);

/// This machine's end of the device that carries commands only.
const HOST: Ipv4Addr = Ipv4Addr::new(10, 254, 0, 1);

/// Why a guest does not run, or does not do what it is asked for.
#[derive(Debug, Error)]
pub enum GuestError {
    /// A namespace could not be made or entered.
    #[error("a namespace for the guest: {0}")]
    Namespace(#[from] EnterError),
    /// A step failed.
    #[error("cannot {doing}: {source}")]
    System {
        /// The step.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// `ip` refused something.
    #[error("`ip {arguments}`: {what}")]
    Ip {
        /// Its arguments.
        arguments: String,
        /// Its message.
        what: String,
    },
    /// The guest ended or was not up in time.
    #[error("the guest {what}; its last lines:\n{console}")]
    Down {
        /// What happened.
        what: &'static str,
        /// The end of its console.
        console: String,
    },
    /// A command in the guest failed.
    #[error("in the guest `{script}` ended with {code}: {text}")]
    Command {
        /// The script.
        script: String,
        /// Its exit code.
        code: i32,
        /// Its output.
        text: String,
    },
}

fn system(doing: &'static str) -> impl Fn(io::Error) -> GuestError {
    move |source| GuestError::System { doing, source }
}

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its output, that for errors included.
    pub text: String,
    /// Its exit code.
    pub code: i32,
}

/// A guest that runs. Dropping it ends it and takes its devices away.
#[derive(Debug)]
pub struct Guest {
    control: Netns,
    console: Arc<Mutex<String>>,
    stop: Sender<()>,
    keeper: Option<JoinHandle<()>>,
    ended: Mutex<Receiver<()>>,
    /// The process around its process namespace.
    process: u32,
}

impl Guest {
    /// Boots a guest whose devices `vec0` and so on have these addresses, in networks of 24 bits,
    /// and the default route by `route`. Returns when it takes commands. Its devices have no other
    /// ends before they are [attached](Self::attach).
    pub fn start(image: &Image, devices: &[Ipv4Addr], route: Ipv4Addr) -> Result<Self, GuestError> {
        let control = Netns::new().map_err(system("make a namespace"))?;
        let command = command(image, devices, route, &control);
        let console = Arc::new(Mutex::new(String::new()));
        let (stop, stopped) = mpsc::channel();
        let (told, started) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        let shown = console.clone();
        // The guest dies with the thread that started it, so this thread lives as long.
        let keeper = thread::Builder::new()
            .name("guest".into())
            .spawn(move || keep(command, &shown, &told, &stopped, &end))
            .map_err(system("start a thread"))?;
        let started = started.recv().unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()));
        let process = started.map_err(system("start User-Mode Linux"))?;
        let (keeper, ended) = (Some(keeper), Mutex::new(ended));
        let guest = Self { control, console, stop, keeper, ended, process };
        guest.await_commands()?;
        Ok(guest)
    }

    fn await_commands(&self) -> Result<(), GuestError> {
        let until = Instant::now() + BOOT;
        // The guest opens the one for commands last.
        while !self.control.enter(|| exists(&tap(0)))? {
            self.wait_a_moment(until)?;
        }
        let here = |arguments: &str| self.control.enter(|| ip(arguments))?;
        here("link set lo up")?;
        here(&format!("address add {HOST}/24 dev {}", tap(0)))?;
        here(&format!("link set {} up", tap(0)))?;
        while self.connect().is_err() {
            self.wait_a_moment(until)?;
        }
        Ok(())
    }

    /// Puts the other end of a device into a namespace, with this name and these addresses.
    pub fn attach(
        &self,
        device: usize,
        netns: &Netns,
        name: &str,
        addresses: &[Ipv4Addr],
    ) -> Result<(), GuestError> {
        let (this, descriptor) = (std::process::id(), netns.as_fd().as_raw_fd());
        let tap = tap(device + 1);
        let to = format!("link set {tap} netns /proc/{this}/fd/{descriptor} name {name}");
        self.control.enter(|| ip(&to))??;
        netns.enter(|| {
            for address in addresses {
                ip(&format!("address add {address}/24 dev {name}"))?;
            }
            ip("link set lo up")?;
            ip(&format!("link set {name} up"))
        })?
    }

    fn wait_a_moment(&self, until: Instant) -> Result<(), GuestError> {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner).try_recv();
        let what = match ended {
            Ok(()) | Err(mpsc::TryRecvError::Disconnected) => "ended",
            Err(mpsc::TryRecvError::Empty) if Instant::now() > until => "did not boot in time",
            Err(mpsc::TryRecvError::Empty) => {
                thread::sleep(Duration::from_millis(20));
                return Ok(());
            }
        };
        Err(GuestError::Down { what, console: self.console() })
    }

    /// Time of a processor that the guest has taken so far, if this machine tells it.
    pub fn cpu(&self) -> Option<Duration> {
        cpu::of_namespace_below(self.process)
    }

    /// The end of the guest's console.
    pub fn console(&self) -> String {
        self.console.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn connect(&self) -> Result<TcpStream, GuestError> {
        let address = SocketAddr::V4(SocketAddrV4::new(GUEST, PORT));
        let connected =
            self.control.enter(|| TcpStream::connect_timeout(&address, Duration::from_secs(5)))?;
        let stream = connected.map_err(system("connect to the guest"))?;
        stream.set_nodelay(true).map_err(system("set an option"))?;
        Ok(stream)
    }

    /// Runs a script in the guest's bash, without input.
    pub fn answer(&self, script: &str) -> Result<Answer, GuestError> {
        let talk = || -> io::Result<Answer> {
            let mut stream = self.connect().map_err(io::Error::other)?;
            stream.set_read_timeout(Some(COMMAND))?;
            write!(stream, "(\n{script}\n) </dev/null 2>&1\nprintf '\\n%d' $?; exit\n")?;
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes)?;
            let text = String::from_utf8_lossy(&bytes);
            let (text, code) = text.rsplit_once('\n').unwrap_or(("", ""));
            let code = code.parse().map_err(|_| io::Error::other("the connection broke"))?;
            Ok(Answer { text: text.to_owned(), code })
        };
        talk().map_err(system("run a command in the guest"))
    }

    /// The same; a code that is not zero is an error. Returns the output.
    pub fn run(&self, script: &str) -> Result<String, GuestError> {
        let Answer { text, code } = self.answer(script)?;
        match code {
            0 => Ok(text),
            _ => Err(GuestError::Command { script: script.to_owned(), code, text }),
        }
    }

    /// A program of the guest whose input and output are this stream. It ends by itself when it
    /// ends at the end of its input.
    pub fn open(&self, program: &str) -> Result<TcpStream, GuestError> {
        let mut stream = self.connect()?;
        writeln!(stream, "exec 2>&1; exec {program}").map_err(system("start a program"))?;
        Ok(stream)
    }

    /// Starts a program that runs until it is stopped, and keeps its output.
    pub fn spawn(&self, program: &str) -> Result<Running<'_>, GuestError> {
        let fail = system("start a program in the guest");
        let mut stream = self.connect()?;
        writeln!(stream, "echo $$; exec 2>&1 </dev/null; exec {program}").map_err(&fail)?;
        let mut reader = BufReader::new(stream.try_clone().map_err(&fail)?);
        let mut number = String::new();
        reader.read_line(&mut number).map_err(&fail)?;
        let broken = || fail(io::Error::other("it has no process number"));
        let pid = number.trim().parse().map_err(|_| broken())?;
        let output = thread::Builder::new()
            .name("guest-output".into())
            .spawn(move || {
                let mut bytes = Vec::new();
                // The output until the connection broke counts.
                let _ = reader.read_to_end(&mut bytes);
                String::from_utf8_lossy(&bytes).into_owned()
            })
            .map_err(&fail)?;
        Ok(Running { guest: self, pid, stream, output })
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // If the keeper has ended, this has no receiver.
        let _ = self.stop.send(());
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
    }
}

/// A program in the guest.
#[derive(Debug)]
pub struct Running<'a> {
    guest: &'a Guest,
    pid: u32,
    stream: TcpStream,
    output: JoinHandle<String>,
}

impl Running<'_> {
    /// Whether it still runs.
    pub fn is_running(&self) -> bool {
        !self.output.is_finished()
    }

    /// Interrupts it, kills it if it continues for three seconds, and returns its output.
    pub fn stop(self) -> Result<String, GuestError> {
        let pid = self.pid;
        self.guest.answer(&format!(
            "kill -INT {pid}; for i in {{1..30}}; do kill -0 {pid} || exit 0; sleep 0.1; done; kill -KILL {pid}"
        ))?;
        // Children of it may still hold the connection.
        let _ = self.stream.shutdown(Shutdown::Both);
        Ok(self.output.join().unwrap_or_default())
    }
}

fn exists(name: &str) -> bool {
    std::ffi::CString::new(name).is_ok_and(|name| {
        // SAFETY: the kernel reads the name up to its end.
        unsafe { libc::if_nametoindex(name.as_ptr()) > 0 }
    })
}

/// `ip` in the namespace of this thread.
pub(crate) fn ip(arguments: &str) -> Result<(), GuestError> {
    let fail = |what: String| GuestError::Ip { arguments: arguments.into(), what };
    let output = Command::new(tool("ip")).args(arguments.split(' ')).output();
    let output = output.map_err(|error| fail(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(fail(String::from_utf8_lossy(&output.stderr).trim().into()))
}
