//! Modems that send anything, for as long as they are read, and captures with anything in them:
//! every verb reads on in little memory, and ends in order.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use sounding_diag::hdlc;
use sounding_testbed::radio::RadioLink;
use sounding_testdata::shared_files;

/// Data that a verb may have, in bytes.
const LIMIT: u64 = 200_000_000;
const PATIENCE: Duration = Duration::from_secs(300);

/// Knuth's MMIX generator.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 24
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

/// What a modem sends: some kilobytes more of it for each call.
type Stream = fn(&mut Dice) -> Vec<u8>;

fn framed(packets: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut out = Vec::new();
    packets.into_iter().for_each(|packet| hdlc::encode(&packet, &mut out));
    out
}

/// A log packet: its lengths, its code, a time and a body.
fn log(length: u16, code: u16, time: u64, body: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x10, 0];
    packet.extend(length.to_le_bytes());
    packet.extend(length.to_le_bytes());
    packet.extend(code.to_le_bytes());
    packet.extend(time.to_le_bytes());
    packet.extend(body);
    packet
}

const STREAMS: [(&str, Stream); 9] = [
    ("noise", |dice| dice.bytes(1 << 16)),
    ("a frame without an end", |_| vec![b'A'; 1 << 16]),
    ("nothing but ends of frames", |_| vec![0x7E; 1 << 16]),
    ("nothing but escapes", |_| vec![0x7D; 1 << 16]),
    ("frames of noise", |dice| {
        let packets: Vec<_> = (0..64)
            .map(|_| {
                let len = dice.below(2000);
                dice.bytes(len)
            })
            .collect();
        framed(packets)
    }),
    ("records of lengths that lie", |dice| {
        framed(
            (0..64)
                .map(|_| {
                    let len = dice.below(900);
                    log(dice.next() as u16, 0xB139, dice.next(), &dice.bytes(len))
                })
                .collect::<Vec<_>>(),
        )
    }),
    ("records of every code at every time", |dice| {
        framed(
            (0..64)
                .map(|_| {
                    let body = dice.bytes(200);
                    log(212, dice.next() as u16, dice.next() << 24 ^ dice.next(), &body)
                })
                .collect::<Vec<_>>(),
        )
    }),
    ("records of the rate at every time, of every version", |dice| {
        framed(
            (0..64)
                .map(|_| {
                    let code = [0xB139, 0xB173, 0xB064, 0xB063, 0xB0C0, 0xB887, 0xB883, 0xB821]
                        [dice.below(8)];
                    let len = dice.below(1000);
                    log(12 + len as u16, code, dice.next() << 24 ^ dice.next(), &dice.bytes(len))
                })
                .collect::<Vec<_>>(),
        )
    }),
    ("answers without a request", |dice| {
        framed(
            (0..64)
                .map(|_| {
                    let mut packet =
                        vec![[0x73, 0x7D, 0x60, 0x82, 0x7C, 0x00, 0x13, 0x4B][dice.below(8)]];
                    let len = dice.below(1000);
                    packet.extend(dice.bytes(len));
                    packet
                })
                .collect::<Vec<_>>(),
        )
    }),
];

/// A modem on a port that sends so many bytes of a stream to the first that connects, and then
/// nothing.
fn modem(stream: Stream, bytes: usize) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let source = format!("tcp:{}", listener.local_addr().unwrap());
    let serve = move |mut port: TcpStream| -> io::Result<()> {
        let mut asked = port.try_clone()?;
        std::thread::spawn(
            move || while asked.read(&mut [0; 4096]).is_ok_and(|count| count > 0) {},
        );
        let mut dice = Dice(bytes as u64);
        let mut sent = 0;
        while sent < bytes {
            let more = stream(&mut dice);
            port.write_all(&more)?;
            sent += more.len();
        }
        // All of it has been read when the other end has nothing waiting.
        while waiting(&port)? > 0 {
            sleep(Duration::from_millis(5));
        }
        sleep(Duration::from_millis(200));
        Ok(())
    };
    let thread = std::thread::spawn(move || {
        let (port, _) = listener.accept().unwrap();
        serve(port).expect("it is read to its end");
    });
    (source, thread)
}

/// Bytes that were sent and that the other end has not acknowledged.
fn waiting(port: &TcpStream) -> io::Result<i32> {
    let mut count = 0;
    // SAFETY: the request writes one number.
    let done = unsafe {
        libc::ioctl(std::os::fd::AsRawFd::as_raw_fd(port), libc::TIOCOUTQ, &raw mut count)
    };
    if done == 0 { Ok(count) } else { Err(io::Error::last_os_error()) }
}

/// The program, with little memory.
fn program(folder: &Path) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
    command
        .env("SOUNDING_RUN_DIR", folder.join("run"))
        .env("SOUNDING_BOARD_DIR", folder.join("boards"));
    // SAFETY: setrlimit is async-signal-safe.
    unsafe {
        command.pre_exec(|| {
            let data = nix::sys::resource::Resource::RLIMIT_DATA;
            Ok(nix::sys::resource::setrlimit(data, LIMIT, LIMIT)?)
        });
    }
    command
}

/// Waits for its end; what it said on standard error.
fn end_of(mut child: Child, said: &Path, what: &str) {
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begin.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{what}: it does not end");
        }
        sleep(Duration::from_millis(2));
    };
    let text = String::from_utf8_lossy(&std::fs::read(said).unwrap()).into_owned();
    assert!(!text.contains("panicked"), "{what}: {text}");
    assert!(matches!(status.code(), Some(0 | 1)), "{what}: {status:?}: {text}");
}

/// Every verb that reads a modem reads so many bytes of each stream, and ends by a signal.
fn modems_send(bytes: usize) {
    let has_kernel = sounding_bpf::preflight("hostile").iter().all(|check| check.ok);
    let name = format!("h{}", std::process::id() % 1_000_000);
    let run = ["run", "--json", "--name", &name, "--device", "MODEM"];
    let verbs = [
        &["link", "MODEM", "--bin", "10ms"][..],
        &["link", "MODEM", "--delays", "--feed", "-"],
        &["kpi", "MODEM", "--kpi", "lte.pusch.tbs,lte.cell.rsrp"],
        &["board", "MODEM", "--kpi", "all"],
        &["record", "MODEM", "drive.qmdl"],
    ];
    let verbs = verbs.into_iter().chain(has_kernel.then_some(&run[..]));
    for verb in verbs {
        for (kind, stream) in STREAMS {
            let folder = tempfile::tempdir().unwrap();
            let (source, thread) = modem(stream, bytes);
            let what = format!("{} of {kind}", verb.join(" "));
            let said = folder.path().join("said");
            let mut command = program(folder.path());
            command.args(
                verb.iter().map(|word| if *word == "MODEM" { source.as_str() } else { *word }),
            );
            let child = command.stderr(std::fs::File::create(&said).unwrap()).spawn().unwrap();
            let read = thread.join();
            let text = String::from_utf8_lossy(&std::fs::read(&said).unwrap()).into_owned();
            assert!(read.is_ok(), "{what}: {text}");
            // SAFETY: the child has not been waited for, so the id is its own.
            assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGTERM) }, 0, "{what}");
            end_of(child, &said, &what);
        }
    }
}

/// One change or some, of those that a bad disk, a cut line or an attacker makes.
fn mutate(bytes: &mut Vec<u8>, dice: &mut Dice) {
    for _ in 0..=dice.below(6) {
        let at = dice.below(bytes.len());
        let count = 1 + dice.below(300).min(bytes.len() - at - 1);
        match dice.below(7) {
            0 => bytes[at] ^= 1 << dice.below(8),
            1 => bytes[at..at + count].fill(dice.next() as u8),
            2 => drop(bytes.drain(at..at + count)),
            3 => {
                let more = bytes[at..at + count].to_vec();
                bytes.splice(at..at, more);
            }
            4 => {
                let more = dice.bytes(count);
                bytes.splice(at..at, more);
            }
            5 => {
                let number = [0, 1, 0x7F, 0x80, 0xFF][dice.below(5)];
                bytes[at..(at + 4).min(at + count)].fill(number);
            }
            _ => bytes.truncate(bytes.len() - bytes.len() / 50),
        }
        if bytes.is_empty() {
            bytes.push(0);
        }
    }
}

/// Captures to change: a generated one, and all shared ones that are small.
fn captures() -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = shared_files("captures")
        .into_iter()
        .filter(|path| std::fs::metadata(path).unwrap().len() < 400_000)
        .map(|path: PathBuf| {
            let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            (ending, std::fs::read(&path).unwrap())
        })
        .filter(|(_, bytes)| bytes.len() > 100)
        .collect();
    let generated = RadioLink::generated(5, Duration::from_secs(2)).unwrap().capture;
    all.insert(0, ("qmdl".into(), generated));
    all
}

/// So many changed captures are read by every verb that reads captures.
fn changed(count: usize, seed: u64) {
    let captures = captures();
    let mut dice = Dice(seed);
    for number in 0..count {
        let (ending, whole) = &captures[number % captures.len()];
        let mut bytes = whole.clone();
        mutate(&mut bytes, &mut dice);
        let folder = tempfile::tempdir().unwrap();
        let capture = format!("capture.{ending}");
        std::fs::write(folder.path().join(&capture), &bytes).unwrap();
        for verb in [
            &["decode", "CAPTURE"][..],
            &["link", "CAPTURE", "--bin", "100ms"],
            &["link", "CAPTURE", "--delays"],
            &["kpi", "CAPTURE", "--kpi", "lte.pusch.tbs,nr.pdsch.tbs"],
            &["convert", "CAPTURE", "lines.jsonl"],
            &["convert", "CAPTURE", "again.qmdl"],
            &["convert", "CAPTURE", "messages.pcapng"],
        ] {
            let what = format!("{} of capture {number} of seed {seed}", verb.join(" "));
            let said = folder.path().join("said");
            let mut command = program(folder.path());
            command.args(
                verb.iter().map(|word| if *word == "CAPTURE" { capture.as_str() } else { *word }),
            );
            let child = command.stderr(std::fs::File::create(&said).unwrap()).spawn().unwrap();
            end_of(child, &said, &what);
        }
    }
}

#[test]
fn modems_that_send_anything_are_read_in_little_memory() {
    modems_send(1 << 18);
}

#[test]
fn captures_with_anything_in_them_are_read_or_refused() {
    changed(21, 1);
}

mod long {
    #[test]
    #[ignore = "an hour: 100 MB of each stream"]
    fn modems_that_send_100_mb_of_anything_are_read_in_little_memory() {
        super::modems_send(100_000_000);
    }

    #[test]
    #[ignore = "minutes"]
    fn six_hundred_and_thirty_changed_captures_are_read_or_refused() {
        super::changed(630, 2);
    }
}
