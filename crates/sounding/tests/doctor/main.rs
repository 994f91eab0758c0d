//! `sounding doctor` with a modem: the ports that it asks, its advice, and the records that come.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod listen;
mod modem;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value as Json;
use sounding_testdata::Running;

fn program() -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
    command.stdin(Stdio::null());
    command
}

/// A folder of ports, one of them the Diag port of a simulated modem.
struct Rig {
    folder: tempfile::TempDir,
    _modem: Option<Running>,
}

impl Rig {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), _modem: None }
    }

    /// With a modem that sends this capture at this port.
    fn with_modem(capture: &[u8], port: &str) -> Self {
        let mut rig = Self::new();
        std::fs::write(rig.path("capture.qmdl"), capture).unwrap();
        let mut modem = program()
            .args(["modem", "sim", "capture.qmdl", "--link", port])
            .current_dir(rig.folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(modem.stdout.take().unwrap()).read_line(&mut line).unwrap();
        rig._modem = Some(Running(modem));
        rig
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn doctor(&self, flags: &[&str]) -> Output {
        let mut command = program();
        command.args(["doctor", "--ports"]).arg(self.folder.path()).args(flags);
        command.env("SOUNDING_RUN_DIR", self.path("run"));
        command.output().unwrap()
    }

    /// The checks of one area.
    fn checks(&self, area: &str, flags: &[&str]) -> Vec<Json> {
        let output = self.doctor(&[&["--json"][..], flags].concat());
        let said = String::from_utf8(output.stdout).unwrap();
        let checks = said.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
        checks.filter(|check| check["area"] == area).collect()
    }
}

fn named<'a>(checks: &'a [Json], name: &str) -> &'a Json {
    let found = checks.iter().find(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("no check {name}: {checks:#?}"))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
