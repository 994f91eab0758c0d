//! CAKE's rate and queue, by one `tc` that runs in the guest: a process for each change would take
//! longer than the time between two changes.

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value as Json;
use sounding_units::{Bytes, Rate};

use super::{Guest, GuestError};

/// A `tc` in the guest that takes commands.
#[derive(Debug)]
pub struct Tc {
    commands: TcpStream,
    answers: BufReader<TcpStream>,
}

/// A shaper at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shaper {
    /// Its rate; `None` if it is unlimited.
    pub rate: Option<Rate>,
    /// What waits in it.
    pub backlog: Bytes,
    /// The same in packets.
    pub waiting: u64,
    /// Bytes that left it so far.
    pub sent: Bytes,
    /// Packets that it dropped so far.
    pub dropped: u64,
}

impl Tc {
    /// Starts it.
    pub fn open(guest: &Guest) -> Result<Self, GuestError> {
        let fail = |source| GuestError::System { doing: "talk to tc in the guest", source };
        let commands = guest.open("tc -s -j -force -batch -")?;
        commands.set_read_timeout(Some(Duration::from_secs(5))).map_err(fail)?;
        let answers = BufReader::new(commands.try_clone().map_err(fail)?);
        Ok(Self { commands, answers })
    }

    /// Sets the rate of the CAKE at a device's root.
    pub fn set(&mut self, device: &str, rate: Rate) -> io::Result<()> {
        let rate = rate.bits_per_sec();
        writeln!(self.commands, "qdisc change dev {device} root cake bandwidth {rate}bit")
    }

    /// Asks for the shaper of a device; `None` if it has none.
    pub fn look(&mut self, device: &str) -> io::Result<Option<Shaper>> {
        writeln!(self.commands, "qdisc show dev {device}")?;
        loop {
            let mut line = String::new();
            if self.answers.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            // Messages about failed changes have no bracket.
            if line.starts_with('[') {
                return Ok(serde_json::from_str(&line).ok().as_ref().and_then(shaper));
            }
        }
    }
}

fn shaper(shown: &Json) -> Option<Shaper> {
    let cake = shown.as_array()?.iter().find(|qdisc| qdisc["kind"] == "cake")?;
    let number = |key: &str| cake[key].as_u64().unwrap_or(0);
    Some(Shaper {
        rate: cake["options"]["bandwidth"].as_u64().map(Rate::from_bytes_per_sec),
        backlog: Bytes::new(number("backlog")),
        waiting: number("qlen"),
        sent: Bytes::new(number("bytes")),
        dropped: number("drops"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_read_as_tc_writes_it() {
        let text = r#"[{"kind":"cake","handle":"8001:","root":true,"refcnt":2,"options":{"bandwidth":2500000,
            "diffserv":"diffserv3"},"bytes":336,"packets":4,"drops":1,"overlimits":0,"requeues":0,"backlog":42,"qlen":2}]"#;
        let seen = shaper(&serde_json::from_str(text).unwrap()).unwrap();
        assert_eq!(seen.rate, Some(Rate::from_bits_per_sec(20_000_000)));
        assert_eq!((seen.sent, seen.dropped), (Bytes::new(336), 1));
        assert_eq!((seen.backlog, seen.waiting), (Bytes::new(42), 2));
        assert_eq!(shaper(&serde_json::from_str("[]").unwrap()), None);
    }
}
