use nix::time::{ClockId, clock_gettime};
use sounding_units::HostInstant;

/// Now on CLOCK_MONOTONIC: the clock every time in this crate is on, and the one BPF programs read.
pub fn monotonic_now() -> HostInstant {
    // CLOCK_MONOTONIC exists on every Linux, and its seconds are never negative.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or_else(
        |_| HostInstant::default(),
        |now| HostInstant::from_nanos(now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64),
    )
}
