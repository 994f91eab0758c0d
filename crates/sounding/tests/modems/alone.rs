//! A modem that dies takes its own flows and its own shaper, and nothing of the other modem's.

use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value as Json;
use sounding_feed::{Line, Reader};
use sounding_host::monotonic_now;
use sounding_testdata::steadily;

use crate::modem::{Does, Modem};
use crate::rig::{Links, Place, about, phases};

const WELL: &[(Does, u64)] = &[(Does::Well, 14)];

/// The uplinks of both are shaped, and both are in the feed.
const MORE: &str = "[[shape]]\nmodem = 'a'\nmanage = true\n[shape.uplink]\nmin = '1Mbit'\nbase = '3Mbit'\n\
                      [[shape]]\nmodem = 'b'\nmanage = true\n[shape.uplink]\nmin = '1Mbit'\nbase = '4Mbit'\n\
                    [feed]\nname = 'both'\n";

/// The lines of a feed, until its daemon ends.
fn lines(socket: PathBuf) -> JoinHandle<Vec<Line>> {
    let reader = Reader::open(&socket).unwrap();
    thread::spawn(move || reader.map_while(Result::ok).collect())
}

/// No line is lost or late, and from the first rate on there is always one.
fn assert_undisturbed(lines: &[Line]) {
    assert!(lines.len() > 100, "{}", lines.len());
    for pair in lines.windows(2) {
        let apart = Duration::from_nanos(pair[1].made_at_ns - pair[0].made_at_ns);
        assert_eq!(pair[1].number, pair[0].number + 1, "{pair:?}");
        // 100 ms, and a heartbeat of the daemon.
        assert!(apart < Duration::from_millis(150), "{apart:?}: {pair:?}");
    }
    let first = lines.iter().position(|line| line.rate_bits_per_sec.is_some()).unwrap();
    let unknown = lines[first..].iter().find(|line| line.rate_bits_per_sec.is_none());
    assert!(unknown.is_none(), "{unknown:?}");
}

fn is_base(event: &Json) -> bool {
    event["reason"] == "base"
}

#[test]
fn a_modem_that_closes_or_falls_silent_leaves_the_others_flows_and_shaper_alone() {
    steadily(|| {
        let Some(links) = Links::new() else { return };
        let place = Place::new("alone");
        place.write(&(place.two() + MORE));
        let (a, b) = (Modem::new(place.path("a"), 1), Modem::new(place.path("b"), 2));
        let daemon = place.start(&links);
        let lines = lines(place.path("both.rate"));
        let a = a.play(&[
            (Does::Well, 3),
            (Does::Gone, 1),
            (Does::Well, 2),
            (Does::Garbage, 1),
            (Does::Well, 2),
            (Does::Silence, 1),
            (Does::Well, 2),
        ]);
        let b = b.play(WELL);
        thread::sleep(Duration::from_millis(500));
        let flows = [links.upload(0, &place.law), links.upload(1, &place.law)];
        let a = a.join().unwrap();
        let events = daemon.events.all();
        let ended = monotonic_now();
        flows.into_iter().for_each(|flow| drop(flow.abort().unwrap()));
        let b = b.join().unwrap();
        let all = daemon.stop();
        drop((a, b));

        let lines = lines.join().unwrap();
        let until = |line: &&Line| line.made_at_ns < ended.as_nanos();
        let of = |modem| {
            let own = lines.iter().filter(until).filter(move |line| line.modem == modem);
            own.filter(|line| line.direction == "uplink").cloned().collect::<Vec<_>>()
        };
        assert!(of("a").iter().any(|line| line.state.as_deref() == Some("stale")));
        assert_undisturbed(&of("b"));

        // Its own flow fell back three times, and came back each time.
        let own = phases(&events, "a");
        let fell = own.iter().filter(|(to, _)| to == "no-estimate").count();
        assert_eq!(fell, 3, "{own:?}");
        assert_eq!(own.last().unwrap().0, "radio-limited", "{own:?}");
        for kind in ["closed", "reopened"] {
            assert_eq!(about(&all, kind, "a").len(), 1, "{kind}");
        }
        let shaped = about(&events, "shaped", "a");
        let falls = shaped.windows(2).filter(|pair| !is_base(pair[0]) && is_base(pair[1])).count();
        assert_eq!(falls, 3, "{shaped:?}");
        assert!(!is_base(shaped.last().unwrap()), "{shaped:?}");

        // The other one's was driven all the time.
        let others = phases(&events, "b");
        assert_eq!(others, [("radio-limited".to_owned(), "fresh".to_owned())]);
        for kind in ["closed", "mute", "absent", "late"] {
            assert!(about(&all, kind, "b").is_empty(), "{kind}");
        }
        let shaped = about(&events, "shaped", "b");
        let first = shaped.iter().position(|event| !is_base(event)).unwrap();
        assert!(shaped[first..].iter().all(|event| !is_base(event)), "{shaped:?}");
        let done = all.iter().find(|event| event["event"] == "done").unwrap();
        assert_eq!(done["late_heartbeats"], 0, "{done}");
        let modems = done["modems"].as_array().unwrap();
        assert_eq!((&modems[0]["modem"], &modems[1]["modem"]), (&"a".into(), &"b".into()));
        assert!(modems[0]["corrupt_frames"].as_u64() > modems[1]["corrupt_frames"].as_u64());
        assert_eq!(modems[1]["corrupt_frames"], 0, "{done}");
        // The machine is as before.
        assert!(!links.run("tc qdisc show").contains("htb"), "a shaper is left");
    });
}

#[test]
fn a_modem_that_is_absent_at_the_start_is_waited_for_and_the_other_one_runs() {
    steadily(|| {
        let Some(links) = Links::new() else { return };
        let place = Place::new("absent");
        place.write(&place.two());
        let a = Modem::absent(place.path("a"), 1);
        let b = Modem::new(place.path("b"), 2).play(&[(Does::Well, 7)]);
        let daemon = place.start(&links);
        let absent = daemon.events.wait_for("absent", |event| event["event"] == "absent");
        assert_eq!(absent["modem"], "a");
        assert!(absent["reason"].as_str().unwrap().contains("does not open"), "{absent}");
        let flows = [links.upload(0, &place.law), links.upload(1, &place.law)];
        thread::sleep(Duration::from_secs(2));
        let before = daemon.events.all();
        assert_eq!(phases(&before, "a"), []);
        assert_eq!(phases(&before, "b").len(), 1, "{:?}", phases(&before, "b"));
        let a = a.play(&[(Does::Well, 3)]).join().unwrap();
        let after = daemon.events.all();
        flows.into_iter().for_each(|flow| drop(flow.abort().unwrap()));
        drop((a, b.join().unwrap()));
        daemon.stop();
        assert_eq!(about(&after, "reopened", "a").len(), 1);
        assert_eq!(phases(&after, "a").last().unwrap().0, "radio-limited");
        assert_eq!(phases(&after, "b").len(), 1);
    });
}
