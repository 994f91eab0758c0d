use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError};

use memmap2::{MmapOptions, MmapRaw};
use sounding_estimate::wire::RadioDelay;
use sounding_estimate::{FairShare, LinkEstimate, State};
use sounding_laws::biscay::{Agreement, Bound, FeedEstimate};
use sounding_units::HostInstant;

use crate::intf::{ESTIMATE_WORDS, MAGIC, VERSION, WireEstimate};
use crate::lead::Lead;

/// The page that the kernel side reads of one modem: what its link carries, and that the publisher
/// is still alive.
///
/// Estimates and heartbeats are stamped with CLOCK_MONOTONIC, which is what [`HostInstant`] is in
/// live code and what the kernel compares them with; what a time namespace adds to it here is taken
/// off. Clones share the page; the last one dropped withdraws the estimate.
#[derive(Clone, Debug)]
pub struct Feed(Arc<Shared>);

/// Why there is no estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lull {
    /// It is unknown what the link carries.
    Unknown,
    /// No grants, and no known backlog.
    Idle,
    /// The device is on the way to another cell.
    Handover,
}

#[derive(Debug)]
struct Shared {
    page: Page,
    lead: Lead,
    writer: Mutex<Writer>,
}

#[derive(Debug, Default)]
struct Writer {
    agreement: Agreement,
    epoch: u64,
}

impl Feed {
    /// Maps the feed of a loaded object for the modem at this place, and marks it as ours.
    pub(crate) fn map(fd: impl AsFd, place: usize) -> io::Result<Self> {
        let raw = entry::<PageLayout>(fd, place)?;
        let page = Page(raw);
        page.mark();
        let lead = Lead::of_this_process();
        Ok(Self(Arc::new(Shared { page, lead, writer: Mutex::default() })))
    }

    /// Publishes what the link carries. Flows use it from their next ACK on, while it is younger
    /// than [`max_age`](sounding_laws::biscay::Config::max_age) and the heartbeat goes on.
    pub fn publish(&self, estimate: &FeedEstimate) {
        self.publish_with(estimate, Beside::default());
    }

    /// Publishes all that the modem's estimate says at `now`: flows obey its rate, if that may be
    /// used; its state and its fair share are there for any program that uses them, a fair
    /// share also while there is no rate.
    pub fn publish_link(&self, estimate: &LinkEstimate, now: HostInstant) {
        let beside = Beside { state: estimate.state, fair: estimate.known_fair() };
        let sampled_at = now.saturating_before(estimate.age);
        if !estimate.is_usable() {
            let why = match estimate.state {
                State::Idle => Lull::Idle,
                State::Handover => Lull::Handover,
                State::Active | State::Silent | State::Stale => Lull::Unknown,
            };
            self.withdraw_with(why, beside, sampled_at);
            return;
        }
        let (rate, bound, other_flows) = (estimate.rate, estimate.bound, 0);
        self.publish_with(&FeedEstimate { rate, sampled_at, bound, other_flows }, beside);
    }

    fn publish_with(&self, estimate: &FeedEstimate, beside: Beside) {
        let mut writer = self.0.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let agreeing = writer.agreement.handle_estimate(estimate);
        writer.epoch += 1;
        self.0.page.publish(&WireEstimate {
            rate_bytes_per_sec: estimate.rate.bytes_per_sec(),
            sampled_at_ns: self.0.lead.on_kernels_clock(estimate.sampled_at),
            epoch: writer.epoch,
            bound: match estimate.bound {
                Bound::Floor => 0,
                Bound::Capacity => 1,
            },
            valid: 1,
            agreeing,
            other_flows: estimate.other_flows,
            ..beside.wire()
        });
    }

    /// Records that the publisher is alive. Call it at least every 10 ms, whether or not there is
    /// an estimate; [`max_silence`](sounding_laws::biscay::Config::max_silence) without it
    /// leaves every flow to the stock algorithm.
    pub fn heartbeat(&self, now: HostInstant) {
        let page = &self.0.page;
        // If the page was overwritten from outside, the next heartbeat mends it.
        page.mark();
        let now = self.0.lead.on_kernels_clock(now);
        page.layout().heartbeat_at_ns.store(now, Ordering::Release);
    }

    /// Publishes what the radio itself lately added to packets, as of the modem's last record. It
    /// counts for 100 ms after that.
    pub fn publish_delay(&self, delay: RadioDelay, heard_at: HostInstant) {
        let heard_at = self.0.lead.on_kernels_clock(heard_at) & !0xffff;
        let word = heard_at | u64::from(delay.code());
        self.0.page.layout().radio_delays.store(word, Ordering::Relaxed);
    }

    /// Withdraws the estimate: flows go on under the stock algorithm from their next ACK.
    pub fn invalidate(&self) {
        self.withdraw(Lull::Unknown);
    }

    /// The same, and says why: flows under the law of `sounding` know what to make of it.
    pub fn withdraw(&self, why: Lull) {
        let state = match why {
            Lull::Unknown => State::Stale,
            Lull::Idle => State::Idle,
            Lull::Handover => State::Handover,
        };
        self.withdraw_with(why, Beside { state, fair: None }, HostInstant::default());
    }

    fn withdraw_with(&self, why: Lull, beside: Beside, sampled_at: HostInstant) {
        let mut writer = self.0.writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.agreement.reset();
        writer.epoch += 1;
        self.0.page.publish(&WireEstimate {
            epoch: writer.epoch,
            lull: match why {
                Lull::Unknown => 0,
                Lull::Idle => 1,
                Lull::Handover => 2,
            },
            // Of the fair share; without one there is no sample.
            sampled_at_ns: beside.fair.map_or(0, |_| self.0.lead.on_kernels_clock(sampled_at)),
            ..beside.wire()
        });
    }
}

/// Maps an entry of an array.
pub(crate) fn entry<T>(fd: impl AsFd, place: usize) -> io::Result<MmapRaw> {
    let length = size_of::<T>();
    let offset = u64::try_from(place * length).map_err(io::Error::other)?;
    MmapOptions::new().offset(offset).len(length).map_raw(fd.as_fd().as_raw_fd())
}

/// What the page has beside a rate.
#[derive(Clone, Copy, Debug)]
struct Beside {
    state: State,
    fair: Option<FairShare>,
}

impl Default for Beside {
    fn default() -> Self {
        Self { state: State::Active, fair: None }
    }
}

impl Beside {
    fn wire(self) -> WireEstimate {
        let place = State::ALL.iter().position(|known| *known == self.state);
        let fair = self.fair;
        WireEstimate {
            state: place.unwrap_or_default() as u32,
            // Zero is an unknown one.
            fair_bytes_per_sec: fair.map_or(0, |fair| fair.rate.bytes_per_sec().max(1)),
            users: fair.map_or(0, |fair| fair.users),
            carriers: fair.map_or(0, |fair| fair.carriers),
            ..WireEstimate::default()
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.page.publish(&WireEstimate::default());
        self.page.layout().radio_delays.store(0, Ordering::Relaxed);
    }
}

/// `struct sounding_feed`, every word atomic because the kernel reads while we write.
#[repr(C)]
struct PageLayout {
    magic: AtomicU32,
    version: AtomicU32,
    heartbeat_at_ns: AtomicU64,
    seq: AtomicU64,
    radio_delays: AtomicU64,
    reserved: [AtomicU64; 4],
    slot: [[AtomicU64; ESTIMATE_WORDS]; 2],
}
const _: () = assert!(size_of::<PageLayout>() == size_of::<crate::skel::types::sounding_feed>());
const _: () = assert!(core::mem::offset_of!(PageLayout, heartbeat_at_ns) == 8);
const _: () = assert!(core::mem::offset_of!(PageLayout, seq) == 16);
const _: () = assert!(core::mem::offset_of!(PageLayout, slot) == 64);

#[derive(Debug)]
struct Page(MmapRaw);

impl Page {
    fn layout(&self) -> &PageLayout {
        // SAFETY: an entry of an array of layouts in a mapping that is page-aligned, as long as the
        // layout; it lives as long as `self`, and every field is atomic, so that other writers and
        // the kernel may touch it meanwhile.
        unsafe { &*self.0.as_mut_ptr().cast::<PageLayout>() }
    }

    /// Marks this page as a feed, with its layout.
    fn mark(&self) {
        self.layout().version.store(VERSION, Ordering::Relaxed);
        self.layout().magic.store(MAGIC, Ordering::Release);
    }

    /// The writer's half of the latch in intf.h. One writer at a time.
    fn publish(&self, estimate: &WireEstimate) {
        let page = self.layout();
        let words = estimate.words();
        // Even between publications, unless it was overwritten.
        let seq = page.seq.load(Ordering::Relaxed).wrapping_add(1) & !1;
        for (step, slot) in (1..).zip(&page.slot) {
            // Release: a reader that sees this number finds the other slot complete.
            page.seq.store(seq.wrapping_add(step), Ordering::Release);
            // And no word of this slot changes before the number has sent readers away from it.
            fence(Ordering::Release);
            for (to, word) in slot.iter().zip(words) {
                to.store(word, Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests;
