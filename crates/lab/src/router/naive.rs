//! The naive rule: a part of each estimate, by a program beside the modem.
//!
//! Behind a shaper the radio has no more to send than the shaper lets through. An estimate from
//! the radio's grants is then of the shaper, and the rule follows itself down.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sounding_diag::session::Wanted;
use sounding_emu::monotonic_now;
use sounding_kpi::Direction;
use sounding_link::{Arrival, Config, Sounder};
use sounding_modem::{Bytes, Pump, Source, Turn};
use sounding_shape::{Limits, Tuning};
use sounding_sim::shaper::Naive;
use sounding_testbed::router::{INGRESS, Router, WAN};
use sounding_testbed::uml::Tc;
use sounding_units::Rate;

use crate::experiment::Failed;

/// Interval of rates.
const STEP: Duration = Duration::from_millis(10);

const WAYS: [Direction; 2] = [Direction::Uplink, Direction::Downlink];

/// Follows the modem of a router as long as the run lasts.
pub(super) fn follow(
    router: &Router,
    limits: [Limits; 2],
    over: &AtomicBool,
) -> Result<(), Failed> {
    let source: Source = router.modem().parse()?;
    let codes = WAYS.iter().flat_map(|way| sounding_kpi::codes(*way).to_vec()).collect();
    let wanted = Wanted { codes, budget_bytes_per_sec: None };
    // The modem's port is in the router's network.
    let open = || Pump::open(source, Some(wanted));
    let mut pump = router.emulation().near().enter(open)??.once();
    let [up, down] = WAYS.map(|way| Config::new(way).over(Some(Tuning::of(way).span)));
    let mut sounder = Sounder::new(up).beside(down);
    let mut tc = Tc::open(router.guest())?;
    let mut next = monotonic_now();
    while !over.load(Ordering::Relaxed) {
        match pump.turn(next - monotonic_now())? {
            Turn::Bytes(Bytes { now, framing, bytes, mut session }) => {
                sounder.handle_read(framing, Arrival::At(now), bytes, |_, seen| {
                    if let Some(packet) = seen.packet() {
                        session.handle(&packet);
                    }
                });
            }
            Turn::Closed(_) => return Err("the modem's port closed".into()),
            Turn::Idle | Turn::Reopened => {}
        }
        let now = monotonic_now();
        if now < next {
            continue;
        }
        next = now + STEP;
        let places = sounder.estimators().zip([WAN, INGRESS]).zip(limits);
        for ((estimator, device), limits) in places {
            if let Some(rate) = rate(estimator.estimate(now).known_rate(), limits) {
                tc.set(device, rate)?;
            }
        }
    }
    Ok(())
}

/// Of an estimate; without one, and while nothing is granted, the rate stays. No lower limit holds
/// the rule up, because it is the rule that is judged.
fn rate(known: Option<Rate>, limits: Limits) -> Option<Rate> {
    let known = known.filter(|rate| *rate > Rate::ZERO)?;
    Some(Naive::part(known).min(limits.max()).max(Limits::LEAST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_part_of_the_estimate_up_to_the_limit() {
        let mbit = |mbit: u64| Rate::from_bits_per_sec(mbit * 1_000_000);
        let limits = Limits::new(mbit(1), mbit(10), mbit(50)).unwrap();
        let rate = |known| rate(known, limits);
        assert_eq!(rate(Some(mbit(20))), Some(mbit(19)));
        assert_eq!((rate(None), rate(Some(Rate::ZERO))), (None, None));
        assert_eq!(rate(Some(mbit(90))), Some(mbit(50)));
        assert!(rate(Some(mbit(1))) < Some(mbit(1)), "no lower limit holds it up");
    }
}
