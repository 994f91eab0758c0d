//! The kernel's own clock, where a time namespace (time_namespaces(7)) gives this process another:
//! BPF programs read the one that no namespace shifts.

use std::fs;

use sounding_units::HostInstant;

/// How far this process's CLOCK_MONOTONIC is ahead of the kernel's, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lead(i64);

impl Lead {
    /// Zero outside a time namespace, and where the kernel has none.
    pub(crate) fn of_this_process() -> Self {
        parse(&fs::read_to_string("/proc/self/timens_offsets").unwrap_or_default())
    }

    /// A moment of this process on the kernel's clock.
    pub(crate) fn on_kernels_clock(self, at: HostInstant) -> u64 {
        at.as_nanos().saturating_add_signed(self.0.saturating_neg())
    }

    /// A moment of the kernel on this process's clock.
    pub(crate) fn on_our_clock(self, at: HostInstant) -> HostInstant {
        HostInstant::from_nanos(at.as_nanos().saturating_add_signed(self.0))
    }
}

fn parse(offsets: &str) -> Lead {
    let line = offsets.lines().find_map(|line| line.strip_prefix("monotonic"));
    let mut words = line.into_iter().flat_map(str::split_whitespace);
    let mut number = || words.next().and_then(|word| word.parse::<i64>().ok());
    let (seconds, nanos) = (number().unwrap_or(0), number().unwrap_or(0));
    Lead(seconds.saturating_mul(1_000_000_000).saturating_add(nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_seconds_and_nanoseconds_of_either_sign() {
        let text = "monotonic      100000         5\nboottime           -7         0\n";
        assert_eq!(parse(text), Lead(100_000_000_000_005));
        assert_eq!(parse("monotonic  -2  500000000\n"), Lead(-1_500_000_000));
        for text in ["", "boottime 1 0", "monotonic x y"] {
            assert_eq!(parse(text), Lead(0), "{text:?}");
        }
    }

    #[test]
    fn a_moment_goes_to_the_kernels_clock_and_back() {
        let at = HostInstant::from_nanos(10_000_000_000);
        for lead in [Lead(0), Lead(3_000_000_000), Lead(-3_000_000_000)] {
            let kernels = HostInstant::from_nanos(lead.on_kernels_clock(at));
            assert_eq!(lead.on_our_clock(kernels), at);
        }
    }
}
