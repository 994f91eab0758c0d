//! The changes that `sounding run` makes on the machine, and their removal, even if the daemon
//! crashes.
//!
//! A second process, the guard, holds the list of changes and undoes them when the pipe from the
//! daemon closes. That happens when the daemon ends, is killed or crashes. So every case uses the
//! same way of restoring.
//!
//! The list is complete and closed before the daemon reads the modem. Then the daemon drops the
//! rights for such changes. The guard keeps only the rights for undoing them.

mod change;
mod route;

use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sounding_host::{Capabilities, keep_only};
use thiserror::Error;

use crate::{apart, before};
use change::{Change, Refusal};
use route::Route;

/// The hidden verb under which this program is its own guard.
pub(crate) const VERB: &str = "guard-restore";

/// Rights for undoing: settings and routes of the network, and as root pins, and names that outlast
/// a daemon before Linux 6.4.
const KEPT: Capabilities = Capabilities::NET_ADMIN.union(Capabilities::SYS_ADMIN);

/// More bytes than an instruction has.
const LONGEST: u64 = 4096;

/// More changes than a daemon makes. Chosen; a route is one.
const MOST: usize = 4096;

/// The daemon's instructions to its guard, a line of JSON each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Instruction {
    /// Undo this in the end. It is made only after the guard has agreed.
    Undo(Change),
    /// Read no more instructions.
    Close,
}

/// The guard's answer to an instruction that it will carry out.
const AGREED: &str = "agreed";

/// Why a change was not made.
#[derive(Debug, Error)]
pub(crate) enum GuardError {
    /// The guard process does not start or is gone.
    #[error("guard process: {0}")]
    Process(#[source] io::Error),
    /// The guard refuses the instruction, because this program never makes such a change.
    #[error("guard process: it will not undo {instruction}: {why}")]
    Refuses { instruction: String, why: String },
    /// A setting cannot be read or written.
    #[error("{path}: {error}: changing it takes root or CAP_NET_ADMIN")]
    Sysctl { path: String, error: io::Error },
    /// The tool that knows routes does not run.
    #[error("ip route: {0}: install iproute2")]
    NoTool(#[source] io::Error),
    /// Removing the pinned programs or their sockets' settings failed.
    #[error("{path}: {error}: releasing it takes root")]
    Pins { path: PathBuf, error: io::Error },
    /// The name stays, and no daemon behind it.
    #[error(
        "congestion control {name}: {error}: `bpftool struct_ops unregister id {map}` takes it out"
    )]
    Name { name: String, map: u32, error: io::Error },
    /// There is not exactly one such route.
    #[error(
        "route {prefix}: {count} routes to exactly that prefix, not one: `ip route show` lists them"
    )]
    NotOne { prefix: String, count: usize },
    /// The tool refused.
    #[error("ip {words}: {message}")]
    Tool { words: String, message: String },
}

/// The daemon's end of the pipes.
pub(crate) struct Guard {
    child: Child,
    pipe: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Guard {
    /// Starts the guard process in a separate session, so that Ctrl-C reaches the daemon alone.
    pub(crate) fn start() -> Result<Self, GuardError> {
        let mut command = apart::under(VERB);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(GuardError::Process)?;
        let pipe = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("it was asked for"));
        Ok(Self { child, pipe, answers })
    }

    /// Makes `name` the default congestion control of this network namespace.
    pub(crate) fn set_default(&mut self, name: &str) -> Result<(), GuardError> {
        let present = once_put_back(change::default, |was| was == name)?;
        // One whose daemon was killed together with its guard is no default to go back to.
        let was = match before::living(&present, name, change::is_registered) {
            Some(was) => was,
            None => change::stock()?,
        };
        // From here on the guard removes the kept default, even if the next step fails.
        self.undo(Change::Default { ours: name.into(), was: was.clone() })?;
        if let Err(error) = before::keep(name, &was) {
            eprintln!(
                "sounding: that {was} was the default cannot be kept ({error}): if this daemon and its guard are both killed, \
                 the next one does not know it"
            );
        }
        change::set_default(name)?;
        if present != name && present != was {
            // The file belongs to a dead daemon. Its content has been read.
            let _ = before::forget(&present);
        }
        Ok(())
    }

    /// Makes `name` the congestion control of new flows over the route to exactly `prefix`.
    pub(crate) fn set_route(&mut self, prefix: &str, name: &str) -> Result<(), GuardError> {
        let is_ours = |route: &Route| route.algorithm() == Some(name);
        let route = once_put_back(|| Route::only(prefix), is_ours)?;
        // The kernel would refuse the algorithm of a daemon that was killed together with its
        // guard.
        let was = route.algorithm().filter(|was| *was != name && change::is_registered(was));
        let was = was.map(Into::into);
        self.undo(Change::Route { prefix: prefix.into(), ours: name.into(), was })?;
        route.with(Some(name)).set()
    }

    /// Sees to it that programs pinned under this name let go, though the daemon be killed.
    pub(crate) fn keep_pins(&mut self, name: &str) -> Result<(), GuardError> {
        self.undo(Change::Pins { name: name.into() })
    }

    /// Sees to it that the name of a killed daemon goes, where the kernel would keep it by this
    /// map. It is there already: a kill in the moment between leaves it.
    pub(crate) fn keep_name(
        &mut self,
        name: &str,
        outlasting: Option<u32>,
    ) -> Result<(), GuardError> {
        let Some(map) = outlasting else { return Ok(()) };
        self.undo(Change::Name { name: name.into(), map })
    }

    /// No more changes follow. From here on the guard reads no instructions, even if another
    /// process holds the daemon's end of the pipe.
    pub(crate) fn close(&mut self) -> Result<(), GuardError> {
        self.tell(&Instruction::Close)
    }

    /// Tells the guard about a change before it is made. After a crash in between, the guard undoes
    /// a change that was never made, which is harmless.
    fn undo(&mut self, change: Change) -> Result<(), GuardError> {
        self.tell(&Instruction::Undo(change))
    }

    fn tell(&mut self, instruction: &Instruction) -> Result<(), GuardError> {
        let mut line = serde_json::to_string(instruction).expect("strings serialise");
        let pipe = self.pipe.as_mut().expect("the pipe is closed only on drop");
        line.push('\n');
        pipe.write_all(line.as_bytes()).map_err(GuardError::Process)?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer).map_err(GuardError::Process)?;
        match answer.trim() {
            AGREED => Ok(()),
            "" => Err(GuardError::Process(io::ErrorKind::UnexpectedEof.into())),
            why => Err(GuardError::Refuses { instruction: line.trim().into(), why: why.into() }),
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Closing the pipe is the signal; waiting makes the machine whole before the daemon
        // returns.
        drop(self.pipe.take());
        apart::wait(&mut self.child, "the guard process");
    }
}

/// The guard process: collects changes until the daemon's end of the pipe closes, then undoes them,
/// last first.
pub(crate) fn main() -> io::Result<()> {
    use nix::sys::signal::{SigHandler, Signal, signal};
    use nix::unistd::getppid;
    // A service manager sends the last of these to all of a service whose daemon hangs.
    for ignored in
        [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT, Signal::SIGABRT]
    {
        // SAFETY: ignoring a signal installs no handler.
        unsafe { signal(ignored, SigHandler::SigIgn) }?;
    }
    // It was not started by its name.
    nix::sys::prctl::set_name(c"sounding")?;
    let mut list = List { daemon: getppid().as_raw().cast_unsigned(), ..List::default() };
    let mut input = io::stdin().lock();
    // A read error counts as the end of the daemon.
    while let Ok(Some(line)) = next_line(&mut input) {
        let answer = match list.handle(line) {
            Ok(()) => {
                if list.is_closed {
                    drop_rights();
                }
                AGREED.to_string()
            }
            Err(refusal) => {
                eprintln!("sounding: guard: an instruction is refused: {refusal}");
                refusal.to_string()
            }
        };
        // A daemon that has ended needs no answer.
        let _ = writeln!(io::stdout(), "{}", answer.replace('\n', " "));
    }
    // Also where the daemon was killed before it closed the list.
    drop_rights();
    for change in list.changes.iter().rev() {
        if let Err(error) = change.undo() {
            eprintln!("sounding: not restored: {error}");
        }
    }
    Ok(())
}

fn drop_rights() {
    // With more rights it undoes as well.
    if let Err(error) = keep_only(KEPT) {
        eprintln!("sounding: guard: capabilities are not dropped: {error}");
    }
}

/// The changes to undo.
#[derive(Debug, Default)]
struct List {
    /// The process that made these changes.
    daemon: u32,
    changes: Vec<Change>,
    is_closed: bool,
}

impl List {
    fn handle(&mut self, line: Result<Vec<u8>, Refusal>) -> Result<(), Refusal> {
        if self.is_closed {
            return Err(Refusal::Closed);
        }
        match serde_json::from_slice(&line?)? {
            Instruction::Close => self.is_closed = true,
            Instruction::Undo(_) if self.changes.len() >= MOST => {
                return Err(Refusal::TooMany(MOST));
            }
            Instruction::Undo(change) => {
                change.check(self.daemon)?;
                self.changes.push(change);
            }
        }
        Ok(())
    }
}

/// The next line. No more of it is kept than an instruction has.
fn next_line(input: &mut impl BufRead) -> io::Result<Option<Result<Vec<u8>, Refusal>>> {
    let mut line = Vec::new();
    input.by_ref().take(LONGEST).read_until(b'\n', &mut line)?;
    if line.len() as u64 == LONGEST && line.last() != Some(&b'\n') {
        input.skip_until(b'\n')?;
        return Ok(Some(Err(Refusal::TooLong(LONGEST))));
    }
    Ok((!line.is_empty()).then_some(Ok(line)))
}

/// The longest time that the guard of a killed daemon needs.
const PUT_BACK: Duration = Duration::from_secs(2);

/// The result of `read`. If a name was free a moment ago and is now set, a killed daemon of that
/// name left it. Its guard is about to restore the value from before, and would undo what this
/// daemon sets before that. If the value is not restored, that guard was killed too.
fn once_put_back<T>(
    mut read: impl FnMut() -> Result<T, GuardError>,
    is_ours: impl Fn(&T) -> bool,
) -> Result<T, GuardError> {
    let until = Instant::now() + PUT_BACK;
    loop {
        let found = read()?;
        if !is_ours(&found) || Instant::now() >= until {
            return Ok(found);
        }
        sleep(Duration::from_millis(10));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(instruction: &Instruction) -> Vec<u8> {
        serde_json::to_vec(instruction).expect("serialises")
    }

    #[test]
    fn instructions_survive_the_pipe() {
        let name = "biscay".to_string();
        let change = Change::Route { prefix: "default".into(), ours: name, was: None };
        for instruction in [Instruction::Undo(change), Instruction::Close] {
            let read: Instruction = serde_json::from_slice(&line(&instruction)).expect("parses");
            assert_eq!(read, instruction);
        }
    }

    #[test]
    fn a_list_that_is_closed_stays_closed() {
        let mut list = List::default();
        list.handle(Ok(line(&Instruction::Close))).expect("it may be closed");
        for more in [Instruction::Undo(Change::Pins { name: "biscay".into() }), Instruction::Close]
        {
            let refusal = list.handle(Ok(line(&more))).expect_err("it is closed");
            assert!(matches!(refusal, Refusal::Closed), "{refusal}");
        }
        assert!(list.changes.is_empty());
    }

    #[test]
    fn what_is_no_instruction_is_none_and_keeps_nothing() {
        let mut list = List::default();
        for text in [
            "",
            "{}",
            "\"Open\"",
            r#"{"Undo":{"Sysctl":{"path":"/proc/sys/kernel/core_pattern","ours":"core","was":"|/x"}}}"#,
            r#"{"Undo":{"Pins":{"name":"x","path":"/etc"}}}"#,
        ] {
            let refusal = list.handle(Ok(text.into())).expect_err(text);
            assert!(matches!(refusal, Refusal::Unreadable(_)), "{text}: {refusal}");
        }
        assert!(list.changes.is_empty());
    }

    #[test]
    fn a_line_without_an_end_is_passed_over_and_the_next_one_heard() {
        let long = [vec![b'x'; 3 * LONGEST as usize], b"\nnext\nlast".to_vec()].concat();
        let mut input = &long[..];
        let refused = next_line(&mut input).expect("memory reads").expect("a line");
        assert!(matches!(refused, Err(Refusal::TooLong(_))), "{refused:?}");
        for expected in ["next\n", "last"] {
            let line = next_line(&mut input).expect("memory reads").expect("a line");
            assert_eq!(line.expect("it is short"), expected.as_bytes());
        }
        assert!(next_line(&mut input).expect("memory reads").is_none());
    }
}
