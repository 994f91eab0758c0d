//! When each user of a cell has work: most users have none in most slots.

use alloc::vec::Vec;

use sounding_units::HostInstant;

/// When each of several users is due next.
#[derive(Debug)]
pub(crate) struct WakeSchedule {
    at: Vec<HostInstant>,
    soonest: HostInstant,
}

/// A time later than every event.
pub(crate) const NEVER: HostInstant = HostInstant::from_nanos(u64::MAX);

impl Default for WakeSchedule {
    fn default() -> Self {
        Self { at: Vec::new(), soonest: NEVER }
    }
}

impl WakeSchedule {
    /// Adds a user, which is due at once.
    pub(crate) fn add(&mut self) {
        self.soonest = HostInstant::default();
        self.at.push(self.soonest);
    }

    /// When the first of them is due.
    pub(crate) fn soonest(&self) -> HostInstant {
        self.soonest
    }

    /// Calls `wake` for every user that is due by `now`; it returns when the user is due next.
    pub(crate) fn run(&mut self, now: HostInstant, mut wake: impl FnMut(usize) -> HostInstant) {
        if self.soonest > now {
            return;
        }
        self.soonest = NEVER;
        for (user, at) in self.at.iter_mut().enumerate() {
            if *at <= now {
                *at = wake(user);
            }
            self.soonest = self.soonest.min(*at);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn every_user_wakes_when_it_is_due_and_not_before() {
        let periods = [3, 7, 20];
        let mut schedule = WakeSchedule::default();
        periods.iter().for_each(|_| schedule.add());
        let mut woken: [Vec<u64>; 3] = Default::default();
        for ms in 0..100 {
            let soonest = schedule.soonest();
            schedule.run(at(ms), |user| {
                assert!(soonest <= at(ms));
                woken[user].push(ms);
                at(ms + periods[user])
            });
        }
        for (woken, period) in woken.iter().zip(periods) {
            assert_eq!(*woken, (0..100).step_by(period as usize).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_empty_schedule_is_never_due() {
        assert_eq!(WakeSchedule::default().soonest(), NEVER);
    }
}
