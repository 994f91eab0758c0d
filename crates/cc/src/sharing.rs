//! How the flows of a device share its link (BISCAY §3.2.4, §A.5.2).
//!
//! A base station serves devices, and the flows of one device share its queue. Each flow receives
//! what the device could send, and sends its part. The published policy divides by the number of
//! active flows. Here a flow with less to send than its part leaves the rest to those that have
//! more, and parts may be weighted, by flow or by application.
//!
//! If several users of a machine send, the link is divided among the users first, and each user's
//! flows share that part. A user that opens more flows takes nothing from the others.
//!
//! The rule needs three sums and a division of integers, so it fits a program in the kernel. A flow
//! adds its new claim to the [`Pool`] of its link and removes its old one, at its acknowledgements
//! and when it has no packets left in flight. A flow reads no data of another flow, and there is no
//! timer.

use alloc::vec::Vec;

use sounding_units::Rate;

/// What a flow claims of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// All it can get.
    Hungry,
    /// At most this rate: its application has no more data, or its peer accepts no more. IP.
    Limited(Rate),
    /// No claim now.
    Idle,
}

/// The claims of all flows of a link together.
///
/// With weights in 1/256 of an ordinary flow and rates in bytes per second, 64 bits hold the sums
/// of any host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    /// Weights of the hungry among them.
    hungry: u64,
    /// Weights of all members with a claim.
    everybody: u64,
    /// The sum of limited claims, bytes per second.
    claimed: u64,
}

/// The weight of an ordinary flow, which is the unit of the others.
pub const WEIGHT: u32 = 256;
/// A whole link, in the unit of [`Part::fraction`].
pub const WHOLE: u64 = 1024;
/// An application-limited flow keeps an eighth beyond its use, so that it can show that it needs
/// more.
const HEADROOM_SHIFT: u32 = 3;

/// The weight of a flow; [`WEIGHT`] is the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight {
    /// Weight among all members with a claim, a count of 1/256 of an ordinary flow's.
    pub all: u32,
    /// Weight among the hungry flows, a count of 1/256 too. Capacity that an application's small
    /// flows do not use goes to its bulk flow.
    pub hungry: u32,
}

impl From<u32> for Weight {
    fn from(weight: u32) -> Self {
        Self { all: weight, hungry: weight }
    }
}

/// A flow's part of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pool: Pool,
    weight: Weight,
}

impl Default for Part {
    /// The only flow.
    fn default() -> Self {
        let weight = u64::from(WEIGHT);
        let pool = Pool { hungry: weight, everybody: weight, ..Pool::default() };
        Self { pool, weight: WEIGHT.into() }
    }
}

impl Pool {
    /// Puts a claim in.
    #[inline]
    pub fn add(&mut self, claim: Claim, weight: impl Into<Weight>) {
        let Weight { all, hungry } = weight.into();
        match claim {
            Claim::Hungry => self.hungry = self.hungry.saturating_add(hungry.into()),
            Claim::Limited(rate) => {
                self.claimed = self.claimed.saturating_add(with_headroom(rate));
            }
            Claim::Idle => return,
        }
        self.everybody = self.everybody.saturating_add(all.into());
    }

    /// Takes the same claim out.
    #[inline]
    pub fn remove(&mut self, claim: Claim, weight: impl Into<Weight>) {
        let Weight { all, hungry } = weight.into();
        match claim {
            Claim::Hungry => self.hungry = self.hungry.saturating_sub(hungry.into()),
            Claim::Limited(rate) => {
                self.claimed = self.claimed.saturating_sub(with_headroom(rate));
            }
            Claim::Idle => return,
        }
        self.everybody = self.everybody.saturating_sub(all.into());
    }

    /// The part of a flow of this weight, whose claim is in.
    #[inline]
    pub fn part(self, weight: impl Into<Weight>) -> Part {
        Part { pool: self, weight: weight.into() }
    }
}

fn with_headroom(rate: Rate) -> u64 {
    let rate = rate.bytes_per_sec();
    rate.saturating_add(rate >> HEADROOM_SHIFT)
}

impl Part {
    /// The part of `link`: by weight among all members with a claim, or by weight among the hungry
    /// of what the limited leave, whichever is larger.
    ///
    /// A limited flow claims more than its equal part only until it gets a smaller one; until then
    /// the first of the two keeps it from taking the others' part.
    #[inline]
    pub fn of(self, link: Rate) -> Rate {
        let hunger = u64::from(self.weight.hungry);
        let link = link.bytes_per_sec();
        let equal = divided(link, self.weight.all.into(), self.everybody());
        let hungry = self.pool.hungry.max(hunger).max(1);
        let left = divided(link.saturating_sub(self.pool.claimed), hunger, hungry);
        Rate::from_bytes_per_sec(equal.max(left))
    }

    /// Its weight among all members with a claim, as parts of [`WHOLE`]. Rounded down, so that it
    /// is all only if there is no other claim.
    #[inline]
    pub fn fraction(self) -> u64 {
        u64::from(self.weight.all) * WHOLE / self.everybody()
    }

    /// The weights of all members with a claim; the caller is one of them.
    fn everybody(self) -> u64 {
        self.pool.everybody.max(self.weight.all.into()).max(1)
    }
}

/// `rate × part ÷ whole` without overflow: rates are below 2^34, and weights are cut to 2^24.
fn divided(rate: u64, part: u64, whole: u64) -> u64 {
    rate.saturating_mul(part) / whole
}

/// By what weight the flows of a user share. Users share alike, or by the mean weight of their
/// flows where flows were given weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Every flow with a claim gets the same (BISCAY §A.5.2).
    #[default]
    Flows,
    /// By weights that the flows were given.
    Weights,
    /// Every application alike, however many flows it opens, and its flows alike.
    Applications,
}

/// A flow as a policy sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The user that opened it.
    pub user: u32,
    /// The number of its application, among those of the user.
    pub application: u32,
    /// Given weight, a count of 1/256; [`WEIGHT`] is ordinary.
    pub weight: u32,
    /// Its claim.
    pub claim: Claim,
}

/// The claims of one user's flows.
#[derive(Clone, Copy, Debug, Default)]
struct User {
    user: u32,
    flows: u64,
    pool: Pool,
}

impl User {
    /// Its weight among the users of its link; zero while its flows have no claim.
    fn weight(self, policy: Policy) -> u32 {
        if self.flows == 0 {
            return 0;
        }
        match policy {
            Policy::Weights => {
                let mean = self.pool.everybody / self.flows;
                u32::try_from(mean).unwrap_or(MAX_WEIGHT).clamp(1, MAX_WEIGHT)
            }
            Policy::Flows | Policy::Applications => WEIGHT,
        }
    }

    fn add(&mut self, claim: Claim, weight: Weight) {
        self.flows += u64::from(claim != Claim::Idle);
        self.pool.add(claim, weight);
    }

    /// The pool that a flow of this user sees of `link`, whose weights are users'.
    fn sees(mut self, link: Pool, weight: Weight, policy: Policy) -> Pool {
        if self.flows == 0 {
            (self.flows, self.pool.everybody) = (1, weight.all.into());
        }
        if self.pool.hungry == 0 {
            self.pool.hungry = weight.hungry.into();
        }
        let own = self.weight(policy);
        Pool {
            hungry: among(self.pool.hungry, link.hungry, own),
            everybody: among(self.pool.everybody, link.everybody, own),
            claimed: link.claimed,
        }
    }
}

/// The sum of the weights of a user's flows, times the ratio of `whole` to the user's own weight:
/// the sum over the whole link on the scale of this user's flows. Alone, a user's flows keep their
/// weights.
fn among(flows: u64, whole: u64, own: u32) -> u64 {
    let (mut whole, mut own) = (whole.min(MAX_WHOLE), u64::from(own));
    if whole > EXACT_WHOLE {
        (whole, own) = (whole >> COARSE_SHIFT, own >> COARSE_SHIFT);
    }
    flows.min(MAX_FLOWS) * whole / own.max(1)
}

impl Policy {
    /// The parts of all flows of a link.
    pub fn parts(self, members: &[Member]) -> Vec<Part> {
        let weights: Vec<Weight> = members.iter().map(|one| self.weight(one, members)).collect();
        let mut users: Vec<User> = Vec::new();
        for (member, &weight) in members.iter().zip(&weights) {
            match users.iter_mut().find(|user| user.user == member.user) {
                Some(user) => user.add(member.claim, weight),
                None => {
                    let mut user = User { user: member.user, ..User::default() };
                    user.add(member.claim, weight);
                    users.push(user);
                }
            }
        }
        let mut link = Pool::default();
        for user in &users {
            let weight = user.weight(self);
            link.everybody += u64::from(weight);
            link.hungry += if user.pool.hungry > 0 { weight.into() } else { 0 };
            link.claimed = link.claimed.saturating_add(user.pool.claimed);
        }
        let of = |member: &Member| users.iter().find(|user| user.user == member.user).copied();
        let part = |(member, &weight)| {
            let user = of(member).unwrap_or_default();
            user.sees(link, weight, self).part(weight)
        };
        members.iter().zip(&weights).map(part).collect()
    }

    /// The weight of a flow among the others of its user. Idle flows do not reduce it.
    pub fn weight(self, member: &Member, members: &[Member]) -> Weight {
        match self {
            Self::Flows => WEIGHT.into(),
            Self::Weights => member.weight.clamp(1, MAX_WEIGHT).into(),
            Self::Applications => {
                let whose = |one: &Member| (one.user, one.application);
                let alike = || members.iter().filter(|other| whose(other) == whose(member));
                let flows = alike().filter(|other| other.claim != Claim::Idle).count();
                let hungry = alike().filter(|other| other.claim == Claim::Hungry).count();
                // One that is not hungry would be one more.
                let hungry = hungry + usize::from(member.claim != Claim::Hungry);
                Weight { all: one_of(flows), hungry: one_of(hungry) }
            }
        }
    }
}

/// The weight of one of an application's flows. It is never zero, however many flows there are.
fn one_of(flows: usize) -> u32 {
    (WEIGHT * APPLICATION / u32::try_from(flows.max(1)).unwrap_or(u32::MAX)).max(1)
}

/// Larger configured weights are cut to this, so that products with any rate stay below 2^64.
const MAX_WEIGHT: u32 = 1 << 20;
/// An application weighs as much as this many flows, so that a part of it is still a whole number.
const APPLICATION: u32 = 64;
/// Limit on the sum of a user's weights: 65536 flows of the largest weight.
const MAX_FLOWS: u64 = 1 << 36;
/// The users' total weight is exact up to this, so that its product with the above stays below
/// 2^64: a thousand users of 512 times the ordinary weight. Beyond, its last bits are dropped.
const EXACT_WHOLE: u64 = 1 << 27;
const COARSE_SHIFT: u32 = 13;
const MAX_WHOLE: u64 = 1 << 40;

#[cfg(test)]
mod tests;
