//! The rate feed: a daemon without rights, a simulated modem on a pty, and readers.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use sounding_feed::{Line, Reader};
use sounding_host::monotonic_now;
use sounding_modem::{Pty, Replay, ReplaySchedule};
use sounding_testbed::radio::RadioLink;
use sounding_testdata::{Running, as_stranger};

const NAME: &str = "wan";

/// A daemon whose only output is the feed.
struct Rig {
    folder: tempfile::TempDir,
    pty: Option<Pty>,
    daemon: Running,
}

impl Rig {
    fn new(flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let pty = Pty::create(Some(&folder.path().join("modem"))).unwrap();
        let child = Self::command(&folder)
            .args(["run", "--json", "--law", "none"])
            .arg("--device")
            .arg(folder.path().join("modem"))
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn();
        let mut daemon = Running(child.unwrap());
        let stdout = daemon.0.stdout.take().unwrap();
        let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
        assert!(lines.any(|line| line.contains("\"ready\"")), "it is never ready");
        std::thread::spawn(move || lines.for_each(drop));
        Self { folder, pty: Some(pty), daemon }
    }

    fn command(folder: &tempfile::TempDir) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
        command.env("SOUNDING_BOARD_DIR", folder.path().join("run"));
        command.env("SOUNDING_RUN_DIR", folder.path().join("notes"));
        command
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("run").join(format!("{NAME}.rate"))
    }

    fn lines(&self, count: usize) -> Vec<Line> {
        Reader::open(&self.socket()).unwrap().take(count).map(Result::unwrap).collect()
    }

    /// Plays a link's records while something else goes on.
    fn play<T: Send>(&mut self, link: &RadioLink, meanwhile: impl FnOnce(&Self) -> T + Send) -> T {
        let schedule = ReplaySchedule::of(&link.capture);
        let pty = self.pty.take().unwrap();
        let mut replay = Replay::new(&link.capture, schedule, pty, 1.0);
        let found = std::thread::scope(|scope| {
            let rig = &*self;
            let other = scope.spawn(|| meanwhile(rig));
            replay.run(monotonic_now(), &AtomicBool::new(false), |_| {}).unwrap();
            other.join().unwrap()
        });
        self.pty = Some(replay.into_pty());
        found
    }

    fn watch(&self, flags: &[&str]) -> Output {
        Self::command(&self.folder).arg("watch").args(flags).output().unwrap()
    }
}

/// Those of a direction.
fn of<'a>(lines: &'a [Line], direction: &str) -> Vec<&'a Line> {
    lines.iter().filter(|line| line.direction == direction).collect()
}

#[test]
fn a_feed_has_rates_while_records_come_and_none_after_the_modem_fell_silent() {
    let mut rig = Rig::new(&["--feed", NAME]);
    let before = rig.lines(10);
    assert!(before.iter().all(|line| line.rate_bits_per_sec.is_none()), "{before:?}");
    let link = RadioLink::generated(5, Duration::from_secs(3)).unwrap();
    let played = rig.play(&link, |rig| {
        let mut lines = Vec::new();
        let until = Instant::now() + Duration::from_secs(3);
        for line in Reader::open(&rig.socket()).unwrap() {
            lines.push(line.unwrap());
            if Instant::now() > until {
                break;
            }
        }
        lines
    });
    for direction in ["uplink", "downlink"] {
        let lines = of(&played, direction);
        let numbers: Vec<u64> = lines.iter().map(|line| line.number).collect();
        assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "{numbers:?}");
        let gaps = lines.windows(2).map(|pair| pair[1].made_at_ns - pair[0].made_at_ns);
        assert!(gaps.min() >= Some(20_000_000), "no line comes sooner");
    }
    assert!(played.iter().all(|line| line.delays.is_none()), "the section asks for none");
    let known = |line: &&Line| line.rate_bits_per_sec.is_some() && line.bound.is_some();
    let rates = played.iter().filter(known).count();
    assert!(rates > 20, "{rates} of {}", played.len());
    let advised = played.iter().filter(|line| line.advice_bits_per_sec.is_some()).count();
    assert!(advised >= rates, "{advised}");
    // 200 ms after the last record nothing is valid.
    std::thread::sleep(Duration::from_millis(400));
    let after = rig.lines(4);
    for line in &after {
        assert_eq!((line.rate_bits_per_sec, line.advice_bits_per_sec), (None, None), "{line:?}");
        assert_eq!(line.state.as_deref(), Some("stale"), "{line:?}");
    }
    rig.daemon.0.kill().unwrap();
    rig.daemon.0.wait().unwrap();
    // The socket of a daemon that was killed is taken over.
    let again = Rig::command(&rig.folder)
        .args(["run", "--law", "none", "--feed", NAME, "--device"])
        .arg(rig.folder.path().join("modem"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let _again = Running(again.unwrap());
    let until = Instant::now() + Duration::from_secs(20);
    while Reader::open(&rig.socket()).is_err() {
        assert!(Instant::now() < until, "the next daemon has no feed");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn lines_have_the_radio_s_delays_where_the_section_asks_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("modem.toml");
    fs::write(&file, format!("[feed]\nname = '{NAME}'\ndelays = true\n")).unwrap();
    let mut rig = Rig::new(&["--config", &file.display().to_string()]);
    let link = RadioLink::cell(Some(5), Duration::from_secs(2)).unwrap();
    let played = rig.play(&link, |rig| {
        let until = Instant::now() + Duration::from_secs(4);
        let lines = Reader::open(&rig.socket()).unwrap().map(Result::unwrap);
        lines.take_while(|_| Instant::now() < until).collect::<Vec<_>>()
    });
    for direction in ["uplink", "downlink"] {
        let lines = of(&played, direction);
        let delays: Vec<_> = lines.iter().filter_map(|line| line.delays.as_ref()).collect();
        let count: usize = delays.iter().map(|delays| delays.events.len()).sum();
        assert!(count > 10, "{direction}: {count}");
        // No event is missed.
        for pair in delays.windows(2) {
            assert_eq!(pair[0].first + pair[0].events.len() as u64, pair[1].first);
        }
        for event in delays.iter().flat_map(|delays| &delays.events) {
            assert!(event.amount_ns <= event.to_ns - event.from_ns, "{event:?}");
            assert!(["harq", "rlc", "scheduling"].contains(&event.kind.as_str()), "{event:?}");
            assert!(direction == "uplink" || event.kind != "scheduling", "{event:?}");
        }
    }
}

#[test]
fn a_hundred_readers_lose_no_line_beside_one_that_never_reads() {
    let rig = Rig::new(&["--feed", NAME]);
    let _deaf = UnixStream::connect(rig.socket()).unwrap();
    let lost: u64 = std::thread::scope(|scope| {
        let read = || {
            let mut last = [0; 2];
            let mut lost = 0;
            for line in Reader::open(&rig.socket()).unwrap().take(60).map(Result::unwrap) {
                let last = &mut last[usize::from(line.direction == "uplink")];
                lost += if *last == 0 { 0 } else { line.number - *last - 1 };
                *last = line.number;
            }
            lost
        };
        let readers: Vec<_> = (0..100).map(|_| scope.spawn(read)).collect();
        readers.into_iter().map(|reader| reader.join().unwrap()).sum()
    });
    assert_eq!(lost, 0);
}

#[test]
fn another_user_reads_it_only_by_its_mode() {
    let rig = Rig::new(&["--feed", NAME]);
    for folder in [rig.folder.path().to_owned(), rig.folder.path().join("run")] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mode = fs::metadata(rig.socket()).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o660);
    let socket = rig.socket();
    if let Some(error) = as_stranger(move || UnixStream::connect(socket).err()) {
        let kind = error.map(|error| error.kind());
        assert_eq!(kind, Some(std::io::ErrorKind::PermissionDenied));
    }
}

#[test]
fn watch_prints_lines_and_says_what_is_wrong() {
    let rig = Rig::new(&["--feed", NAME]);
    let child = Rig::command(&rig.folder)
        .args(["watch", NAME, "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut watch = Running(child);
    let stdout = BufReader::new(watch.0.stdout.take().unwrap());
    let lines: Vec<String> = stdout.lines().map_while(Result::ok).take(4).collect();
    let lines: Vec<Line> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().all(|line| line.modem == "modem" && line.way().is_some()));
    drop(watch);
    let absent = rig.watch(&["elsewhere"]);
    let said = String::from_utf8_lossy(&absent.stderr).into_owned();
    assert!(!absent.status.success() && said.contains("elsewhere.rate"), "{said}");
    assert!(said.contains("sounding run --feed"), "{said}");
    // A second daemon of the name is refused, and the first goes on.
    let second = Rig::command(&rig.folder)
        .args(["run", "--law", "none", "--feed", NAME, "--device", "/dev/ptmx"])
        .output()
        .unwrap();
    assert!(!second.status.success());
    assert_eq!(rig.lines(2).len(), 2);
}

#[test]
fn the_file_names_what_is_wrong_with_a_feed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("modem.toml");
    for (section, why) in [
        ("name = \"wan\"\nmode = \"999\"", "feed.mode"),
        ("name = \"wan\"\nmode = \"10000\"", "feed.mode"),
        ("name = \"wan\"\ngroup = \"no such group\"", "feed.group"),
        ("name = \"../wan\"", "feed.name"),
        ("names = 1", "unknown field"),
    ] {
        let text = format!(
            "[modem]\ndevice = \"/dev/ttyUSB0\"\n[cc]\nlaw = \"none\"\n[feed]\n{section}\n"
        );
        fs::write(&file, text).unwrap();
        let output = Rig::command(&folder)
            .args(["run", "--check-config", "--config"])
            .arg(&file)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(why), "{why}: {said}");
    }
}
