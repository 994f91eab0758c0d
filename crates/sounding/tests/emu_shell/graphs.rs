//! Mahimahi's graph scripts over logs of this project.

use std::path::{Path, PathBuf};
use std::process::Command;

use sounding_testdata::{Need, may_emulate, skip};

use crate::{emu, stderr};

/// Takes the place of gnuplot, and prints what the script would have drawn.
const GNUPLOT: &str = "#!/bin/sh\nexec cat\n";

/// Sends bursts that a short queue cannot hold, and pauses.
const BURSTS: &str = "\
import os, socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for burst in range(20):
    for n in range(30): s.sendto(bytes(1000), (os.environ['SOUNDING_FAR'], 9))
    time.sleep(0.02)
";

/// Where mahimahi's scripts are.
fn scripts() -> Option<PathBuf> {
    let Some(checkout) = std::env::var_os("MAHIMAHI") else {
        skip(Need::Mahimahi, "the graph scripts of mahimahi: MAHIMAHI names no checkout");
        return None;
    };
    let scripts = Path::new(&checkout).join("scripts");
    assert!(scripts.join("mm-throughput-graph").exists(), "{} has none", scripts.display());
    let has_perl = Command::new("perl").arg("-v").output().is_ok_and(|out| out.status.success());
    if !has_perl {
        skip(Need::Tools, "the graph scripts of mahimahi: perl does not run");
    }
    has_perl.then_some(scripts)
}

/// The log of a link that drops.
fn log(folder: &Path) -> PathBuf {
    let trace: String = (1..=500).map(|millis| format!("{millis}\n")).collect();
    std::fs::write(folder.join("trace"), trace).unwrap();
    let log = folder.join("up.log");
    let up = format!("--up={}", folder.join("trace").display());
    let log_to = format!("--up-log={}", log.display());
    let link = [&up, "--up-queue=droptail:packets=10", &log_to, "--isolated", "--"];
    let output = emu(&[&link[..], &["python3", "-c", BURSTS]].concat()).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    log
}

/// Runs a script over the log: what it draws, and what it says.
fn draw(script: &Path, arguments: &[&str], log: &Path, folder: &Path) -> (String, String) {
    let gnuplot = folder.join("gnuplot");
    std::fs::write(&gnuplot, GNUPLOT).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&gnuplot, mode).unwrap();
    let paths = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut perl = Command::new("perl");
    let output = perl.arg(script).args(arguments).arg(log).env("PATH", paths).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{}: {said}", script.display());
    (String::from_utf8(output.stdout).unwrap(), said)
}

/// The bytes of all lines with this mark, and their number.
fn sum(text: &str, mark: &str) -> (u64, usize) {
    let words = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let sizes = words.filter(|words| words[0] != "#" && words[1] == mark);
    let sizes: Vec<u64> = sizes.map(|words| words[2].parse().unwrap()).collect();
    (sizes.iter().sum(), sizes.len())
}

mod long {
    use super::*;

    #[test]
    #[ignore = "needs a checkout of mahimahi"]
    fn mahimahis_graph_scripts_read_every_line_of_a_log_with_drops() {
        let Some(scripts) = scripts() else { return };
        if !may_emulate() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let log = log(folder.path());
        let text = std::fs::read_to_string(&log).unwrap();
        let drops = text.lines().filter(|line| line.starts_with("# d ")).count();
        assert!(drops > 50, "{drops} drops: the log proves nothing");

        let script = scripts.join("mm-throughput-graph");
        let (drawn, said) = draw(&script, &["100"], &log, folder.path());
        // The script's own figures, from the lines that it must have read.
        let times = text.lines().filter(|line| !line.starts_with('#'));
        let times: Vec<f64> =
            times.map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
        let lasted = times.iter().copied().fold(0.0, f64::max) - times[0];
        let mbit = |bytes: u64| 8.0 * bytes as f64 / lasted / 1e3;
        let [capacity, arrived, carried] = ["#", "+", "-"].map(|mark| sum(&text, mark));
        for figure in [
            format!("Average capacity: {:.2} Mbits/s\n", mbit(capacity.0)),
            format!("Average throughput: {:.2} Mbits/s (", mbit(carried.0)),
        ] {
            assert!(said.contains(&figure), "{figure:?} is not in {said}");
        }
        let ingress = format!("Traffic ingress (mean {:.2} Mbits/s)", mbit(arrived.0));
        assert!(drawn.contains(&ingress), "{ingress}: {drawn}");

        let (drawn, _) = draw(&scripts.join("mm-delay-graph"), &[], &log, folder.path());
        let points = drawn.split("\ne\n").nth(1).unwrap().lines().count();
        assert_eq!(points, carried.1, "a point for each packet");
    }
}
