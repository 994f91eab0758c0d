//! `sharing.h`, which the kernel runs, and `sounding_cc::sharing`, which simulations run, divide a link alike.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod filter;

use std::sync::LazyLock;

use filter::{Filter, Told};
use proptest::prelude::*;
use sounding_cc::sharing::{Claim, Member, Policy, Pool, WEIGHT, Weight};
use sounding_units::Rate;

/// The greatest rate that reaches the arithmetic: the law refuses a link of more than 100 Gbit/s.
const MOST: u64 = 12_500_000_000;

/// The C arithmetic, compiled once.
static FILTER: LazyLock<Filter> = LazyLock::new(|| Filter::compile("sharing_host"));

const ADD: u64 = 1;
const REMOVE: u64 = 2;
const ASK: u64 = 3;
const WEIGH: u64 = 4;

/// One `struct host_step`.
fn step(told: &mut Told, verb: u64, kind: u32, rate: u64, weight: Weight) {
    told.longs(&[rate]);
    told.ints(&[kind, weight.all, weight.hungry, 0]);
    told.longs(&[verb]);
}

fn tell_claim(told: &mut Told, verb: u64, claim: Claim, weight: Weight) {
    let (kind, rate) = match claim {
        Claim::Idle => (0, 0),
        Claim::Limited(rate) => (1, rate.bytes_per_sec()),
        Claim::Hungry => (2, 0),
    };
    step(told, verb, kind, rate, weight);
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

fn member() -> impl Strategy<Value = Member> {
    let weight = prop_oneof![10 => 1..10 * WEIGHT, 1 => any::<u32>(), 1 => Just(0)];
    (0..4_u32, weight, claim()).prop_map(|(application, weight, claim)| Member {
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

    #[test]
    fn both_give_the_same_parts(
        policy in policy(),
        members in proptest::collection::vec(member(), 1..30),
        passers in proptest::collection::vec((claim(), 1..=1_u32 << 20), 0..10),
        link in rate(),
    ) {
        let mut told = Told::default();
        let mut pool = Pool::default();
        let mut put = |told: &mut Told, verb, claim, weight: Weight| {
            tell_claim(told, verb, claim, weight);
            if verb == ADD { pool.add(claim, weight) } else { pool.remove(claim, weight) }
        };
        for &(claim, weight) in &passers {
            put(&mut told, ADD, claim, weight.into());
        }
        for member in &members {
            put(&mut told, ADD, member.claim, policy.weight(member, &members));
        }
        // Those who pass leave what the members have put in.
        for &(claim, weight) in &passers {
            put(&mut told, REMOVE, claim, weight.into());
        }
        let ours: Vec<u64> = members
            .iter()
            .map(|member| {
                let weight = policy.weight(member, &members);
                step(&mut told, ASK, 0, link, weight);
                pool.part(weight).of(Rate::from_bytes_per_sec(link)).bytes_per_sec()
            })
            .collect();
        prop_assert_eq!(pool, policy.pool(&members));
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
            let alike = |wants: fn(Claim) -> bool| {
                let alike = members.iter().filter(|other| other.application == member.application);
                alike.filter(|other| wants(other.claim)).count() as u64
            };
            let flows = alike(|claim| claim != Claim::Idle);
            // One that is not hungry would be one more.
            let hungry = alike(|claim| claim == Claim::Hungry)
                + u64::from(member.claim != Claim::Hungry);
            for count in [flows, hungry] {
                step(&mut told, WEIGH, policy_number(policy), count, member.weight.into());
            }
            let Weight { all, hungry } = policy.weight(member, &members);
            ours.extend([all, hungry].map(u64::from));
        }
        prop_assert_eq!(FILTER.ask(told), ours);
    }
}

#[test]
fn a_link_of_ten_is_divided_as_it_should_be() {
    // Otherwise both could be wrong alike: two hungry flows, and one that uses 80 kB/s of a million and may have 90.
    let mut told = Told::default();
    for claim in [Claim::Hungry, Claim::Hungry, Claim::Limited(Rate::from_bytes_per_sec(80_000))] {
        tell_claim(&mut told, ADD, claim, WEIGHT.into());
    }
    step(&mut told, ASK, 0, 1_000_000, WEIGHT.into());
    assert_eq!(FILTER.ask(told), [455_000]);
}
