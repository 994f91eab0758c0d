use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread::{self, JoinHandle};

use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{Pid, getpid, getppid};
use sounding_host::tool;

use crate::{Names, RunAs};

/// A network namespace without a name, held by a file descriptor: it ends with the last process and
/// descriptor in it.
#[derive(Debug)]
pub struct Netns {
    namespace: OwnedFd,
}

/// Why no code could run in a namespace.
#[derive(Debug, thiserror::Error)]
pub enum EnterError {
    /// No thread could be started.
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
    /// The kernel refused the namespace.
    #[error(
        "cannot enter the network namespace ({0}): this needs CAP_SYS_ADMIN, run as root (sudo)"
    )]
    Refused(io::Error),
    /// The code in the namespace panicked.
    #[error("what ran in the network namespace panicked")]
    Panicked,
}

impl Netns {
    /// A new namespace with only a loopback device, which is down.
    ///
    /// # Errors
    ///
    /// The kernel's error: EPERM without CAP_SYS_ADMIN.
    pub fn new() -> io::Result<Self> {
        // On a separate thread: the caller stays in its namespace, and after the thread's end only
        // the descriptor holds the new one.
        let namespace = thread::scope(|scope| {
            let making = thread::Builder::new().spawn_scoped(scope, || -> io::Result<OwnedFd> {
                unshare(CloneFlags::CLONE_NEWNET)?;
                Ok(File::open("/proc/thread-self/ns/net")?.into())
            });
            making?.join().unwrap_or_else(|_| Err(io::Error::other("the thread panicked")))
        })?;
        Ok(Self { namespace })
    }

    /// The namespace of this thread.
    ///
    /// # Errors
    ///
    /// The kernel's error.
    pub fn current() -> io::Result<Self> {
        Ok(Self { namespace: File::open("/proc/thread-self/ns/net")?.into() })
    }

    /// The same namespace once more.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { namespace: self.namespace.try_clone()? })
    }

    /// Runs `work` on a thread inside the namespace and waits for it. Sockets made there stay
    /// there.
    ///
    /// # Errors
    ///
    /// [`EnterError`] if no thread starts, the kernel refuses it the namespace, or `work` panics.
    pub fn enter<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, EnterError> {
        thread::scope(|scope| {
            let thread = thread::Builder::new()
                .spawn_scoped(scope, || {
                    self.join_this_thread().map_err(EnterError::Refused)?;
                    Ok(work())
                })
                .map_err(EnterError::Thread)?;
            thread.join().unwrap_or(Err(EnterError::Panicked))
        })
    }

    /// Starts a thread that lives inside the namespace.
    ///
    /// # Errors
    ///
    /// [`EnterError::Thread`] if no thread starts. The thread's own result is
    /// [`EnterError::Refused`] if the kernel refuses it the namespace.
    pub fn spawn_thread<T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JoinHandle<Result<T, EnterError>>, EnterError> {
        let namespace = self.namespace.try_clone().map_err(EnterError::Thread)?;
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                setns(namespace, CloneFlags::CLONE_NEWNET)
                    .map_err(|error| EnterError::Refused(error.into()))?;
                Ok(work())
            })
            .map_err(EnterError::Thread)
    }

    /// A command that runs `program` inside the namespace; add its arguments to it.
    ///
    /// The program runs in its own process namespace (by `unshare` of util-linux). The namespace
    /// dies with the thread that spawns the command, and every process in it dies too. So spawn
    /// from a thread that lives as long as the program should.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        self.command_as(&RunAs::ThisUser, Names::OfMachine, program)
    }

    /// The same, but the program runs as another user or with fewer rights, and may ask another
    /// name server.
    pub fn command_as(&self, user: &RunAs, names: Names, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(tool("unshare"));
        command.args(["--pid", "--fork", "--kill-child", "--mount-proc", "--"]);
        // The shell stays as the first process of the namespace: as first process a program would
        // lose its default signal handlers, and an interrupt would not end it. The shell
        // also keeps this process's user: a process that changes its user is no longer
        // killed with its parent, and the namespace ends with the shell.
        command.arg(tool("sh"));
        names.begin(&mut command);
        user.become_by(&mut command);
        command.arg(program);
        let parent = getpid();
        // SAFETY: only system calls that are safe after a fork are made.
        unsafe { command.pre_exec(move || die_with(parent)) };
        self.bring_in(&mut command);
        command
    }

    /// Has the command begin inside the namespace, which has to be there when it is spawned.
    pub fn bring_in(&self, command: &mut Command) {
        let namespace = self.namespace.as_raw_fd();
        let join = move || {
            // SAFETY: where the namespace is no more, the call fails and so does the spawn.
            let namespace = unsafe { BorrowedFd::borrow_raw(namespace) };
            Ok(setns(namespace, CloneFlags::CLONE_NEWNET)?)
        };
        // SAFETY: setns is safe after a fork.
        unsafe { command.pre_exec(join) };
    }

    /// The descriptor, for `setns`.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.namespace.as_fd()
    }

    fn join_this_thread(&self) -> io::Result<()> {
        Ok(setns(&self.namespace, CloneFlags::CLONE_NEWNET)?)
    }
}

fn die_with(parent: Pid) -> io::Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    if getppid() != parent {
        // The parent died before the line above: no signal will come.
        return Err(io::ErrorKind::BrokenPipe.into());
    }
    Ok(())
}
