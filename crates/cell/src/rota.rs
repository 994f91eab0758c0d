//! When who has to be looked at: most users of a cell have nothing to do in most slots.

use alloc::vec::Vec;

use sounding_units::HostInstant;

/// When each of several has to be looked at next.
#[derive(Debug)]
pub(crate) struct Rota {
    at: Vec<HostInstant>,
    soonest: HostInstant,
}

/// Later than anything.
pub(crate) const NEVER: HostInstant = HostInstant::from_nanos(u64::MAX);

impl Default for Rota {
    fn default() -> Self {
        Self { at: Vec::new(), soonest: NEVER }
    }
}

impl Rota {
    /// One more, to be looked at as soon as possible.
    pub(crate) fn add(&mut self) {
        self.soonest = HostInstant::default();
        self.at.push(self.soonest);
    }

    /// When the first of them has to be looked at.
    pub(crate) fn soonest(&self) -> HostInstant {
        self.soonest
    }

    /// Looks at everyone who is due by `now`; `look` says when next.
    pub(crate) fn turn(&mut self, now: HostInstant, mut look: impl FnMut(usize) -> HostInstant) {
        if self.soonest > now {
            return;
        }
        self.soonest = NEVER;
        for (who, at) in self.at.iter_mut().enumerate() {
            if *at <= now {
                *at = look(who);
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
    fn everyone_is_looked_at_when_due_and_not_before() {
        let periods = [3, 7, 20];
        let mut rota = Rota::default();
        periods.iter().for_each(|_| rota.add());
        let mut looked: [Vec<u64>; 3] = Default::default();
        for ms in 0..100 {
            let soonest = rota.soonest();
            rota.turn(at(ms), |who| {
                assert!(soonest <= at(ms));
                looked[who].push(ms);
                at(ms + periods[who])
            });
        }
        for (looked, period) in looked.iter().zip(periods) {
            assert_eq!(*looked, (0..100).step_by(period as usize).collect::<Vec<_>>());
        }
    }

    #[test]
    fn nobody_is_never_due() {
        assert_eq!(Rota::default().soonest(), NEVER);
    }
}
