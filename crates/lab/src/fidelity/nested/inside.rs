//! The probe behind both links: it asks for echoes, or sends without pause.

use std::fmt;
use std::net::UdpSocket;
use std::str::FromStr;
use std::time::{Duration, Instant};

use crate::experiment::Failed;

/// Bytes of IP of each packet that is sent without pause: 1472 of them are payload.
pub(super) const PACKET: usize = 1500;

/// Between echoes.
const ECHO_EVERY: Duration = Duration::from_millis(10);

/// Between packets: 18 Mbit/s, half more than the trace carries.
const SEND_EVERY: Duration = Duration::from_micros(667);

/// What the probe does, towards a port of the outermost far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Measures round trips.
    Echo { port: u16, lasts: Duration },
    /// Sends more than the link carries.
    Send { port: u16, lasts: Duration },
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Echo { port, lasts } => write!(f, "echo:{port}:{}", lasts.as_millis()),
            Self::Send { port, lasts } => write!(f, "send:{port}:{}", lasts.as_millis()),
        }
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not echo:PORT:MILLISECONDS or send:PORT:MILLISECONDS");
        let words: Vec<&str> = text.split(':').collect();
        let [kind, port, millis] = words[..] else { return Err(wrong()) };
        let port = port.parse().map_err(|_| wrong())?;
        let lasts = Duration::from_millis(millis.parse().map_err(|_| wrong())?);
        match kind {
            "echo" => Ok(Self::Echo { port, lasts }),
            "send" => Ok(Self::Send { port, lasts }),
            _ => Err(wrong()),
        }
    }
}

/// Runs the probe. Gives round trips in milliseconds; none if it only sends.
pub(super) fn run(role: Role) -> Result<Vec<f64>, Failed> {
    let base = std::env::var("MAHIMAHI_BASE")
        .map_err(|_| Failed::from("--inside is for a command of `sounding emu`"))?;
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    let (Role::Echo { port, lasts } | Role::Send { port, lasts }) = role;
    socket.connect((base.as_str(), port))?;
    let end = Instant::now() + lasts;
    match role {
        Role::Echo { .. } => echo(&socket, end),
        Role::Send { .. } => send(&socket, end).map(|()| Vec::new()),
    }
}

fn echo(socket: &UdpSocket, end: Instant) -> Result<Vec<f64>, Failed> {
    socket.set_read_timeout(Some(Duration::from_secs(1)))?;
    let (mut trips, mut number) = (Vec::new(), 0_u64);
    while Instant::now() < end {
        number += 1;
        let sent = Instant::now();
        socket.send(&number.to_be_bytes())?;
        let mut bytes = [0; 8];
        // An answer to an earlier one came too late.
        while socket.recv(&mut bytes).is_ok() {
            if u64::from_be_bytes(bytes) == number {
                trips.push(sent.elapsed().as_secs_f64() * 1e3);
                break;
            }
        }
        std::thread::sleep(ECHO_EVERY);
    }
    Ok(trips)
}

fn send(socket: &UdpSocket, end: Instant) -> Result<(), Failed> {
    let payload = [0; PACKET - 28];
    let mut due = Instant::now();
    while due < end {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        // A full queue of the device is as good as one of the link.
        let _ = socket.send(&payload);
        due += SEND_EVERY;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_the_same_behind_its_text() {
        let lasts = Duration::from_millis(1500);
        for role in [Role::Echo { port: 7, lasts }, Role::Send { port: 9, lasts }] {
            assert_eq!(role.to_string().parse(), Ok(role));
        }
        for wrong in ["", "echo", "echo:7", "ping:7:1", "echo:70000:1", "send:7:soon"] {
            wrong.parse::<Role>().expect_err(wrong);
        }
    }
}
