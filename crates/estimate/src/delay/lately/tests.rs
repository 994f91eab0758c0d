use super::*;

fn at(us: u64) -> HostInstant {
    HostInstant::from_nanos(us * 1_000)
}

fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}

fn event(kind: DelayKind, direction: Direction, [from, to, amount]: [u64; 3]) -> RanDelay {
    RanDelay::new(direction, kind, at(from), at(to)).with_amount(us(amount))
}

fn harq(direction: Direction, from: u64, lasts: u64) -> RanDelay {
    event(DelayKind::Harq, direction, [from, from + lasts, lasts])
}

fn news(
    heard_at: HostInstant,
    up_until: Option<HostInstant>,
    down_until: Option<HostInstant>,
) -> DelayUpdate {
    DelayUpdate::new(heard_at, Vec::new()).with_up_until(up_until).with_down_until(down_until)
}

fn said(lately: &mut Lately, until: u64) -> RadioDelay {
    let until = Some(at(until));
    lately.handle_update(&news(until.map_or(at(0), |until| until + us(20_000)), until, until))
}

#[test]
fn a_retransmission_holds_what_comes_later_for_less() {
    let mut lately = Lately::default();
    // One of 8 ms every 40 ms: half of 8 ms for a fifth of the time.
    for from in (0..1_000).map(|step| step * 40_000) {
        lately.handle_event(harq(Direction::Downlink, from, 8_000));
    }
    assert_eq!(said(&mut lately, 39_990_000).retransmitted, Some(us(800)));
    // Delays of acknowledgements count too.
    for from in (0..1_000).map(|step| step * 40_000) {
        lately.handle_event(harq(Direction::Uplink, from + 11_000, 4_000));
    }
    assert_eq!(said(&mut lately, 39_990_000).retransmitted, Some(us(1_000)));
}

#[test]
fn blocks_that_are_held_together_go_on_in_order() {
    let mut lately = Lately::default();
    lately.handle_event(harq(Direction::Downlink, 1_004_000, 8_000));
    lately.handle_event(harq(Direction::Downlink, 1_000_000, 8_000));
    // 8 to 4 ms for 4 ms, and then 8 ms to none for 8 ms, of 200 ms.
    let sum = 6_000 * 4 + 4_000 * 8;
    assert_eq!(said(&mut lately, 1_100_000).retransmitted, Some(us(sum / 200)));
    // The second was sent once more.
    lately.handle_event(harq(Direction::Downlink, 1_004_000, 16_000));
    let sum = 6_000 * 4 + 8_000 * 16;
    assert_eq!(said(&mut lately, 1_100_000).retransmitted, Some(us(sum / 200)));
    assert_eq!(said(&mut lately, 1_300_000).retransmitted, Some(Duration::ZERO));
}

#[test]
fn a_repeat_of_rlc_counts_like_one_of_harq() {
    let mut lately = Lately::default();
    lately.handle_event(event(DelayKind::Rlc, Direction::Downlink, [1_000_000, 1_040_000, 40_000]));
    lately.handle_event(event(DelayKind::Rlc, Direction::Uplink, [1_000_000, 1_020_000, 20_000]));
    // 40 to 0 ms for 40 ms, and 20 to 0 ms for 20 ms, of 200 ms.
    assert_eq!(said(&mut lately, 1_100_000).retransmitted, Some(us(4_000 + 1_000)));
}

#[test]
fn what_is_not_known_is_not_said() {
    let mut lately = Lately::default();
    lately.handle_event(harq(Direction::Downlink, 1_000_000, 8_000));
    let mut delay = |up, down| lately.handle_update(&news(at(1_500_000), up, down));
    assert_eq!(delay(None, None), RadioDelay::default());
    assert_eq!(delay(Some(at(1_090_000)), Some(at(1_090_000))), RadioDelay::default());
    let down_alone = delay(None, Some(at(1_110_000)));
    assert_eq!(down_alone, RadioDelay { retransmitted: Some(us(160)), wait_longer: None });
    lately.forget();
    assert_eq!(said(&mut lately, 1_100_000).retransmitted, Some(Duration::ZERO));
}

#[test]
fn a_usual_wait_is_compared_with_the_shortest() {
    let mut lately = Lately::default();
    let mut from = 1_000_000;
    let mut wait = |lately: &mut Lately, lasts: u64| {
        lately.handle_event(event(
            DelayKind::Scheduling,
            Direction::Uplink,
            [from, from + lasts, lasts],
        ));
        from += lasts;
        from
    };
    // Half of what they last.
    let mut until = 0;
    for _ in 0..20 {
        until = wait(&mut lately, 2_000);
    }
    assert_eq!(said(&mut lately, until).wait_longer, None);
    for _ in 0..200 {
        until = wait(&mut lately, 10_000);
    }
    assert_eq!(said(&mut lately, until).wait_longer, Some(us(4_000)));
    // The shortest is more than ten seconds old.
    for _ in 0..1_100 {
        until = wait(&mut lately, 10_000);
    }
    assert_eq!(said(&mut lately, until).wait_longer, Some(Duration::ZERO));
}

#[test]
fn nonsense_neither_panics_nor_grows() {
    let mut lately = Lately::default();
    let mut random = 1u64;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        random >> 20
    };
    for _ in 0..5_000 {
        let kinds = [DelayKind::Harq, DelayKind::Scheduling, DelayKind::Rlc];
        let kind = kinds[(next() % 3) as usize];
        let direction =
            if next().is_multiple_of(2) { Direction::Uplink } else { Direction::Downlink };
        let mut random = event(kind, direction, [0; 3]);
        random.from = HostInstant::from_nanos(next() << (next() % 20));
        random.to = HostInstant::from_nanos(next() << (next() % 20));
        random.amount = Duration::from_nanos(next() << (next() % 20));
        lately.handle_event(random);
        let until = HostInstant::from_nanos(next() << (next() % 20));
        lately.handle_update(&news(until, Some(until), Some(until)));
    }
    let kept = [&lately.down, &lately.up, &lately.waits].map(|events| events.iter().count());
    assert!(kept.iter().all(|kept| *kept <= Events::<()>::MOST), "{kept:?}");
    assert!(lately.means.len() <= MEANS);
}

#[test]
fn a_mean_of_waits_is_over_whole_intervals_of_reports() {
    // Waits of 20 ms, and two in each 400 ms of 2 ms.
    let longer = |interval: Option<u64>| {
        let mut lately = Lately::default();
        let interval = interval.map(|ms| us(ms * 1_000));
        lately.handle_update(&news(at(0), None, None).with_report_interval(interval));
        for from in (0..500).map(|step| step * 20_000) {
            let amount = if from % 400_000 >= 360_000 { 2_000 } else { 20_000 };
            let wait = [from, from + 20_000, amount];
            lately.handle_event(event(DelayKind::Scheduling, Direction::Uplink, wait));
        }
        let until = Some(at(10_000_000));
        let news = news(at(10_020_000), until, until).with_report_interval(interval);
        lately.handle_update(&news).wait_longer.unwrap()
    };
    // The shortest mean has nothing but short waits, or another one beside them.
    assert_eq!([longer(None), longer(Some(5))], [us(9_900); 2]);
    assert!(longer(Some(20)) < us(8_000), "{:?}", longer(Some(20)));
}
