//! Failure drills of the feed: a flow in the kernel, and a publisher of impossible or false
//! estimates.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sounding_bpf::inventory::held_by;
use sounding_bpf::{Bound, Config, Feed, FeedEstimate, Instance, Reason};
use sounding_emu::Direction;
use sounding_host::{Priority, monotonic_now};
use sounding_laws::Law;
use sounding_testdata::steadily;
use sounding_trace::Steps;
use sounding_units::{HostInstant, Rate};

use crate::beside::{self, MAX_STALL, Track, Witness, judge_within};
use crate::rig::skipped;

pub(crate) const TRUE_RATE: Rate = Rate::from_bits_per_sec(12_000_000);

/// A publisher's false estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tale {
    /// The link's true rate.
    Truth,
    /// The link carries nothing.
    Nothing,
    /// The link carries 10 Gbit/s.
    Plenty,
    /// Zero and 10 Gbit/s in turn, ten times a second.
    Flapping,
    /// More than any radio carries.
    Impossible,
    /// Sampled five seconds from now: of a negative age.
    NotYet,
    /// Sampled an hour ago by a publisher that lives.
    LongAgo,
    /// All stamps three minutes ahead: the kernel's clock stood still, as in a machine that sleeps,
    /// and the publisher's did not.
    ClockAhead,
    /// All stamps three minutes behind.
    ClockBehind,
}

const SECOND: Duration = Duration::from_secs(1);
const STOOD_STILL: Duration = Duration::from_secs(180);

/// The flows' reaction to each; `None` if the window follows it, or if it depends on the path.
pub(crate) const TALES: [(Tale, Option<Reason>); 8] = [
    (Tale::Nothing, None),
    (Tale::Plenty, None),
    (Tale::Flapping, None),
    (Tale::Impossible, Some(Reason::Absurd)),
    (Tale::NotYet, Some(Reason::Absurd)),
    (Tale::LongAgo, Some(Reason::Stale)),
    (Tale::ClockAhead, Some(Reason::Absurd)),
    (Tale::ClockBehind, Some(Reason::Silent)),
];

/// BISCAY's law as published sends at once what 10 Gbit/s would carry, and PBE-CC's within three
/// round trips. Only a timeout may show that it is lost (docs/reference/daemon.md).
const LOST_AT_ONCE: Duration = SECOND;
/// The time between two changes of the rate.
const FLAP: Duration = Duration::from_millis(50);

/// A minimal daemon that publishes a link.
pub(crate) struct Publisher {
    tale: Arc<Mutex<Tale>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Publisher {
    /// The true rate of a link, until it is changed.
    pub(crate) fn start(feed: Feed, rate: Rate) -> Self {
        let (tale, stop) = (Arc::new(Mutex::new(Tale::Truth)), Arc::new(AtomicBool::new(false)));
        let (told, stopped) = (Arc::clone(&tale), Arc::clone(&stop));
        let thread = thread::spawn(move || {
            // As the daemon's: one of normal priority is late on a busy machine, and rightly taken
            // for dead.
            let _ = Priority::RoundRobin(1).take();
            while !stopped.load(Ordering::Relaxed) {
                let tale = *told.lock().unwrap_or_else(PoisonError::into_inner);
                tell(&feed, rate, tale);
                thread::sleep(Duration::from_millis(5));
            }
        });
        Self { tale, stop, thread: Some(thread) }
    }

    pub(crate) fn turn_to(&self, tale: Tale) {
        *self.tale.lock().unwrap_or_else(PoisonError::into_inner) = tale;
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn tell(feed: &Feed, truth: Rate, tale: Tale) {
    let now = monotonic_now();
    let rate = match tale {
        Tale::Nothing => Rate::ZERO,
        Tale::Flapping if (now.as_nanos() / FLAP.as_nanos() as u64).is_multiple_of(2) => Rate::ZERO,
        Tale::Plenty | Tale::Flapping => Rate::from_bits_per_sec(10_000_000_000),
        Tale::Impossible => Rate::from_bits_per_sec(u64::MAX / 8),
        _ => truth,
    };
    let (sampled_at, beaten_at) = match tale {
        Tale::NotYet => (now + 5 * SECOND, now),
        Tale::LongAgo => (now.saturating_before(3600 * SECOND), now),
        Tale::ClockAhead => (now + STOOD_STILL, now + STOOD_STILL),
        Tale::ClockBehind => {
            (now.saturating_before(STOOD_STILL), now.saturating_before(STOOD_STILL))
        }
        _ => (now, now),
    };
    feed.publish(&FeedEstimate { rate, sampled_at, bound: Bound::Capacity, other_flows: 0 });
    feed.heartbeat(beaten_at);
}

/// Waits until the law controls the flow, five seconds at most.
pub(crate) fn wait_until_driven(instance: &Instance, track: &Track) {
    // SAFETY: the socket is open until the transfer is waited for.
    let socket = unsafe { BorrowedFd::borrow_raw(track.flow().sender_socket()) };
    let reached = (0..1000).any(|_| {
        thread::sleep(Duration::from_millis(5));
        instance.flow(socket).ok().flatten().is_some_and(|flow| flow.phase.law_controls())
    });
    assert!(reached, "not driven by {:?}", instance.law());
}

#[test]
fn no_tale_of_a_publisher_stalls_a_flow_and_the_truth_is_believed_again() {
    if skipped() {
        return;
    }
    for law in [Law::Biscay, Law::Sounding, Law::PbeCc] {
        steadily(|| tell_tales(law));
    }
}

fn tell_tales(law: Law) {
    let witness = Witness::begin();
    let name = format!("{}_tales", std::process::id() % 1_000_000);
    let before = held_by(std::process::id());
    let config = Config { name: name.clone(), law, ..Config::default() };
    let biscay = Instance::load(&config).expect("it loads");
    let objects = held_by(std::process::id()).difference(&before).copied().collect();
    let publisher = Publisher::start(biscay.feed().clone(), TRUE_RATE);
    let link = || beside::over(Steps::constant(TRUE_RATE));
    let (ours, stock) = (
        Track::start(link(), Direction::Uplink, &name),
        Track::start(link(), Direction::Uplink, "bbr"),
    );
    wait_until_driven(&biscay, &ours);
    let mut spans = Vec::new();
    for (tale, reason) in TALES {
        thread::sleep(SECOND / 2);
        while biscay.poll_transition().is_some() {}
        let from = monotonic_now();
        publisher.turn_to(tale);
        thread::sleep(3 * SECOND / 2);
        publisher.turn_to(Tale::Truth);
        wait_until_driven(&biscay, &ours);
        spans.push((tale, from, monotonic_now()));
        if let Some(reason) = reason {
            let seen = std::iter::from_fn(|| biscay.poll_transition());
            let fell = seen.into_iter().find(|seen| !seen.to.law_controls());
            let fell = fell.unwrap_or_else(|| panic!("{tale:?} was believed"));
            assert_eq!(fell.reason, reason, "{tale:?}");
            assert_prompt(tale, fell.at, from);
        }
    }
    drop(publisher);
    let (ours, stock) = (ours.end(), stock.end());
    for (tale, from, to) in spans {
        let bearable = match (law, tale) {
            (Law::Biscay | Law::PbeCc, Tale::Plenty | Tale::Flapping) => LOST_AT_ONCE,
            _ => MAX_STALL,
        };
        judge_within(bearable, &format!("{law:?}: {tale:?}"), &ours, &stock, from, to);
    }
    drop(biscay);
    witness.end(&name, &objects);
}

/// One publication and one acknowledgement later.
fn assert_prompt(tale: Tale, fell: HostInstant, told: HostInstant) {
    let after = fell - told;
    assert!(after <= Duration::from_millis(100), "{tale:?}: {after:?}");
}
