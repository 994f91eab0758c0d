use std::time::{Duration, Instant};

use crate::{ADOPT, HTB, MANAGE, PLAIN, Place, is_shaped, rate};

#[test]
fn a_change_by_another_program_is_reported_and_stays() {
    let Some(place) = Place::new() else { return };
    let mut keeper = place.kept(ADOPT);
    place.run("tc class change dev v0 parent 1: classid 1:1 htb rate 3mbit");
    let text = place.text();
    let event = keeper.answer();
    assert!(event.contains(r#"{"event":{"changed":{"direction":"uplink""#), "{event}");
    keeper.rate(30);
    keeper.tell(&rate("downlink", 5_000_000));
    // The refusal of this one comes after the rate before it.
    assert!(keeper.answer().contains("no downlink"));
    assert_eq!(place.text(), text);
    let said = keeper.end();
    assert_eq!((place.text(), place.notes()), (text, 0), "{said}");
}

#[test]
fn a_device_that_comes_back_is_shaped_again_at_its_newest_rate() {
    for way in [ADOPT, MANAGE] {
        let Some(place) = Place::of_way(way) else { return };
        let mut keeper = place.kept(way);
        place.run("ip link del v0");
        let gone = keeper.answer();
        assert!(gone.contains(r#"{"event":{"gone":"#), "{gone}");
        if way == MANAGE {
            assert!(keeper.answer().contains(r#"{"event":{"gone":"#));
            let links = place.run("ip -o link show");
            assert!(!links.contains("ifb4v0"), "{links}");
        }
        keeper.rate(40);
        place.run_all(&PLAIN[1..]);
        if way == ADOPT {
            // Not yet: another program puts its shaper there.
            assert!(keeper.answer().contains("cannot set"));
            place.run_all(&HTB);
        }
        let start = Instant::now();
        // It may look between two of these commands.
        while !keeper.answer().contains(r#"{"event":{"back":"#) {}
        assert!(start.elapsed() < Duration::from_secs(5), "it looks four times a second");
        place.wait_until(|text| is_shaped(text, 40));
        keeper.end();
        let text = place.text();
        assert_eq!(text.contains("htb"), way == ADOPT, "{text}");
        assert!(!text.contains("50d0") && !text.contains("ifb") && place.notes() == 0, "{text}");
    }
}

#[test]
fn a_device_that_is_renamed_is_as_it_was_and_shaped_when_its_name_is_back() {
    for way in [ADOPT, MANAGE] {
        let Some(place) = Place::of_way(way) else { return };
        let before = place.text();
        let keeper = place.kept(way);
        place.run_all(&["ip link set v0 down", "ip link set v0 name v7", "ip link set v7 up"]);
        assert!(keeper.answer().contains(r#"{"event":{"gone":"#));
        let state = |device: &str| {
            let lines = ["qdisc show", &format!("class show dev {device}")]
                .map(|line| place.run(&format!("tc -d {line}")));
            (lines.concat() + &place.run("ip -o link show")).replace("v7", "v0")
        };
        let until = Instant::now() + Duration::from_secs(10);
        while place.notes() > 0 {
            assert!(Instant::now() < until, "{}", state("v7"));
            std::thread::sleep(Duration::from_millis(20));
        }
        let text = state("v7");
        assert!(!text.contains("50d0") && !text.contains("ingress"), "{way}: {text}");
        assert_eq!(text.contains("rate 10Mbit"), way == ADOPT, "{way}: {text}");
        place.run_all(&["ip link set v7 down", "ip link set v7 name v0", "ip link set v0 up"]);
        while !keeper.answer().contains(r#"{"event":{"back":"#) {}
        place.wait_until(|text| is_shaped(text, 20));
        let said = keeper.end();
        place.wait_for(&before);
        assert_eq!(place.notes(), 0, "{said}");
    }
}
