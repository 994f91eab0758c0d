//! The small daemon, which `SOUNDING_PROGRAM` names, beside the whole program. Its daemon is tested
//! by `serve` and `household`.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod memory;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use sounding_testbed::radio::RadioLink;
use sounding_testdata::{Need, shared_files, skip};

/// The verbs of its help, without the one that prints help.
const VERBS: [&str; 9] =
    ["doctor", "kpi", "link", "record", "run", "shape", "watch", "completions", "manual"];

/// The small daemon; `None` if it was not built.
fn small() -> Option<PathBuf> {
    let named = std::env::var_os("SOUNDING_PROGRAM").map(PathBuf::from);
    if named.is_none() {
        skip(Need::Soundingd, "scripts/test-soundingd tests the small daemon");
    }
    named
}

fn run(program: &Path, arguments: &[&str]) -> Output {
    Command::new(program).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn its_help_has_its_verbs_and_its_own_name() {
    let Some(small) = small() else { return };
    let help = text(&run(&small, &["-h"]).stdout);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    let listed = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let mut verbs: Vec<&str> =
        listed.filter_map(|line| line.split_whitespace().next()).filter(|v| *v != "help").collect();
    verbs.sort_unstable();
    let mut expected = VERBS;
    expected.sort_unstable();
    assert_eq!(verbs, expected);
    for verb in VERBS {
        let help = text(&run(&small, &[verb, "--help"]).stdout);
        assert!(help.contains(&format!("soundingd {verb}")), "{verb}: {help}");
        assert!(
            !help.contains("  sounding ") && !help.contains("sudo sounding "),
            "{verb}: {help}"
        );
        // The downlink's shaper is another thing.
        for flag in ["--law", "--downlink", "--peers", "--arrivals", "--background"] {
            let is_offered = help.lines().any(|line| line.trim_start().starts_with(flag));
            assert!(!is_offered || (verb, flag) == ("shape", "--downlink"), "{verb} offers {flag}");
        }
    }
}

#[test]
fn it_reads_captures_as_the_whole_program_does() {
    let Some(small) = small() else { return };
    let whole = assert_cmd::cargo::cargo_bin!("sounding");
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made.qmdl");
    std::fs::write(&made, RadioLink::generated(5, Duration::from_secs(3)).unwrap().capture)
        .unwrap();
    let cut = folder.path().join("cut.qmdl");
    let bytes = std::fs::read(&made).unwrap();
    std::fs::write(&cut, &bytes[..bytes.len() / 2 + 7]).unwrap();
    let shared = shared_files("captures")
        .into_iter()
        .filter(|path| path.extension().is_some_and(|e| e == "mi2log" || e == "qmdl"));
    let captures: Vec<PathBuf> = [made, cut].into_iter().chain(shared.take(3)).collect();
    for capture in &captures {
        let capture = capture.to_str().unwrap();
        for arguments in [
            &["link", capture][..],
            &["link", capture, "--json", "--direction", "downlink"],
            &["link", capture, "--delays"],
            &["kpi", capture],
        ] {
            let (ours, theirs) = (run(&small, arguments), run(whole, arguments));
            assert_eq!(ours.status, theirs.status, "{arguments:?}: {}", text(&ours.stderr));
            assert!(ours.stdout == theirs.stdout, "{arguments:?}");
        }
    }
}

#[test]
fn what_it_leaves_out_is_refused_with_the_way_to_it() {
    let Some(small) = small() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = |section: &str| {
        let path = folder.path().join(format!("{}.toml", section.trim_matches(['[', ']'])));
        std::fs::write(&path, format!("[modem]\ndevice = '/dev/ttyUSB9'\n{section}\n")).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (cc, downlink) = (file("[cc]"), file("[downlink]\npeers = true"));
    for (arguments, named) in [
        (&["run", "--check-config", "--config", &cc][..], "[cc]"),
        (&["run", "--check-config", "--config", &downlink], "[downlink]"),
        (&["run", "--check-config", "--device", "/dev/ttyUSB9", "--law", "biscay"], "--law"),
        (
            &["run", "--check-config", "--device", "/dev/ttyUSB9", "--downlink", "window"],
            "--downlink",
        ),
        (&["link", "/dev/ttyUSB9", "--delays", "--arrivals", "lo"], "--arrivals"),
    ] {
        let refused = run(&small, arguments);
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(
            said.contains(named) && said.contains("install `sounding`"),
            "{arguments:?}: {said}"
        );
    }
}

#[test]
fn its_example_is_a_configuration_of_its_own() {
    let Some(small) = small() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("modem.toml");
    let example = text(&run(&small, &["run", "--example-config"]).stdout);
    let has = |section: &str| example.lines().any(|line| line == section);
    assert!(!has("[cc]") && !has("[downlink]") && has("[feed]"), "{example}");
    // Without an output a modem is read for nothing.
    std::fs::write(&path, example.replace("# name = \"uplink\"", "name = \"uplink\"")).unwrap();
    let path = path.to_str().unwrap();
    let checked = run(&small, &["run", "--check-config", "--config", path, "--feed", "uplink"]);
    assert!(checked.status.success(), "{}", text(&checked.stderr));
}

#[test]
fn its_version_says_that_it_has_no_features() {
    let Some(small) = small() else { return };
    let version: serde_json::Value =
        serde_json::from_slice(&run(&small, &["--version", "--json"]).stdout).unwrap();
    assert_eq!(version["name"], "soundingd");
    assert_eq!(version["features"], serde_json::json!([]));
    assert_eq!(version["kernels"]["least"], serde_json::Value::Null);
}
