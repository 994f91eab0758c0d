//! The daemon says which flows its law has, in which phase, and how fast each sends.

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use sounding_feed::Reader;
use sounding_testdata::steadily;

use crate::modem::{Does, Modem};
use crate::rig::{Links, PROGRAM, Place, about};

#[test]
fn the_feed_and_watch_have_each_flow_of_a_law_with_its_phase_and_rate() {
    steadily(|| {
        let Some(links) = Links::new() else { return };
        let place = Place::new("flows");
        place.write(&(place.two() + "[feed]\nname = 'both'\n"));
        let (a, b) = (Modem::new(place.path("a"), 1), Modem::new(place.path("b"), 2));
        let daemon = place.start(&links);
        let played = [a, b].map(|modem| modem.play(&[(Does::Well, 9)]));
        thread::sleep(Duration::from_millis(500));
        let flows =
            [links.upload(0, &place.law), links.upload(0, &place.law), links.upload(1, &place.law)];
        thread::sleep(Duration::from_secs(4));

        let reader = Reader::open(&place.path("both.rate")).unwrap();
        let lines = reader.map(Result::unwrap).filter(|line| line.flows.is_some()).take(4);
        let lines: Vec<_> = lines.collect();
        for (modem, count) in [("a", 2), ("b", 1)] {
            let line = lines.iter().rfind(|line| line.modem == modem).unwrap();
            assert_eq!(line.direction, "uplink");
            let flows = line.flows.as_ref().unwrap();
            assert_eq!((flows.fastest.len(), flows.more), (count, 0), "{modem}: {flows:?}");
            for flow in &flows.fastest {
                assert_eq!(flow.phase.as_deref(), Some("radio-limited"), "{modem}: {flow:?}");
                assert!(flow.rate_bits_per_sec.unwrap() > 500_000, "{modem}: {flow:?}");
            }
        }
        let mut watch = Command::new(PROGRAM);
        watch.arg("watch").arg(place.path("both.rate")).stdin(Stdio::null());
        let output = Command::new("timeout")
            .args(["--signal=INT", "2"])
            .arg(watch.get_program())
            .args(watch.get_args())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let rows = said.lines().filter(|row| row.starts_with("  flow "));
        let limited = rows.filter(|row| row.contains("radio-limited")).count();
        assert!(limited >= 3, "{said}");

        flows.into_iter().for_each(|flow| drop(flow.abort().unwrap()));
        for played in played {
            drop(played.join().unwrap());
        }
        let events = daemon.stop();
        let standing = about(&events, "standing", "a");
        let is_whole = standing.iter().all(|event| event["records_per_sec"].is_u64());
        assert!(!standing.is_empty() && is_whole, "{standing:?}");
        assert!(standing.iter().all(|event| event["flows"].is_object()), "{standing:?}");
    });
}
