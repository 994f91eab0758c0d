//! Whatever reads a modem has dropped what loading programs takes: the bytes of a modem may be
//! hostile.

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use sounding_modem::Pty;
use sounding_testdata::{Need, Running, skip};

use crate::skipped;

/// As root: opening a port again that is another user's, and writing files for the user of sudo.
const DAC_OVERRIDE: u64 = 1 << 1;

/// The capabilities of each thread, with its name.
fn held(process: u32) -> Vec<(String, u64)> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap().flatten();
    let texts = tasks.filter_map(|task| fs::read_to_string(task.path().join("status")).ok());
    texts
        .map(|text| {
            let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).unwrap();
            let bits = u64::from_str_radix(value("CapPrm:").trim(), 16).unwrap();
            (value("Name:").trim().to_owned(), bits)
        })
        .collect()
}

/// Starts a verb at a modem that answers nothing, and waits until it has dropped its rights.
fn drops(arguments: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let device = folder.path().join("modem");
    let pty = Pty::create(Some(&device)).unwrap();
    let place = |word: &str| match word {
        "MODEM" => device.clone(),
        "FILE" => folder.path().join("file.qmdl"),
        other => other.into(),
    };
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
    command.args(arguments.iter().map(|word| place(word)));
    command.env("SOUNDING_BOARD_DIR", folder.path()).env("SOUNDING_RUN_DIR", folder.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut reader = Running(command.spawn().unwrap());
    let few = |threads: &[(String, u64)]| threads.iter().all(|(_, bits)| bits & !DAC_OVERRIDE == 0);
    let dropped = (0..500).any(|_| {
        sleep(Duration::from_millis(20));
        assert!(reader.try_wait().unwrap().is_none(), "{arguments:?} has ended");
        few(&held(reader.id()))
    });
    assert!(dropped, "{arguments:?}: {:?}", held(reader.id()));
    // It reads by now or a moment later, and does not get anything back.
    let noise = vec![0x7E; 4096];
    let mut pty = pty;
    for _ in 0..10 {
        let _ = pty.write(&noise, Duration::from_millis(50));
        sleep(Duration::from_millis(20));
        assert!(few(&held(reader.id())), "{arguments:?}: {:?}", held(reader.id()));
    }
}

#[test]
fn each_verb_that_reads_a_modem_as_root_has_dropped_its_rights() {
    if skipped() {
        return;
    }
    drops(&["record", "MODEM", "FILE"]);
    drops(&["link", "MODEM"]);
    drops(&["link", "MODEM", "--delays", "--feed", "-"]);
    drops(&["kpi", "MODEM", "--kpi", "lte.pusch.tbs"]);
    drops(&["board", "MODEM", "--name", "rights"]);
}

#[test]
fn correcting_arrivals_keeps_no_rights_where_the_kernel_has_links() {
    let missing = sounding_bpf::arrivals_preflight().into_iter().find(|check| !check.ok);
    if let Some(check) = missing {
        return skip(Need::Kernel, &check.detail);
    }
    if !skipped() {
        drops(&["link", "MODEM", "--delays", "--arrivals", "lo"]);
    }
}
