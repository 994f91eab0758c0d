//! SIGHUP: what changed in the file starts and ends, and nothing else does.

use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value as Json, json};
use sounding_testdata::steadily;

use crate::modem::{Does, Modem};
use crate::rig::{Daemon, Links, Place, about, phases};

const WELL: &[(Does, u64)] = &[(Does::Well, 9)];

/// The first modem's uplink is shaped.
const SHAPED_A: &str =
    "[[shape]]\nmodem = 'a'\nmanage = true\n[shape.uplink]\nmin = '1Mbit'\nbase = '3Mbit'\n";

/// The second one's too, within these limits.
fn shaped_b(limits: &str) -> String {
    format!("[[shape]]\nmodem = 'b'\nmanage = true\n[shape.uplink]\n{limits}\n")
}

/// Has the daemon read this, and waits for what it says of it.
fn reload(place: &Place, daemon: &Daemon, text: &str, said: &'static str) -> Json {
    place.write(text);
    let before = count(&daemon.events.all(), said);
    daemon.signal(Signal::SIGHUP);
    daemon.events.wait_for_nth(said, before)
}

fn count(events: &[Json], kind: &str) -> usize {
    events.iter().filter(|event| event["event"] == kind).count()
}

#[test]
fn a_file_with_an_error_changes_nothing_and_the_error_says_what_to_do() {
    steadily(|| {
        let Some(links) = Links::new() else { return };
        let place = Place::new("wrong");
        place.write(&place.two());
        let modems = ["a", "b"].map(|name| Modem::new(place.path(name), 1));
        let daemon = place.start(&links);
        let modems = modems.map(|modem| modem.play(WELL));
        let flow = links.upload(0, &place.law);
        thread::sleep(Duration::from_secs(1));
        for (text, line, reason) in [
            (place.two() + "[board]\nname = 3\n", Some(16), "invalid type"),
            (
                place.two() + "[board]\nname = 'x'\n",
                None,
                "board.modem: it reads one of the modems",
            ),
            (place.two().replacen("mask = false", "budget = 'much'", 1), Some(5), "modem.budget"),
            (place.two().replace("interfaces = ['wwan1']\n", ""), None, "no network device of b"),
        ] {
            let said = reload(&place, &daemon, &text, "not_reloaded");
            assert_eq!(said["line"], json!(line), "{said}");
            assert!(said["reason"].as_str().unwrap().contains(reason), "{said}");
            assert!(said["help"].as_str().unwrap().contains("send SIGHUP again"), "{said}");
            assert_eq!(said["file"], json!(place.path("file.toml")));
        }
        // The file is as at the start again.
        let said = reload(&place, &daemon, &place.two(), "reloaded");
        assert_eq!((&said["started"], &said["ended"]), (&json!([]), &json!([])));
        flow.abort().unwrap();
        let events = daemon.stop();
        drop(modems.map(|modem| modem.join().unwrap()));
        assert_eq!(phases(&events, "a").len(), 1, "{:?}", phases(&events, "a"));
        assert_eq!(count(&events, "closed"), 0);
    });
}

#[test]
fn other_limits_of_one_shape_start_it_again_and_nothing_else() {
    steadily(|| {
        let Some(links) = Links::new() else { return };
        let place = Place::new("limits");
        let file = |limits: &str| {
            let board = format!("[board]\nmodem = 'a'\nname = '{}'\n", place.law);
            place.two() + SHAPED_A + &shaped_b(limits) + &board
        };
        place.write(&file("base = '4Mbit'"));
        let modems = ["a", "b"].map(|name| Modem::new(place.path(name), 2));
        let daemon = place.start(&links);
        let modems = modems.map(|modem| modem.play(WELL));
        thread::sleep(Duration::from_millis(500));
        let flows = [0, 1].map(|link| links.upload(link, &place.law));
        thread::sleep(Duration::from_millis(1500));
        let said = reload(&place, &daemon, &file("base = '5Mbit'\nmax = '6Mbit'"), "reloaded");
        assert_eq!(said["started"], json!(["shape b uplink"]));
        assert_eq!(said["ended"], json!(["shape b uplink"]));
        daemon.events.wait_for("the other limits", |event| {
            event["event"] == "shaping" && event["max_bits_per_sec"] == 6_000_000
        });
        thread::sleep(Duration::from_secs(2));
        let events = daemon.events.all();
        flows.into_iter().for_each(|flow| drop(flow.abort().unwrap()));
        let modems = modems.map(|modem| modem.join().unwrap());
        let all = daemon.stop();
        drop(modems);
        // The other shaper, the law and the board went on, and no byte was lost.
        assert_eq!(about(&all, "shaping", "a").len(), 1);
        assert_eq!(about(&all, "shaping", "b").len(), 2);
        let done = all.iter().find(|event| event["event"] == "done").unwrap();
        for (place, modem) in ["a", "b"].into_iter().enumerate() {
            let phases = phases(&events, modem);
            assert!(phases.iter().all(|(to, _)| to != "no-estimate"), "{modem}: {phases:?}");
            let account = &done["modems"][place];
            assert_eq!(account["corrupt_frames"], 0, "{done}");
            for kind in ["closed", "reopened", "late"] {
                assert!(about(&all, kind, modem).is_empty(), "{kind}");
            }
        }
        let [a, b] = [0, 1].map(|place| done["modems"][place]["records"].as_u64().unwrap());
        assert_eq!(a, b, "{done}");
        assert_eq!(done["events_dropped"], 0, "{done}");
        assert!(!links.run("tc qdisc show").contains("htb"), "a shaper is left");
    });
}

#[test]
fn a_modem_that_is_added_starts_and_a_removed_one_ends_while_the_other_goes_on() {
    steadily(|| {
        let Some(links) = Links::new() else { return };
        let place = Place::new("added");
        let law = format!("[link]\nbound = 'capacity'\n[cc]\nname = '{}'\n", place.law);
        let one = place.modem("a", "wwan0") + &law;
        place.write(&one);
        let modems = ["a", "b"].map(|name| Modem::new(place.path(name), 2));
        let daemon = place.start(&links);
        let modems = modems.map(|modem| modem.play(WELL));
        let flow = links.upload(0, &place.law);
        daemon.events.wait_for("the first modem's flow", |event| event["to"] == "radio-limited");
        // Events of one modem are as ever.
        let named = |events: &[Json]| events.iter().any(|event| event.get("modem").is_some());
        assert!(!named(&daemon.events.all()));

        let both = place.two() + &shaped_b("base = '4Mbit'");
        let said = reload(&place, &daemon, &both, "reloaded");
        assert_eq!(said["started"], json!(["modem b", "shape b uplink"]));
        let second = links.upload(1, &place.law);
        daemon.events.wait_for("the second modem's flow", |event| {
            event["to"] == "radio-limited" && event["modem"] == "b"
        });
        daemon.events.wait_for("its shaper", |event| event["event"] == "shaping");
        assert!(links.run("tc qdisc show dev wwan1").contains("qdisc"), "no shaper");

        let said = reload(&place, &daemon, &one, "reloaded");
        assert_eq!(said["ended"], json!(["modem b", "shape b uplink"]));
        let until = std::time::Instant::now() + Duration::from_secs(5);
        let shaper = || {
            let text = links.run("tc qdisc show dev wwan1");
            text.contains("htb") || text.contains("cake")
        };
        while shaper() {
            assert!(std::time::Instant::now() < until, "the shaper stays");
            thread::sleep(Duration::from_millis(20));
        }
        thread::sleep(Duration::from_secs(1));
        let events = daemon.events.all();
        [flow, second].into_iter().for_each(|flow| drop(flow.abort().unwrap()));
        let all = daemon.stop();
        drop(modems.map(|modem| modem.join().unwrap()));
        // The first modem's flow noticed nothing of it.
        let moved: Vec<_> = events
            .iter()
            .filter(|event| event["event"] == "transition" && event["modem"] != "b")
            .collect();
        assert_eq!(moved.iter().filter(|event| event["to"] == "radio-limited").count(), 1);
        let done = all.iter().find(|event| event["event"] == "done").unwrap();
        let accounts = done["modems"].as_array().unwrap();
        let names: Vec<&str> =
            accounts.iter().map(|account| account["modem"].as_str().unwrap()).collect();
        assert_eq!(names, ["b", "a"]);
    });
}

#[test]
fn a_law_that_is_added_feeds_flows_and_one_that_changes_comes_back_under_its_name() {
    steadily(|| {
        let Some(links) = Links::new() else { return };
        let place = Place::new("law");
        place.write(&place.two());
        let modems = ["a", "b"].map(|name| Modem::new(place.path(name), 2));
        let daemon = place.start(&links);
        let modems = modems.map(|modem| modem.play(WELL));
        let law = |fallback: &str| format!("name = '{}'\nfallback = '{fallback}'\n", place.law);
        let other = format!("o{}", place.law);
        let file = place
            .two()
            .replace("[cc]", "[[cc]]")
            .replace(&format!("name = '{}'\n", place.law), &law("cubic"))
            + &format!("[[cc]]\nlaw = 'sounding'\nname = '{other}'\n");
        let said = reload(&place, &daemon, &file, "reloaded");
        assert_eq!(said["ended"], json!([place.law]));
        assert_eq!(said["started"], json!([place.law, other]));
        for name in [&place.law, &other] {
            daemon.events.wait_for("its start", |event| {
                event["event"] == "output_started" && event["output"] == **name
            });
        }
        let flows = [links.upload(0, &place.law), links.upload(1, &other)];
        for modem in ["a", "b"] {
            daemon.events.wait_for("a flow of each", |event| {
                event["to"] == "radio-limited" && event["modem"] == modem
            });
        }
        flows.into_iter().for_each(|flow| drop(flow.abort().unwrap()));
        daemon.stop();
        drop(modems.map(|modem| modem.join().unwrap()));
    });
}
