use std::io;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use sounding_modem::{Source, Transport};

/// Tries to open a source until it opens, on a thread of its own: a bridge that does not answer keeps whoever connects
/// to it waiting for seconds, and the heartbeat has none. Where a source closes at once is for
/// [`Retry`](sounding_modem::Retry) to say: it is left alone first.
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
