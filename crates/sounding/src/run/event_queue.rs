//! Output lines, which never block their writer.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::thread;
use std::time::Duration;

use sounding_host::{Capabilities, spawn_with_only};

/// Lines that wait at most: at a hundred a second a reader may look away for forty seconds.
const CAPACITY: usize = 4096;

/// How long the last event waits for a slow reader.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bounded queue of lines and the thread that writes them.
///
/// A reader that is slow, or has stopped, fills the pipe between it and this process, and a write
/// to a full pipe blocks. Here that blocks a separate thread: the queue fills, and lines that do
/// not fit are dropped and counted.
#[derive(Debug)]
pub(crate) struct Outbox {
    lines: SyncSender<String>,
    /// That of the one that says the last line.
    written: Option<Receiver<()>>,
    dropped: Arc<AtomicU64>,
}

impl Clone for Outbox {
    /// Another way into the queue. The last line waits until it is dropped.
    fn clone(&self) -> Self {
        let (lines, dropped) = (self.lines.clone(), Arc::clone(&self.dropped));
        Self { lines, written: None, dropped }
    }
}

impl Outbox {
    /// Starts the thread that writes to `out`.
    pub(crate) fn new(out: impl Write + Send + 'static) -> io::Result<Self> {
        let (lines, to_write) = mpsc::sync_channel(CAPACITY);
        let (done, written) = mpsc::sync_channel(1);
        spawn_with_only(Capabilities::empty(), "events", move || {
            write_lines(&to_write, out);
            let _ = done.send(());
        })?;
        Ok(Self { lines, written: Some(written), dropped: Arc::default() })
    }

    /// Sends a line on its way, or drops it if the queue is full; never waits. It has to be safe to
    /// show.
    pub(crate) fn say(&mut self, line: String) {
        match self.lines.try_send(line) {
            // A reader that is gone is no reason to leave the flows alone.
            Ok(()) | Err(TrySendError::Disconnected(_)) => {}
            Err(TrySendError::Full(_)) => {
                self.dropped.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Lines that did not fit.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Says the last line and waits until all are written, for a second at most.
    pub(crate) fn finish(self, last: String) {
        // The standard library's channel has no timed send; a separate thread waits for space.
        let Self { lines, written, .. } = self;
        let waiting = thread::Builder::new().spawn(move || {
            let _ = lines.send(last);
        });
        if waiting.is_err() {
            // This user may start no more threads, and then the last line is lost.
            return;
        }
        let _ = written.map(|written| written.recv_timeout(PATIENCE));
    }
}

/// Writes until the other end is dropped or the reader is gone.
fn write_lines(lines: &Receiver<String>, mut out: impl Write) {
    for line in lines {
        // In one write: a line for a file, an entry for a journal.
        if out.write_all((line + "\n").as_bytes()).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex, mpsc};

    /// A reader that reads nothing until it is let go.
    struct Slow {
        go: Receiver<()>,
        gone: bool,
        read: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if !self.gone {
                self.go.recv().expect("the test lets it go");
                self.gone = true;
            }
            self.read.lock().expect("not poisoned").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_does_not_read_costs_lines_and_no_time() {
        let (let_go, go) = mpsc::channel();
        let read = Arc::new(Mutex::new(Vec::new()));
        let slow = Slow { go, gone: false, read: Arc::clone(&read) };
        let mut outbox = Outbox::new(slow).expect("a thread");
        // One more than the queue holds may be in the writer's hands already.
        for line in 0..CAPACITY + 11 {
            outbox.say(line.to_string());
        }
        let dropped = outbox.dropped();
        assert!((10..=11).contains(&dropped), "{dropped}");
        let_go.send(()).expect("the writer waits");
        outbox.finish("done".into());
        let text = String::from_utf8(read.lock().expect("not poisoned").clone()).expect("text");
        let kept = CAPACITY + 11 - dropped as usize;
        let expected: Vec<String> = (0..kept).map(|line| line.to_string()).collect();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..kept], expected);
        assert_eq!(lines[kept..], ["done"]);
    }

    #[test]
    fn a_reader_that_is_gone_is_no_error() {
        struct Gone;
        impl Write for Gone {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut outbox = Outbox::new(Gone).expect("a thread");
        for line in 0..3 {
            outbox.say(line.to_string());
        }
        outbox.finish("done".into());
    }
}
