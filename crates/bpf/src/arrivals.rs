//! Receive times of media without the radio's own delays (Gandalf §5), for receivers that are not
//! changed.
//!
//! A receiver such as libwebrtc asks the kernel when each packet came, and reports that to its
//! sender. At the device a program corrects this time before any socket has the packet. It can only
//! use what is known by then: what the radio added lately, on average, and bursts whose event a
//! modem reported before they came. Records of a modem come some 10 to 300 ms after their events,
//! so that most corrections are means (docs/interpretations/gandalf.md, 19). The order of packets
//! stays, and none moves by more than 80 ms.
//!
//! The program corrects UDP packets that begin as RTP does (RFC 7983). A receiver also derives from
//! these times how long it buffers pictures.

mod attach;
mod burst_mean;
mod error;

use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, RingBuffer, RingBufferBuilder};
use nix::net::if_::if_nametoindex;
use sounding_estimate::DelayUpdate;
use sounding_units::HostInstant;

use attach::{Attached, Refused};
use burst_mean::BurstMean;
pub use error::ArrivalsError;

use crate::error::LoadError;
use crate::intf::{Plain, mirrors, read};
use crate::kernel::Kernel;
use crate::lead::Lead;
use crate::log::Complaints;
use crate::preflight::{Check, privileges};
use crate::reports::ArrivalsCounts;
use crate::skel_arrivals::{ArrivalsSkel, ArrivalsSkelBuilder, types};

/// As in arrivals_intf.h, whose comments give the reasons.
const EVENTS: usize = 8;
/// Packets that wait for [`Arrivals::poll_packet`]; of more, the oldest are dropped.
const WAITING: usize = 8_192;

/// Where arrivals are corrected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrivalsConfig {
    /// The modem's network device, in the network namespace of the thread that loads.
    pub device: String,
    /// Attach by a queueing discipline also where the kernel has links (Linux 6.6). Older kernels
    /// know no other way. Then it must be dropped on a thread of the device's namespace.
    /// Default no.
    pub by_discipline: bool,
}

/// A packet of media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorrectedArrival {
    /// When it came.
    pub at: HostInstant,
    /// How much earlier its receiver reads that it came.
    pub back: Duration,
    /// Its length, that of the IP header and of a link layer's included.
    pub bytes: u32,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct WireEvent {
    to_ns: u64,
    amount_ns: u64,
}
mirrors!(WireEvent = types::arrivals_event { to_ns, amount_ns });

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct WireNotice {
    heard_ns: u64,
    lately_ns: u64,
    events: [WireEvent; EVENTS],
}
mirrors!(WireNotice = types::arrivals_notice { heard_ns, lately_ns, events });

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct WirePacket {
    at_ns: u64,
    back_ns: u64,
    bytes: u32,
    by_event: u32,
}
mirrors!(WirePacket = types::arrivals_packet { at_ns, back_ns, bytes, by_event });
// SAFETY: only integers.
unsafe impl Plain for WirePacket {}

impl WireNotice {
    fn bytes(&self) -> Vec<u8> {
        let events = self.events.iter().flat_map(|event| [event.to_ns, event.amount_ns]);
        let words = [self.heard_ns, self.lately_ns].into_iter().chain(events);
        words.flat_map(u64::to_ne_bytes).collect()
    }
}

/// Corrects arrivals at a device until it is dropped, or until 100 ms after the last report. If its
/// process is killed, the program is gone (Linux 6.6), or corrects nothing.
pub struct Arrivals {
    // Dropped first.
    attached: Attached,
    ring: RingBuffer<'static>,
    noted: Arc<Mutex<VecDeque<WirePacket>>>,
    packets: VecDeque<CorrectedArrival>,
    lately: BurstMean,
    lead: Lead,
    skel: ArrivalsSkel<'static>,
}

impl Arrivals {
    /// Loads the program and attaches it to the ingress of the device.
    ///
    /// # Errors
    ///
    /// [`ArrivalsError`].
    pub fn load(config: &ArrivalsConfig) -> Result<Self, ArrivalsError> {
        let device = || config.device.clone();
        let index = if_nametoindex(config.device.as_str())
            .map_err(|source| ArrivalsError::Device { device: device(), source: source.into() })?;
        let index = index.cast_signed();
        privileges()?;
        let kernel = Kernel::running()?;
        let log = Complaints::listen();
        let rejected = |source| LoadError::Rejected { source, complaint: log.take() };
        // As for the laws: a slot that outlives the skeleton, whose object is dropped.
        let slot = Box::leak(Box::new(MaybeUninit::uninit()));
        let open = ArrivalsSkelBuilder::default().open(slot).map_err(rejected)?;
        let skel = open.load().map_err(rejected)?;
        let noted = Arc::new(Mutex::new(VecDeque::new()));
        let into = Arc::clone(&noted);
        let note = move |record: &[u8]| {
            let mut noted = into.lock().unwrap_or_else(PoisonError::into_inner);
            if noted.len() < WAITING {
                noted.extend(read::<WirePacket>(record));
            }
            0
        };
        let no_ring = |source| LoadError::Map { map: "arrived", source };
        let mut ring = RingBufferBuilder::new();
        ring.add(&skel.maps.arrived, note).map_err(no_ring)?;
        let ring = ring.build().map_err(no_ring)?;
        let attached = if config.by_discipline || !kernel.has_tcx() {
            Attached::filter(skel.progs.correct_arrival.as_fd(), index)
        } else {
            Attached::link(&skel.progs.correct_arrival, index)
        };
        let attached = attached.map_err(|refused| match refused {
            Refused::Taken => ArrivalsError::Taken { device: device() },
            Refused::Kernel(source) => ArrivalsError::Attach { device: device(), source },
        })?;
        Ok(Self {
            attached,
            ring,
            noted,
            packets: VecDeque::new(),
            lately: BurstMean::default(),
            lead: Lead::of_this_process(),
            skel,
        })
    }

    /// News of the modem came. Its events of the uplink are ignored. Without news for 100 ms
    /// nothing is corrected.
    ///
    /// # Errors
    ///
    /// The kernel refuses what is known.
    pub fn handle_update(&mut self, update: &DelayUpdate) -> Result<(), ArrivalsError> {
        update.events.iter().for_each(|event| self.lately.handle_event(*event));
        self.take_notes();
        let now = update.heard_at;
        if let Some(until) = update.down_until {
            self.lately.handle_until(until);
        }
        let kernels = |at| self.lead.on_kernels_clock(at);
        let nanos = |span: Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        let mut notice = WireNotice {
            heard_ns: kernels(now),
            lately_ns: nanos(self.lately.mean()),
            ..WireNotice::default()
        };
        for (place, event) in notice.events.iter_mut().zip(self.lately.coming(now)) {
            *place = WireEvent { to_ns: kernels(event.to), amount_ns: nanos(event.amount) };
        }
        let current = self.skel.maps.bss_data.as_ref().map_or(0, |bss| bss.current);
        let next = (current & 1) ^ 1;
        let map = &self.skel.maps.notices;
        map.update(&next.to_ne_bytes(), &notice.bytes(), MapFlags::ANY)
            .map_err(|source| LoadError::Map { map: "notices", source })?;
        if let Some(bss) = &mut self.skel.maps.bss_data {
            bss.current = next;
        }
        Ok(())
    }

    /// Reads what the program noted of packets.
    fn take_notes(&mut self) {
        // `consume` fails only with EINTR; the records stay for the next time.
        let _ = self.ring.consume();
        let noted = std::mem::take(&mut *self.noted.lock().unwrap_or_else(PoisonError::into_inner));
        for wire in noted {
            let at = self.lead.on_our_clock(HostInstant::from_nanos(wire.at_ns));
            self.lately.handle_packet(at, wire.by_event != 0);
            if self.packets.len() == WAITING {
                self.packets.pop_front();
            }
            let back = Duration::from_nanos(wire.back_ns);
            self.packets.push_back(CorrectedArrival { at, back, bytes: wire.bytes });
        }
    }

    /// The oldest packet that was not polled yet. Never blocks.
    pub fn poll_packet(&mut self) -> Option<CorrectedArrival> {
        if self.packets.is_empty() {
            self.take_notes();
        }
        self.packets.pop_front()
    }

    /// Whether detaching takes CAP_NET_ADMIN: before Linux 6.6.
    pub fn ends_by_rights(&self) -> bool {
        matches!(self.attached, Attached::Filter { .. })
    }

    /// What the radio added lately, on average, as far as is known.
    pub fn lately(&self) -> Duration {
        self.lately.mean()
    }

    /// Packets so far.
    pub fn counts(&self) -> ArrivalsCounts {
        let counts = self.skel.maps.bss_data.as_ref().map(|bss| bss.counts);
        counts.map_or_else(ArrivalsCounts::default, |counts| ArrivalsCounts {
            packets: counts.packets,
            corrected: counts.corrected,
            unstamped: counts.unstamped,
            unnoted: counts.unnoted,
        })
    }
}

impl std::fmt::Debug for Arrivals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Arrivals").field("counts", &self.counts()).finish_non_exhaustive()
    }
}

/// What correcting arrivals needs, in the order in which it would fail.
pub fn arrivals_preflight() -> Vec<Check> {
    let kernel = Kernel::running().map(|kernel| {
        let way = if kernel.has_tcx() { "a link" } else { "a queueing discipline" };
        format!("attaches by {way}")
    });
    [("privileges", privileges()), ("kernel types", kernel)]
        .map(|(name, found)| match found {
            Ok(detail) => Check { name, ok: true, detail, cure: None },
            Err(error) => {
                Check { name, ok: false, detail: error.to_string(), cure: Some(error.cure()) }
            }
        })
        .into()
}

#[cfg(test)]
mod tests {
    use sounding_estimate::delay::{AFTER, BEFORE, OBVIOUS, SILENT};

    use super::*;

    /// A constant of a header in C.
    fn defined(header: &str, name: &str) -> u64 {
        let line = header.lines().find_map(|line| line.strip_prefix(&format!("#define {name}\t")));
        let value = line.expect(name).trim_start().trim_end_matches(['U', 'L']);
        value.parse().expect(name)
    }

    #[test]
    fn headers_in_c_have_the_delays_constants() {
        let arrivals = include_str!("bpf/arrivals/arrivals_intf.h");
        let found = ["BEFORE", "AFTER", "SILENT", "MOST"]
            .map(|name| defined(arrivals, &format!("ARRIVALS_{name}_NS")));
        let ns = |span: Duration| u64::try_from(span.as_nanos()).expect("a short span");
        assert_eq!(found, [BEFORE, AFTER, SILENT, OBVIOUS].map(ns));
        assert_eq!(defined(arrivals, "ARRIVALS_EVENTS"), EVENTS as u64);
        assert_eq!(defined(include_str!("bpf/copa/delays.h"), "DELAY_SILENT_NS"), ns(SILENT));
    }
}
