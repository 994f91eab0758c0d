//! Lines of JSON, from standard input or from connections to a socket.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use sounding_rtc::line::Line as Command;

/// A longer line is refused: an offer with all its codecs has some 10 KB.
const LONGEST: u64 = 256 << 10;
/// Commands that wait; a reader with more waits too.
const WAITING: usize = 1_024;
/// Connections that are served beside each other. One that ends makes room for another.
const CONNECTIONS: usize = 64;
/// Nothing is accepted for so long after the system refused to: it may lack descriptors.
const REFUSED: Duration = Duration::from_millis(10);

/// What a reader passes on, with the number of its connection.
pub(crate) enum Line {
    Command(Command),
    Wrong(String),
    Closed,
}

type Output = Box<dyn Write + Send>;

/// Open connections, each with its output until that is taken.
#[derive(Clone, Default)]
struct Connections(Arc<Mutex<HashMap<usize, Option<Output>>>>);

impl Connections {
    fn lock(&self) -> MutexGuard<'_, HashMap<usize, Option<Output>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves a connection in a thread of its own, if there is room for it.
    fn serve(
        &self,
        number: usize,
        stream: UnixStream,
        to: &SyncSender<(usize, Line)>,
    ) -> io::Result<()> {
        let output: Output = Box::new(stream.try_clone()?);
        {
            let mut open = self.lock();
            if open.len() >= CONNECTIONS {
                let why = format!("{CONNECTIONS} connections are open: close one");
                return Err(io::Error::other(why));
            }
            open.insert(number, Some(output));
        }
        let (connections, to) = (self.clone(), to.clone());
        let reading = thread::Builder::new().spawn(move || {
            read(number, stream, &to);
            connections.lock().remove(&number);
        });
        reading.map(drop).inspect_err(|_| drop(self.lock().remove(&number)))
    }
}

pub(crate) struct Lines {
    pub(crate) lines: Receiver<(usize, Line)>,
    connections: Connections,
}

/// Opens the input: standard input as the connection 0, or a socket.
pub(crate) fn open(socket: Option<&Path>) -> Result<Lines, String> {
    let (to_lines, lines) = sync_channel(WAITING);
    let connections = Connections::default();
    match socket {
        None => {
            connections.lock().insert(0, Some(Box::new(io::stdout())));
            begin(move || read(0, io::stdin(), &to_lines))?;
        }
        Some(path) => {
            let place = |error| format!("{}: {error}", path.display());
            let listener = UnixListener::bind(path).map_err(place)?;
            let connections = connections.clone();
            begin(move || {
                for (number, stream) in listener.incoming().enumerate() {
                    match stream {
                        Ok(stream) => {
                            if let Err(error) = connections.serve(number, stream, &to_lines) {
                                eprintln!("sounding-rtc-peer: a connection is refused: {error}");
                            }
                        }
                        Err(_) => thread::sleep(REFUSED),
                    }
                }
            })?;
        }
    }
    Ok(Lines { lines, connections })
}

fn begin(work: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let begun = thread::Builder::new().name("lines".into()).spawn(work);
    begun.map(drop).map_err(|error| format!("a thread that reads lines: {error}"))
}

impl Lines {
    /// Where answers to a connection go.
    pub(crate) fn output(&self, number: usize) -> Option<Output> {
        self.connections.lock().get_mut(&number)?.take()
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
