use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::path::{Path, PathBuf};

use nix::sys::eventfd::{EfdFlags, EventFd};
use sounding_diag::capture::{Located, PROBE, Reader, recognise};
use sounding_diag::packet::Packet;
use sounding_estimate::Direction;
use sounding_kpi::Subscription;
use sounding_kpi::registry::{self, NamedKpi};

use super::pass::{DelayRows, LinkRows};
use super::{begun, no_such_kpi, nothing_subscribed, nothing_yet};
use crate::delay::{self, Delay};
use crate::error::{Failure, code};
use crate::link::Link;
use crate::sample::Sample;

/// A recorded stream: every value, in order. It is read in chunks, so large captures need no more
/// memory.
pub(crate) struct Capture {
    path: PathBuf,
    file: File,
    /// The bytes read from the file, and how many of them are consumed.
    chunk: Vec<u8>,
    at: usize,
    /// The file has no more.
    is_over: bool,
    reader: Reader,
    kpis: Vec<&'static NamedKpi>,
    /// Set when the first read begins.
    subscription: Option<Subscription>,
    /// Sequence and total of each KPI, in its last sample.
    last: Vec<Sample>,
    waiting: VecDeque<Sample>,
    given: Vec<Option<Sample>>,
    /// Always readable: a file never makes a caller wait.
    event: EventFd,
    /// A pass of its own for the link of each direction, and one for the delays.
    links: [Option<LinkRows>; 2],
    delays: Option<DelayRows>,
}

/// Bytes read at once.
const CHUNK: u64 = 1 << 16;

impl Capture {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let at = |errno, why: String| Failure::new(errno, format!("{}: {why}", path.display()));
        let unreadable = |error: io::Error| at(code(&error), error.to_string());
        let mut file = File::open(path).map_err(unreadable)?;
        let mut chunk = Vec::new();
        file.by_ref().take(PROBE as u64).read_to_end(&mut chunk).map_err(unreadable)?;
        let kind = recognise(&chunk).map_err(|why| at(libc::EINVAL, why.to_string()))?;
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        let event = EventFd::from_value_and_flags(1, flags)
            .map_err(|errno| Failure::new(errno as i32, errno))?;
        Ok(Self {
            path: path.into(),
            file,
            chunk,
            at: 0,
            is_over: false,
            reader: Reader::of(kind),
            kpis: Vec::new(),
            subscription: None,
            last: Vec::new(),
            waiting: VecDeque::new(),
            given: Vec::new(),
            event,
            links: [None, None],
            delays: None,
        })
    }

    /// The next row of the link in this direction.
    pub(super) fn link(&mut self, modem: Option<&str>, way: Direction) -> Result<Link, Failure> {
        if let Some(modem) = modem {
            let why = format_args!("a capture does not name its modem: null, not {modem:?}");
            return Err(Failure::new(libc::EINVAL, why));
        }
        let rows = match &mut self.links[delay::direction(way) as usize] {
            Some(rows) => rows,
            empty => empty.insert(LinkRows::open(&self.path, way)?),
        };
        let end = || Failure::new(libc::ENODATA, "the capture has no more rows");
        rows.next()?.ok_or_else(end)
    }

    /// Adds at most `most` of the next delays; none at the end.
    pub(super) fn delays(&mut self, delays: &mut Vec<Delay>, most: usize) -> Result<(), Failure> {
        let rows = match &mut self.delays {
            Some(rows) => rows,
            empty => empty.insert(DelayRows::open(&self.path)?),
        };
        while delays.len() < most {
            match rows.next() {
                Ok(Some(delay)) => delays.push(delay),
                // Delays from before the error are returned first.
                Err(error) if delays.is_empty() => return Err(error),
                Ok(None) | Err(_) => break,
            }
        }
        Ok(())
    }

    pub(super) fn subscribe(&mut self, name: &str) -> Result<usize, Failure> {
        if let Some(known) = self.kpis.iter().position(|kpi| kpi.name == name) {
            return Ok(known);
        }
        if self.subscription.is_some() {
            return Err(begun());
        }
        let unknown = || Failure::new(libc::ENOENT, format_args!("no KPI is called {name:?}"));
        self.kpis.push(registry::find(name).ok_or_else(unknown)?);
        Ok(self.kpis.len() - 1)
    }

    pub(super) fn read(&mut self, samples: &mut [Sample]) -> Result<usize, Failure> {
        self.begin()?;
        let mut filled = 0;
        for to in samples {
            while self.waiting.is_empty() {
                match self.advance() {
                    Ok(true) => {}
                    // Samples from before the error are returned first; the next call returns the
                    // error again.
                    Err(error) if filled == 0 => return Err(error),
                    Ok(false) | Err(_) => return Ok(filled),
                }
            }
            let Some(sample) = self.waiting.pop_front() else { break };
            self.given[sample.kpi as usize] = Some(sample);
            *to = sample;
            filled += 1;
        }
        Ok(filled)
    }

    pub(super) fn latest(&self, kpi: usize) -> Result<Sample, Failure> {
        if kpi >= self.kpis.len() {
            return Err(no_such_kpi(kpi));
        }
        self.given.get(kpi).copied().flatten().ok_or_else(nothing_yet)
    }

    pub(super) fn poll_fd(&mut self) -> Result<RawFd, Failure> {
        self.begin()?;
        Ok(self.event.as_fd().as_raw_fd())
    }

    fn begin(&mut self) -> Result<(), Failure> {
        if self.kpis.is_empty() {
            return Err(nothing_subscribed());
        }
        if self.subscription.is_none() {
            self.subscription = Some(Subscription::of(self.kpis.iter().copied()));
            self.last = vec![Sample::default(); self.kpis.len()];
            self.given = vec![None; self.kpis.len()];
        }
        Ok(())
    }

    /// Reads at most up to the next packet; false at the end.
    fn advance(&mut self) -> Result<bool, Failure> {
        if self.at == self.chunk.len() && !self.is_over {
            self.fill()?;
        }
        let Some(subscription) = &mut self.subscription else { return Ok(false) };
        let mut rest = self.chunk.get(self.at..).unwrap_or_default();
        let packet = match self.is_over {
            false => self.reader.poll_packet(&mut rest),
            true => self.reader.poll_end(),
        };
        self.at = self.chunk.len() - rest.len();
        let Some(packet) = packet else { return Ok(!self.is_over) };
        let Ok(Located { packet: Packet::Log(log), .. }) = packet else { return Ok(true) };
        let (last, waiting) = (&mut self.last, &mut self.waiting);
        // Unreadable records are skipped, like damaged frames.
        let _ = subscription.handle(&log, |reading| {
            let Some(last) = last.get_mut(reading.slot) else { return };
            *last = Sample {
                value: reading.value,
                total: last.total + reading.value,
                sequence: last.sequence + 1,
                item: reading.item.packed(),
                modem_unix_ns: reading.at.known_unix_nanos().unwrap_or(0),
                kpi: reading.slot as u32,
                ..Sample::default()
            };
            waiting.push_back(*last);
        });
        Ok(true)
    }

    /// Reads the next chunk of the file.
    fn fill(&mut self) -> Result<(), Failure> {
        self.at = 0;
        self.chunk.clear();
        let count = self.file.by_ref().take(CHUNK).read_to_end(&mut self.chunk)?;
        self.is_over = count == 0;
        Ok(())
    }
}
