//! How the flows of a device share what its link carries (BISCAY §3.2.4, §A.5.2).
//!
//! A base station serves devices, and the flows of one share its queue: each is told what the device could send, and sends
//! its part. The published policy divides by the number of active flows. Here a flow that has less to send than its part
//! leaves the rest to those that have more, and parts may be weighted, by flow or by application.
//!
//! The law is three sums and a division in whole numbers, so that it fits a program in the kernel: a flow puts what it
//! claims into the [`Pool`] of its link and takes out what it had claimed before, upon its own acknowledgements and when it
//! has nothing left in flight. No flow looks at another, and nothing waits for a timer.

use alloc::vec::Vec;

use sounding_units::Rate;

/// What a flow claims of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// All it can get.
    Hungry,
    /// No more than this: its application, or its peer, has nothing more to send. IP.
    Limited(Rate),
    /// Nothing now.
    Idle,
}

/// What the flows of a link claim together.
///
/// Of weights in 1/256 of an ordinary flow, and rates in bytes a second, 64 bits hold the sums of any host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    /// Weights of the hungry among them.
    hungry: u64,
    /// Weights of all who want anything.
    everybody: u64,
    /// What the limited claim, bytes a second.
    claimed: u64,
}

/// The weight of an ordinary flow.
pub const WEIGHT: u32 = 256;
/// All of a link, in what [`Part::fraction`] counts in.
pub const WHOLE: u64 = 1024;
/// What an application-limited flow is left beyond what it used, so that it can show that it wants more: an eighth.
const HEADROOM_SHIFT: u32 = 3;

/// What a flow weighs, where [`WEIGHT`] is ordinary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight {
    /// Among all who want anything.
    pub all: u32,
    /// Among the hungry: what an application's trickles leave is its bulk flow's.
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
    pub fn part(self, weight: impl Into<Weight>) -> Part {
        Part { pool: self, weight: weight.into() }
    }
}

fn with_headroom(rate: Rate) -> u64 {
    let rate = rate.bytes_per_sec();
    rate.saturating_add(rate >> HEADROOM_SHIFT)
}

impl Part {
    /// How much of `link` it is: its weight among all who want anything, or among the hungry of what the limited leave,
    /// whichever is more.
    ///
    /// A limited flow claims more than its equal part only until it is told so; the first of the two keeps it from taking
    /// the part of others meanwhile.
    pub fn of(self, link: Rate) -> Rate {
        let hunger = u64::from(self.weight.hungry);
        let link = link.bytes_per_sec();
        let equal = divided(link, self.weight.all.into(), self.everybody());
        let hungry = self.pool.hungry.max(hunger).max(1);
        let left = divided(link.saturating_sub(self.pool.claimed), hunger, hungry);
        Rate::from_bytes_per_sec(equal.max(left))
    }

    /// Its weight among all who want anything, in so many of [`WHOLE`]: rounded down, so that it is all only if nobody else
    /// wants anything.
    pub fn fraction(self) -> u64 {
        u64::from(self.weight.all) * WHOLE / self.everybody()
    }

    /// The weights of all who want anything; whoever asks is one of them.
    fn everybody(self) -> u64 {
        self.pool.everybody.max(self.weight.all.into()).max(1)
    }
}

/// `rate × part ÷ whole` without overflow: rates are below 2^34, and weights are cut to 2^24.
fn divided(rate: u64, part: u64, whole: u64) -> u64 {
    rate.saturating_mul(part) / whole
}

/// By what weight flows share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Every flow that wants something alike (BISCAY §A.5.2).
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
    /// Whose it is.
    pub application: u32,
    /// Given weight, in 1/256; [`WEIGHT`] is ordinary.
    pub weight: u32,
    /// What it claims.
    pub claim: Claim,
}

impl Policy {
    /// Puts the claims of all flows of a link into a pool.
    pub fn pool(self, members: &[Member]) -> Pool {
        let mut pool = Pool::default();
        for member in members {
            pool.add(member.claim, self.weight(member, members));
        }
        pool
    }

    /// The parts of all flows of a link.
    pub fn parts(self, members: &[Member]) -> Vec<Part> {
        let pool = self.pool(members);
        members.iter().map(|member| pool.part(self.weight(member, members))).collect()
    }

    /// The weight of a flow among the others of its link; idle ones make nobody's smaller.
    pub fn weight(self, member: &Member, members: &[Member]) -> Weight {
        match self {
            Self::Flows => WEIGHT.into(),
            Self::Weights => member.weight.clamp(1, MOST_WEIGHT).into(),
            Self::Applications => {
                let alike =
                    || members.iter().filter(|other| other.application == member.application);
                let flows = alike().filter(|other| other.claim != Claim::Idle).count();
                let hungry = alike().filter(|other| other.claim == Claim::Hungry).count();
                // One that is not hungry would be one more.
                let hungry = hungry + usize::from(member.claim != Claim::Hungry);
                Weight { all: one_of(flows), hungry: one_of(hungry) }
            }
        }
    }
}

/// The weight of one of so many flows of an application. As many as no application has still weigh something.
fn one_of(flows: usize) -> u32 {
    (WEIGHT * APPLICATION / u32::try_from(flows.max(1)).unwrap_or(u32::MAX)).max(1)
}

/// What is given beyond this is this, so that products with any rate stay below 2^64.
const MOST_WEIGHT: u32 = 1 << 20;
/// An application weighs as much as so many flows, so that a part of it is still a whole number.
const APPLICATION: u32 = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec;

    const LINK: Rate = Rate::from_bytes_per_sec(1_000_000);

    fn member(application: u32, claim: Claim) -> Member {
        Member { application, weight: WEIGHT, claim }
    }

    fn limited(rate: u64) -> Claim {
        Claim::Limited(Rate::from_bytes_per_sec(rate))
    }

    fn shares(policy: Policy, members: &[Member]) -> Vec<u64> {
        policy.parts(members).iter().map(|part| part.of(LINK).bytes_per_sec()).collect()
    }

    #[test]
    fn flows_that_all_want_more_share_alike_and_idle_ones_do_not_count() {
        let hungry = member(1, Claim::Hungry);
        assert_eq!(shares(Policy::Flows, &[hungry; 4]), vec![250_000; 4]);
        let idle = member(1, Claim::Idle);
        assert_eq!(shares(Policy::Flows, &[hungry, idle, hungry])[0], 500_000);
    }

    #[test]
    fn what_an_application_does_not_send_goes_to_those_who_would() {
        let members =
            [member(1, Claim::Hungry), member(2, Claim::Hungry), member(3, limited(80_000))];
        // The limited one keeps an eighth more than it used: 90 kB/s of a million.
        assert_eq!(shares(Policy::Flows, &members)[..2], [455_000, 455_000]);
    }

    #[test]
    fn a_flow_that_has_more_again_may_have_its_equal_part_at_once() {
        let members = [member(1, Claim::Hungry), member(2, limited(10_000))];
        assert!(shares(Policy::Flows, &members)[1] >= 500_000);
    }

    #[test]
    fn a_limited_flow_cannot_claim_the_part_of_others() {
        let members = [member(1, Claim::Hungry), member(2, limited(900_000))];
        assert_eq!(shares(Policy::Flows, &members)[0], 500_000);
    }

    #[test]
    fn weights_divide_in_their_ratio() {
        let heavy = Member { weight: 3 * WEIGHT, ..member(1, Claim::Hungry) };
        let members = [heavy, member(2, Claim::Hungry)];
        assert_eq!(shares(Policy::Weights, &members), [750_000, 250_000]);
    }

    #[test]
    fn an_application_gains_nothing_by_opening_more_flows() {
        let mut members = vec![member(1, Claim::Hungry); 4];
        members.push(member(2, Claim::Hungry));
        assert_eq!(
            shares(Policy::Applications, &members),
            [125_000, 125_000, 125_000, 125_000, 500_000]
        );
    }

    #[test]
    fn what_an_applications_trickles_leave_is_its_bulk_flows() {
        let mut members = vec![member(1, limited(2_000)); 9];
        members.push(member(1, Claim::Hungry));
        members.push(member(2, Claim::Hungry));
        let shares = shares(Policy::Applications, &members);
        // 9 × 2250 are claimed of a million; the other application has its equal part, which is a little more.
        assert_eq!(shares[9..], [489_875, 500_061]);
    }

    fn claims() -> impl Strategy<Value = Claim> {
        prop_oneof![Just(Claim::Hungry), Just(Claim::Idle), (0..2_000_000_u64).prop_map(limited),]
    }

    proptest! {
        /// Nobody who wants more gets less than an equal part, and none of the link is left over while somebody does.
        #[test]
        fn the_hungry_share_all_that_the_others_leave(claims in proptest::collection::vec(claims(), 1..20)) {
            let members: Vec<Member> = claims.iter().map(|&claim| member(1, claim)).collect();
            let shares = shares(Policy::Flows, &members);
            let active = claims.iter().filter(|&&claim| claim != Claim::Idle).count() as u64;
            let hungry: Vec<u64> = claims
                .iter()
                .zip(&shares)
                .filter(|(claim, _)| **claim == Claim::Hungry)
                .map(|(_, &share)| share)
                .collect();
            for &share in &hungry {
                prop_assert!(share >= LINK.bytes_per_sec() / active);
            }
            let claimed: u64 = claims
                .iter()
                .map(|claim| match claim {
                    Claim::Limited(rate) => with_headroom(*rate),
                    _ => 0,
                })
                .sum();
            if !hungry.is_empty() {
                let sum: u64 = hungry.iter().sum();
                prop_assert!(sum + claimed + hungry.len() as u64 >= LINK.bytes_per_sec());
            }
        }

        /// Flows come and go in any order; the sums do not drift.
        #[test]
        fn what_is_taken_out_leaves_what_was_there(
            before in proptest::collection::vec((claims(), 1..10_000_u32), 0..10),
            after in proptest::collection::vec((claims(), 1..10_000_u32), 0..10),
        ) {
            let mut pool = Pool::default();
            before.iter().for_each(|&(claim, weight)| pool.add(claim, weight));
            let kept = pool;
            after.iter().for_each(|&(claim, weight)| pool.add(claim, weight));
            after.iter().for_each(|&(claim, weight)| pool.remove(claim, weight));
            prop_assert_eq!(pool, kept);
        }
    }
}
