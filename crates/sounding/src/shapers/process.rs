//! The keeper's process.

use std::io;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::{read, write};
use sounding_host::{Capabilities, keep_only};
use sounding_qdisc::Tc;

use super::instruction::{Answer, Instruction, KeeperEvent, LONGEST, Lines};
use super::kept::Kept;
use super::{left, wait_for_input};

/// How often it looks whether devices and shapers are as they were. A device that came back is
/// shaped within a second.
const LOOK: Duration = Duration::from_millis(250);

/// Refusals that are said one by one. Of more the number is said at the end.
const SAID: u64 = 10;

/// More characters than a refusal of this program's own has.
const LONGEST_REFUSAL: usize = 400;

/// Keeps shapers until the daemon's end of the pipe closes, then restores the machine.
pub(crate) fn main() -> io::Result<()> {
    use nix::sys::signal::{SigHandler, Signal, signal};
    // A service manager sends the last of these to all of a service whose daemon hangs.
    let ignored =
        [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT, Signal::SIGABRT];
    for ignored in ignored.into_iter().chain([Signal::SIGPIPE]) {
        // SAFETY: ignoring a signal installs no handler.
        unsafe { signal(ignored, SigHandler::SigIgn) }?;
    }
    // It was not started by its name.
    nix::sys::prctl::set_name(c"sounding")?;
    if let Err(error) = keep_only(Capabilities::NET_ADMIN) {
        eprintln!("sounding: shapers' keeper: capabilities are not dropped: {error}");
    }
    let tc = Tc::open().map_err(io::Error::other)?;
    for line in left::restore_left()? {
        eprintln!("sounding: {line}");
    }
    // A daemon that reads nothing must not stop it from restoring.
    let is_set = fcntl(io::stdout(), FcntlArg::F_SETFL(OFlag::O_NONBLOCK));
    is_set.map_err(io::Error::from)?;
    let mut keeper = Process { tc, sides: Vec::new(), is_closed: false, refused: 0 };
    keeper.run();
    keeper.end();
    Ok(())
}

struct Process {
    tc: Tc,
    sides: Vec<Kept>,
    is_closed: bool,
    refused: u64,
}

impl Process {
    fn run(&mut self) {
        let mut lines = Lines::default();
        let mut bytes = [0; 4096];
        let mut looked = Instant::now();
        loop {
            if wait_for_input(&io::stdin(), u16::try_from(LOOK.as_millis()).unwrap_or(u16::MAX)) {
                // A read error counts as the end of the daemon.
                // Without a buffer, which could hold a line that no wait ends for.
                match read(io::stdin(), &mut bytes) {
                    Err(Errno::EINTR) => {}
                    Ok(0) | Err(_) => return,
                    Ok(count) => lines.handle(&bytes[..count]),
                }
            }
            while let Some(line) = lines.next() {
                self.handle(line.ok().as_deref());
            }
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                for side in &mut self.sides {
                    side.look(&self.tc).into_iter().for_each(say);
                }
            }
        }
    }

    /// A line, or `None` for one that was too long.
    fn handle(&mut self, line: Option<&[u8]>) {
        let parsed = match line {
            None => Err(format!("longer than {LONGEST} bytes")),
            Some(line) => serde_json::from_slice(line).map_err(|e| format!("no instruction: {e}")),
        };
        match parsed.and_then(|instruction| self.obey(instruction)) {
            Ok(Some(answer)) => answer_with(&answer),
            Ok(None) => {}
            Err(why) => self.refuse(why),
        }
    }

    fn obey(&mut self, instruction: Instruction) -> Result<Option<Answer>, String> {
        match instruction {
            Instruction::Keep(_) | Instruction::Close if self.is_closed => {
                Err("the list of directions is closed".into())
            }
            Instruction::Keep(wanted) => {
                let direction = wanted.direction;
                if self.sides.iter().any(|side| side.direction() == direction) {
                    return Err(format!("the {direction} is named already"));
                }
                let (kept, standing) = Kept::begin(&self.tc, wanted, &self.sides)?;
                self.sides.push(kept);
                Ok(Some(Answer::Standing(standing)))
            }
            Instruction::Close => {
                self.is_closed = true;
                Ok(Some(Answer::Closed))
            }
            Instruction::Rate { .. } if !self.is_closed => {
                Err("the list of directions is not closed yet".into())
            }
            Instruction::Rate { direction, bits_per_sec } => {
                let side = self.sides.iter_mut().find(|side| side.direction() == direction);
                let side = side.ok_or_else(|| format!("no {direction} was named"))?;
                Ok(side.set(&self.tc, bits_per_sec)?.map(Answer::Event))
            }
        }
    }

    fn refuse(&mut self, mut why: String) {
        self.refused += 1;
        // It may repeat the line, with anything in it.
        why.retain(|c| !c.is_control());
        why = why.chars().take(LONGEST_REFUSAL).collect();
        if self.refused <= SAID {
            eprintln!("sounding: shapers' keeper: an instruction is refused: {why}");
        }
        answer_with(&Answer::Refused(why));
    }

    fn end(self) {
        if self.refused > SAID {
            eprintln!("sounding: shapers' keeper: {} instructions were refused", self.refused);
        }
        for side in self.sides.into_iter().rev() {
            if let Err(error) = side.end(&self.tc) {
                eprintln!("sounding: not restored: {error}");
            }
        }
    }
}

fn say(event: KeeperEvent) {
    answer_with(&Answer::Event(event));
}

/// A daemon that has ended, or reads nothing, needs no answer.
fn answer_with(answer: &Answer) {
    let mut line = serde_json::to_vec(answer).expect("it serialises");
    line.push(b'\n');
    // In one call: a pipe takes a line as a whole or not at all.
    let _ = write(io::stdout(), &line);
}
