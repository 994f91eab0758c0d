use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError};

use memmap2::{MmapOptions, MmapRaw};
use sounding_cc::biscay::{Agreement, Bound, FeedEstimate};
use sounding_units::HostInstant;

use crate::intf::{ESTIMATE_WORDS, MAGIC, VERSION, WireEstimate};
use crate::lead::Lead;

/// The page that the kernel side reads: what the link carries, and that the publisher is still alive.
///
/// Estimates and heartbeats are stamped with CLOCK_MONOTONIC, which is what [`HostInstant`] is in live code and what
/// the kernel compares them with; what a time namespace adds to it here is taken off. Clones share the page; the last one dropped withdraws the estimate.
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
    /// Maps the feed of a loaded object and marks it as ours.
    pub(crate) fn map(fd: impl AsFd) -> io::Result<Self> {
        let raw =
            MmapOptions::new().len(size_of::<PageLayout>()).map_raw(fd.as_fd().as_raw_fd())?;
        let page = Page(raw);
        page.mark();
        let lead = Lead::of_this_process();
        Ok(Self(Arc::new(Shared { page, lead, writer: Mutex::default() })))
    }

    /// Publishes what the link carries. Flows use it from their next ACK on, while it is younger than
    /// [`max_age`](sounding_cc::biscay::Config::max_age) and the heartbeat goes on.
    pub fn publish(&self, estimate: &FeedEstimate) {
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
            ..WireEstimate::default()
        });
    }

    /// Records that the publisher is alive. Call it at least every 10 ms, whether or not there is an estimate;
    /// [`max_silence`](sounding_cc::biscay::Config::max_silence) without it leaves every flow to the stock algorithm.
    pub fn heartbeat(&self, now: HostInstant) {
        let page = &self.0.page;
        // If the page was overwritten from outside, the next heartbeat mends it.
        page.mark();
        let now = self.0.lead.on_kernels_clock(now);
        page.layout().heartbeat_at_ns.store(now, Ordering::Release);
    }

    /// Withdraws the estimate: flows go on under the stock algorithm from their next ACK.
    pub fn invalidate(&self) {
        self.withdraw(Lull::Unknown);
    }

    /// The same, and says why: flows under the law of `sounding` know what to make of it.
    pub fn withdraw(&self, why: Lull) {
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
            ..WireEstimate::default()
        });
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.page.publish(&WireEstimate::default());
    }
}

/// `struct sounding_feed`, every word atomic because the kernel reads while we write.
#[repr(C)]
struct PageLayout {
    magic: AtomicU32,
    version: AtomicU32,
    heartbeat_at_ns: AtomicU64,
    seq: AtomicU64,
    reserved: [AtomicU64; 5],
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
        // SAFETY: the mapping is page-aligned, as long as the layout, lives as long as `self`, and every field is
        // atomic, so that other writers and the kernel may touch it meanwhile.
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
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use sounding_units::Rate;

    use super::*;

    /// A page of ordinary memory.
    fn page() -> Page {
        Page(MmapOptions::new().len(size_of::<PageLayout>()).map_anon().unwrap().into())
    }

    /// An estimate all of whose words contain its number.
    fn marked(mark: u32) -> WireEstimate {
        WireEstimate {
            rate_bytes_per_sec: u64::from(mark),
            sampled_at_ns: u64::from(mark),
            epoch: u64::from(mark),
            bound: mark,
            valid: mark,
            agreeing: mark,
            other_flows: mark,
            lull: mark,
            reserved: mark,
            reserved2: [u64::from(mark); 2],
        }
    }

    /// The reader's half of the latch, as `read_feed` of shared.h does it; the words, and tries needed.
    fn read(page: &Page) -> ([u64; ESTIMATE_WORDS], u32) {
        let layout = page.layout();
        for tries in 1.. {
            let seq = layout.seq.load(Ordering::Acquire);
            let words =
                layout.slot[(seq & 1) as usize].each_ref().map(|w| w.load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            if layout.seq.load(Ordering::Relaxed) == seq {
                return (words, tries);
            }
        }
        unreachable!("the loop has no end")
    }

    #[test]
    fn a_reader_gets_what_was_published_last() {
        let page = page();
        for mark in [7, 8, 9] {
            page.publish(&marked(mark));
            assert_eq!(read(&page), (marked(mark).words(), 1));
        }
    }

    #[test]
    fn readers_never_see_halves_of_two_publications() {
        let page = Arc::new(page());
        page.publish(&marked(0));
        let stop = Arc::new(AtomicBool::new(false));
        let (shared, stopped) = (page.clone(), stop.clone());
        let writer = thread::spawn(move || {
            let mut mark = 0;
            while !stopped.load(Ordering::Relaxed) {
                mark += 1;
                shared.publish(&marked(mark));
            }
            mark
        });
        let mut changes = 0;
        let mut last = 0;
        // Until enough was seen to change under way, however the two threads are scheduled.
        while changes < 10_000 {
            let (words, _) = read(&page);
            let mark = words[0] as u32;
            assert_eq!(words, marked(mark).words());
            assert!(mark >= last, "{mark} after {last}");
            changes += u32::from(mark != last);
            last = mark;
        }
        stop.store(true, Ordering::Relaxed);
        assert!(writer.join().unwrap() >= 10_000);
    }

    #[test]
    fn a_writer_that_stops_in_mid_write_holds_up_no_reader() {
        for (step, complete) in [(1, 7), (2, 8)] {
            let page = page();
            page.publish(&marked(7));
            let layout = page.layout();
            let seq = layout.seq.load(Ordering::Relaxed);
            if step == 2 {
                // The first slot is done, the second under way.
                layout.seq.store(seq + 1, Ordering::Relaxed);
                for (to, word) in layout.slot[0].iter().zip(marked(8).words()) {
                    to.store(word, Ordering::Relaxed);
                }
            }
            layout.seq.store(seq + step, Ordering::Relaxed);
            layout.slot[(step - 1) as usize][0].store(8, Ordering::Relaxed);
            assert_eq!(read(&page), (marked(complete).words(), 1), "stopped in slot {}", step - 1);
        }
    }

    fn feed() -> Feed {
        Feed(Arc::new(Shared { page: page(), lead: Lead::default(), writer: Mutex::default() }))
    }

    fn estimate(mbit: u64, at: u64) -> FeedEstimate {
        FeedEstimate {
            rate: Rate::from_bits_per_sec(mbit * 1_000_000),
            sampled_at: HostInstant::from_nanos(at),
            bound: Bound::Capacity,
            other_flows: 3,
        }
    }

    #[test]
    fn a_publication_says_how_many_before_it_agree() {
        let feed = feed();
        feed.publish(&estimate(10, 1));
        feed.publish(&estimate(11, 2));
        let expected = WireEstimate {
            rate_bytes_per_sec: 1_375_000,
            sampled_at_ns: 2,
            epoch: 2,
            bound: 1,
            valid: 1,
            agreeing: 2,
            other_flows: 3,
            ..WireEstimate::default()
        };
        assert_eq!(read(&feed.0.page).0, expected.words());
    }

    #[test]
    fn a_page_that_somebody_wrote_over_is_mended_by_the_next_publication_and_heartbeat() {
        let feed = feed();
        let layout = feed.0.page.layout();
        layout.magic.store(0xdead_beef, Ordering::Relaxed);
        layout.version.store(77, Ordering::Relaxed);
        layout.seq.store(76_543, Ordering::Relaxed);
        layout.slot.iter().flatten().for_each(|word| word.store(u64::MAX, Ordering::Relaxed));
        feed.publish(&estimate(10, 1));
        feed.heartbeat(HostInstant::from_nanos(2));
        assert_eq!(layout.magic.load(Ordering::Relaxed), MAGIC);
        assert_eq!(layout.version.load(Ordering::Relaxed), VERSION);
        assert_eq!(layout.heartbeat_at_ns.load(Ordering::Relaxed), 2);
        assert_eq!(read(&feed.0.page).0[..2], [1_250_000, 1]);
        // Odd, readers would be sent to the very slot that is written.
        assert_eq!(layout.seq.load(Ordering::Relaxed) % 2, 0);
    }

    #[test]
    fn a_withdrawn_estimate_is_not_valid_and_the_next_agrees_with_none() {
        let feed = feed();
        feed.publish(&estimate(10, 1));
        feed.publish(&estimate(10, 2));
        feed.invalidate();
        assert_eq!(
            read(&feed.0.page).0,
            WireEstimate { epoch: 3, ..WireEstimate::default() }.words()
        );
        feed.publish(&estimate(10, 3));
        assert_eq!(read(&feed.0.page).0[4] as u32, 1);
    }

    #[test]
    fn a_withdrawal_says_why_and_the_next_estimate_says_nothing_of_it() {
        let feed = feed();
        feed.withdraw(Lull::Handover);
        let away = WireEstimate { epoch: 1, lull: 2, ..WireEstimate::default() };
        assert_eq!(read(&feed.0.page).0, away.words());
        feed.publish(&estimate(10, 1));
        assert_eq!(read(&feed.0.page).0[5], 0);
    }
}
