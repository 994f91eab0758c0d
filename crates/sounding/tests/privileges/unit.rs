//! The unit that is shipped, as systemd's own judge sees it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sounding_testdata::{Need, skip};

use crate::said;

const UNIT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../dist/systemd/sounding@.service.in");

const ROUTER_GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/router.md");

/// The unit as `make install` would leave it, with a program where it looks for one.
fn installed(prefix: &Path) -> PathBuf {
    let text = fs::read_to_string(UNIT).unwrap();
    fs::create_dir(prefix.join("bin")).unwrap();
    let program = assert_cmd::cargo::cargo_bin!("sounding");
    std::os::unix::fs::symlink(program, prefix.join("bin/sounding")).unwrap();
    let unit = prefix.join("sounding@.service");
    fs::write(&unit, text.replace("@PREFIX@", prefix.to_str().unwrap())).unwrap();
    unit
}

fn systemd_analyze(arguments: &[&str], unit: &Path) -> Option<Output> {
    let mut command = Command::new("systemd-analyze");
    match command.args(arguments).arg(unit).output() {
        Ok(output) => Some(output),
        Err(error) => {
            skip(
                Need::Tools,
                format_args!("systemd-analyze: {error}: `scripts/setup test` installs it"),
            );
            None
        }
    }
}

#[test]
fn systemds_judge_finds_little_exposed() {
    let prefix = tempfile::tempdir().unwrap();
    let unit = installed(prefix.path());
    let arguments = ["security", "--offline=true", "--no-pager", "--threshold=20"];
    let Some(judged) = systemd_analyze(&arguments, &unit) else { return };
    // More than a threshold of 2.0 is its failure.
    assert!(judged.status.success(), "{}", said(&judged));
    assert!(said(&judged).contains("Overall exposure level"), "{}", said(&judged));
}

#[test]
fn systemd_understands_every_line_of_the_unit() {
    let prefix = tempfile::tempdir().unwrap();
    let unit = installed(prefix.path());
    let Some(verified) = systemd_analyze(&["verify", "--man=no"], &unit) else { return };
    let said = said(&verified);
    let own: Vec<&str> = said.lines().filter(|line| line.contains("sounding@")).collect();
    assert!(own.is_empty(), "{said}");
}

#[test]
fn systemd_understands_the_drop_in_for_routers() {
    let prefix = tempfile::tempdir().unwrap();
    let template = installed(prefix.path());
    let guide = fs::read_to_string(ROUTER_GUIDE).unwrap();
    let begin = guide.find("[Service]\nExecStopPost=").expect("the guide has a drop-in");
    let text = guide[begin..].split("```").next().unwrap();
    // `=+` ends before the path, which is the unit's own.
    let text = text.replace("/usr/local/bin", prefix.path().join("bin").to_str().unwrap());
    assert!(text.contains("bin/sounding shape --restore\n"), "{text}");
    let unit = prefix.path().join("sounding@router.service");
    fs::rename(template, &unit).unwrap();
    let folder = prefix.path().join("sounding@router.service.d");
    fs::create_dir(&folder).unwrap();
    let own = |text: &str| {
        fs::write(folder.join("restore.conf"), text).unwrap();
        let verified = systemd_analyze(&["verify", "--man=no"], &unit)?;
        let said = said(&verified);
        Some(said.lines().filter(|line| line.contains("sounding@")).collect::<Vec<_>>().join("\n"))
    };
    let Some(own_lines) = own(&text) else { return };
    assert_eq!(own_lines, "");
    // It does read the drop-in.
    let broken = own(&text.replace("bin/sounding ", "bin/absent ")).unwrap();
    assert!(broken.contains("absent"), "{broken}");
}

#[test]
fn the_unit_has_what_a_shared_machine_needs() {
    let text = fs::read_to_string(UNIT).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for line in ["Type=notify", "ProtectSystem=strict", "LimitCORE=0", "NoNewPrivileges=yes"] {
        assert!(lines.contains(&line), "{line}");
    }
    for key in [
        "WatchdogSec=",
        "AmbientCapabilities=CAP_",
        "CapabilityBoundingSet=CAP_",
        "SystemCallFilter=@",
        "RestrictAddressFamilies=AF_",
        "ExecStartPre=+",
        "User=",
    ] {
        assert!(lines.iter().any(|line| line.starts_with(key)), "{key}");
    }
    // No command but the one that prepares has more than the unit says.
    let raised = lines.iter().filter(|line| line.starts_with("Exec") && line.contains("=+"));
    assert_eq!(raised.count(), 1);
}

/// The unit of `soundingd`, as scripts/package makes it from the other one.
#[test]
fn the_unit_of_the_small_daemon_has_nothing_of_bpf() {
    let prefix = tempfile::tempdir().unwrap();
    let unit = installed(prefix.path());
    fs::rename(prefix.path().join("bin/sounding"), prefix.path().join("bin/soundingd")).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../dist/systemd/soundingd.sed");
    let made = Command::new("sed").args(["-i", "-f", script]).arg(&unit).status().unwrap();
    assert!(made.success());
    let text = fs::read_to_string(&unit).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let bpf: Vec<&str> = lines.filter(|line| line.to_lowercase().contains("bpf")).collect();
    assert!(bpf.is_empty() && !text.contains("ExecStartPre"), "{bpf:?}");
    for line in ["AmbientCapabilities=CAP_NET_ADMIN", "User=sounding", "Type=notify"] {
        assert!(text.lines().any(|one| one == line), "{line}: {text}");
    }
    let Some(verified) = systemd_analyze(&["verify", "--man=no"], &unit) else { return };
    let said = said(&verified);
    let own: Vec<&str> = said.lines().filter(|line| line.contains("sounding@")).collect();
    assert!(own.is_empty(), "{said}");
}
