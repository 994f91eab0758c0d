//! A daemon's publications about a radio, and its silence.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sounding_bpf::{Bound, Config, Feed, FeedEstimate, Instance, Phase, Transition, preflight};
use sounding_emu::monotonic_now;
use sounding_testdata::may_emulate;
use sounding_units::{HostInstant, Rate};

/// The time between two writes of the feed.
const PERIOD: Duration = Duration::from_millis(5);

/// A name of this process. `None`, with a reported skip, where BISCAY or the emulator cannot run.
pub(crate) fn name(test: &str) -> Option<String> {
    if !may_emulate() {
        return None;
    }
    let name = format!("lt{:x}_{test}", std::process::id() & 0xff_ffff);
    let Some(check) = preflight(&name).into_iter().find(|check| !check.ok) else {
        return Some(name);
    };
    sounding_testdata::skip(sounding_testdata::Need::Kernel, check.detail);
    None
}

/// An instance and the daemon that feeds it.
pub(crate) struct Radio {
    pub(crate) instance: Instance,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    kbit: AtomicU64,
    stop: AtomicBool,
    mute: AtomicBool,
    dead: AtomicBool,
    sampled_at: AtomicU64,
    beaten_at: AtomicU64,
}

impl Radio {
    /// A radio with this rate in Mbit/s, published under a name made from `test`.
    pub(crate) fn start(test: &str, mbit: u64) -> Option<Self> {
        Self::start_with(test, mbit, Bound::Capacity)
    }

    pub(crate) fn start_with(test: &str, mbit: u64, bound: Bound) -> Option<Self> {
        Self::start_as(test, mbit, bound, Config::default())
    }

    /// The same with another instance than that of BISCAY's law above BBR.
    pub(crate) fn start_as(test: &str, mbit: u64, bound: Bound, config: Config) -> Option<Self> {
        let name = name(test)?;
        let instance = Instance::load(&Config { name, ..config }).unwrap();
        let shared = Arc::new(Shared { kbit: (mbit * 1000).into(), ..Shared::default() });
        let (feed, state) = (instance.feed().clone(), shared.clone());
        let thread = thread::spawn(move || {
            punctual();
            while !state.stop.load(Ordering::Relaxed) {
                state.tell(&feed, bound);
                thread::sleep(PERIOD);
            }
        });
        Some(Self { instance, shared, thread: Some(thread) })
    }

    pub(crate) fn set_mbit(&self, mbit: u64) {
        self.shared.kbit.store(mbit * 1000, Ordering::Relaxed);
    }

    /// No estimates from here on, but a heartbeat; the time of the last one.
    pub(crate) fn mute(&self) -> HostInstant {
        self.shared.mute.store(true, Ordering::SeqCst);
        // One that was under way may still come.
        thread::sleep(4 * PERIOD);
        HostInstant::from_nanos(self.shared.sampled_at.load(Ordering::SeqCst))
    }

    /// Neither estimates nor a heartbeat from here on; the time of the last one.
    pub(crate) fn die(&self) -> HostInstant {
        self.shared.dead.store(true, Ordering::SeqCst);
        thread::sleep(4 * PERIOD);
        HostInstant::from_nanos(self.shared.beaten_at.load(Ordering::SeqCst))
    }

    pub(crate) fn revive(&self) -> HostInstant {
        let now = monotonic_now();
        self.shared.mute.store(false, Ordering::SeqCst);
        self.shared.dead.store(false, Ordering::SeqCst);
        now
    }

    /// The next change of state into `phase`; waits ten seconds at most.
    pub(crate) fn next(&self, phase: Phase) -> Transition {
        self.next_after(HostInstant::default(), phase)
    }

    /// The next one not before `from`.
    pub(crate) fn next_after(&self, from: HostInstant, phase: Phase) -> Transition {
        for _ in 0..2_000 {
            while let Some(seen) = self.instance.poll_transition() {
                if seen.to == phase && seen.at >= from {
                    return seen;
                }
            }
            thread::sleep(PERIOD);
        }
        panic!("no flow turned to {phase:?} within ten seconds");
    }

    /// All changes of state that have not been read yet.
    pub(crate) fn transitions(&self) -> Vec<Transition> {
        std::iter::from_fn(|| self.instance.poll_transition()).collect()
    }
}

/// Runs this thread before others: on a busy machine one of normal priority is at times 100 ms
/// late, and flows then rightly take its daemon for dead.
fn punctual() {
    let parameters = libc::sched_param { sched_priority: 20 };
    // SAFETY: a plain system call; the kernel only reads `parameters`.
    let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameters) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
}

impl Shared {
    fn tell(&self, feed: &Feed, bound: Bound) {
        let now = monotonic_now();
        let (dead, mute) = (self.dead.load(Ordering::SeqCst), self.mute.load(Ordering::SeqCst));
        if !dead && !mute {
            self.sampled_at.store(now.as_nanos(), Ordering::SeqCst);
            feed.publish(&FeedEstimate {
                rate: Rate::from_bits_per_sec(self.kbit.load(Ordering::Relaxed) * 1000),
                sampled_at: now,
                bound,
                other_flows: 0,
            });
        }
        if !dead {
            self.beaten_at.store(now.as_nanos(), Ordering::SeqCst);
            feed.heartbeat(now);
        }
    }
}

impl Drop for Radio {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}
