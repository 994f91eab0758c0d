//! Sniffers that are read while they write: a modelled cell's control channel beside its modem, to
//! a log or over UDP.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod strangers;

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use sounding_bpf::OwnCgroup;
use sounding_host::monotonic_now;
use sounding_testbed::daemon::Daemon;
use sounding_testdata::{may_emulate, steadily};
use sounding_trace::dci::{Dci, Direction, Format, Heard, Moment, Reader, Remote};

const PROGRAM: &str = env!("CARGO_BIN_EXE_sounding");

/// A phone that is sent all that goes in, and another that is sent some of it.
const PLAN: &str = r#"
duration = "6s"
seeds = 1

[cell]
carriers = [{ prb = 50 }]
sniffer = true

[[cell.devices]]
name = "phone"
modem = {}
channel = { kind = "script", levels = [{ at_s = 0.0, sinr_db = 18.0 }] }

[[cell.devices]]
name = "other"
channel = { kind = "script", levels = [{ at_s = 0.0, sinr_db = 18.0 }] }
traffic = { kind = "on-off", bits_per_sec = 6e6, on = "60s", off = "1s" }

[[flows]]
name = "download"
device = "phone"
direction = "down"
controller = "cubic"
"#;

/// A process that is ended with the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A phone in a cell: what its modem logs and a sniffer writes.
struct Cell {
    folder: tempfile::TempDir,
    /// What was sent in each subframe.
    subframes: Vec<(Moment, Vec<Dci>)>,
}

impl Cell {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        fs::write(place("plan.toml"), PLAN).unwrap();
        let mut sim = Command::new(PROGRAM);
        sim.arg("sim").arg(place("plan.toml")).arg("--out").arg(place("out")).arg("--captures");
        assert!(sim.output().unwrap().status.success());
        let log = fs::read(place("out/run-0001/carrier-0-down.dciLog")).unwrap();
        let mut subframes: Vec<(Moment, Vec<Dci>)> = Vec::new();
        for heard in Reader::new(Format::DciLog(Direction::Downlink), 0, &log) {
            let heard = heard.unwrap();
            let (Heard::Nothing(moment) | Heard::Dci(Dci { moment, .. })) = heard;
            if subframes.last().is_none_or(|(last, _)| *last != moment) {
                subframes.push((moment, Vec::new()));
            }
            if let Heard::Dci(dci) = heard {
                subframes.last_mut().unwrap().1.push(dci);
            }
        }
        Self { folder, subframes }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Its modem, on a port.
    fn modem(&self) -> (Ended, PathBuf) {
        let port = self.path("modem");
        // One that was ended before has left its link.
        let _ = fs::remove_file(&port);
        let mut command = Command::new(PROGRAM);
        command
            .args(["modem", "sim"])
            .arg(self.path("out/run-0001/phone.qmdl"))
            .arg("--link")
            .arg(&port);
        let mut modem =
            Ended(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
        let mut ready = String::new();
        BufReader::new(modem.0.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        (modem, port)
    }

    /// Sends what was sent between two moments of the cell, as fast as it was.
    fn send(&self, from: Duration, to: Duration, mut each: impl FnMut(Moment, &[Dci])) {
        let began = Instant::now();
        let first = self.subframes[0].0.time;
        for (moment, sent) in &self.subframes {
            let at = moment.time - first;
            if at < from {
                continue;
            }
            if at >= to {
                return;
            }
            if let Some(early) = (at - from).checked_sub(began.elapsed()) {
                thread::sleep(early);
            }
            each(*moment, sent);
        }
    }
}

fn write(log: &mut File, moment: Moment, sent: &[Dci]) {
    let mut text = String::new();
    let format = Format::DciLog(Direction::Downlink);
    if sent.is_empty() {
        format.write(&Heard::Nothing(moment), &mut text);
    }
    sent.iter().for_each(|dci| _ = format.write(&Heard::Dci(*dci), &mut text));
    log.write_all(text.as_bytes()).unwrap();
}

fn skipped() -> bool {
    let kernel = sounding_bpf::preflight("biscay_sn").into_iter();
    let missing = kernel.chain(sounding_bpf::downlink_preflight()).find(|check| !check.ok);
    if let Some(check) = &missing {
        sounding_testdata::skip(
            sounding_testdata::Need::Kernel,
            format_args!("{}: {}", check.name, check.detail),
        );
    }
    missing.is_some()
}

fn of<'a>(events: &'a [Json], name: &'a str) -> impl Iterator<Item = &'a Json> {
    events.iter().filter(move |event| event["event"] == name)
}

fn at(event: &Json) -> Duration {
    Duration::from_nanos(event["at_ns"].as_u64().unwrap_or_else(|| panic!("{event}")))
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_device_reports_its_fair_share_only_while_its_sniffer_writes() {
    if skipped() {
        return;
    }
    let cell = Cell::new();
    steadily(|| {
        let own = OwnCgroup::enter(&format!("sounding-sn-{}", std::process::id())).unwrap();
        let (_modem, port) = cell.modem();
        let path = cell.path("live.dciLog");
        let mut log = OpenOptions::new().create(true).append(true).open(&path).unwrap();
        let (folder, sniffer) =
            (own.path().to_string_lossy().into_owned(), format!("dcilog:{}", path.display()));
        let flags = ["--method", "cell", "--sniffer", &sniffer, "--downlink", "option"];
        let flags = [&flags[..], &["--direction", "downlink", "--cgroup", &folder]].concat();
        let daemon = Daemon::start(Path::new(PROGRAM), &port, "biscay_sn", &flags).unwrap();
        log.write_all(b"no such line\n").unwrap();
        cell.send(Duration::ZERO, 2 * SECOND, |moment, sent| write(&mut log, moment, sent));
        let silent = Duration::from_nanos(monotonic_now().as_nanos());
        thread::sleep(SECOND / 2);
        // The sniffer is started again, and its log begins anew.
        log = File::create(&path).unwrap();
        cell.send(5 * SECOND / 2, 7 * SECOND / 2, |moment, sent| write(&mut log, moment, sent));
        let events = daemon.stop();

        let states: Vec<_> = of(&events, "sniffer").map(|event| event["state"].clone()).collect();
        assert!(
            states.starts_with(&["heard".into(), "silent".into(), "heard".into()]),
            "{states:?}"
        );
        let lost = of(&events, "sniffer").find(|event| event["state"] == "silent").unwrap();
        let after = at(lost).saturating_sub(silent);
        assert!(after <= Duration::from_millis(200), "said {after:?} after the last line");

        let estimates: Vec<_> = of(&events, "estimate").collect();
        let sniffed = |event: &&&Json| !event["fair_share_bits_per_sec"].is_null();
        let fair: Vec<_> = estimates.iter().filter(sniffed).collect();
        assert!(fair.len() > 100, "{} of {}", fair.len(), estimates.len());
        for event in &fair {
            assert!(event["sniffer_age_us"].as_u64() <= Some(100_000), "{event}");
            assert_eq!(event["carriers"], 1, "{event}");
        }
        // In the end the phone's own messages are known from those of the other.
        let last = fair.last().unwrap();
        assert_eq!(last["users"], 2, "{last}");
        let [rate, share] = ["rate_bits_per_sec", "fair_share_bits_per_sec"]
            .map(|name| last[name].as_f64().unwrap_or_else(|| panic!("{last}")));
        assert!((3e6..30e6).contains(&share) && rate > share / 2.0, "{last}");
        // Between the end of its validity and its return estimates are the modem's.
        let back = of(&events, "sniffer").filter(|event| event["state"] == "heard").nth(1).unwrap();
        let between = estimates.iter().filter(|event| (at(lost)..at(back)).contains(&at(event)));
        let between: Vec<_> = between.collect();
        assert!(between.len() > 20 && !between.iter().any(sniffed), "{}", between.len());
        assert!(between.iter().any(|event| event["rate_bits_per_sec"].as_f64() > Some(1e6)));

        let done = of(&events, "done").next().unwrap();
        let counts = &done["sniffers"][0];
        assert_eq!((&counts["bad"], &counts["dropped"]), (&1.into(), &0.into()), "{done}");
        assert!(counts["messages"].as_u64() > Some(1000), "{done}");
        assert_eq!(of(&events, "sniffer_bad").count(), 1);
    });
}

#[test]
fn rows_of_a_live_modem_have_the_fair_share_of_a_sniffer_over_udp() {
    let cell = Cell::new();
    steadily(|| {
        let service = UdpSocket::bind("127.0.0.1:0").unwrap();
        service.set_read_timeout(Some(20 * SECOND)).unwrap();
        let (_modem, port) = cell.modem();
        let sniffer = format!("udp:{}", service.local_addr().unwrap());
        let mut command = Command::new(PROGRAM);
        command.arg("link").arg(&port).args([
            "--direction",
            "downlink",
            "--json",
            "--method",
            "cell",
        ]);
        command.args(["--window", "40ms", "--sniffer", &sniffer]).stdout(Stdio::piped());
        let mut link = Ended(command.stderr(Stdio::null()).spawn().unwrap());
        let (_, client) = service.recv_from(&mut [0; 16]).unwrap();
        let rows = BufReader::new(link.0.stdout.take().unwrap()).lines().map_while(Result::ok);
        let reading = thread::spawn(move || {
            let rows = rows.map(|line| serde_json::from_str::<Json>(&line).unwrap());
            let known = |row: &Json| row["users"] == 2 && row["rate_bits_per_sec"].is_number();
            rows.take(60).filter(known).collect::<Vec<_>>()
        });
        service.send_to(&Remote::emit_config(&[50]), client).unwrap();
        cell.send(Duration::ZERO, 4 * SECOND, |moment, sent| {
            let _ = service.send_to(&Remote::emit_subframe(moment, sent), client);
        });
        drop(link);
        let rows = reading.join().unwrap();
        assert!(rows.len() > 5, "{rows:?}");
        for row in rows {
            assert_eq!(
                (&row["carriers"], &row["cell"]["carriers"]),
                (&1.into(), &1.into()),
                "{row}"
            );
            assert!(row["fair_share_bits_per_sec"].as_f64() > Some(3e6), "{row}");
            assert!(row["cell"]["sniffer_age_us"].as_u64() <= Some(100_000), "{row}");
        }
    });
}

#[test]
fn an_emulated_cell_has_a_sniffer_that_a_reader_of_its_modem_follows() {
    if !may_emulate() {
        return;
    }
    steadily(|| {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        let plan = PLAN.replace("modem = {}", "modem = { sniffer = true }");
        fs::write(place("plan.toml"), plan.replace("duration = \"6s\"", "duration = \"60s\""))
            .unwrap();
        let mut command = Command::new(PROGRAM);
        command.arg("emu").arg(place("plan.toml")).arg("--link").arg(place("modem"));
        command.arg("--sniffer").arg(place("cell")).arg("--as-root").args(["--", "bash", "-c"]);
        // Data for a closed port is answered.
        command
            .arg("while sleep 0.01; do echo > /dev/udp/$SOUNDING_FAR/9; done")
            .stdout(Stdio::null());
        let mut emulation = Ended(command.stderr(Stdio::piped()).spawn().unwrap());
        let mut said = BufReader::new(emulation.0.stderr.take().unwrap()).lines();
        assert!(said.any(|line| line.unwrap().starts_with("modem of phone")));
        let mut command = Command::new(PROGRAM);
        command.arg("link").arg(place("modem")).args(["--direction", "downlink", "--json"]);
        let sniffer = format!("dcilog:{}", place("cell/carrier-0-down.dciLog").display());
        command.args(["--method", "cell", "--sniffer", &sniffer]).stdout(Stdio::piped());
        let mut link = Ended(command.stderr(Stdio::null()).spawn().unwrap());
        let rows = BufReader::new(link.0.stdout.take().unwrap()).lines().map_while(Result::ok);
        let rows = rows.map(|line| serde_json::from_str::<Json>(&line).unwrap());
        let shares = |row: &Json| row["users"] == 2 && row["cell"]["idle"].as_f64() > Some(0.1);
        assert!(rows.take(100).any(|row| shares(&row)), "no row of two users");
        // SAFETY: the child has not been waited for, so the id is its own.
        assert_eq!(unsafe { libc::kill(emulation.0.id() as i32, libc::SIGINT) }, 0);
        emulation.0.wait().unwrap();
        let log = fs::read(place("cell/carrier-0-down.dciLog")).unwrap();
        let mut reader = Reader::new(Format::DciLog(Direction::Downlink), 0, &log);
        assert!(reader.by_ref().all(|line| line.is_ok()));
        assert!(reader.counts().messages > 500, "{:?}", reader.counts());
    });
}
