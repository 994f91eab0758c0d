//! A world's memory does not grow with simulated time.

#[path = "../benches/scenes/mod.rs"]
mod scenes;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, and how much of it is and was in use.
struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn take(size: usize) {
    let used = USED.fetch_add(size, Ordering::Relaxed) + size;
    PEAK.fetch_max(used, Ordering::Relaxed);
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller keeps to the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: `at` came from `System` with this layout.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn ten_minutes_of_a_cell_take_no_more_memory_than_one() {
    /// Queues and tables double their room when they grow, and the longest they get comes late by
    /// chance; a byte kept of every packet would be megabytes.
    const SLACK: usize = 256 << 10;
    let mut scene = scenes::cell(3);
    let before = USED.load(Ordering::Relaxed);
    scene.run(60);
    let one = PEAK.load(Ordering::Relaxed) - before;
    scene.run(600);
    let ten = PEAK.load(Ordering::Relaxed) - before;
    println!("{one} bytes in a minute, {ten} in ten");
    assert!(ten <= one + SLACK, "{one} bytes in a minute, {ten} in ten");
}
