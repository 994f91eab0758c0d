//! The order in which users are served.

use crate::config::Policy;

/// A scheduler's memory of a user on a carrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServiceHistory {
    /// Average served rate, bytes per slot, as of `slot`.
    average: f32,
    slot: u64,
    served: u64,
}

/// A user's priority, from its rate in a sub-band.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Preference {
    base: f32,
    per_rate: f32,
}

impl Preference {
    /// The higher, the sooner; at `rate` bytes a resource block.
    pub(crate) fn at(self, rate: f32) -> f32 {
        self.base + self.per_rate * rate
    }
}

impl Default for ServiceHistory {
    fn default() -> Self {
        // A user that was never served goes first, but not infinitely so.
        Self { average: 1.0, slot: 0, served: 0 }
    }
}

impl ServiceHistory {
    #[inline]
    fn decay(&self, slots: u32, slot: u64) -> f32 {
        let keep = 1.0 - 1.0 / slots.max(1) as f32;
        let idle = slot.saturating_sub(self.slot).min(u64::from(slots) * 20) as i32;
        // An exponent of integers: exact on every machine.
        let mut factor = 1.0_f32;
        let mut base = keep;
        let mut left = idle;
        while left > 0 {
            if left & 1 == 1 {
                factor *= base;
            }
            base *= base;
            left >>= 1;
        }
        self.average * factor
    }

    /// The priority of this user in `slot`.
    #[inline]
    pub(crate) fn preference(&self, policy: Policy, slot: u64, background: bool) -> Preference {
        let fair = |slots| 1.0 / self.decay(slots, slot).max(1e-3);
        match policy {
            Policy::ProportionalFair { slots } => Preference { base: 0.0, per_rate: fair(slots) },
            Policy::RoundRobin => {
                Preference { base: slot.saturating_sub(self.served) as f32, per_rate: 0.0 }
            }
            Policy::MaxRate => Preference { base: 0.0, per_rate: 1.0 },
            Policy::Priority { slots } => {
                // No ratio of rates reaches it: a foreground user always comes first. A factor
                // keeps the order within a class, which a sum of floats would round
                // away.
                const CLASS: f32 = 1e-20;
                let class = if background { CLASS } else { 1.0 };
                Preference { base: 0.0, per_rate: class * fair(slots) }
            }
        }
    }

    /// The user was served `bytes` in `slot`.
    pub(crate) fn serve(&mut self, policy: Policy, slot: u64, bytes: u32) {
        if let Policy::ProportionalFair { slots } | Policy::Priority { slots } = policy {
            self.average = self.decay(slots, slot) + bytes as f32 / slots.max(1) as f32;
        }
        self.slot = slot;
        self.served = slot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_of_equal_rate_take_turns() {
        let fair = Policy::ProportionalFair { slots: 100 };
        for policy in [fair, Policy::RoundRobin, Policy::Priority { slots: 100 }] {
            let mut users = [ServiceHistory::default(); 3];
            let mut served = [0; 3];
            for slot in 1..3_001 {
                let best = (0..3)
                    .max_by(|&a, &b| {
                        let preference =
                            |user: usize| users[user].preference(policy, slot, false).at(50.0);
                        preference(a).total_cmp(&preference(b))
                    })
                    .unwrap();
                users[best].serve(policy, slot, 5_000);
                served[best] += 1;
            }
            assert!(served.iter().all(|&count| (950..=1_050).contains(&count)), "{served:?}");
        }
    }

    #[test]
    fn a_foreground_user_of_any_rate_comes_before_a_background_user_of_any() {
        let policy = Policy::Priority { slots: 100 };
        let mut foreground = ServiceHistory::default();
        for slot in 0..1_000 {
            foreground.serve(policy, slot, 9_000);
        }
        let rarely = foreground.preference(policy, 1_000, false).at(0.5);
        assert!(rarely > ServiceHistory::default().preference(policy, 1_000, true).at(90.0));
    }
}
