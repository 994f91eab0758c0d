//! `sounding lab run biscay/…` as a user meets it. Parts that need root report a skip without it.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value as Json;
use sounding_testdata::{may_emulate, shared, steadily};

fn lab(arguments: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
    command.arg("lab").args(arguments);
    command
}

fn run(arguments: &[&str]) -> Output {
    let output = lab(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn json(output: &Output) -> Json {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_set_of_traces_is_replayed_with_the_logs_of_its_own_modems_both_ways() {
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().to_str().unwrap();
    run(&["dataset", set, "--traces", "2", "--duration", "7s"]);
    let output = run(&[
        "run",
        "biscay/table1",
        "--dataset",
        set,
        "--duration",
        "6s",
        "--links",
        "lte",
        "--json",
    ]);
    let report = json(&output);
    let figures = report["figures"].as_array().unwrap();
    let of = |link: &str, controller: &str, figure: &str| {
        let its = |one: &&Json| {
            one["link"].as_str().unwrap().ends_with(link) && one["controller"] == controller
        };
        figures.iter().find(its).unwrap()[figure].as_f64().unwrap()
    };
    for way in ["up", "down"] {
        let used = |controller| of(way, controller, "utilisation");
        assert!(used("oracle") > 0.9, "{way}: {}", used("oracle"));
        // Without the logs it would be BBR, and as late.
        assert!(used("biscay") > 0.7, "{way}: {}", used("biscay"));
        let p95 = |controller| of(way, controller, "p95_ms");
        assert!(p95("biscay") < 0.8 * p95("bbr"), "{way}: {} ms", p95("biscay"));
    }
    assert_eq!(report["distances"][0]["links"].as_array().unwrap().len(), 2, "{report}");
    assert!(figures.iter().all(|one| one["scenario"].as_str().unwrap().ends_with("-peak")));

    // A log that is none is said to be, with its name.
    let log = std::fs::read_dir(folder.path()).unwrap().flatten();
    let log = log.map(|entry| entry.path().join("up.qmdl.zst")).find(|path| path.exists()).unwrap();
    std::fs::write(&log, b"nothing").unwrap();
    let output =
        lab(&["run", "biscay/fig8", "--dataset", set, "--duration", "4s"]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("up.qmdl.zst"), "{error}");
}

/// The links of a report, each once, and a figure of one flow over one of them.
fn by_link(report: &Json) -> (Vec<String>, impl Fn(&str, &str, &str) -> f64 + '_) {
    let figures = report["figures"].as_array().unwrap();
    let mut links: Vec<String> =
        figures.iter().map(|one| one["link"].as_str().unwrap().to_owned()).collect();
    links.sort();
    links.dedup();
    let figure = |link: &str, controller: &str, figure: &str| {
        let its = |one: &&Json| {
            one["link"] == link && one["controller"] == controller && one["flows"] == 1
        };
        figures.iter().find(its).unwrap()[figure].as_f64().unwrap()
    };
    (links, figure)
}

#[test]
fn a_users_trace_and_log_have_their_own_rows_and_other_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().to_str().unwrap();
    run(&["dataset", set, "--traces", "1", "--duration", "6s"]);
    let made = std::fs::read_dir(folder.path()).unwrap().flatten();
    let made = made.map(|entry| entry.path()).find(|path| path.is_dir()).unwrap();
    let [trace, log] = ["up.trace", "up.qmdl.zst"].map(|name| made.join(name));
    let [trace, log] = [&trace, &log].map(|path| path.to_str().unwrap());

    let output = run(&["run", "biscay/fig8", "--own", trace, "--own", log, "--json"]);
    let report = json(&output);
    let (links, figure) = by_link(&report);
    assert_eq!(links, ["up.qmdl.zst.up", "up.qmdl.zst.up, modelled modem", "up.trace"]);
    for link in &links {
        let [biscay, bbr] = ["biscay", "bbr"].map(|name| figure(link, name, "p95_ms"));
        assert!(biscay < 0.8 * bbr, "{link}: {biscay} and {bbr} ms");
        assert!(figure(link, "biscay", "utilisation") > 0.7, "{link}");
    }
    let rows = report["rows"].to_string();
    assert!(rows.contains("up.qmdl.zst.up, modelled modem sounding"), "{rows}");

    let neither = folder.path().join("manifest.json");
    let output = lab(&["run", "biscay/fig8", "--own", neither.to_str().unwrap()]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("neither a modem's log nor a trace"));
    assert!(error.contains("manifest.json") && error.contains("line 1"), "{error}");
}

#[test]
fn sounding_beats_biscay_over_a_phones_uploads_with_the_links_true_rate() {
    let captures = ["004448", "004729", "080503", "111534"].map(|time| {
        shared(&format!("captures/lgs96__mobileinsight_core/diag_log_20211220_{time}.mi2log"))
    });
    let Some(captures) = captures.into_iter().collect::<Option<Vec<_>>>() else { return };
    let mut arguments = vec!["run", "biscay/table2", "--json"];
    for capture in &captures {
        arguments.extend(["--own", capture.to_str().unwrap()]);
    }
    let report = json(&run(&arguments));
    let (links, figure) = by_link(&report);
    assert_eq!(links.len(), 8, "{links:?}");
    for link in links.iter().filter(|link| link.ends_with("modelled modem")) {
        let both = |name| ["sounding", "biscay"].map(|who| figure(link, who, name));
        let [ours, published] = both("throughput_mbit_per_sec");
        assert!(ours >= 0.99 * published, "{link}: {ours} and {published} Mbit/s");
        for delay in ["mean_ms", "p95_ms"] {
            let [ours, published] = both(delay);
            assert!(ours < published, "{link}, {delay}: {ours} and {published}");
        }
    }
}

#[test]
fn every_item_of_the_evaluation_has_the_papers_figures_ours_and_why_they_differ() {
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().to_str().unwrap();
    run(&["dataset", set, "--traces", "1", "--duration", "5s"]);
    for item in ["table1", "fig6", "fig8", "table2", "fig9"] {
        let name = format!("biscay/{item}");
        let output = run(&["run", &name, "--dataset", set, "--links", "up", "--duration", "4s"]);
        check(item, &output);
    }
    check("fig7", &run(&["run", "biscay/fig7", "--duration", "5s"]));
    let fig10 = run(&["run", "biscay/fig10", "--duration", "12s"]);
    check("fig10", &fig10);
    // A flow that ends in the narrow stretch has used it until then, and does not show when it is
    // back.
    let text = String::from_utf8_lossy(&fig10.stdout).into_owned();
    let row = text.lines().find(|line| line.starts_with("| biscay 5 Mbit/s, cell")).unwrap();
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    assert_eq!((cells[4], cells[6]), ("-", "100"), "{row}");
}

/// The paper's place, a table of at least two columns beside the row's name, and why.
fn check(item: &str, output: &Output) {
    let text = String::from_utf8_lossy(&output.stdout);
    for part in ["\npaper: ", "\n| | paper | ", "\nwhy ours differ:\n* "] {
        assert!(text.contains(part), "{item} lacks {part:?}: {text}");
    }
    let rows = text.lines().filter(|line| line.starts_with("| ")).count();
    assert!(rows >= 2, "{item}: {text}");
}

/// Congestion controls of this kernel that a daemon of ours has put there.
fn laws() -> Vec<String> {
    let list = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let known = std::fs::read_to_string(list).unwrap();
    let ours = |name: &&str| name.starts_with("biscay") || name.starts_with("sounding");
    known.split_whitespace().filter(ours).map(Into::into).collect()
}

fn is_skipped() -> bool {
    if !may_emulate() {
        return true;
    }
    let missing = sounding_bpf::preflight("biscay_emu").into_iter().find(|check| !check.ok);
    if let Some(check) = &missing {
        sounding_testdata::skip(sounding_testdata::Need::Kernel, &check.detail);
    }
    missing.is_some()
}

mod long {
    use super::*;

    #[test]
    #[ignore = "takes most of a minute in real time; `make test-long`"]
    fn the_private_network_is_run_by_this_kernel_and_drawn_beside_the_paper() {
        if is_skipped() {
            return;
        }
        steadily(|| {
            let folder = tempfile::tempdir().unwrap();
            let [out, result] = ["report", "result.json"].map(|name| folder.path().join(name));
            let before = laws();
            let output = run(&[
                "run",
                "biscay/fig11b",
                "--seeds",
                "1",
                "--duration",
                "12s",
                "--out",
                out.to_str().unwrap(),
                "--json",
                result.to_str().unwrap(),
            ]);
            check("fig11b", &output);
            assert_eq!(laws(), before);
            let report: Json = serde_json::from_slice(&std::fs::read(&result).unwrap()).unwrap();
            let runs = report["runs"].as_array().unwrap();
            let names: Vec<&str> =
                runs.iter().map(|run| run["controller"].as_str().unwrap()).collect();
            assert_eq!(names, ["biscay", "sounding", "bbr", "cubic"]);
            let of = |run: usize, figure: &str| runs[run][figure].as_f64().unwrap();
            for law in [0, 1] {
                assert!(
                    of(law, "throughput_mbit_per_sec") > 0.6 * of(3, "throughput_mbit_per_sec")
                );
                assert!(2.0 * of(law, "p95_ms") < of(3, "p95_ms"), "{report}");
                assert!(of(law, "handovers") >= 1.0, "{report}");
                // It was the modem that drove, not the fallback.
                assert!(of(law, "fallback_percent") < 50.0, "{report}");
            }
            assert!(Path::new(&out).join("report.html").exists());
            assert!(Path::new(&out).join("figures/plane.svg").exists());
        });
    }

    #[test]
    #[ignore = "takes most of a minute in real time; `make test-long`"]
    fn flows_of_this_kernel_find_a_wire_that_got_narrow_and_leave_it_once_it_is_wide() {
        if is_skipped() {
            return;
        }
        steadily(|| {
            let before = laws();
            let output = run(&[
                "run",
                "biscay/fig10",
                "--kernel",
                "--controllers",
                "sounding,sounding-cubic",
                "--duration",
                "25s",
                "--json",
            ]);
            assert_eq!(laws(), before);
            let report = json(&output);
            let crossings = report["crossings"].as_array().unwrap();
            let names: Vec<_> = crossings.iter().map(|one| one["controller"].as_str()).collect();
            assert_eq!(names, [Some("sounding"), Some("sounding-cubic")]);
            for one in crossings {
                let of = |figure: &str| one[figure].as_f64().unwrap_or(f64::INFINITY);
                assert_eq!((&one["ground"], of("wire_mbit_per_sec")), (&"kernel".into(), 5.0));
                // The report has the figures; this only tests that a busy machine produces them.
                assert!(of("found_ms") < 3_000.0 && of("back_ms") < 3_000.0, "{one}");
                assert!(of("used") > 0.8, "{one}");
            }
        });
    }
}

/// Starts the private network and interrupts it once `is_due` by a line that it said or by what is
/// in the kernel; its table.
fn interrupted(mut is_due: impl FnMut(&str) -> bool) -> String {
    let before = laws();
    let mut child = lab(&["run", "biscay/fig11b", "--seeds", "1", "--duration", "5s"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (send, said) = std::sync::mpsc::channel();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let reader = std::thread::spawn(move || {
        stderr.lines().map_while(Result::ok).for_each(|line| drop(send.send(line)));
    });
    let mut told = Vec::new();
    let due = (0..3_000).any(|_| {
        let line = said.recv_timeout(std::time::Duration::from_millis(10)).unwrap_or_default();
        told.push(line);
        is_due(told.last().unwrap())
    });
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    reader.join().unwrap();
    told.extend(said.try_iter());
    assert!(due, "{told:?}");
    assert_eq!(output.status.code(), Some(130), "{told:?}");
    assert!(told.iter().any(|line| line.contains("interrupted")), "{told:?}");
    assert_eq!(laws(), before);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn an_interrupt_keeps_the_measurements_and_restores_the_machine() {
    if is_skipped() {
        return;
    }
    steadily(|| {
        let before = laws().len();
        let text = interrupted(|_| laws().len() > before);
        assert!(!text.contains("| biscay | "), "{text}");
        let text = interrupted(|line| line.starts_with("biscay, seed 1"));
        assert!(text.contains("| biscay | ") && !text.contains("| bbr | "), "{text}");
    });
}
