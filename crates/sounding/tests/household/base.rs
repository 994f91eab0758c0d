//! The base where none is given: the rate that the link carried, kept across starts.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value as Json;
use sounding_modem::{Place, Pty};
use sounding_testdata::{Running, may_emulate, steadily, under_test};

use crate::rig::{Household, Shaping};

const FILE: &str = "base-uplink-wwan9";

/// The base of a program that only observes a silent modem, and all that it says about the file.
fn base(state: &Path, flags: &[&str]) -> (u64, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let tty = folder.path().join("modem");
    let _pty = Pty::create(Some(&tty)).unwrap();
    let program = under_test(assert_cmd::cargo::cargo_bin!("sounding"));
    let child = Command::new(program)
        .args(["shape", "--observe", "--json", "--only", "uplink", "--interface", "wwan9"])
        .arg("--device")
        .arg(&tty)
        .args(flags)
        .env("SOUNDING_STATE_DIR", state)
        .env("SOUNDING_RUN_DIR", folder.path())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = Running(child.unwrap());
    let lines = BufReader::new(child.0.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut said = Vec::new();
    for line in lines.map(|line| serde_json::from_str::<Json>(&line).unwrap()) {
        match line["event"].as_str() {
            Some("base_not_kept") => said.push(line["reason"].as_str().unwrap().to_owned()),
            Some("shaping") => return (line["base_bits_per_sec"].as_u64().unwrap(), said),
            _ => {}
        }
    }
    panic!("it shapes nothing: {said:?}")
}

#[test]
fn a_kept_rate_is_the_base_within_the_limits_unless_one_is_given() {
    let state = tempfile::tempdir().unwrap();
    assert_eq!(base(&state.path().join("absent"), &[]), (10_000_000, vec![]));
    assert_eq!(base(state.path(), &[]), (10_000_000, vec![]));
    fs::write(state.path().join(FILE), "7300000 bit/s\n").unwrap();
    for (flags, expected) in [
        (&[][..], 7_300_000),
        (&["--min", "9Mbit"], 9_000_000),
        (&["--max", "5Mbit"], 5_000_000),
        (&["--base", "3Mbit"], 3_000_000),
    ] {
        assert_eq!(base(state.path(), flags), (expected, vec![]), "{flags:?}");
    }
    // To observe changes nothing.
    assert_eq!(fs::read_dir(state.path()).unwrap().count(), 1);
}

#[test]
fn a_file_that_is_no_rate_or_not_this_users_is_reported_and_not_believed() {
    let state = tempfile::tempdir().unwrap();
    let file = state.path().join(FILE);
    let refuses = |why: &str| {
        let (rate, said) = base(state.path(), &[]);
        assert_eq!((rate, said.len()), (10_000_000, 1), "{said:?}");
        assert!(said[0].contains(why) && said[0].contains(FILE), "{why}: {}", said[0]);
    };
    let digits = "7".repeat(1 << 20);
    for text in ["", "garbage", "7300000", "1 bit/s", "99999999999999 bit/s", "-1 bit/s", &digits] {
        fs::write(&file, text).unwrap();
        refuses("no rate");
    }
    fs::write(&file, b"\xff\xfe\x1b[2J bit/s").unwrap();
    refuses("no rate");
    assert_eq!(base(state.path(), &["--base", "3Mbit"]), (3_000_000, vec![]), "it is not read");
    let elsewhere = state.path().join("elsewhere");
    fs::write(&elsewhere, "7300000 bit/s\n").unwrap();
    fs::remove_file(&file).unwrap();
    symlink(&elsewhere, &file).unwrap();
    refuses("a link");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    refuses("no file of this user's own");
    fs::remove_dir(&file).unwrap();
    nix::unistd::mkfifo(&file, nix::sys::stat::Mode::S_IRWXU).unwrap();
    refuses("no file of this user's own");
    fs::remove_file(&file).unwrap();
    fs::rename(&elsewhere, &file).unwrap();
    if nix::unistd::geteuid().is_root() {
        chown(&file, Some(65_534), None).unwrap();
        refuses("no file of this user's own");
        chown(&file, Some(0), None).unwrap();
    }
    assert_eq!(base(state.path(), &[]), (7_300_000, vec![]));
    fs::set_permissions(state.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let (rate, said) = base(state.path(), &[]);
    assert_eq!((rate, said.len()), (10_000_000, 1), "{said:?}");
    assert!(said[0].contains("only this user writes"), "{said:?}");
}

#[test]
fn the_rate_that_a_link_carried_is_the_base_of_the_next_start() {
    if !may_emulate() {
        return;
    }
    steadily(|| {
        let household = Household::start(Place::Pty(None));
        let file = household.state.path().join("base-uplink-radio0");
        let shaping = || Shaping::start(&household, &household.modem(), &["--only", "uplink"]);
        let upload = household.upload();
        let first = shaping();
        sleep(Duration::from_secs(5));
        let lines = first.end();
        upload.abort().unwrap();
        assert_eq!(base_of(&lines), [10_000_000]);
        let text = fs::read_to_string(&file).unwrap();
        let kept: u64 = text.strip_suffix(" bit/s\n").unwrap().parse().unwrap();
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let capacities = lines.iter().filter(|line| line["reason"] == "capacity");
        let rates: Vec<u64> =
            capacities.filter_map(|line| line["rate_bits_per_sec"].as_u64()).collect();
        let (least, most) = (rates.iter().min().unwrap(), rates.iter().max().unwrap());
        assert!(least < &kept && &kept < most, "{kept} is not of {rates:?}");
        assert_eq!(base_of(&shaping().end()), [kept]);
        assert_eq!(fs::read_dir(household.state.path()).unwrap().count(), 1);
        // A folder that others write is no place for it: that is said once.
        let open = fs::Permissions::from_mode(0o777);
        fs::set_permissions(household.state.path(), open).unwrap();
        let lines = shaping().end();
        assert_eq!(base_of(&lines), [10_000_000]);
        let said = lines.iter().filter(|line| line["event"] == "base_not_kept");
        assert_eq!(said.count(), 1, "{lines:?}");
    });
}

fn base_of(lines: &[Json]) -> Vec<u64> {
    let shaping = lines.iter().filter(|line| line["event"] == "shaping");
    shaping.filter_map(|line| line["base_bits_per_sec"].as_u64()).collect()
}

#[test]
fn a_limit_above_another_is_refused_by_the_names_that_were_given() {
    for (flags, expected) in [
        (&["--min", "5Mbit", "--base", "2Mbit"][..], "min 5.00 Mbit/s is above base 2.00 Mbit/s"),
        (&["--base", "5Mbit", "--max", "2Mbit"], "base 5.00 Mbit/s is above max 2.00 Mbit/s"),
        (&["--min", "5Mbit", "--uplink-max", "2Mbit"], "min 5.00 Mbit/s is above max 2.00 Mbit/s"),
        (&["--min", "0bit", "--base", "2Mbit"], "min is zero"),
    ] {
        let output = Command::new(under_test(assert_cmd::cargo::cargo_bin!("sounding")))
            .args(["shape", "--check-config", "--device", "/dev/ttyUSB0"])
            .args(flags)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{flags:?}: {said}");
        assert!(said.contains(expected), "{flags:?}: {said}");
    }
}
