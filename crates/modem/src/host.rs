use nix::time::{ClockId, clock_gettime};
use sounding_units::HostInstant;

/// Host time now: CLOCK_MONOTONIC, the clock that the kernel side compares with.
pub fn monotonic_now() -> HostInstant {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("CLOCK_MONOTONIC exists on Linux");
    HostInstant::from_nanos(now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
}
