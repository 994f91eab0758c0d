use std::collections::VecDeque;
use std::fs;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::path::Path;

use nix::sys::eventfd::{EfdFlags, EventFd};
use sounding_diag::capture::{Reader, recognise};
use sounding_diag::packet::Packet;
use sounding_kpi::Subscription;
use sounding_kpi::registry::{self, NamedKpi};

use super::{begun, no_such_kpi, nothing_subscribed, nothing_yet};
use crate::error::Failure;
use crate::sample::Sample;

/// A recorded stream: every value, in order.
pub(crate) struct Capture {
    bytes: Vec<u8>,
    at: usize,
    reader: Reader,
    kpis: Vec<&'static NamedKpi>,
    /// Once reading has begun.
    subscription: Option<Subscription>,
    /// Sequence and total of each KPI, in its last sample.
    last: Vec<Sample>,
    waiting: VecDeque<Sample>,
    given: Vec<Option<Sample>>,
    /// Always readable: a file does not keep anybody waiting.
    event: EventFd,
}

impl Capture {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let at = |errno, why: String| Failure::new(errno, format!("{}: {why}", path.display()));
        let bytes = fs::read(path)
            .map_err(|error| at(error.raw_os_error().unwrap_or(libc::EIO), error.to_string()))?;
        recognise(&bytes).map_err(|why| at(libc::EINVAL, why.to_string()))?;
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        let event = EventFd::from_value_and_flags(1, flags)
            .map_err(|errno| Failure::new(errno as i32, errno))?;
        Ok(Self {
            bytes,
            at: 0,
            reader: Reader::new(),
            kpis: Vec::new(),
            subscription: None,
            last: Vec::new(),
            waiting: VecDeque::new(),
            given: Vec::new(),
            event,
        })
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
                if !self.advance() {
                    return Ok(filled);
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

    /// Reads on to the next packet; false at the end.
    fn advance(&mut self) -> bool {
        let Some(subscription) = &mut self.subscription else { return false };
        let mut rest = self.bytes.get(self.at..).unwrap_or_default();
        let packet = self.reader.poll_packet(&mut rest);
        self.at = self.bytes.len() - rest.len();
        let Some(packet) = packet else { return false };
        let Ok(located) = packet else { return true };
        let Packet::Log(log) = located.packet else { return true };
        let (last, waiting) = (&mut self.last, &mut self.waiting);
        // What cannot be read is passed over, as damage is.
        let _ = subscription.handle(&log, |reading| {
            let Some(last) = last.get_mut(reading.slot) else { return };
            *last = Sample {
                value: reading.value,
                total: last.total + reading.value,
                sequence: last.sequence + 1,
                item: reading.item.packed(),
                modem_unix_ns: reading.at.unix_nanos(),
                kpi: reading.slot as u32,
                ..Sample::default()
            };
            waiting.push_back(*last);
        });
        true
    }
}
