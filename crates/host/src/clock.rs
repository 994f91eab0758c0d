use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use sounding_units::HostInstant;

/// Now on CLOCK_MONOTONIC: the clock of every [`HostInstant`] in live code, and the one that BPF
/// programs read.
pub fn monotonic_now() -> HostInstant {
    // CLOCK_MONOTONIC exists on every Linux, and its seconds are never negative.
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from);
    HostInstant::default() + now
}

/// The current CLOCK_BOOTTIME. This clock also counts while the machine sleeps.
pub fn boottime_now() -> HostInstant {
    let now = clock_gettime(ClockId::CLOCK_BOOTTIME).map_or(Duration::ZERO, Duration::from);
    HostInstant::default() + now
}

/// CPU time of the calling thread so far.
pub fn thread_cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_goes_on_and_is_the_kernels() {
        let before = monotonic_now();
        let text = std::fs::read_to_string("/proc/uptime").expect("the kernel tells its uptime");
        let after = monotonic_now();
        assert!(before <= after);
        // Uptime counts a suspended machine's sleep, which the monotonic clock does not: it is
        // never behind.
        let uptime: f64 =
            text.split(' ').next().and_then(|text| text.parse().ok()).expect("seconds");
        assert!(before.as_nanos() as f64 / 1e9 <= uptime + 0.02, "{before} at {uptime} s");
    }

    #[test]
    fn a_thread_that_works_uses_its_processor() {
        let before = thread_cpu();
        while thread_cpu() == before {
            std::hint::black_box(0);
        }
        assert!(thread_cpu() > before);
    }
}
