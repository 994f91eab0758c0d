//! A small process that sets the rates of shapers. It has CAP_NET_ADMIN, and reads no byte of the
//! modem.
//!
//! The daemon names the directions first, each with its device and the limits of its rate. The
//! answer is the shaper that stands there. Then the list is closed. From there on it takes rates
//! alone, within the limits. When its pipe closes, because the daemon ended or was killed, it
//! restores the machine. Files restore it if this process is killed too.

mod autorate;
mod instruction;
mod kept;
mod left;
mod process;

use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use sounding_kpi::Direction;
use sounding_units::Rate;
use thiserror::Error;

pub(crate) use instruction::{KeeperEvent, Standing, Wanted, Way};
pub(crate) use left::restore_left;
pub(crate) use process::main;

use crate::apart;
use instruction::{Answer, Instruction, Lines, Side};

/// The hidden verb under which this program is the keeper of its shapers.
pub(crate) const VERB: &str = "shape-keep";

/// Why rates cannot be set.
#[derive(Debug, Error)]
pub(crate) enum KeeperError {
    /// The process does not start or is gone.
    #[error("shapers' keeper: {0}: its messages on standard error say why")]
    Process(#[source] io::Error),
    /// The process refuses a direction.
    #[error("{0}")]
    Refused(String),
}

/// The daemon's end of the pipes.
pub(crate) struct Keeper {
    child: Child,
    pipe: Option<ChildStdin>,
    answers: ChildStdout,
    lines: Lines,
    has_ended: bool,
}

impl Keeper {
    /// Starts the process, and has it take or make the shaper of each direction. Dropping the
    /// keeper restores the machine.
    pub(crate) fn start(directions: &[Wanted]) -> Result<(Self, Vec<Standing>), KeeperError> {
        Self::start_by(apart::under(VERB), directions)
    }

    fn start_by(
        command: Command,
        directions: &[Wanted],
    ) -> Result<(Self, Vec<Standing>), KeeperError> {
        let mut keeper = Self::spawn(command).map_err(KeeperError::Process)?;
        let standing: Result<Vec<Standing>, KeeperError> = directions
            .iter()
            .map(|wanted| match keeper.ask(&Instruction::Keep(wanted.clone()))? {
                Answer::Standing(standing) => Ok(standing),
                other => Err(KeeperError::Refused(format!("{other:?}"))),
            })
            .collect();
        let standing = standing?;
        keeper.ask(&Instruction::Close)?;
        let stop = |error: nix::errno::Errno| KeeperError::Process(error.into());
        // A keeper that hangs must not stop the daemon.
        if let Some(pipe) = &keeper.pipe {
            fcntl(pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map_err(stop)?;
        }
        fcntl(&keeper.answers, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map_err(stop)?;
        Ok((keeper, standing))
    }

    /// Sets the rate of a direction. The outcome is an event, if it is not as asked.
    pub(crate) fn set(&mut self, direction: Direction, rate: Rate) -> Result<(), KeeperError> {
        let direction = Side::from(direction);
        self.tell(&Instruction::Rate { direction, bits_per_sec: rate.bits_per_sec() })
    }

    /// The next event, if there is one. It does not wait.
    pub(crate) fn poll(&mut self) -> Option<KeeperEvent> {
        loop {
            match self.lines.next() {
                Some(Ok(line)) => match serde_json::from_slice(&line) {
                    Ok(Answer::Event(event)) => return Some(event),
                    Ok(Answer::Refused(why)) => return Some(KeeperEvent::Refused { why }),
                    // No answer is outstanding.
                    Ok(_) | Err(_) => {}
                },
                Some(Err(_)) => {}
                None => match self.read() {
                    Ok(0) if !std::mem::replace(&mut self.has_ended, true) => {
                        return Some(KeeperEvent::Ended);
                    }
                    Ok(0) | Err(_) => return None,
                    Ok(_) => {}
                },
            }
        }
    }

    fn spawn(mut command: Command) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let pipe = child.stdin.take();
        let answers = child.stdout.take().expect("it was asked for");
        Ok(Self { child, pipe, answers, lines: Lines::default(), has_ended: false })
    }

    fn ask(&mut self, instruction: &Instruction) -> Result<Answer, KeeperError> {
        self.tell(instruction)?;
        loop {
            if let Some(Ok(line)) = self.lines.next() {
                let answer = serde_json::from_slice(&line);
                match answer.map_err(|error| KeeperError::Process(error.into()))? {
                    Answer::Refused(why) => return Err(KeeperError::Refused(why)),
                    Answer::Event(_) => {}
                    answer => return Ok(answer),
                }
                continue;
            }
            if self.read().map_err(KeeperError::Process)? == 0 {
                return Err(KeeperError::Process(io::ErrorKind::UnexpectedEof.into()));
            }
        }
    }

    fn tell(&mut self, instruction: &Instruction) -> Result<(), KeeperError> {
        let mut line = serde_json::to_string(instruction).expect("it serialises");
        line.push('\n');
        // A line is shorter than what a pipe takes as a whole or not at all (PIPE_BUF).
        let pipe = self.pipe.as_mut().expect("the pipe is closed only on drop");
        pipe.write_all(line.as_bytes()).map_err(KeeperError::Process)
    }

    fn read(&mut self) -> io::Result<usize> {
        let mut bytes = [0; 4096];
        let count = self.answers.read(&mut bytes)?;
        self.lines.handle(&bytes[..count]);
        Ok(count)
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // Closing the pipe is the signal; waiting makes the machine whole before the daemon
        // returns.
        drop(self.pipe.take());
        apart::wait(&mut self.child, "the keeper of shapers");
    }
}

/// Waits for input up to a time, in milliseconds. Whether there is some, or its end.
fn wait_for_input(input: &impl AsFd, up_to_ms: u16) -> bool {
    let mut input = [PollFd::new(input.as_fd(), PollFlags::POLLIN)];
    poll(&mut input, PollTimeout::from(up_to_ms)).is_ok_and(|ready| ready > 0)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// A shell that answers as this script says, to one direction.
    fn started(script: &str) -> Result<(Keeper, Vec<Standing>), KeeperError> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let wanted = Wanted {
            direction: Side::Uplink,
            device: "v0".into(),
            way: Way::Adopt,
            min_bits_per_sec: 8,
            max_bits_per_sec: 80,
        };
        Keeper::start_by(command, &[wanted])
    }

    const STANDING: &str = r#"read line; echo '{"standing":{"direction":"uplink","device":"v0",
        "place":"v0","kind":"htb","shaper":"htb 1:","rate_bits_per_sec":null,"is_managed":false}}' |
        tr -d '\n'; echo; read line; echo '"closed"'; read line;"#;

    fn next(keeper: &mut Keeper) -> KeeperEvent {
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            match keeper.poll() {
                Some(event) => return event,
                None if Instant::now() > until => panic!("no event comes"),
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    #[test]
    fn news_of_a_keeper_come_in_order_and_its_end_is_the_last() {
        let said = r#"echo '{"refused":"no"}'; echo garbage
            echo '{"event":{"gone":{"direction":"uplink","why":"it went"}}}'"#;
        let (mut keeper, standing) = started(&format!("{STANDING} {said}")).expect("it answers");
        assert_eq!((standing.len(), standing[0].rate_bits_per_sec), (1, None));
        assert_eq!(keeper.poll(), None, "it waits for a rate");
        let rate = Rate::from_bits_per_sec(50);
        keeper.set(Direction::Uplink, rate).expect("it takes a rate");
        assert_eq!(next(&mut keeper), KeeperEvent::Refused { why: "no".into() });
        let gone = KeeperEvent::Gone { direction: Side::Uplink, why: "it went".into() };
        assert_eq!(next(&mut keeper), gone);
        assert_eq!(next(&mut keeper), KeeperEvent::Ended);
        assert_eq!(keeper.poll(), None, "that is said once");
    }

    #[test]
    fn a_direction_that_is_refused_stops_the_start_with_its_reason() {
        let refused = started(r#"read line; echo '{"refused":"v0: no such device"}'"#);
        let error = refused.err().expect("it is refused");
        assert_eq!(error.to_string(), "v0: no such device");
        let error = started("exit 1").err().expect("it is gone");
        assert!(matches!(error, KeeperError::Process(_)), "{error}");
    }
}
