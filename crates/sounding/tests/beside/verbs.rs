//! Each verb reads beside the daemon, and the daemon goes on.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use sounding_testdata::steadily;

use crate::rig::{KPI, LASTS, OWN, Rig, logs, text};

const BESIDE: &str = "is read beside the daemon that holds it";

/// The daemon has missed no heartbeat, and its modem is left as it was found.
fn ends_well(rig: &mut Rig) {
    let events = rig.stop();
    let late: Vec<&Json> = events.iter().filter(|event| event["event"] == "late").collect();
    assert!(late.is_empty(), "{late:?}");
    assert!(events.iter().any(|event| event["event"] == "restored"), "{events:?}");
}

#[test]
fn a_recording_beside_a_daemon_has_records_that_the_daemon_does_not_want() {
    steadily(|| {
        let mut rig = Rig::plain();
        let output = rig.command(&["record", "modem", "out.qmdl", "--for", "3s"]).output().unwrap();
        let said = text(&output.stderr);
        assert!(output.status.success() && said.matches(BESIDE).count() == 1, "{said}");
        let codes: BTreeSet<_> = logs(&fs::read(rig.path("out.qmdl")).unwrap())
            .into_iter()
            .map(|(code, _)| code)
            .collect();
        assert!(codes.contains(&OWN) && codes.len() > 1, "{codes:?}");
        assert!(!said.contains("too slow"), "{said}");
        ends_well(&mut rig);
    });
}

#[test]
fn only_the_codes_that_are_asked_for_are_recorded() {
    let rig = Rig::plain();
    let other = *rig.sizes.keys().find(|code| **code != OWN).unwrap();
    let code = other.to_string();
    let arguments = ["record", "modem", "out.qmdl", "--code", &code, "--for", "3s"];
    let output = rig.command(&arguments).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let codes: BTreeSet<_> =
        logs(&fs::read(rig.path("out.qmdl")).unwrap()).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, BTreeSet::from([other]));
    rig.wait_for_readers(0);
}

#[test]
fn a_recording_whose_reader_goes_away_says_nothing_of_the_daemons_end() {
    let rig = Rig::plain();
    let mut recorder = rig.command(&["record", "modem", "-"]).spawn().unwrap();
    let mut out = recorder.stdout.take().unwrap();
    std::io::Read::read_exact(&mut out, &mut [0; 100]).unwrap();
    drop(out);
    let output = recorder.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert!(said.contains(BESIDE) && !said.contains("has ended"), "{said}");
}

#[test]
fn without_a_mask_everything_that_comes_anyway_is_recorded() {
    let rig = Rig::plain();
    let arguments = ["record", "modem", "out.qmdl", "--no-mask", "--for", "2s"];
    let output = rig.command(&arguments).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let codes: BTreeSet<_> =
        logs(&fs::read(rig.path("out.qmdl")).unwrap()).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, BTreeSet::from([OWN]));
}

#[test]
fn kpis_and_the_link_are_printed_beside_a_daemon() {
    steadily(|| {
        let mut rig = Rig::plain();
        for (arguments, lines) in [
            (&["kpi", "modem", "--kpi", "lte.pusch.tbs,lte.mac.bsr"][..], 200),
            (&["link", "modem", "--bin", "10ms"], 60),
        ] {
            let output = rig.run_for(arguments, lines);
            let (out, said) = (text(&output.stdout), text(&output.stderr));
            assert!(output.status.success() && said.matches(BESIDE).count() == 1, "{said}");
            assert_eq!(out.lines().count(), lines, "{arguments:?}: {out}");
            // The daemon does not ask for that record.
            assert!(arguments[0] != "kpi" || out.contains("lte.pusch.tbs"), "{out}");
        }
        ends_well(&mut rig);
    });
}

#[test]
fn a_board_has_kpis_beside_a_daemon_until_the_daemon_ends() {
    let mut rig = Rig::plain();
    let arguments = ["board", "modem", "--name", "beside", "--kpi", KPI];
    let board = rig.command(&arguments).spawn().unwrap();
    let place = sounding_board::Place::new(&rig.path("boards"), "beside").unwrap();
    let has_values = || {
        let Ok(reader) = sounding_board::Reader::open(&place) else { return false };
        let slot = reader.find(KPI).unwrap();
        reader.read(slot).is_ok_and(|sample| sample.is_some_and(|sample| sample.sequence > 20))
    };
    let begin = Instant::now();
    while !has_values() {
        assert!(begin.elapsed() < Duration::from_secs(60), "no value comes");
        std::thread::sleep(Duration::from_millis(20));
    }
    rig.stop();
    let output = board.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert!(output.status.success() && said.contains(BESIDE), "{said}");
    assert!(said.contains("the daemon that held modem has ended"), "{said}");
}

#[test]
fn the_doctor_knows_a_modem_that_a_daemon_holds_and_listens_beside_it() {
    let rig = Rig::plain();
    rig.wait_for("an answer", |event| event["event"] == "answers");
    let arguments = ["doctor", "--device", "modem", "--json", "--listen", "3s"];
    let output = rig.command(&arguments).output().unwrap();
    let out = text(&output.stdout);
    let checks: Vec<Json> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let port = checks.iter().find(|check| check["source"] == "modem").unwrap();
    assert_eq!(port["ok"], true, "{port}");
    assert_eq!(port["build"], "sounding-simulated-modem", "{port}");
    assert_eq!(port["held_by"][0]["name"], "sounding", "{port}");
    let records: Vec<&Json> = checks.iter().filter(|check| check["area"] == "records").collect();
    let came = records.iter().filter(|check| check["ok"] == true).count();
    assert!(came > 1, "{records:#?}");
    assert!(text(&output.stderr).contains(BESIDE), "{}", text(&output.stderr));
}

#[test]
fn records_beyond_the_daemons_budget_are_said_by_code_and_its_own_stay() {
    // Its own records fit with some room, and all others together do not.
    let mut rig = Rig::new(|sizes| {
        let (own, all) = (sizes[&OWN], sizes.values().sum::<u64>());
        assert!(all > own * 5 / 4, "{sizes:?}");
        vec!["--budget".into(), format!("{}bit", (own + all) / 2 * 8 / LASTS.as_secs())]
    });
    let output = rig.command(&["record", "modem", "out.qmdl", "--for", "8s"]).output().unwrap();
    let said = text(&output.stderr);
    assert!(output.status.success() && said.contains("over the daemon's budget: 0x"), "{said}");
    let own = OWN.to_string();
    let lacks = |line: &&str| line.contains("over the daemon's budget");
    assert!(said.lines().filter(lacks).all(|line| !line.contains(&own)), "{said}");
    let events = rig.stop();
    let off = events.iter().filter(|event| event["event"] == "over_budget");
    let off: Vec<String> = off.map(|event| event["codes_switched_off"].to_string()).collect();
    assert!(!off.is_empty() && off.iter().all(|codes| !codes.contains(&own)), "{off:?}");
}
