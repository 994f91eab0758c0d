//! The thread that starts outputs again, and what a new configuration asks for. It keeps the rights
//! that this takes, and no byte of a modem reaches it.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use miette::Result;
use sounding_host::{Capabilities, spawn_with_only};

use super::output::{Output, Section};

/// Rights to load programs, to attach them, and to change settings and routes of the network.
const KEPT: Capabilities = Capabilities::BPF
    .union(Capabilities::NET_ADMIN)
    .union(Capabilities::PERFMON)
    .union(Capabilities::SYS_ADMIN)
    .union(Capabilities::SYS_RESOURCE)
    .union(Capabilities::DAC_OVERRIDE);

enum Job {
    Start(u64, Arc<dyn Section>, Sender<Started>),
    /// Restoring may take a while, too.
    Drop(Box<dyn Output>),
    /// Other work that takes its rights, or not the priority of the thread that asks.
    Work(Box<dyn FnOnce() + Send>),
}

/// An output that was asked for under a number, or why there is none.
pub(super) type Started = (u64, Result<Box<dyn Output>>);

/// The thread goes on until this and all its doors are dropped.
pub(super) struct Loader {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

/// The way to the loader for one list of outputs.
pub(super) struct Door {
    jobs: Sender<Job>,
    done: Sender<Started>,
    started: Receiver<Started>,
}

impl Loader {
    /// Starts the thread. It has the rights that the calling thread has now, and not its priority
    /// of later.
    pub(super) fn start() -> io::Result<Self> {
        let (jobs, to_do) = mpsc::channel();
        let thread = spawn_with_only(KEPT, "loader", move || {
            for job in to_do {
                match job {
                    Job::Drop(output) => drop(output),
                    // Without a receiver it ends at once.
                    Job::Start(number, section, done) => {
                        drop(done.send((number, section.start())));
                    }
                    Job::Work(work) => work(),
                }
            }
        })?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    /// A way to it; none after [`release`](Self::release).
    pub(super) fn door(&self) -> Option<Door> {
        let (done, started) = mpsc::channel();
        self.jobs.clone().map(|jobs| Door { jobs, done, started })
    }

    /// Has the thread end once no list of outputs needs it. Its rights go with it.
    pub(super) fn release(&mut self) {
        self.jobs = None;
    }

    /// Has it do other work.
    pub(super) fn work(&self, work: impl FnOnce() + Send + 'static) {
        if let Some(jobs) = &self.jobs {
            let _ = jobs.send(Job::Work(Box::new(work)));
        }
    }
}

impl Door {
    /// Has a section's output started; [`poll`](Self::poll) has the result under this number.
    pub(super) fn start_output(&self, number: u64, section: &Arc<dyn Section>) {
        let _ = self.jobs.send(Job::Start(number, Arc::clone(section), self.done.clone()));
    }

    /// Has what an output changed restored.
    pub(super) fn drop_output(&self, output: Box<dyn Output>) {
        let _ = self.jobs.send(Job::Drop(output));
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
