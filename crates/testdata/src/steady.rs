//! Tests that measure time, on machines that other people use too.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sounding_host::Priority;

use super::say;

/// The largest number of attempts for a test.
const ATTEMPTS: u32 = 3;

/// The time between two looks at the clock.
const PERIOD: Duration = Duration::from_millis(1);

/// Later than this no thread of real time is on a machine that keeps time: the smallest queue that
/// tests bound, because an emulator that stalls makes a queue.
const STALL_OF_REAL_TIME: Duration = Duration::from_millis(10);

/// The same for threads that share the processors. A background flow takes 45 ms above the least
/// RTT for a full queue, and its slow start ends there for good; two stalls make as much.
const STALL: Duration = Duration::from_millis(20);

/// Runs a test that measures time, one at a time. If it fails while the machine was stalled (some
/// processor kept a waiting thread waiting for longer than a test of real time can bear), the
/// failure does not count: it is reported and the test runs again, three times in all. A failure on
/// a machine that kept time is final.
pub fn steadily(test: impl Fn()) {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for attempt in 1.. {
        let watch = Watch::start();
        let outcome = catch_unwind(AssertUnwindSafe(&test));
        let stall = watch.stop();
        match (outcome, stall) {
            (Ok(()), _) => return,
            (Err(_), Some(stall)) if attempt < ATTEMPTS => {
                say(&format!("REPEATED: {stall}, attempt {attempt} of {ATTEMPTS} says nothing"));
            }
            (Err(panic), _) => resume_unwind(panic),
        }
    }
}

/// Threads that look at the clock: on each processor one of real time and one like any other.
struct Watch {
    stop: Arc<AtomicBool>,
    watchers: Vec<Watcher>,
}

struct Watcher {
    what: String,
    bearable: Duration,
    longest_ns: Arc<AtomicU64>,
    thread: JoinHandle<()>,
}

impl Watch {
    fn start() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let watchers = (0..processors).flat_map(|processor| {
            let still = format!("processor {processor} stood still");
            let for_real_time = format!("{still} for real-time threads");
            let urgent = move || be_of_real_time_on(processor);
            [
                Watcher::start(for_real_time, STALL_OF_REAL_TIME, &stop, urgent),
                Watcher::start(still, STALL, &stop, move || stay_on(processor)),
            ]
        });
        let watchers = watchers.collect();
        Self { stop, watchers }
    }

    /// The thread that stood still for too long, if any.
    fn stop(self) -> Option<String> {
        self.stop.store(true, Ordering::Relaxed);
        let mut stalls = Vec::new();
        for watcher in self.watchers {
            let _ = watcher.thread.join();
            let longest = Duration::from_nanos(watcher.longest_ns.load(Ordering::Relaxed));
            if longest > watcher.bearable {
                stalls.push(format!("{} for {longest:?}", watcher.what));
            }
        }
        (!stalls.is_empty()).then(|| stalls.join(", "))
    }
}

impl Watcher {
    fn start(
        what: String,
        bearable: Duration,
        stop: &Arc<AtomicBool>,
        prepare: impl FnOnce() + Send + 'static,
    ) -> Self {
        let longest_ns = Arc::new(AtomicU64::new(0));
        let (stop, longest) = (stop.clone(), longest_ns.clone());
        let ready = Arc::new(Barrier::new(2));
        let watching = ready.clone();
        let thread = std::thread::spawn(move || {
            prepare();
            watching.wait();
            let mut before = Instant::now();
            while !stop.load(Ordering::Relaxed) {
                std::thread::sleep(PERIOD);
                let now = Instant::now();
                longest.fetch_max((now - before).as_nanos() as u64, Ordering::Relaxed);
                before = now;
            }
        });
        ready.wait();
        Self { what, bearable, longest_ns, thread }
    }
}

/// The lowest priority of real time, which the daemon has too, and one processor only. Where this
/// is not permitted the watcher is like any other, and sees more.
fn be_of_real_time_on(processor: usize) {
    stay_on(processor);
    let _ = Priority::RoundRobin(1).take();
}

/// This thread runs on one processor only.
fn stay_on(processor: usize) {
    // SAFETY: plain data, for which zero is a value; the call reads it and changes this thread
    // only.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(processor, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_failure_is_tried_again_on_a_stalled_machine_and_not_on_a_steady_one() {
        let runs = Cell::new(0);
        let run = || {
            catch_unwind(AssertUnwindSafe(|| {
                steadily(|| {
                    runs.set(runs.get() + 1);
                    panic!("expected: this test fails on purpose");
                });
            }))
        };
        assert!(run().is_err());
        // This is nearly always one attempt. It takes more if the machine stalls.
        assert!((1..=3).contains(&runs.get()));
    }

    #[test]
    fn a_watch_tells_a_processor_that_was_taken_away() {
        let watch = Watch::start();
        let before = Instant::now();
        // A thread of higher priority on processor 0 causes a stall for the threads with lower
        // priority.
        let taken = std::thread::spawn(|| {
            be_of_real_time_on(0);
            let ok = Priority::Fifo(2).take().is_ok();
            let before = Instant::now();
            while before.elapsed() < Duration::from_millis(60) {
                std::hint::spin_loop();
            }
            ok
        });
        let permitted = taken.join().expect("it spins");
        let stall = watch.stop();
        if permitted {
            let text = stall.expect("it stood still");
            assert!(text.contains("processor 0"), "{text} after {:?}", before.elapsed());
        }
    }
}
