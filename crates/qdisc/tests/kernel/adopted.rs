use sounding_qdisc::{Error, Kind, Restored, Shaper};
use sounding_testdata::{Need, skip};
use sounding_units::{Bytes, Rate};

use crate::{Cable, drained, mbit, send};

/// HTB as a user would set it: a class within a class, a burst of their own, a queue behind it.
const HTB: [&str; 4] = [
    "tc qdisc add dev v0 root handle 1: htb default 10 r2q 20",
    "tc class add dev v0 parent 1: classid 1:1 htb rate 10mbit burst 15k",
    "tc class add dev v0 parent 1:1 classid 1:10 htb rate 10mbit ceil 10mbit burst 20k prio 3",
    "tc qdisc add dev v0 parent 1:10 handle 110: pfifo limit 1000",
];

fn with_htb() -> Option<Cable> {
    let cable = Cable::new()?;
    HTB.iter().for_each(|line| drop(cable.run(line)));
    Some(cable)
}

#[test]
fn an_htb_that_stood_there_gets_another_rate_and_its_own_back() {
    let Some(cable) = with_htb() else { return };
    let before = cable.text();
    let text = cable.enter(|tc| {
        let mut shaper = Shaper::adopt(tc, "v0").unwrap();
        assert_eq!(shaper.kind(), Kind::Htb);
        assert_eq!(shaper.to_string(), "htb 1: with pfifo");
        assert_eq!(shaper.rate(tc).unwrap(), Some(mbit(10)));
        // `tc` rounds a burst to microseconds; of this rate it need not.
        let rate = Rate::from_bits_per_sec(12_800_000);
        shaper.set_rate(tc, rate).unwrap();
        assert_eq!(shaper.rate(tc).unwrap(), Some(rate));
        let text = cable.text();
        shaper.restore(tc).unwrap();
        text
    });
    assert_eq!(text, before.replace("rate 10Mbit ceil 10Mbit", "rate 12800Kbit ceil 12800Kbit"));
    assert_ne!(text, before);
    assert_eq!(cable.text(), before);
}

#[test]
fn a_hundred_changes_of_the_rate_lose_no_packet() {
    let Some(cable) = with_htb() else { return };
    let (queue, waited) = cable.enter(|tc| {
        let mut shaper = Shaper::adopt(tc, "v0").unwrap();
        let sent = tc.queue("v0").unwrap().sent_packets;
        send(&cable.here, "10.9.0.2", 500);
        let mut waited = 0;
        for step in 0..100 {
            shaper.set_rate(tc, mbit(1 + step % 7)).unwrap();
            waited += u32::from(tc.queue("v0").unwrap().packets > 0);
        }
        shaper.set_rate(tc, mbit(100)).unwrap();
        let mut queue = drained(tc, "v0");
        queue.sent_packets -= sent;
        (queue, waited)
    });
    assert_eq!(queue.drops, 0, "{queue:?}");
    assert!(queue.sent_packets >= 500, "{queue:?}");
    assert_eq!(waited, 100, "the changes met a queue");
}

#[test]
fn a_cake_that_stood_there_gets_another_rate_and_keeps_all_else() {
    let Some(cable) = Cable::new() else { return };
    for (cake, rate) in [
        ("bandwidth 10Mbit besteffort overhead 44 nat rtt 50ms ack-filter", Some(mbit(10))),
        ("unlimited raw dual-srchost ingress", None),
    ] {
        let add = format!("qdisc add dev v0 root handle 5: cake {cake}");
        let added = || std::process::Command::new("tc").args(add.split(' ')).output().unwrap();
        let added = cable.here.enter(added).unwrap();
        if !added.status.success() {
            let said = String::from_utf8_lossy(&added.stderr);
            assert!(said.contains("kind is unknown"), "{said}");
            return skip(Need::Cake, "this kernel has no CAKE, so it is not adopted");
        }
        let before = cable.text();
        let text = cable.enter(|tc| {
            let mut shaper = Shaper::adopt(tc, "v0").unwrap();
            assert_eq!((shaper.kind(), shaper.rate(tc).unwrap()), (Kind::Cake, rate));
            send(&cable.here, "10.9.0.2", 500);
            for step in 0..100 {
                shaper.set_rate(tc, mbit(1 + step % 7)).unwrap();
            }
            shaper.set_rate(tc, mbit(77)).unwrap();
            let text = cable.text();
            shaper.restore(tc).unwrap();
            text
        });
        let found = if rate.is_some() { "bandwidth 10Mbit" } else { "bandwidth unlimited" };
        assert_eq!(text, before.replace(found, "bandwidth 77Mbit"));
        assert_ne!(text, before);
        assert_eq!(cable.text(), before);
        cable.run("tc qdisc del dev v0 root");
    }
}

#[test]
fn a_queue_is_read_without_rights_while_it_waits() {
    let Some(cable) = with_htb() else { return };
    cable.run("tc qdisc change dev v0 parent 1:10 handle 110: pfifo limit 50");
    let read = cable.enter(|tc| {
        Shaper::adopt(tc, "v0").unwrap().set_rate(tc, mbit(1)).unwrap();
        send(&cable.here, "10.9.0.2", 200);
        let owners = tc.queue("v0").unwrap();
        let strangers = sounding_testdata::as_stranger(|| {
            let tc = sounding_qdisc::Tc::open().unwrap();
            let refused = Shaper::adopt(&tc, "v0").unwrap().set_rate(&tc, mbit(2));
            (tc.queue("v0").unwrap(), refused.unwrap_err())
        });
        strangers.map(|(queue, refused)| (owners, queue, refused))
    });
    let Some((owners, queue, refused)) = read else { return };
    assert!((30..=50).contains(&queue.packets), "{queue:?}");
    assert!(queue.packets <= owners.packets, "it drains");
    // A packet of 1000 bytes has a header of 14.
    assert_eq!(queue.waiting, Bytes::new(u64::from(queue.packets) * 1014), "{queue:?}");
    assert!(queue.drops >= 100, "{queue:?}");
    assert!(matches!(refused, Error::NotPermitted { .. }), "{refused}");
    let refused = refused.to_string();
    for word in ["v0", "htb 1:", "CAP_NET_ADMIN"] {
        assert!(refused.contains(word), "{refused}");
    }
}

#[test]
fn a_rate_that_another_program_changed_is_left_alone() {
    let Some(cable) = with_htb() else { return };
    for theirs in [
        "tc class change dev v0 parent 1:1 classid 1:10 htb rate 3mbit ceil 3mbit",
        "tc qdisc replace dev v0 root handle 2: pfifo limit 77",
    ] {
        let mut shaper = cable.enter(|tc| {
            let mut shaper = Shaper::adopt(tc, "v0").unwrap();
            shaper.set_rate(tc, mbit(20)).unwrap();
            shaper
        });
        cable.run(theirs);
        let text = cable.text();
        cable.enter(|tc| {
            for refused in [shaper.set_rate(tc, mbit(30)), shaper.restore(tc)] {
                let refused = refused.unwrap_err();
                assert!(matches!(refused, Error::Changed { .. }), "{refused}");
            }
        });
        assert_eq!(cable.text(), text, "{theirs}");
        cable.run("tc qdisc del dev v0 root");
        HTB.iter().for_each(|line| drop(cable.run(line)));
    }
}

#[test]
fn an_adopted_rate_comes_back_from_a_file() {
    let Some(cable) = with_htb() else { return };
    let before = cable.text();
    let kept = cable.enter(|tc| {
        let mut shaper = Shaper::adopt(tc, "v0").unwrap();
        let kept = serde_json::to_string(shaper.before()).unwrap();
        let rates = shaper.rates_until(mbit(20)).unwrap();
        shaper.set_rate(tc, mbit(20)).unwrap();
        // Its process is killed.
        std::mem::forget(shaper);
        (kept, rates)
    });
    let (kept, rates) = kept;
    let restore = || {
        let before: sounding_qdisc::Before = serde_json::from_str(&kept).unwrap();
        cable.enter(|tc| before.restore_after(tc, Some(&rates)).unwrap())
    };
    assert_eq!(restore(), Restored::Restored);
    assert_eq!(cable.text(), before);
    restore();
    assert_eq!(cable.text(), before, "a second time does nothing");
    cable.run("tc class change dev v0 parent 1:1 classid 1:10 htb rate 19mbit ceil 19mbit");
    assert_eq!(restore(), Restored::Others, "no rate of the killed one");
}

#[test]
fn a_root_that_shapes_nothing_is_not_adopted_and_the_error_says_a_way() {
    let Some(cable) = Cable::new() else { return };
    let refused = |said: &[&str]| {
        let error = cable.enter(|tc| Shaper::adopt(tc, "v0").unwrap_err().to_string());
        for word in said {
            assert!(error.contains(word), "{error}");
        }
    };
    refused(&["v0", "noqueue", "tc qdisc replace dev v0 root cake"]);
    cable.run("tc qdisc replace dev v0 root tbf rate 1mbit burst 10k latency 50ms");
    refused(&["v0", "tbf"]);
    cable.run("tc qdisc replace dev v0 root handle 1: htb default 1");
    refused(&["v0", "htb 1:", "0 classes"]);
    cable.run("tc class add dev v0 parent 1: classid 1:1 htb rate 1mbit ceil 2mbit");
    refused(&["v0", "htb 1:", "rate and ceil"]);
    cable.run("tc class add dev v0 parent 1: classid 1:2 htb rate 1mbit");
    refused(&["v0", "htb 1:", "2 classes"]);
    let error = cable.enter(|tc| Shaper::adopt(tc, "no/name").unwrap_err().to_string());
    assert!(error.contains("no/name"), "{error}");
    let error = cable.enter(|tc| Shaper::adopt(tc, "absent").unwrap_err().to_string());
    assert!(error.contains("absent: no such network device"), "{error}");
}
