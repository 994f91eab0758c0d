use sounding_estimate::Direction;
use sounding_qdisc::{Before, Error, Kind, Plan, Restored, Shaper};
use sounding_testdata::{Need, skip};

use crate::{Cable, drained, mbit, send};

#[test]
fn a_shaper_of_the_uplink_is_made_and_taken_back() {
    let Some(cable) = Cable::new() else { return };
    let before = cable.text();
    cable.enter(|tc| {
        let mut shaper =
            Shaper::build(tc, Direction::Uplink, "v0", Some(Kind::Htb), mbit(8)).unwrap();
        assert_eq!(shaper.device(), "v0");
        assert_eq!(shaper.rate(tc).unwrap(), Some(mbit(8)), "{shaper}");
        shaper.set_rate(tc, mbit(4)).unwrap();
        assert_eq!(shaper.rate(tc).unwrap(), Some(mbit(4)));
        let start = std::time::Instant::now();
        send(&cable.here, "10.9.0.2", 45);
        assert!(shaper.queue(tc).unwrap().packets > 20);
        let queue = drained(tc, "v0");
        // 45 packets of 1000 bytes of IP. The burst may be sent at once.
        assert!(start.elapsed().as_millis() > 60, "{queue:?}");
        // fq_codel drops one of a queue that waits for long.
        assert!(queue.drops < 5, "{queue:?}");
        shaper.restore(tc).unwrap();
    });
    assert_eq!(cable.text(), before);
}

#[test]
fn a_shaper_of_the_downlink_is_made_at_an_ifb_and_taken_back() {
    let Some(cable) = Cable::new() else { return };
    let before = cable.text();
    let kept = cable.enter(|tc| {
        let kind = Some(Kind::Htb);
        let shaper = Shaper::build(tc, Direction::Downlink, "v0", kind, mbit(4)).unwrap();
        assert_eq!(shaper.device(), "ifb4v0");
        let sent = tc.queue("ifb4v0").unwrap().sent_packets;
        send(&cable.there, "10.9.0.1", 45);
        let queue = shaper.queue(tc).unwrap();
        assert!(queue.packets > 20, "{queue:?}");
        let queue = drained(tc, "ifb4v0");
        let sent = queue.sent_packets - sent;
        assert!(sent + u64::from(queue.drops) >= 45 && queue.drops < 5, "{queue:?}");
        serde_json::to_string(shaper.before()).unwrap()
    });
    assert!(cable.text().contains("Redirect to device ifb4v0"), "{}", cable.text());
    // Its process was killed. Another restores.
    let kept: Before = serde_json::from_str(&kept).unwrap();
    assert_eq!(cable.enter(|tc| kept.restore(tc).unwrap()), Restored::Restored);
    assert_eq!(cable.text(), before);
    assert_eq!(cable.enter(|tc| kept.restore(tc).unwrap()), Restored::Nothing);
    // The traffic goes on.
    let socket = cable.here.enter(|| std::net::UdpSocket::bind("10.9.0.1:9").unwrap()).unwrap();
    send(&cable.there, "10.9.0.1", 1);
    socket.set_read_timeout(Some(std::time::Duration::from_secs(5))).unwrap();
    assert_eq!(socket.recv(&mut [0; 2000]).unwrap(), 972);
}

#[test]
fn a_plan_changes_nothing_and_its_restoration_neither() {
    let Some(cable) = Cable::new() else { return };
    let before = cable.text();
    for direction in [Direction::Uplink, Direction::Downlink] {
        let restored = cable.enter(|tc| {
            let plan = Plan::new(tc, direction, "v0", Some(Kind::Htb)).unwrap();
            plan.before().restore(tc).unwrap()
        });
        assert_eq!((restored, cable.text()), (Restored::Nothing, before.clone()));
    }
}

#[test]
fn a_part_of_a_shaper_is_taken_back_too() {
    let Some(cable) = Cable::new() else { return };
    let before = cable.text();
    let plan = cable.enter(|tc| Plan::new(tc, Direction::Downlink, "v0", None).unwrap());
    // A kill left it after these.
    cable.run("ip link add ifb4v0 type ifb");
    cable.run("tc qdisc add dev v0 ingress");
    let restored = cable.enter(|tc| plan.before().restore(tc).unwrap());
    assert_eq!((restored, cable.text()), (Restored::Restored, before));
}

#[test]
fn a_state_that_cannot_be_put_back_is_not_replaced() {
    let Some(cable) = Cable::new() else { return };
    let cases: [(&[&str], Direction, &[&str]); 6] = [
        (
            &["tc qdisc add dev v0 root handle 1: htb default 1"],
            Direction::Uplink,
            &["v0", "htb 1:", "adopt it"],
        ),
        (
            &["tc qdisc add dev v0 root handle 3: mq"],
            Direction::Uplink,
            &["mq 3:", "put this kind"],
        ),
        (
            &[
                "tc qdisc add dev v0 root handle 4: tbf rate 1mbit burst 10k latency 50ms",
                "tc qdisc add dev v0 parent 4:1 handle 5: pfifo",
            ],
            Direction::Uplink,
            &["tbf 4:", "pfifo 5:", "tc qdisc del dev v0 root"],
        ),
        (
            &["tc qdisc add dev v0 root handle 50d0: pfifo"],
            Direction::Uplink,
            &["pfifo 50d0:", "earlier run"],
        ),
        (
            &[
                "tc qdisc add dev v0 clsact",
                "tc filter add dev v0 egress u32 match u32 0 0 flowid 1:1",
            ],
            Direction::Downlink,
            &["clsact ffff:", "tc qdisc del dev v0 clsact"],
        ),
        (&["ip link add ifb4v0 type ifb"], Direction::Downlink, &["ifb4v0 is there", "SQM"]),
    ];
    for (lines, direction, said) in cases {
        if lines[0].ends_with("mq") && !has_mq(&cable) {
            skip(Need::Cake, "this kernel has no mq");
            continue;
        }
        lines.iter().for_each(|line| drop(cable.run(line)));
        let before = cable.text();
        let refused = cable.enter(|tc| Shaper::build(tc, direction, "v0", None, mbit(1)));
        let refused = refused.unwrap_err();
        assert!(matches!(refused, Error::Unsuitable { .. }), "{refused}");
        for word in said {
            assert!(refused.to_string().contains(word), "{lines:?}: {refused}");
        }
        assert_eq!(cable.text(), before);
        for undo in ["qdisc del dev v0 root", "qdisc del dev v0 clsact", "-h"] {
            let _ = cable
                .here
                .enter(|| std::process::Command::new("tc").args(undo.split(' ')).output().unwrap());
        }
    }
}

#[test]
fn cake_that_is_made_counts_packets_without_their_links_header() {
    let Some(cable) = Cable::new() else { return };
    for direction in [Direction::Uplink, Direction::Downlink] {
        let kind = Some(Kind::Cake);
        let built = cable.enter(|tc| Shaper::build(tc, direction, "v0", kind, mbit(50)));
        let shaper = match built {
            Err(Error::NoKind { .. }) => return skip(Need::Cake, "this kernel has no CAKE"),
            built => built.unwrap(),
        };
        match direction {
            Direction::Uplink => send(&cable.here, "10.9.0.2", 20),
            Direction::Downlink => send(&cable.there, "10.9.0.1", 20),
        }
        let text = cable.run(&format!("tc -s qdisc show dev {}", shaper.device()));
        let sizes = text.lines().find(|line| line.contains("overhead-adjusted size")).unwrap();
        assert!(sizes.ends_with(" 1000"), "{direction}: {text}");
        let interval = if direction == Direction::Uplink { "rtt 200ms" } else { "rtt 100ms" };
        assert!(text.contains(interval), "{direction}: {text}");
        cable.enter(|tc| shaper.restore(tc).unwrap());
    }
}

fn has_mq(cable: &Cable) -> bool {
    let add = || {
        std::process::Command::new("tc").args(["qdisc", "add", "dev", "v1", "root", "mq"]).output()
    };
    cable.there.enter(|| add().unwrap().status.success()).unwrap()
}

#[test]
fn an_ingress_qdisc_without_a_filter_stays() {
    let Some(cable) = Cable::new() else { return };
    for kind in ["ingress", "clsact"] {
        cable.run(&format!("tc qdisc add dev v0 {kind}"));
        let before = cable.text();
        cable.enter(|tc| {
            let shaper = Shaper::build(tc, Direction::Downlink, "v0", None, mbit(4)).unwrap();
            assert_ne!(cable.text(), before);
            shaper.restore(tc).unwrap();
        });
        assert_eq!(cable.text(), before);
        cable.run(&format!("tc qdisc del dev v0 {kind}"));
    }
}

#[test]
fn a_shaper_that_another_program_replaced_stays_so() {
    let Some(cable) = Cable::new() else { return };
    let shaper =
        cable.enter(|tc| Shaper::build(tc, Direction::Uplink, "v0", None, mbit(1)).unwrap());
    cable.run("tc qdisc replace dev v0 root handle 9: pfifo limit 9");
    let before = cable.text();
    let restored = cable.enter(|tc| shaper.before().restore(tc).unwrap());
    assert_eq!((restored, cable.text()), (Restored::Others, before));
}
