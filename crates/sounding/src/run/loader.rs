//! The thread that starts outputs again. It keeps the rights that this takes, and no byte of a
//! modem reaches it.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use miette::Result;
use sounding_host::{Capabilities, keep_only};

use super::output::{Output, Section};

/// Rights to load programs, to attach them, and to change settings and routes of the network.
const KEPT: Capabilities = Capabilities::BPF
    .union(Capabilities::NET_ADMIN)
    .union(Capabilities::PERFMON)
    .union(Capabilities::SYS_ADMIN)
    .union(Capabilities::SYS_RESOURCE)
    .union(Capabilities::DAC_OVERRIDE);

enum Job {
    Start(usize, Arc<dyn Section>),
    /// Restoring may take a while, too.
    Drop(Box<dyn Output>),
}

/// An output that was asked for, or why there is none.
pub(super) type Started = (usize, Result<Box<dyn Output>>);

pub(super) struct Loader {
    jobs: Option<Sender<Job>>,
    started: Receiver<Started>,
    thread: Option<JoinHandle<()>>,
}

impl Loader {
    /// Starts the thread. It has the rights that the calling thread has now, and not its priority
    /// of later.
    pub(super) fn start() -> io::Result<Self> {
        let (jobs, to_do) = mpsc::channel();
        let (done, started) = mpsc::channel();
        let thread = thread::Builder::new().name("loader".into()).spawn(move || {
            let _ = keep_only(KEPT);
            for job in to_do {
                match job {
                    Job::Drop(output) => drop(output),
                    // Without a receiver it ends at once.
                    Job::Start(place, section) => drop(done.send((place, section.start()))),
                }
            }
        })?;
        Ok(Self { jobs: Some(jobs), started, thread: Some(thread) })
    }

    /// Has a section's output started; [`poll`](Self::poll) has the result under this number.
    pub(super) fn start_output(&self, place: usize, section: &Arc<dyn Section>) {
        self.give(Job::Start(place, Arc::clone(section)));
    }

    /// Has what an output changed restored.
    pub(super) fn drop_output(&self, output: Box<dyn Output>) {
        self.give(Job::Drop(output));
    }

    fn give(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            let _ = jobs.send(job);
        }
    }

    pub(super) fn poll(&self) -> Option<Started> {
        self.started.try_recv().ok()
    }
}

impl Drop for Loader {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
