//! The command lines of mahimahi's manual, as docs/guide/mahimahi.md lists them: each runs as it
//! stands there, and the test looks at its effect.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sounding_modem::Pty;
use sounding_testdata::{STRANGER, may_emulate};

use crate::program;

const TRACES: &str = "/usr/share/mahimahi/traces/";

/// Asks for echoes, as ping does, without a second between them. `-i` is in milliseconds, and
/// `-s` the size of an IP packet.
const PING: &str = "\
#!/usr/bin/env python3
import select, socket, struct, sys, time
words, target = sys.argv[1:], None
count, every, size = 10, 2, 84
while words:
    word = words.pop(0)
    if word == '-c': count = int(words.pop(0))
    elif word == '-i': every = float(words.pop(0))
    elif word == '-s': size = int(words.pop(0))
    elif word != '-n': target = word
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
begun, sent, got = time.monotonic(), {}, 0
last = begun
while True:
    now = time.monotonic()
    if len(sent) < count and now >= begun + len(sent) * every / 1000:
        n = len(sent)
        body = struct.pack('!BBHHH', 8, 0, 0, 0, n) + bytes(size - 28)
        total = sum(struct.unpack('!%dH' % (len(body) // 2), body))
        total = (total >> 16) + (total & 0xffff)
        total += total >> 16
        s.sendto(body[:2] + struct.pack('!H', ~total & 0xffff) + body[4:], (target, 0))
        sent[n] = last = now
    due = begun + len(sent) * every / 1000 if len(sent) < count else last + 0.35
    if select.select([s], [], [], max(0, due - time.monotonic()))[0]:
        answer = s.recv(2000)
        n = struct.unpack('!H', answer[6:8])[0]
        got += 1
        last = time.monotonic()
        print('answer', n, (last - sent[n]) * 1000, (last - begun) * 1000)
    elif len(sent) == count and time.monotonic() >= last + 0.35:
        break
    if got == count:
        break
print('sent', len(sent), 'received', got)
";

/// What became of a line.
struct Run {
    line: String,
    folder: PathBuf,
    stdout: String,
    stderr: String,
}

impl Run {
    /// Numbers of the answered packets, with their round trips and times in milliseconds.
    fn answers(&self) -> Vec<(u64, f64, f64)> {
        let words = self.stdout.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let answers = words.filter(|words| words[0] == "answer");
        let mut answers: Vec<_> = answers
            .map(|words| {
                (words[1].parse().unwrap(), words[2].parse().unwrap(), words[3].parse().unwrap())
            })
            .collect();
        answers.sort_by_key(|(number, ..)| *number);
        answers
    }

    fn numbers(&self) -> Vec<u64> {
        self.answers().iter().map(|(number, ..)| *number).collect()
    }

    /// Arrived, delivered and dropped packets of a direction, of the innermost link first.
    fn counts(&self, way: &str) -> Vec<[u64; 3]> {
        let words = self.stderr.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let lines = words.filter(|words| words.len() > 4 && words[0] == way);
        lines.map(|words| [1, 2, 3].map(|at| words[at].parse().unwrap())).collect()
    }

    fn dropped(&self, way: &str) -> u64 {
        self.counts(way).iter().map(|[_, _, dropped]| dropped).sum()
    }

    /// The lines of a log with this mark: milliseconds and bytes.
    fn log(&self, name: &str, mark: &str) -> Vec<(u64, u64)> {
        let text = std::fs::read_to_string(self.folder.join(name)).unwrap();
        let words = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let marked = words.filter(|words| words[0] != "#" && words[1] == mark);
        marked.map(|words| (words[0].parse().unwrap(), words[2].parse().unwrap())).collect()
    }

    #[track_caller]
    fn check(&self, holds: bool, what: &str) {
        assert!(holds, "{}\n{what}\n{}\n{}", self.line, self.stdout, self.stderr);
    }

    #[track_caller]
    fn received_all(&self, count: u64) {
        self.check(self.stdout.contains(&format!("sent {count} received {count}\n")), "all come");
    }

    /// Losses in one direction alone, of some packets.
    #[track_caller]
    fn loses_some(&self, lossy: &str, other: &str, sent: u64) {
        let lost = self.dropped(lossy);
        self.check(lost > 0 && lost < sent, "some are lost");
        self.check(self.dropped(other) == 0, "none is lost in the other direction");
        self.check(self.answers().len() as u64 == sent - lost, "the others are answered");
    }

    /// The longest run of packets without an answer.
    fn longest_gap(&self, sent: u64) -> u64 {
        let numbers = self.numbers();
        let (mut longest, mut next) = (0, 0);
        for number in numbers.into_iter().chain([sent]) {
            longest = longest.max(number - next);
            next = number + 1;
        }
        longest
    }

    #[track_caller]
    fn loses_in_outages(&self, lossy: &str, other: &str, sent: u64, shortest: u64) {
        self.loses_some(lossy, other, sent);
        self.check(self.longest_gap(sent) >= shortest, "the losses are in outages");
    }

    #[track_caller]
    fn no_earlier_than(&self, millis: f64) {
        let early = self.answers().iter().find(|(_, trip, _)| *trip < millis).copied();
        self.check(early.is_none(), &format!("no round trip is below {millis} ms: {early:?}"));
    }

    #[track_caller]
    fn within_its_trace(&self, log: &str) {
        let (opportunities, departures) = (self.log(log, "#"), self.log(log, "-"));
        self.check(self.log(log, "+").len() == departures.len(), "all that came is delivered");
        self.check(departures.len() >= 20, "there are departures");
        for (at, _) in &departures {
            let until = |lines: &[(u64, u64)]| -> u64 {
                lines.iter().filter(|(time, _)| time <= at).map(|(_, bytes)| bytes).sum()
            };
            self.check(until(&departures) <= until(&opportunities), "no more than its trace");
        }
    }

    #[track_caller]
    fn has_title(&self) {
        let has = |text: &str| self.stderr.contains(text);
        self.check(has("\x1b]0;up ") && has(" Mbit/s"), "the title shows rates");
        self.check(has("\x1b[22;0t") && has("\x1b[23;0t"), "the title is restored");
    }
}

/// The input of a shell, and the checks of its run. A line with a command of its own has no
/// input.
type Case = (&'static str, fn(&Run));

const PROBE: &str = "ping -c 20 -n $MAHIMAHI_BASE";
const LONG_PROBE: &str = "ping -c 200 -n $MAHIMAHI_BASE";
/// Larger than a link at 12 Mbit/s carries.
const FLOOD: &str = "ping -c 300 -i 0 -s 1500 -n $MAHIMAHI_BASE";

/// A line with its case.
type Row = (&'static str, &'static str, fn(&Run));

fn cases() -> BTreeMap<&'static str, Case> {
    let cases: [Row; 20] = [
        ("mm-delay 50", PROBE, |run| {
            run.received_all(20);
            run.no_earlier_than(100.0);
        }),
        ("mm-delay 50 mm-loss uplink 0.2", LONG_PROBE, |run| {
            run.loses_some("up", "down", 200);
            run.no_earlier_than(100.0);
            // 40 of 200, within four standard deviations.
            run.check((17..=63).contains(&run.dropped("up")), "a fifth is lost");
        }),
        ("mm-delay 50 mm-loss uplink 0.2 sh -c 'ping -c 10 -n $MAHIMAHI_BASE'", "", |run| {
            run.no_earlier_than(100.0);
            let lost = run.dropped("up");
            run.check(run.stdout.ends_with(&format!("received {}\n", 10 - lost)), "ping ran");
        }),
        ("mm-loss downlink 0.5", LONG_PROBE, |run| {
            run.loses_some("down", "up", 200);
            run.check((72..=128).contains(&run.dropped("down")), "half are lost");
        }),
        ("mm-loss uplink 1", PROBE, |run| {
            run.check(run.stdout.ends_with("sent 20 received 0\n"), "none comes");
            run.check(run.dropped("up") == 20, "all are lost");
        }),
        ("mm-intermittent uplink 0.1 0.1", LONG_PROBE, |run| {
            run.loses_in_outages("up", "down", 200, 20);
        }),
        ("mm-intermittent downlink 0.1 0.1", LONG_PROBE, |run| {
            run.loses_in_outages("down", "up", 200, 20);
        }),
        ("mm-onoff uplink 0.05 0.05", LONG_PROBE, |run| {
            run.loses_in_outages("up", "down", 200, 5);
        }),
        ("mm-onoff downlink 0.05 0.05", LONG_PROBE, |run| {
            run.loses_in_outages("down", "up", 200, 5);
        }),
        ("mm-link 12Mbps_trace 12Mbps_trace", "ping -c 50 -i 0 -s 1500 -n $MAHIMAHI_BASE", |run| {
            run.received_all(50);
            // One packet a millisecond, and the first may meet an opportunity at once.
            let last = run.answers().iter().map(|(_, _, at)| *at).fold(0.0, f64::max);
            run.check(last >= 48.0, "fifty packets take fifty opportunities");
        }),
        ("mm-link --uplink-log=up.log 12Mbps_trace 12Mbps_trace", PROBE, |run| {
            run.within_its_trace("up.log");
        }),
        ("mm-link --downlink-log=down.log 12Mbps_trace 12Mbps_trace", PROBE, |run| {
            run.within_its_trace("down.log");
        }),
        ("mm-link --once 12Mbps_trace 12Mbps_trace", "echo begun; sleep 100; echo late", |run| {
            run.check(run.stdout == "begun\n", "the command ends with the trace");
        }),
        (
            "mm-link --uplink-queue=droptail --uplink-queue-args=\"packets=5\" 12Mbps_trace 12Mbps_trace",
            "ping -c 50 -i 0 -s 1500 -n $MAHIMAHI_BASE",
            |run| {
                run.loses_some("up", "down", 50);
                // The first that come find room, and the last do not.
                run.check(run.numbers().starts_with(&[0, 1, 2, 3, 4]), "the tail is dropped");
            },
        ),
        (
            "mm-link --downlink-queue=drophead --downlink-queue-args=\"bytes=9000\" 12Mbps_trace 1Mbps_trace",
            "ping -c 50 -i 0 -s 1500 -n $MAHIMAHI_BASE",
            |run| {
                run.loses_some("down", "up", 50);
                run.check(run.numbers().ends_with(&[47, 48, 49]), "the head is dropped");
            },
        ),
        (
            "mm-link --uplink-queue=codel --uplink-queue-args=\"target=50, interval=100\" 12Mbps_trace 12Mbps_trace",
            FLOOD,
            |run| {
                run.loses_some("up", "down", 300);
                // The queue is above the target from 50 ms on, and an interval later it drops. At
                // 250 ms it holds less than the target.
                run.check((1..=20).contains(&run.dropped("up")), "a few are dropped");
                let numbers = run.numbers();
                run.check(numbers[..100] == (0..100).collect::<Vec<_>>(), "not at first");
            },
        ),
        (
            "mm-link --uplink-queue=pie --uplink-queue-args=\"qdelay_ref=20, max_burst=75\" 12Mbps_trace 12Mbps_trace",
            "ping -c 900 -i 0.5 -s 1500 -n $MAHIMAHI_BASE",
            |run| {
                let lost = run.dropped("up");
                run.check(lost > 10 && run.dropped("down") == 0, "PIE drops in the uplink");
                let numbers = run.numbers();
                run.check(numbers[..70] == (0..70).collect::<Vec<_>>(), "a burst is spared");
            },
        ),
        (
            "mm-delay 20 mm-link --meter-all /usr/share/mahimahi/traces/Verizon-LTE-short.up /usr/share/mahimahi/traces/Verizon-LTE-short.down",
            LONG_PROBE,
            |run| {
                run.received_all(200);
                run.no_earlier_than(40.0);
                run.has_title();
            },
        ),
        ("mm-meter --meter-uplink --meter-downlink", LONG_PROBE, |run| {
            run.received_all(200);
            run.has_title();
        }),
        ("mm-link <(echo 1) <(echo 1) -- sh -c 'ping -c 3 -n $MAHIMAHI_BASE'", "", |run| {
            run.received_all(3);
        }),
    ];
    cases.into_iter().map(|(line, told, check)| (line, (told, check))).collect()
}

/// The lines in the table of the page.
fn documented() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/mahimahi.md");
    let page = std::fs::read_to_string(path).unwrap();
    let cells = page.lines().filter_map(|line| line.strip_prefix("| `mm-"));
    cells.map(|cell| format!("mm-{}", cell.split_once('`').unwrap().0)).collect()
}

/// A folder with mahimahi's names, its traces and a ping.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mode = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(folder.path(), mode(0o777)).unwrap();
    for name in ["link", "delay", "loss", "onoff", "intermittent", "meter"] {
        symlink(program(), folder.path().join(format!("mm-{name}"))).unwrap();
    }
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let trace: String = (1..=400).map(|millis| format!("{millis}\n")).collect();
    for name in ["12Mbps_trace", "Verizon-LTE-short.up", "Verizon-LTE-short.down"] {
        write(name, &trace);
    }
    write("1Mbps_trace", "12\n");
    write("ping", PING);
    std::fs::set_permissions(folder.path().join("ping"), mode(0o755)).unwrap();
    folder
}

/// Runs a line, and tells its shell this. Its standard error is a terminal, as that of a person.
fn run(line: &str, told: &str) -> Run {
    let folder = folder();
    let mut terminal = Pty::create(None).unwrap();
    let end = std::fs::File::options().write(true).open(terminal.path()).unwrap();
    let mut command = Command::new("bash");
    let paths = std::env::var("PATH").unwrap();
    command.args(["-c", &line.replace(TRACES, "")]).current_dir(folder.path());
    command.env("PATH", format!("{}:{paths}", folder.path().display()));
    command.env("SUDO_UID", STRANGER.to_string()).env("SUDO_GID", STRANGER.to_string());
    command.env_remove("MAHIMAHI_BASE").env_remove("SOUNDING_FAR");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(end);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut input = child.stdin.take().unwrap();
    input.write_all(format!("{told}\n").as_bytes()).unwrap();
    drop(input);
    let mut output = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut output, &mut text).unwrap();
        text
    });
    let (mut stderr, mut bytes) = (Vec::new(), [0; 4096]);
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let has_ended = child.try_wait().unwrap().is_some();
        let count = terminal.read(&mut bytes).unwrap_or(0);
        stderr.extend_from_slice(&bytes[..count]);
        if has_ended && count == 0 {
            break;
        }
        if count == 0 {
            assert!(Instant::now() < until, "{line}: {}", String::from_utf8_lossy(&stderr));
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let stdout = reader.join().unwrap();
    let stderr = String::from_utf8_lossy(&stderr).into_owned();
    Run { line: line.to_owned(), folder: folder.keep(), stdout, stderr }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn every_line_of_mahimahis_manual_has_the_effect_that_the_guide_names() {
    if !may_emulate() {
        return;
    }
    let (lines, cases) = (documented(), cases());
    assert_eq!(lines.len(), 20, "{lines:?}");
    assert_eq!(cases.len(), 20, "a line stands twice");
    for line in &lines {
        let (told, check) = cases.get(line.as_str()).unwrap_or_else(|| {
            panic!("docs/guide/mahimahi.md has a line that nothing looks at: {line}")
        });
        check(&run(line, told));
    }
}
