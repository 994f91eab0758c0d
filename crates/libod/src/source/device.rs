use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::sys::eventfd::{EfdFlags, EventFd};
use sounding_host::monotonic_now;
use sounding_kpi::Subscription;
use sounding_kpi::board::{Board, Writer, words_for};
use sounding_kpi::registry::{self, NamedKpi};
use sounding_modem::{Polled, Readings, Source, Transport};

use super::board::{Subscribed, newest};
use super::{begun, gone, no_such_kpi, nothing_subscribed, nothing_yet};
use crate::error::Failure;
use crate::sample::Sample;

/// A modem that only this process reads, in a separate thread.
pub(crate) struct Device {
    source: Source,
    /// Opened at the start, so that the caller gets an error at once. The thread takes it when
    /// reading begins.
    transport: Option<Box<dyn Transport>>,
    kpis: Vec<&'static NamedKpi>,
    subscribed: Vec<Subscribed>,
    next: usize,
    thread: Option<Reading>,
}

struct Reading {
    shared: Arc<Shared>,
    handle: Option<JoinHandle<()>>,
}

/// Between the thread and the handle: a board in plain memory.
struct Shared {
    words: Vec<AtomicU64>,
    event: EventFd,
    stop: AtomicBool,
    gone: AtomicBool,
}

/// The longest time until the thread notices a close.
const PATIENCE: Duration = Duration::from_millis(20);

impl Device {
    pub(super) fn open(source: Source) -> Result<Self, Failure> {
        let transport = Some(source.open()?);
        let (kpis, subscribed) = (Vec::new(), Vec::new());
        Ok(Self { source, transport, kpis, subscribed, next: 0, thread: None })
    }

    pub(super) fn subscribe(&mut self, name: &str) -> Result<usize, Failure> {
        if let Some(known) = self.kpis.iter().position(|kpi| kpi.name == name) {
            return Ok(known);
        }
        if self.thread.is_some() {
            return Err(begun());
        }
        let unknown = || Failure::new(libc::ENOENT, format_args!("no KPI is called {name:?}"));
        self.kpis.push(registry::find(name).ok_or_else(unknown)?);
        self.subscribed.push(Subscribed { slot: self.kpis.len() - 1, seen: 0 });
        Ok(self.kpis.len() - 1)
    }

    pub(super) fn read(&mut self, samples: &mut [Sample]) -> Result<usize, Failure> {
        let shared = self.begin()?;
        // Clear it before reading: later samples make the descriptor readable again. An error means
        // that it was not readable.
        let _ = shared.event.read();
        let is_gone = shared.gone.load(Ordering::Acquire);
        let now = monotonic_now();
        let read = newest(&mut self.subscribed, &mut self.next, samples, |kpi, slot| {
            let sample = shared.board()?.read(slot).ok().flatten()?;
            Some(Sample::of(kpi, &sample, now, is_gone))
        })?;
        match (read, is_gone) {
            (0, false) => Err(nothing_yet()),
            (0, true) => {
                // Every caller that polls sees it each time.
                let _ = shared.event.write(1);
                Err(gone())
            }
            (read, _) => Ok(read),
        }
    }

    pub(super) fn latest(&mut self, kpi: usize) -> Result<Sample, Failure> {
        if kpi >= self.kpis.len() {
            return Err(no_such_kpi(kpi));
        }
        let shared = self.begin()?;
        let sample = shared.board().and_then(|board| board.read(kpi).ok().flatten());
        let is_gone = shared.gone.load(Ordering::Acquire);
        Ok(Sample::of(kpi, &sample.ok_or_else(nothing_yet)?, monotonic_now(), is_gone))
    }

    pub(super) fn poll_fd(&mut self) -> Result<RawFd, Failure> {
        Ok(self.begin()?.event.as_fd().as_raw_fd())
    }

    /// Begins to read, at the first call that needs samples.
    fn begin(&mut self) -> Result<Arc<Shared>, Failure> {
        if let Some(Reading { shared, .. }) = &self.thread {
            return Ok(Arc::clone(shared));
        }
        if self.kpis.is_empty() {
            return Err(nothing_subscribed());
        }
        let subscription = Subscription::of(self.kpis.iter().copied());
        let transport = match self.transport.take() {
            Some(transport) => transport,
            // A first attempt to begin has failed further down.
            None => self.source.open()?,
        };
        let readings = Readings::over(self.source.clone(), transport, subscription).once();
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        let event =
            EventFd::from_flags(flags).map_err(|errno| Failure::new(errno as i32, errno))?;
        let words = (0..words_for(self.kpis.len())).map(|_| AtomicU64::new(0)).collect();
        let (stop, gone) = (AtomicBool::new(false), AtomicBool::new(false));
        let shared = Arc::new(Shared { words, event, stop, gone });
        let names = self.kpis.iter().map(|kpi| (kpi.name, ""));
        let writer = Writer::create(&shared.words, names, std::process::id(), monotonic_now())
            .map_err(|error| Failure::new(libc::ENOMEM, error))?;
        let own = Arc::clone(&shared);
        let handle = thread::Builder::new()
            .name("libod".into())
            .spawn(move || own.serve(readings, writer))?;
        self.thread = Some(Reading { shared: Arc::clone(&shared), handle: Some(handle) });
        Ok(shared)
    }
}

impl Shared {
    fn board(&self) -> Option<Board<'_, AtomicU64>> {
        Board::open(&self.words).ok()
    }

    fn serve(&self, mut readings: Readings, mut writer: Writer) {
        while !self.stop.load(Ordering::Relaxed) {
            match readings.poll(PATIENCE, |now, reading| writer.handle(&reading, now)) {
                Ok(Polled::Bytes) => {
                    if self.board().is_some_and(|board| writer.post(board)) {
                        // A counter that is full is readable already.
                        let _ = self.event.write(1);
                    }
                }
                Ok(Polled::Idle | Polled::Reopened) => {}
                Ok(Polled::Closed) | Err(_) => break,
            }
        }
        readings.finish();
        self.gone.store(true, Ordering::Release);
        let _ = self.event.write(1);
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(handle) = self.handle.take() {
            // One that panicked has ended too.
            let _ = handle.join();
        }
    }
}
