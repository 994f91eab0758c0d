//! A router with CAKE in User-Mode Linux beside a modelled cell: this program in the router, and
//! `sounding lab run router`.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::time::Duration;

use sounding_emu::Direction;
use sounding_experiment::plan::{Run, Text};
use sounding_testbed::flow::TcpFlow;
use sounding_testbed::router::Router;
use sounding_testbed::uml::Image;
use sounding_testdata::{Need, may_emulate, skip, steadily};

/// The unpacked packages; `None`, with a reported skip, where no router can run.
fn image() -> Option<Image> {
    if !may_emulate() {
        return None;
    }
    Image::find().inspect_err(|absent| skip(Need::Uml, absent)).ok()
}

fn cell() -> Run {
    let text = "duration = \"60s\"\n[[cell.carriers]]\nprb = 50\n[[cell.devices]]\nmodem = {}\n\
                [[flows]]\ndirection = \"up\"\n";
    let runs = Text::new("router", text.to_owned(), ".".into()).runs().unwrap();
    runs.into_iter().next().unwrap()
}

#[test]
fn this_program_reads_the_modem_from_inside_the_router() {
    let Some(image) = image() else { return };
    steadily(|| {
        let router = Router::start(&cell(), &image, true).unwrap();
        let program = assert_cmd::cargo::cargo_bin!("sounding").display().to_string();
        let version = router.guest().run(&format!("'{program}' --version")).unwrap();
        assert!(version.starts_with("sounding "), "{version}");
        let reader =
            router.guest().spawn(&format!("'{program}' link --json {}", router.modem())).unwrap();
        let upload = TcpFlow::new(Direction::Uplink).start_between(router.ends(0)).unwrap();
        std::thread::sleep(Duration::from_secs(4));
        let sent = upload.abort().unwrap().received.count();
        let output = reader.stop().unwrap();
        let estimates = output.lines().filter(|line| line.contains("bits_per_sec")).count();
        assert!(estimates > 50, "{estimates} estimates: {output}");
        assert!(sent > 2_000_000, "{sent} bytes passed the router");
        router.stop().unwrap();
    });
}

mod long {
    use std::path::Path;
    use std::process::Command;
    use std::time::Instant;

    use serde_json::Value as Json;

    use super::*;

    const RULES: [&str; 3] = ["none", "fixed-p50", "truth-0"];

    /// Runs the short rig. Returns its runs in the order of the rules.
    fn rig(folder: &Path, rules: &[&str]) -> Vec<Json> {
        let json = folder.join("runs.json");
        let output = Command::new(assert_cmd::cargo::cargo_bin!("sounding"))
            .args(["lab", "run", "router", "--cases", "still", "--radio", "lte", "--seeds", "1"])
            .args(["--duration", "12s", "--rules", &rules.join(","), "--json"])
            .arg(&json)
            .arg("--out")
            .arg(folder.join("runs"))
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{error}");
        let runs: Vec<Json> = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
        assert_eq!(runs.iter().map(|run| run["rule"].clone()).collect::<Vec<_>>(), rules);
        runs
    }

    #[test]
    #[ignore = "two minutes"]
    fn a_router_that_knows_its_rate_has_no_queue_and_a_matrix_goes_on() {
        if image().is_none() {
            return;
        }
        steadily(|| {
            let folder = tempfile::tempdir().unwrap();
            let runs = rig(folder.path(), &RULES);
            let figures = |run: usize, name: &str| runs[run]["figures"][name].clone();
            let p95 = |run: usize| figures(run, "probe")["p95_ms"].as_f64().unwrap();
            // The modem's own queue is deep, and a known rate leaves it empty.
            assert!(p95(0) > 2.0 * p95(2), "{} {}", p95(0), p95(2));
            let [granted, up] = ["truth_mbit_per_sec", "up_mbit_per_sec"]
                .map(|name| figures(2, name).as_f64().unwrap());
            assert!(up > 0.5 * granted && up < 1.1 * granted, "{up} of {granted}");
            let rates = [0, 1, 2].map(|run| figures(run, "rates_seen").as_u64().unwrap());
            assert!(rates[0] == 0 && rates[1] == 1 && rates[2] > 10, "{rates:?}");
            // All of its runs are files, so the second time there is nothing to run.
            let began = Instant::now();
            assert_eq!(rig(folder.path(), &RULES), runs);
            assert!(began.elapsed().as_secs() < 10);
        });
    }

    /// Behind its own shaper the radio's estimate is the shaper's, and a part of it is less each
    /// time.
    #[test]
    #[ignore = "two minutes"]
    fn a_rule_that_follows_each_estimate_starves_and_ours_does_not() {
        if image().is_none() {
            return;
        }
        steadily(|| {
            let folder = tempfile::tempdir().unwrap();
            let runs = rig(folder.path(), &["truth-50", "naive", "ours"]);
            let figures = |run: &Json| {
                let figures = &run["figures"];
                let of = |value: &Json| value.as_f64().unwrap();
                (of(&figures["up_mbit_per_sec"]), of(&figures["probe"]["p95_ms"]))
            };
            let [truth, naive, ours] = [0, 1, 2].map(|run| figures(&runs[run]));
            println!("Mbit/s, p95 ms: truth-50 {truth:?}, naive {naive:?}, ours {ours:?}");
            assert!(naive.0 < truth.0 / 2.0, "{naive:?} beside {truth:?}");
            assert!(ours.0 >= 0.75 * truth.0, "{ours:?} beside {truth:?}");
            assert!(ours.1 <= truth.1 + 50.0, "{ours:?} beside {truth:?}");
        });
    }
}
