//! Lines of JSON, from standard input or from connections to a socket.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use sounding_rtc::line::Line as Command;

/// A longer line is refused: an offer with all its codecs has some 10 KB.
const LONGEST: u64 = 256 << 10;
/// Commands that wait; a reader with more waits too.
const WAITING: usize = 1_024;
/// Connections that are served in a call, one after the other or beside each other.
const CONNECTIONS: usize = 64;

/// What a reader passes on, with the number of its connection.
pub(crate) enum Line {
    Command(Command),
    Wrong(String),
    Closed,
}

pub(crate) struct Lines {
    pub(crate) lines: Receiver<(usize, Line)>,
    outputs: Receiver<(usize, Box<dyn Write + Send>)>,
}

/// Opens the input: standard input as the connection 0, or a socket.
pub(crate) fn open(socket: Option<&Path>) -> Result<Lines, String> {
    let (to_lines, lines) = sync_channel(WAITING);
    let (to_outputs, outputs) = sync_channel(CONNECTIONS);
    match socket {
        None => {
            let _ = to_outputs.send((0, Box::new(io::stdout()) as Box<dyn Write + Send>));
            begin(move || read(0, io::stdin(), &to_lines))?;
        }
        Some(path) => {
            let place = |error| format!("{}: {error}", path.display());
            let listener = UnixListener::bind(path).map_err(place)?;
            begin(move || {
                for (number, stream) in listener.incoming().flatten().take(CONNECTIONS).enumerate()
                {
                    let Ok(output) = stream.try_clone() else { continue };
                    if to_outputs.send((number, Box::new(output) as _)).is_err() {
                        return;
                    }
                    let own = to_lines.clone();
                    if let Err(error) = begin(move || read(number, stream, &own)) {
                        // Its stream is closed with the thread that was not made.
                        let _ = to_lines.send((number, Line::Wrong(error)));
                        let _ = to_lines.send((number, Line::Closed));
                    }
                }
            })?;
        }
    }
    Ok(Lines { lines, outputs })
}

fn begin(work: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let begun = thread::Builder::new().name("lines".into()).spawn(work);
    begun.map(drop).map_err(|error| format!("a thread that reads lines: {error}"))
}

impl Lines {
    /// Where answers to a connection go.
    pub(crate) fn output(&self, number: usize) -> Option<Box<dyn Write + Send>> {
        self.outputs.try_iter().find(|(of, _)| *of == number).map(|(_, output)| output)
    }
}

fn read(number: usize, input: impl Read, to: &SyncSender<(usize, Line)>) {
    let mut input = BufReader::new(input);
    loop {
        let mut bytes = Vec::new();
        match input.by_ref().take(LONGEST).read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        if bytes.last() != Some(&b'\n') && bytes.len() as u64 == LONGEST {
            let _ =
                to.send((number, Line::Wrong(format!("a line is longer than {LONGEST} bytes"))));
            break;
        }
        let line = match serde_json::from_slice(&bytes) {
            Ok(command) => Line::Command(command),
            Err(error) => Line::Wrong(error.to_string()),
        };
        if to.send((number, line)).is_err() {
            return;
        }
    }
    let _ = to.send((number, Line::Closed));
}
