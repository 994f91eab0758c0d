use std::io;
use std::time::Duration;

use sounding_diag::capture::{Located, Reader};
use sounding_diag::command::{Answer, Request};
use sounding_diag::packet::Packet;
use sounding_diag::session::Identity;

use sounding_host::monotonic_now;

use crate::{READ_SIZE, Read, Transport};

/// The answer on a port to a version request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// A modem that identifies itself.
    Answers(Identity),
    /// Diag records without a request, and no answer: a bridge in one direction, or a busy modem.
    Talks,
    /// It sends requests back, and no answer: a port for AT commands.
    Echoes,
    /// No answer, or none that is Diag.
    Silent,
}

/// Identifies the modem on a port without changing its state. Waits up to `patience` for the
/// answer.
///
/// # Errors
///
/// That of the port, if it cannot be read or written.
pub fn probe(transport: &mut dyn Transport, patience: Duration) -> io::Result<Probe> {
    let mut reader = Reader::new();
    let mut identity = None;
    let (mut talks, mut echoes) = (false, false);
    if transport.takes_requests() {
        ask(transport, Request::Version)?;
    }
    let until = monotonic_now() + patience;
    let mut buffer = vec![0; READ_SIZE];
    loop {
        let left = until - monotonic_now();
        if left.is_zero() || is_complete(identity.as_ref()) {
            break;
        }
        let bytes = match transport.read(&mut buffer, left)? {
            Read::Bytes(count) => &buffer[..count],
            Read::Idle => continue,
            Read::Closed => break,
        };
        let known = identity.is_some();
        let mut handle = |located: Located<'_>| {
            match located.packet {
                // No answer equals its request.
                Packet::Other { command, body: [], .. } if is_request(command) => echoes = true,
                Packet::Other { command, body, .. } => {
                    talks = true;
                    learn(&mut identity, command, body);
                }
                Packet::Log(_) => talks = true,
            }
        };
        reader.handle_read(transport.framing(), bytes, |found| {
            found.into_iter().for_each(&mut handle);
        });
        if identity.is_some() && !known {
            ask(transport, Request::BuildId)?;
        }
    }
    Ok(match identity {
        Some(identity) => Probe::Answers(identity),
        None if talks => Probe::Talks,
        None if echoes => Probe::Echoes,
        None => Probe::Silent,
    })
}

fn ask(transport: &mut dyn Transport, request: Request<'_>) -> io::Result<()> {
    let mut payload = Vec::new();
    request.emit(&mut payload);
    transport.send(&payload)
}

/// Whether this byte alone is one of the requests made here.
fn is_request(command: u8) -> bool {
    [Request::Version, Request::BuildId].iter().any(|request| request.command() == command)
}

fn is_complete(identity: Option<&Identity>) -> bool {
    identity.is_some_and(|identity| identity.build.is_some())
}

/// Any answer to the first request shows that a modem is there, even a refusal.
fn learn(identity: &mut Option<Identity>, command: u8, body: &[u8]) {
    match Answer::parse(command, body) {
        Some(Answer::Version { compiled_on, compiled_at }) => {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
            let compiled = format!("{} {}", text(compiled_on), text(compiled_at));
            identity.get_or_insert_default().compiled = Some(compiled);
        }
        Some(Answer::BuildId(build)) => {
            let build = String::from_utf8_lossy(build).trim().to_owned();
            identity.get_or_insert_default().build = Some(build);
        }
        Some(Answer::Refused { .. }) => {
            identity.get_or_insert_default();
        }
        _ => {}
    }
}
