//! How long a flow goes on under its law after the estimate ended: the times of
//! docs/results/daemon.md.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use sounding_bpf::{Bound, Config, Feed, FeedEstimate, Instance};
use sounding_emu::Direction;
use sounding_host::{Priority, monotonic_now};
use sounding_laws::Law;
use sounding_trace::Steps;
use sounding_units::{HostInstant, Rate};

use crate::beside::{self, Track};
use crate::feed::{TRUE_RATE, wait_until_driven};
use crate::rig::skipped;

const LAWS: [Law; 4] = [Law::Biscay, Law::Sounding, Law::PbeCc, Law::Cqic];
const TIMES: usize = 5;
/// The kernel looks at each acknowledgement. One is due at least this often on the link of these
/// runs.
const ACK_IS_LATE: Duration = Duration::from_millis(100);

/// How an estimate ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// The daemon is killed, or hangs.
    NoHeartbeat,
    /// The modem sends no more records.
    NoRecords,
    /// The modem is unplugged, and the daemon withdraws the estimate.
    Withdrawn,
    /// The estimate says twice what the link carries.
    Wrong,
}

impl Ending {
    const ALL: [Self; 4] = [Self::NoHeartbeat, Self::NoRecords, Self::Withdrawn, Self::Wrong];

    /// The latest time of a fallback by docs/reference/daemon.md, without the wait for an
    /// acknowledgement.
    const fn bound(self, law: Law) -> Duration {
        match (self, law) {
            (Self::Wrong, _) => Duration::from_millis(1900),
            // It keeps its last estimate for a second (docs/interpretations/cqic.md, 9).
            (_, Law::Cqic) => Duration::from_secs(1),
            (Self::NoHeartbeat, _) => Duration::from_millis(60),
            (Self::NoRecords, _) => Duration::from_millis(200),
            (Self::Withdrawn, _) => Duration::ZERO,
        }
    }
}

/// A publisher's state: what it says now, and when its last true word was.
struct Said {
    ending: Option<Ending>,
    last_truth: HostInstant,
}

fn publish(feed: &Feed, said: &Mutex<Said>, stop: &AtomicBool) {
    // As the daemon's: one of normal priority is late on a busy machine, and rightly taken for
    // dead.
    let _ = Priority::RoundRobin(1).take();
    while !stop.load(Ordering::Relaxed) {
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        let now = monotonic_now();
        let rate = match said.ending {
            None => Some(TRUE_RATE),
            Some(Ending::Wrong) => Some(Rate::from_bits_per_sec(2 * TRUE_RATE.bits_per_sec())),
            Some(_) => None,
        };
        if let Some(rate) = rate {
            let estimate =
                FeedEstimate { rate, sampled_at: now, bound: Bound::Capacity, other_flows: 0 };
            feed.publish(&estimate);
        }
        if said.ending.is_none() {
            said.last_truth = now;
        }
        if said.ending == Some(Ending::Withdrawn) {
            feed.invalidate();
        }
        if said.ending != Some(Ending::NoHeartbeat) {
            feed.heartbeat(now);
        }
        drop(said);
        thread::sleep(Duration::from_millis(5));
    }
}

/// Ends the publisher, also after a panic.
struct Stops<'a>(&'a AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The time of each of several fallbacks of one flow after its estimate ended so; without those
/// that did not come.
fn fallbacks(law: Law, ending: Ending) -> Vec<Duration> {
    let name = format!("{}_ends", std::process::id() % 1_000_000);
    let config = Config { name: name.clone(), law, ..Config::default() };
    let instance = Instance::load(&config).expect("it loads");
    let said = Mutex::new(Said { ending: None, last_truth: monotonic_now() });
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _stops = Stops(&stop);
        scope.spawn(|| publish(instance.feed(), &said, &stop));
        let link = beside::over(Steps::constant(TRUE_RATE));
        let track = Track::start(link, Direction::Uplink, &name);
        let say = |ending| said.lock().unwrap_or_else(PoisonError::into_inner).ending = ending;
        let times = (0..TIMES).filter_map(|_| {
            say(None);
            wait_until_driven(&instance, &track);
            thread::sleep(Duration::from_millis(500));
            while instance.poll_transition().is_some() {}
            say(Some(ending));
            thread::sleep(Duration::from_secs(2));
            let seen = std::iter::from_fn(|| instance.poll_transition());
            let fell = seen.into_iter().find(|seen| !seen.to.law_controls());
            let last_truth = said.lock().unwrap_or_else(PoisonError::into_inner).last_truth;
            fell.map(|fell| fell.at - last_truth)
        });
        let times = times.collect();
        track.end();
        times
    })
}

mod long {
    use super::*;

    #[test]
    #[ignore = "takes minutes; `make test-long`"]
    fn each_law_ends_in_time_however_its_estimate_ends() {
        if skipped() {
            return;
        }
        for ending in Ending::ALL {
            for law in LAWS {
                let mut times = fallbacks(law, ending);
                times.sort();
                println!("{ending:?} {law:?}: {} of {TIMES} times, {times:?}", times.len());
                if ending != Ending::Wrong {
                    assert_eq!(times.len(), TIMES, "{ending:?} {law:?}");
                }
                let bound = ending.bound(law) + ACK_IS_LATE;
                let late = times.iter().find(|&&time| time > bound);
                assert_eq!(late, None, "{ending:?} {law:?}: {times:?}");
            }
        }
    }
}
