use std::io;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use crate::{Source, Transport};

/// Tries to open a source until it opens, on a separate thread: a bridge that does not answer keeps
/// a client waiting for seconds, and the heartbeat has no seconds. If a source closes at once,
/// [`Retry`](crate::Retry) says how long it is left alone first.
#[derive(Debug)]
pub(crate) struct Reopening {
    opened: Receiver<Box<dyn Transport>>,
    /// The thread goes on while this is held.
    _wanted: Arc<()>,
}

const EVERY: Duration = Duration::from_millis(5);

impl Reopening {
    pub(crate) fn start(source: Source, first_wait: Duration) -> io::Result<Self> {
        let (found, opened) = mpsc::channel();
        let wanted = Arc::new(());
        let still_wanted: Weak<()> = Arc::downgrade(&wanted);
        thread::Builder::new().name("reopen".into()).spawn(move || {
            thread::sleep(first_wait);
            while still_wanted.upgrade().is_some() {
                thread::sleep(EVERY);
                match source.open() {
                    Ok(transport) => {
                        let _ = found.send(transport);
                        return;
                    }
                    Err(error) => tracing::debug!("{error}"),
                }
            }
        })?;
        Ok(Self { opened, _wanted: wanted })
    }

    /// The port, once it is open.
    pub(crate) fn poll(&self) -> Option<Box<dyn Transport>> {
        self.opened.try_recv().ok()
    }
}
