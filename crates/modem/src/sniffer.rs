//! Sniffers of the cells that serve a modem: logs that grow, and NG-Scope's service over UDP.
//!
//! Each has a thread of its own, because a file or a network may keep its reader waiting. What it
//! reads waits in a queue of fixed size, and nothing waits for the reader of the queue: the oldest
//! messages are dropped, and counted.

mod follow;
mod owner;
mod remote;
mod source;

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError, TryLockError, Weak};

use sounding_host::{Capabilities, monotonic_now, spawn_with_only};
use sounding_kpi::Direction;
use sounding_trace::dci::{Counts, Heard};
use sounding_units::HostInstant;

use owner::Trusted;
pub use source::{SnifferLog, SnifferSource, UnknownSniffer};

/// Messages that wait at most. A cell's control channel holds some ten in a millisecond, and a
/// reader comes every 5 ms.
const CAPACITY: usize = 8192;

/// What is known of a sniffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnifferStatus {
    /// Lines or datagrams, good and bad.
    pub counts: Counts,
    /// The last of the bad ones, and what is wrong with it.
    pub bad: Option<String>,
    /// Messages that the queue had no room for.
    pub dropped: u64,
    /// Datagrams that came while another user than those trusted had a socket on the service's
    /// port.
    pub foreign: u64,
    /// Messages of NG-Scope's service about one user, from which nothing follows.
    pub of_one_user: u64,
    /// Why nothing is read at the moment.
    pub problem: Option<String>,
    /// When something was last read.
    pub heard_at: Option<HostInstant>,
}

#[derive(Debug, Default)]
struct Shared {
    queue: VecDeque<(HostInstant, Heard)>,
    status: SnifferStatus,
}

impl Shared {
    fn push(&mut self, at: HostInstant, heard: Heard) {
        if self.queue.len() == CAPACITY {
            self.queue.pop_front();
            self.status.dropped += 1;
        }
        self.queue.push_back((at, heard));
    }
}

/// A sniffer that is read while this is held.
#[derive(Debug)]
pub struct Sniffer {
    source: SnifferSource,
    shared: Arc<Mutex<Shared>>,
    taken: VecDeque<(HostInstant, Heard)>,
    status: SnifferStatus,
}

impl Sniffer {
    /// Begins to read one that is about the device's carrier `cell`. A log in NG-Scope's format has
    /// one `direction`. It waits for a log that is not there yet.
    ///
    /// Its thread has no capabilities: what it reads is foreign. A log has to be readable without
    /// them.
    ///
    /// # Errors
    ///
    /// The kernel's error, if it starts no thread. A log or port that cannot be opened is in the
    /// status.
    pub fn start(source: &SnifferSource, cell: u8, direction: Direction) -> io::Result<Self> {
        let shared = Arc::new(Mutex::new(Shared::default()));
        let outlet = Outlet(Arc::downgrade(&shared));
        let read = source.clone();
        spawn_with_only(Capabilities::empty(), "sniffer", move || match read {
            SnifferSource::Log { log, path } => {
                follow::run(log.live(cell, direction), log, &path, &outlet);
            }
            SnifferSource::Udp { address, user } => {
                remote::run(address, Trusted::besides(user), &outlet);
            }
        })?;
        Ok(Self {
            source: source.clone(),
            shared,
            taken: VecDeque::new(),
            status: SnifferStatus::default(),
        })
    }

    /// Which one it is.
    pub const fn source(&self) -> &SnifferSource {
        &self.source
    }

    /// The next message, and when it was read. Never waits: what is being written to the queue
    /// comes with a later call.
    pub fn poll(&mut self) -> Option<(HostInstant, Heard)> {
        if self.taken.is_empty() {
            let mut shared = match self.shared.try_lock() {
                Ok(shared) => shared,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => return None,
            };
            std::mem::swap(&mut self.taken, &mut shared.queue);
            self.status.clone_from(&shared.status);
        }
        self.taken.pop_front()
    }

    /// What was known of it when [`poll`](Self::poll) last found nothing that waited.
    pub const fn status(&self) -> &SnifferStatus {
        &self.status
    }
}

/// Where a thread puts what it reads.
struct Outlet(Weak<Mutex<Shared>>);

impl Outlet {
    /// False once nothing is wanted any more.
    fn change(&self, change: impl FnOnce(&mut Shared)) -> bool {
        let Some(shared) = self.0.upgrade() else { return false };
        change(&mut shared.lock().unwrap_or_else(PoisonError::into_inner));
        true
    }

    /// Passes on what was read at once.
    fn pass(&self, read: &mut Batch) -> bool {
        let now = monotonic_now();
        self.change(|shared| {
            if !read.heard.is_empty() {
                shared.status.heard_at = Some(now);
            }
            if read.works {
                shared.status.problem = None;
            }
            read.heard.drain(..).for_each(|heard| shared.push(now, heard));
            shared.status.counts = read.counts;
            shared.status.of_one_user = read.of_one_user;
            shared.status.foreign = read.foreign;
            if let Some(bad) = read.bad.take() {
                shared.status.bad = Some(bad);
            }
        })
    }

    fn fail(&self, problem: impl ToString) -> bool {
        self.change(|shared| shared.status.problem = Some(problem.to_string()))
    }
}

/// What was read at once.
#[derive(Debug, Default)]
struct Batch {
    /// The log is open, or the service answers.
    works: bool,
    heard: Vec<Heard>,
    counts: Counts,
    of_one_user: u64,
    foreign: u64,
    bad: Option<String>,
}

#[cfg(test)]
mod tests;
