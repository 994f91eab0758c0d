//! Bytes that networks devices carried, as the kernel counts them.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

/// The counters of the network namespace of this thread.
const COUNTERS: &str = "/proc/thread-self/net/dev";

/// How often they are read.
const EVERY: Duration = Duration::from_secs(1);

/// What a modem's network devices carried: what left by them, and what came by them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Carried {
    /// Bytes by the kernel's counters: uplink, downlink.
    pub bytes: [u64; 2],
    /// Rates between the last two looks, if there were two.
    pub bits_per_sec: [Option<u64>; 2],
}

/// Looks at the counters.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    looked: Option<Instant>,
    carried: BTreeMap<usize, Carried>,
}

impl Counters {
    /// Looks, if it is due. The devices are those of the modems at these places.
    pub(crate) fn attend<'d>(
        &mut self,
        now: Instant,
        modems: impl Iterator<Item = (usize, &'d [String])>,
    ) {
        let since = self.looked.map(|looked| now - looked);
        if since.is_some_and(|since| since < EVERY) {
            return;
        }
        self.looked = Some(now);
        let text = fs::read_to_string(COUNTERS).unwrap_or_default();
        let before = std::mem::take(&mut self.carried);
        for (place, devices) in modems {
            let Some(bytes) = sum(&text, devices) else { continue };
            let rate = |way: usize| {
                let grown = bytes[way].checked_sub(before.get(&place)?.bytes[way])?;
                Some((grown as f64 * 8.0 / since?.as_secs_f64()) as u64)
            };
            self.carried.insert(place, Carried { bytes, bits_per_sec: [rate(0), rate(1)] });
        }
    }

    pub(crate) fn of(&self, place: usize) -> Option<Carried> {
        self.carried.get(&place).copied()
    }
}

/// Bytes that left and that came by these devices; `None` if none of them is there.
fn sum(text: &str, devices: &[String]) -> Option<[u64; 2]> {
    let mut sum = None;
    for line in text.lines() {
        let Some((name, counts)) = line.split_once(':') else { continue };
        if !devices.iter().any(|device| device == name.trim()) {
            continue;
        }
        let mut counts = counts.split_whitespace().map(str::parse::<u64>);
        let (Some(Ok(received)), Some(Ok(sent))) = (counts.next(), counts.nth(7)) else { continue };
        let [up, down] = sum.unwrap_or([0, 0]);
        sum = Some([sent.saturating_add(up), received.saturating_add(down)]);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counters_of_several_devices_are_added_and_others_are_not() {
        let text = "Inter-|   Receive          |  Transmit\n face |bytes packets\n\
                    \x20   lo: 5 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0\n\
                    wwan0: 100 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0\nwwan1:20 1 0 0 0 0 0 0 3 1 0 0 0 0 0 0\n";
        let of =
            |names: &[&str]| sum(text, &names.iter().map(|&name| name.into()).collect::<Vec<_>>());
        assert_eq!(of(&["wwan0", "wwan1"]), Some([10, 120]));
        assert_eq!(of(&["wwan2"]), None);
        assert_eq!(of(&[]), None);
    }
}
