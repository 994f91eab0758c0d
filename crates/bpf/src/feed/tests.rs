use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use sounding_units::Rate;

use super::*;

/// A page of ordinary memory.
fn page() -> Page {
    Page(MmapOptions::new().len(size_of::<PageLayout>()).map_anon().unwrap().into())
}

/// An estimate with `mark` in every word.
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
        state: mark,
        fair_bytes_per_sec: u64::from(mark),
        users: mark,
        carriers: mark,
    }
}

/// The reader's side of the sequence latch, as in `read_feed` of shared.h. Returns the words and
/// the number of attempts.
fn read(page: &Page) -> ([u64; ESTIMATE_WORDS], u32) {
    let layout = page.layout();
    for tries in 1.. {
        let seq = layout.seq.load(Ordering::Acquire);
        let words = layout.slot[(seq & 1) as usize].each_ref().map(|w| w.load(Ordering::Relaxed));
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
    // Loops until the reader saw many changes, however the two threads are scheduled.
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
fn a_writer_that_stops_in_mid_write_blocks_no_reader() {
    for (step, complete) in [(1, 7), (2, 8)] {
        let page = page();
        page.publish(&marked(7));
        let layout = page.layout();
        let seq = layout.seq.load(Ordering::Relaxed);
        if step == 2 {
            // The first slot is complete, the second is being written.
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
fn a_publication_counts_the_estimates_in_a_row_that_agree() {
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

fn link(state: State, fair: Option<FairShare>) -> LinkEstimate {
    LinkEstimate::new(
        sounding_estimate::Direction::Downlink,
        Rate::from_bits_per_sec(10_000_000),
        Bound::Floor,
    )
    .with_age(Duration::from_nanos(30))
    .with_state(state)
    .with_source(sounding_estimate::Source::Cell)
    .with_fair(fair)
}

const FAIR: FairShare = FairShare::new(Rate::from_bits_per_sec(8_000), 5, 2);

#[test]
fn a_modems_estimate_is_published_with_its_fair_share_and_an_unknown_one_is_zero() {
    let feed = feed();
    let now = HostInstant::from_nanos(100);
    feed.publish_link(&link(State::Silent, Some(FAIR)), now);
    let expected = WireEstimate {
        rate_bytes_per_sec: 1_250_000,
        sampled_at_ns: 70,
        epoch: 1,
        valid: 1,
        agreeing: 1,
        state: 3,
        fair_bytes_per_sec: 1_000,
        users: 5,
        carriers: 2,
        ..WireEstimate::default()
    };
    assert_eq!(read(&feed.0.page).0, expected.words());
    feed.publish_link(&link(State::Active, None), now);
    let (words, _) = read(&feed.0.page);
    assert_eq!((words[3], words[5..].to_vec()), (1 << 32, vec![0; 3]));
}

#[test]
fn an_idle_link_has_a_fair_share_without_a_rate_and_a_handover_has_neither() {
    let feed = feed();
    let now = HostInstant::from_nanos(100);
    feed.publish_link(&link(State::Idle, Some(FAIR)), now);
    let idle = WireEstimate {
        sampled_at_ns: 70,
        epoch: 1,
        lull: 1,
        state: 1,
        fair_bytes_per_sec: 1_000,
        users: 5,
        carriers: 2,
        ..WireEstimate::default()
    };
    assert_eq!(read(&feed.0.page).0, idle.words());
    feed.publish_link(&link(State::Handover, Some(FAIR)), now);
    let away = WireEstimate { epoch: 2, lull: 2, state: 2, ..WireEstimate::default() };
    assert_eq!(read(&feed.0.page).0, away.words());
}

#[test]
fn an_overwritten_page_is_repaired_by_the_next_publication_and_heartbeat() {
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
    // With an odd number, readers would read the slot that is being written.
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
        WireEstimate { epoch: 3, state: 4, ..WireEstimate::default() }.words()
    );
    feed.publish(&estimate(10, 3));
    assert_eq!(read(&feed.0.page).0[4] as u32, 1);
}

#[test]
fn a_withdrawal_carries_its_reason_and_the_next_estimate_clears_it() {
    let feed = feed();
    feed.withdraw(Lull::Handover);
    let away = WireEstimate { epoch: 1, lull: 2, state: 2, ..WireEstimate::default() };
    assert_eq!(read(&feed.0.page).0, away.words());
    feed.publish(&estimate(10, 1));
    assert_eq!(read(&feed.0.page).0[5], 0);
}
