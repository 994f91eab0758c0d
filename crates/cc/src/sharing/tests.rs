use super::*;
use proptest::prelude::*;
use std::vec;

const LINK: Rate = Rate::from_bytes_per_sec(1_000_000);

fn member(application: u32, claim: Claim) -> Member {
    Member { user: 0, application, weight: WEIGHT, claim }
}

fn of_user(user: u32, claim: Claim) -> Member {
    Member { user, ..member(1, claim) }
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
    let members = [member(1, Claim::Hungry), member(2, Claim::Hungry), member(3, limited(80_000))];
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
    // 9 × 2250 are claimed of a million; the other application has its equal part, which is a
    // little more.
    assert_eq!(shares[9..], [489_875, 500_061]);
}

#[test]
fn a_user_gains_nothing_by_opening_more_flows() {
    for claim in [Claim::Hungry, limited(1_000)] {
        let mut members = vec![of_user(2, claim); 60];
        members.push(of_user(1, Claim::Hungry));
        for policy in [Policy::Flows, Policy::Weights, Policy::Applications] {
            let shares = shares(policy, &members);
            assert!(shares[60] >= 500_000, "{policy:?}: {}", shares[60]);
        }
    }
}

#[test]
fn the_flows_of_a_user_share_its_part_alike() {
    let hungry = |user| of_user(user, Claim::Hungry);
    let members = [hungry(1), hungry(2), hungry(2), hungry(2), hungry(3)];
    assert_eq!(shares(Policy::Flows, &members)[..2], [333_333, 111_111]);
}

#[test]
fn what_a_user_does_not_send_goes_to_the_others() {
    let members =
        [of_user(1, limited(80_000)), of_user(2, Claim::Hungry), of_user(3, Claim::Hungry)];
    assert_eq!(shares(Policy::Flows, &members)[1..], [455_000, 455_000]);
    // And one that has more again may have its part at once.
    assert!(shares(Policy::Flows, &members)[0] >= 333_333);
}

#[test]
fn flows_with_weights_give_their_user_their_mean() {
    let heavy = |user| Member { weight: 3 * WEIGHT, ..of_user(user, Claim::Hungry) };
    let members = [heavy(1), heavy(1), of_user(2, Claim::Hungry)];
    assert_eq!(shares(Policy::Weights, &members), [375_000, 375_000, 250_000]);
}

#[test]
fn a_flow_of_a_user_that_had_nothing_to_send_sees_what_its_user_may_have() {
    let members = [of_user(1, Claim::Idle), of_user(2, Claim::Hungry), of_user(2, Claim::Hungry)];
    let shares = shares(Policy::Flows, &members);
    assert_eq!(shares[1..], [500_000, 500_000]);
    assert!(shares[0] >= 500_000, "{}", shares[0]);
}

fn claims() -> impl Strategy<Value = Claim> {
    prop_oneof![Just(Claim::Hungry), Just(Claim::Idle), (0..2_000_000_u64).prop_map(limited),]
}

proptest! {
    /// No hungry flow gets less than an equal part, and while there is one, none of the link is
    /// left over.
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

    /// Whatever the flows of other users claim, a hungry user has its equal part, divided equally
    /// among its flows.
    #[test]
    fn no_user_has_less_than_its_part_for_what_others_open(
        own in 1..5_usize,
        others in proptest::collection::vec((2..6_u32, claims()), 0..60),
    ) {
        let mut members = vec![of_user(1, Claim::Hungry); own];
        members.extend(others.iter().map(|&(user, claim)| of_user(user, claim)));
        let mut users: Vec<u32> = others
            .iter()
            .filter(|(_, claim)| *claim != Claim::Idle)
            .map(|&(user, _)| user)
            .collect();
        users.sort_unstable();
        users.dedup();
        let part = LINK.bytes_per_sec() / (users.len() as u64 + 1);
        for share in &shares(Policy::Flows, &members)[..own] {
            prop_assert!(*share >= part / own as u64 - 1, "{share} of {part}");
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
