use proptest::prelude::*;

use super::*;

const PASSWD: &[u8] =
    b"root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/:\nbob:x:1001:1001::/:\nodd:x:100007:1::/:\n";

fn parse(subuid: &str) -> (Subordinates, Vec<BadLine>) {
    Subordinates::parse(subuid.as_bytes(), PASSWD, |name| (name == "remote").then_some(5_000))
}

/// What the kernel finds.
fn by_prefixes(ids: &Subordinates, id: u32) -> u32 {
    let prefixes = ids.prefixes();
    let of = |len: u32| {
        let first = if len == 0 { 0 } else { id >> (32 - len) << (32 - len) };
        prefixes.get(&Prefix { len, first })
    };
    (0..=32).rev().find_map(of).copied().unwrap_or(id)
}

#[test]
fn ids_belong_to_the_user_of_their_line_by_name_or_number() {
    let (ids, bad) = parse("# comment\nann:100000:65536\n\n1001:165536:10\nremote:300000:1\n");
    assert_eq!((ids.ranges(), bad), (3, vec![]));
    for (id, user) in [
        (99_999, 99_999),
        (100_000, 1000),
        (165_535, 1000),
        (165_536, 1001),
        (165_545, 1001),
        (165_546, 165_546),
        (300_000, 5_000),
        // An account of its own within a range.
        (100_007, 100_007),
        (1000, 1000),
        (0, 0),
        (u32::MAX, u32::MAX),
    ] {
        assert_eq!((ids.user(id), by_prefixes(&ids, id)), (user, user), "{id}");
    }
}

#[test]
fn ids_of_ids_belong_to_the_first_user_and_a_circle_ends() {
    let (ids, _) = parse("ann:100000:10\n100001:200000:10\n");
    assert_eq!((ids.user(200_005), by_prefixes(&ids, 200_005)), (1000, 1000));
    let (ids, _) = parse("300000:400000:10\n400000:300000:10\n");
    assert!(ids.user(300_000) >= 300_000);
    // A range that the user itself is in.
    let (ids, _) = parse("5:0:100\n");
    assert_eq!((ids.user(50), by_prefixes(&ids, 50)), (5, 5));
}

#[test]
fn a_line_that_is_none_is_said_with_its_number_and_the_others_count() {
    let text =
        "ann:100000\nno-user:1:1\nann:x:1\nann:4294967295:1\nann:1:4294967296\nann:5:0\nbob:7000:2";
    let (ids, bad) = parse(text);
    assert_eq!(ids.ranges(), 1);
    assert_eq!(bad.iter().map(|bad| bad.line).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(bad[1].why, "this machine has no user \"no-user\"");
    let (ids, bad) = Subordinates::parse(b"\xFF:1:1\nann:100000:1\n", PASSWD, |_| None);
    assert_eq!((ids.ranges(), bad.len()), (1, 1));
}

#[test]
fn the_map_has_room_for_all_that_counts() {
    // The most prefixes of a range of its length, again and again.
    let lines: String =
        (0..1_200_u32).map(|at| format!("ann:{}:65534\n", 1_000_001 + at * 65_537)).collect();
    let passwd: String =
        (0..3_000).map(|at| format!("u{at}:x:{}:1::/:\n", 1_000_001 + at)).collect();
    let (ids, bad) = Subordinates::parse(lines.as_bytes(), passwd.as_bytes(), |_| Some(1));
    assert_eq!((ids.ranges(), bad.len()), (MAX_RANGES, 200));
    let most = ids.prefixes().len();
    assert!((10_000..=32_768).contains(&most), "{most}");
}

proptest! {
    #[test]
    fn the_prefixes_say_what_the_ranges_say(
        first in 0..u32::MAX - 1,
        count in prop_oneof![1..100_000_u32, 1..=u32::MAX],
        inside in any::<prop::sample::Index>(),
    ) {
        let count = count.min(u32::MAX - first);
        let (ids, bad) = parse(&format!("7:{first}:{count}\n"));
        prop_assert!(bad.is_empty());
        let within = first + inside.index(count as usize) as u32;
        for id in [first.wrapping_sub(1), first, within, first + (count - 1), first.wrapping_add(count)] {
            prop_assert_eq!(by_prefixes(&ids, id), ids.user(id));
        }
    }
}
