//! Checks that `sharing.h` (in the kernel) and `sounding_cc::sharing` (in simulations) divide a
//! link in the same way.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod filter;

use std::sync::LazyLock;

use filter::{Filter, Told};
use proptest::prelude::*;
use sounding_cc::sharing::{Claim, Member, Policy, WEIGHT, Weight};
use sounding_units::Rate;

/// The largest rate in the arithmetic: the law refuses a link of more than 100 Gbit/s.
const MOST: u64 = 12_500_000_000;

/// The C arithmetic, compiled once.
static FILTER: LazyLock<Filter> = LazyLock::new(|| Filter::compile("sharing_host"));

const ADD: u64 = 1;
const REMOVE: u64 = 2;
const ASK: u64 = 3;
const WEIGH: u64 = 4;
const SHARE_BY: u64 = 5;

/// One `struct host_step`.
fn step(told: &mut Told, verb: u64, kind: u32, rate: u64, weight: Weight, user: u32) {
    told.longs(&[rate]);
    told.ints(&[kind, weight.all, weight.hungry, user]);
    told.longs(&[verb]);
}

fn tell_policy(told: &mut Told, policy: Policy) {
    step(told, SHARE_BY, policy_number(policy), 0, WEIGHT.into(), 0);
}

fn tell_claim(told: &mut Told, verb: u64, claim: Claim, weight: Weight, user: u32) {
    let (kind, rate) = match claim {
        Claim::Idle => (0, 0),
        Claim::Limited(rate) => (1, rate.bytes_per_sec()),
        Claim::Hungry => (2, 0),
    };
    step(told, verb, kind, rate, weight, user);
}

fn rate() -> impl Strategy<Value = u64> {
    prop_oneof![20 => 0..10_000_000_u64, 1 => 0..=MOST, 1 => Just(0), 1 => Just(MOST)]
}

fn claim() -> impl Strategy<Value = Claim> {
    prop_oneof![
        Just(Claim::Hungry),
        Just(Claim::Idle),
        rate().prop_map(|rate| Claim::Limited(Rate::from_bytes_per_sec(rate)))
    ]
}

fn policy() -> impl Strategy<Value = Policy> {
    prop_oneof![Just(Policy::Flows), Just(Policy::Weights), Just(Policy::Applications)]
}

/// Number of users in the host program.
const USERS: u32 = 4;

fn member() -> impl Strategy<Value = Member> {
    let weight = prop_oneof![10 => 1..10 * WEIGHT, 1 => any::<u32>(), 1 => Just(0)];
    // Most machines have one user whose flows matter.
    let user = prop_oneof![1 => Just(0), 2 => 0..USERS];
    (user, 0..4_u32, weight, claim()).prop_map(|(user, application, weight, claim)| Member {
        user,
        application,
        weight,
        claim,
    })
}

fn policy_number(policy: Policy) -> u32 {
    match policy {
        Policy::Flows => 0,
        Policy::Weights => 1,
        Policy::Applications => 2,
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// A hungry flow of the kernel requests its part at once, so each case has one.
    #[test]
    fn both_give_the_same_parts(
        policy in policy(),
        members in proptest::collection::vec(member(), 1..30),
        passers in proptest::collection::vec((claim(), 1..=1_u32 << 20, 0..USERS), 0..10),
        asks in any::<prop::sample::Index>(),
        link in rate(),
    ) {
        let mut told = Told::default();
        tell_policy(&mut told, policy);
        for &(claim, weight, user) in &passers {
            tell_claim(&mut told, ADD, claim, weight.into(), user);
        }
        let asks = asks.index(members.len());
        let before = members[asks].claim;
        let mut members = members;
        members[asks].claim = Claim::Hungry;
        let weights: Vec<Weight> = members.iter().map(|one| policy.weight(one, &members)).collect();
        for (at, (member, &weight)) in members.iter().zip(&weights).enumerate() {
            let claim = if at == asks { before } else { member.claim };
            tell_claim(&mut told, ADD, claim, weight, member.user);
        }
        // Claims of non-members do not change the members' contributions.
        for &(claim, weight, user) in &passers {
            tell_claim(&mut told, REMOVE, claim, weight.into(), user);
        }
        let (one, weight) = (members[asks], weights[asks]);
        // The requesting claim, and then the link.
        tell_claim(&mut told, ASK, before, weight, one.user);
        step(&mut told, ASK, 0, link, weight, one.user);
        let part = policy.parts(&members)[asks];
        let ours = [part.of(Rate::from_bytes_per_sec(link)).bytes_per_sec(), part.fraction()];
        prop_assert_eq!(FILTER.ask(told), ours);
    }

    #[test]
    fn both_give_the_same_weights(
        policy in policy(),
        members in proptest::collection::vec(member(), 1..30),
    ) {
        let mut told = Told::default();
        let mut ours = Vec::new();
        for member in &members {
            let whose = |one: &Member| (one.user, one.application);
            let alike = |wants: fn(Claim) -> bool| {
                let alike = members.iter().filter(|other| whose(other) == whose(member));
                alike.filter(|other| wants(other.claim)).count() as u64
            };
            let flows = alike(|claim| claim != Claim::Idle);
            // A flow that is not hungry would count as one more.
            let hungry = alike(|claim| claim == Claim::Hungry)
                + u64::from(member.claim != Claim::Hungry);
            for count in [flows, hungry] {
                step(&mut told, WEIGH, policy_number(policy), count, member.weight.into(), 0);
            }
            let Weight { all, hungry } = policy.weight(member, &members);
            ours.extend([all, hungry].map(u64::from));
        }
        prop_assert_eq!(FILTER.ask(told), ours);
    }
}

/// Parts of a link of 1 MB/s after these claims, for a hungry flow that is not counted yet.
fn newcomers_part(claims: &[(Claim, u32)], user: u32) -> Vec<u64> {
    let mut told = Told::default();
    tell_policy(&mut told, Policy::Flows);
    for &(claim, user) in claims {
        tell_claim(&mut told, ADD, claim, WEIGHT.into(), user);
    }
    tell_claim(&mut told, ASK, Claim::Idle, WEIGHT.into(), user);
    step(&mut told, ASK, 0, 1_000_000, WEIGHT.into(), user);
    FILTER.ask(told)
}

#[test]
fn a_link_is_divided_by_the_rules() {
    // Fixed values, because both could have the same fault: two hungry flows, and one that uses 80
    // kB/s of 1 MB/s and may have 90.
    let limited = Claim::Limited(Rate::from_bytes_per_sec(80_000));
    assert_eq!(newcomers_part(&[(Claim::Hungry, 0), (limited, 0)], 0), [455_000, 341]);
    // Sixty flows of another user count as one user.
    assert_eq!(newcomers_part(&[(Claim::Hungry, 1); 60], 0), [500_000, 512]);
    assert_eq!(newcomers_part(&[(Claim::Hungry, 1); 60], 1)[0], 1_000_000 / 61);
}
