use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::MmapRaw;
use sounding_estimate::DelayUpdate;
use sounding_laws::copa_gandalf::{DelaySlots, Place, SLOTS};
use sounding_units::HostInstant;

use crate::feed::entry;
use crate::lead::Lead;

/// The page that says what one modem's radio itself added to packets, by time. The kernel's flows
/// read a word of it for each packet.
///
/// Each word is written at once and names its time, so a reader needs no lock, and a writer that
/// dies leaves nothing half-written. 100 ms after the modem's last record flows take RTTs as they
/// are. Dropping it empties the page.
#[derive(Debug)]
pub struct DelayFeed {
    page: Page,
    lead: Lead,
    slots: DelaySlots,
}

impl DelayFeed {
    /// Maps the page of a loaded object for the modem at this place, and empties it.
    pub(crate) fn map(fd: impl AsFd, place: usize) -> io::Result<Self> {
        let raw = entry::<PageLayout>(fd, place)?;
        Ok(Self::over(Page(raw), Lead::of_this_process()))
    }

    fn over(page: Page, lead: Lead) -> Self {
        page.clear();
        Self { page, lead, slots: DelaySlots::default() }
    }

    /// News of the modem came.
    pub fn handle_update(&mut self, update: DelayUpdate) {
        let Self { page, lead, slots } = self;
        let heard_at = lead.on_kernels_clock(update.heard_at);
        let on_kernels = update.on_clock(|at| HostInstant::from_nanos(lead.on_kernels_clock(at)));
        slots.handle_update(&on_kernels, |place, word| page.put(place, word));
        let interval = on_kernels.report_interval.unwrap_or_default().as_micros();
        let interval = u64::try_from(interval).unwrap_or(u64::MAX);
        page.layout().interval_us.store(interval, Ordering::Relaxed);
        page.layout().heard_at_ns.store(heard_at, Ordering::Release);
    }

    /// The port closed, or the modem's clock was set: all known delays are outdated.
    pub fn forget(&mut self) {
        self.slots = DelaySlots::default();
        self.page.clear();
    }
}

impl Drop for DelayFeed {
    fn drop(&mut self) {
        self.page.clear();
    }
}

/// `struct delay_table`, every word atomic because the kernel reads while we write.
#[repr(C)]
struct PageLayout {
    heard_at_ns: AtomicU64,
    interval_us: AtomicU64,
    reserved: [AtomicU64; 6],
    up: [AtomicU64; SLOTS],
    down: [AtomicU64; SLOTS],
}
const _: () = assert!(size_of::<PageLayout>() == size_of::<crate::skel_copa::types::delay_table>());
const _: () = assert!(
    core::mem::offset_of!(PageLayout, interval_us)
        == core::mem::offset_of!(crate::skel_copa::types::delay_table, interval_us)
);
const _: () = assert!(
    core::mem::offset_of!(PageLayout, up)
        == core::mem::offset_of!(crate::skel_copa::types::delay_table, up)
);
const _: () = assert!(
    core::mem::offset_of!(PageLayout, down)
        == core::mem::offset_of!(crate::skel_copa::types::delay_table, down)
);

#[derive(Debug)]
struct Page(MmapRaw);

impl Page {
    fn layout(&self) -> &PageLayout {
        // SAFETY: an entry of an array of layouts in a mapping that is page-aligned, as long as the
        // layout; it lives as long as `self`, and every field is atomic, so that the kernel may
        // read meanwhile.
        unsafe { &*self.0.as_mut_ptr().cast::<PageLayout>() }
    }

    fn put(&self, place: Place, word: u64) {
        let layout = self.layout();
        let to = match place {
            Place::Up(index) => layout.up.get(index),
            Place::Down(index) => layout.down.get(index),
        };
        if let Some(to) = to {
            to.store(word, Ordering::Relaxed);
        }
    }

    fn clear(&self) {
        let layout = self.layout();
        layout.heard_at_ns.store(0, Ordering::Release);
        layout.interval_us.store(0, Ordering::Relaxed);
        for word in layout.up.iter().chain(&layout.down) {
            word.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use memmap2::MmapOptions;
    use sounding_estimate::{DelayKind, Direction, RanDelay};

    use super::*;

    fn feed() -> DelayFeed {
        let raw = MmapOptions::new().len(size_of::<PageLayout>()).map_anon().unwrap();
        DelayFeed::over(Page(raw.into()), Lead::default())
    }

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_written_delay_keeps_its_time_and_is_forgotten_at_once() {
        let mut feed = feed();
        let event = RanDelay::new(Direction::Uplink, DelayKind::Scheduling, at(100), at(106))
            .with_amount(Duration::from_millis(5));
        let until = Some(at(140));
        feed.handle_update(
            DelayUpdate::new(at(150), vec![event])
                .with_up_until(until)
                .with_down_until(until)
                .with_report_interval(Some(Duration::from_millis(20))),
        );
        let word =
            |feed: &DelayFeed, slot: usize| feed.page.layout().up[slot].load(Ordering::Relaxed);
        assert_eq!(word(&feed, 401), (0x80_0000 | 401) << 40 | 4_500 << 20);
        assert_eq!(feed.page.layout().heard_at_ns.load(Ordering::Relaxed), 150_000_000);
        assert_eq!(feed.page.layout().interval_us.load(Ordering::Relaxed), 20_000);
        feed.forget();
        assert_eq!(word(&feed, 401), 0);
        assert_eq!(feed.page.layout().heard_at_ns.load(Ordering::Relaxed), 0);
        assert_eq!(feed.page.layout().interval_us.load(Ordering::Relaxed), 0);
    }
}
