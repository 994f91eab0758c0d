//! The many users that only receive parameters (PBE-CC §4.2.1). Each takes a few resource blocks
//! and does not return.

use alloc::vec::Vec;
use core::time::Duration;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use sounding_units::HostInstant;

use crate::rnti::FIRST_CONTROL;

/// A user of control traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ControlUser {
    pub(crate) rnti: u16,
    /// Its resource blocks in each slot.
    pub(crate) prb: u16,
    /// Number of slots in which it is still served.
    pub(crate) slots: u8,
}

/// All users of control traffic on a carrier.
#[derive(Debug)]
pub(crate) struct ControlUsers {
    per_sec: f64,
    /// When the next user arrives; `None` if the carrier has none.
    next: Option<HostInstant>,
    count: u16,
    pub(crate) active: Vec<ControlUser>,
}

impl ControlUsers {
    pub(crate) fn new(per_sec: f64, origin: HostInstant) -> Self {
        let next = (per_sec > 0.0).then_some(origin);
        Self { per_sec, next, count: 0, active: Vec::new() }
    }

    /// Time has reached `now`: adds the users that have arrived.
    pub(crate) fn handle_time(&mut self, now: HostInstant, rng: &mut ChaCha8Rng) {
        while let Some(at) = self.next.filter(|at| *at <= now) {
            self.count = self.count.wrapping_add(1);
            let (prb, slots) = shape(rng);
            self.active.push(ControlUser { rnti: FIRST_CONTROL + self.count % 0x8000, prb, slots });
            // Users arrive independently of each other.
            let uniform: f64 = rng.random();
            let seconds = -libm::log(1.0 - uniform) / self.per_sec;
            self.next = Some(at + Duration::from_nanos((seconds * 1e9) as u64));
        }
    }
}

/// Resource blocks and slots of a user. In PBE-CC, 68.2 % of all users took exactly four blocks of
/// one subframe (Fig. 7). Its filter removes 14.5 of 15.8 users, and these are 74 % of the removed
/// ones. About the other removed users the paper says only that they do not have both more than one
/// subframe and more than four blocks. Here half of them have few blocks for longer, and half have
/// more blocks once. These numbers are chosen.
fn shape(rng: &mut ChaCha8Rng) -> (u16, u8) {
    const USUAL: f64 = 0.74;
    let kind: f64 = rng.random();
    if kind < USUAL {
        (4, 1)
    } else if kind < USUAL + (1.0 - USUAL) / 2.0 {
        (rng.random_range(1..=4), rng.random_range(2..=6))
    } else {
        (rng.random_range(5..=12), 1)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn the_configured_number_comes_and_most_take_four_blocks_once() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mut users = ControlUsers::new(360.0, HostInstant::from_nanos(0));
        users.handle_time(HostInstant::from_nanos(100_000_000_000), &mut rng);
        let all = users.active.len();
        assert!((35_000..37_000).contains(&all), "{all}");
        let usual = users.active.iter().filter(|user| (user.prb, user.slots) == (4, 1)).count();
        assert!((0.72..0.76).contains(&(usual as f64 / all as f64)), "{usual}");
        assert!(users.active.iter().all(|user| user.prb <= 4 || user.slots == 1));
    }
}
