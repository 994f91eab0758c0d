use proptest::prelude::*;

use super::*;

/// Something that a stack says, in whatever order.
#[derive(Clone, Copy, Debug)]
enum Said {
    Pass(u16),
    Back(u8),
    Sent { packets: u8, number: u8 },
    Acked { ago: u16, size: u16 },
    End { in_flight: u32, app_limited: bool },
    Lost { ago: u16, size: u16 },
    LostNumber(u8),
    Blocked,
    Marked,
    Persistent,
    Spurious,
    Mtu(u16),
    Set { rate: u32, age: u16, served: bool },
    Withdraw,
    Renewed,
}

fn said() -> impl Strategy<Value = Said> {
    prop_oneof![
        any::<u16>().prop_map(Said::Pass),
        any::<u8>().prop_map(Said::Back),
        (any::<u8>(), any::<u8>()).prop_map(|(packets, number)| Said::Sent { packets, number }),
        (any::<u16>(), any::<u16>()).prop_map(|(ago, size)| Said::Acked { ago, size }),
        (any::<u32>(), any::<bool>())
            .prop_map(|(in_flight, app_limited)| Said::End { in_flight, app_limited }),
        (any::<u16>(), any::<u16>()).prop_map(|(ago, size)| Said::Lost { ago, size }),
        any::<u8>().prop_map(Said::LostNumber),
        Just(Said::Blocked),
        Just(Said::Marked),
        Just(Said::Persistent),
        Just(Said::Spurious),
        any::<u16>().prop_map(Said::Mtu),
        (any::<u32>(), any::<u16>(), any::<bool>()).prop_map(|(rate, age, served)| Said::Set {
            rate,
            age,
            served
        }),
        Just(Said::Withdraw),
        Just(Said::Renewed),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_a_stack_says_no_controller_stops_or_panics(
        all in proptest::collection::vec(said(), 1..200),
    ) {
        for name in sounding_baselines::names() {
            let handle = EstimateHandle::new();
            let mut driver = driver(name, &handle);
            let (mut now, mut mtu) = (at(0), MTU);
            for &said in &all {
                let before = |tenths: u16| {
                    now.saturating_before(Duration::from_micros(u64::from(tenths) * 100))
                };
                match said {
                    Said::Pass(tenths) => now = now + Duration::from_micros(u64::from(tenths) * 100),
                    Said::Back(ms) => now = now.saturating_before(Duration::from_millis(ms.into())),
                    Said::Sent { packets, number } => {
                        driver.handle_sent(now, Bytes::new(mtu * u64::from(packets)), number.into());
                    }
                    Said::Acked { ago, size } => {
                        driver.handle_acked(now, before(ago), Bytes::new(size.into()));
                    }
                    Said::End { in_flight, app_limited } => {
                        driver.handle_acks_end(now, Bytes::new(in_flight.into()), app_limited);
                    }
                    Said::Lost { ago, size } => {
                        driver.handle_lost_together(now, before(ago), Bytes::new(size.into()));
                    }
                    Said::LostNumber(number) => {
                        driver.handle_lost(now, number.into(), Bytes::new(mtu));
                    }
                    Said::Blocked => driver.handle_window_blocked(),
                    Said::Marked => driver.handle_marked(),
                    Said::Persistent => driver.handle_persistent_congestion(now),
                    Said::Spurious => driver.handle_spurious(),
                    Said::Mtu(size) => {
                        mtu = u64::from(size).max(1);
                        driver.handle_mtu(size);
                    }
                    Said::Set { rate, age, served } => {
                        let bound = if served { Bound::Floor } else { Bound::Capacity };
                        let age = Duration::from_millis(age.into());
                        let rate = Rate::from_bytes_per_sec(rate.into());
                        handle.set(estimate(rate).with_bound(bound).with_age(age), now);
                    }
                    Said::Withdraw => handle.withdraw(),
                    Said::Renewed => driver = driver.renewed(),
                }
                prop_assert!(driver.window() >= 2 * mtu, "{}: {}", name, driver.window());
                if let Some(rate) = driver.pacing_rate() {
                    prop_assert!((2 * mtu..=MAX_RATE).contains(&rate), "{}: {}", name, rate);
                }
            }
        }
    }
}
