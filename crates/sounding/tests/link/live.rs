//! A live modem that falls silent: its rows go on and say how old they are.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value as Json;
use sounding_testbed::radio::RadioLink;

use crate::number;

/// A process that is ended with the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Ended {
    fn signal(&self, signal: i32) {
        // SAFETY: the child has not been waited for, so the id is its own.
        assert_eq!(unsafe { libc::kill(self.0.id() as i32, signal) }, 0);
    }
}

fn sounding(arguments: &[&str]) -> Ended {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    Ended(command.spawn().unwrap())
}

#[test]
fn the_rows_of_a_modem_that_falls_silent_go_on_and_age() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| -> PathBuf { folder.path().join(name) };
    let capture = RadioLink::generated(11, Duration::from_secs(120)).unwrap().capture;
    std::fs::write(place("capture.qmdl"), capture).unwrap();
    let (file, port) = (place("capture.qmdl"), place("modem"));
    let mut modem =
        sounding(&["modem", "sim", file.to_str().unwrap(), "--link", port.to_str().unwrap()]);
    let mut ready = String::new();
    BufReader::new(modem.0.stdout.take().unwrap()).read_line(&mut ready).unwrap();

    let mut link = sounding(&["link", port.to_str().unwrap(), "--direction", "uplink", "--json"]);
    let rows = BufReader::new(link.0.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut rows = rows.map(|line| serde_json::from_str::<Json>(&line).unwrap());
    let known = |row: &Json| row["state"] == "active" && row["rate_bits_per_sec"].is_number();
    assert!(rows.by_ref().take(200).any(|row| known(&row)), "no rate of a live modem");
    modem.signal(libc::SIGSTOP);
    let mut ages = Vec::new();
    for row in rows.by_ref().skip_while(|row| row["state"] != "stale").take(10) {
        assert_eq!(row["state"], "stale", "{row}");
        assert!(row["rate_bits_per_sec"].is_null(), "{row}");
        ages.push(number(&row, "age_us"));
    }
    modem.signal(libc::SIGCONT);
    assert!(ages.len() == 10 && ages.is_sorted_by(|before, after| before < after), "{ages:?}");
    assert!(rows.by_ref().take(500).any(|row| known(&row)), "the modem is back");
}
