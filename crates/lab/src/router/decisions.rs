//! The decisions of `sounding shape` in the guest, from its JSON lines.

use serde::Deserialize;
use sounding_emu::monotonic_now;
use sounding_testbed::router::Router;
use sounding_units::HostInstant;

use super::ran::Held;
use crate::experiment::Failed;

/// The guest's clock, which counts from its boot.
#[derive(Clone, Copy, Debug)]
pub(super) struct GuestClock {
    boot: HostInstant,
}

impl GuestClock {
    /// Asks the guest, which answers to 10 ms.
    pub(super) fn ask(router: &Router) -> Result<Self, Failed> {
        let text = router.guest().run("cat /proc/uptime")?;
        let uptime = text.split_whitespace().next().and_then(|text| text.parse().ok());
        let uptime: f64 = uptime.ok_or("the guest has no /proc/uptime")?;
        let uptime = std::time::Duration::try_from_secs_f64(uptime)?;
        let boot = (monotonic_now() - HostInstant::default()).saturating_sub(uptime);
        Ok(Self { boot: HostInstant::default() + boot })
    }

    /// This machine's time of a time of the guest.
    fn here(self, at_ns: u64) -> HostInstant {
        self.boot + std::time::Duration::from_nanos(at_ns)
    }
}

/// A decision, as `sounding shape --json` prints it.
#[derive(Deserialize)]
struct Shaped {
    event: String,
    at_ns: u64,
    direction: String,
    reason: String,
}

/// Why the rate upwards was what it was, and for how long, until this end.
pub(super) fn held(log: &str, clock: GuestClock, origin: HostInstant, end: HostInstant) -> Held {
    let shaped = log.lines().filter_map(|line| serde_json::from_str::<Shaped>(line).ok());
    let ours = shaped.filter(|line| line.event == "shaped" && line.direction == "uplink");
    let mut held: Held = Vec::new();
    for Shaped { at_ns, reason, .. } in ours {
        let at = (clock.here(at_ns) - origin).as_secs_f64();
        match held.last_mut() {
            Some((_, until, last)) if *last == reason => *until = at,
            last => {
                if let Some((_, until, _)) = last {
                    *until = at;
                }
                held.push((at, at, reason));
            }
        }
    }
    if let Some((_, until, _)) = held.last_mut() {
        *until = until.max((end - origin).as_secs_f64());
    }
    held
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_lasts_until_the_next_and_other_lines_say_nothing() {
        let line = |at, way, why| {
            format!(
                "{{\"event\":\"shaped\",\"at_ns\":{at},\"direction\":\"{way}\",\"reason\":\"{why}\"}}\n"
            )
        };
        let log = line(1_000_000_000_u64, "uplink", "base")
            + "not JSON\n"
            + &line(1_500_000_000, "downlink", "idle")
            + &line(2_000_000_000, "uplink", "probing")
            + &line(2_500_000_000, "uplink", "probing")
            + &line(3_000_000_000, "uplink", "capacity");
        let at = |seconds| HostInstant::default() + std::time::Duration::from_secs(seconds);
        let held = held(&log, GuestClock { boot: at(10) }, at(10), at(15));
        let expected = [(1.0, 2.0, "base"), (2.0, 3.0, "probing"), (3.0, 5.0, "capacity")];
        assert_eq!(held, expected.map(|(from, until, why)| (from, until, why.to_owned())));
    }
}
