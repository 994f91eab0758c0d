//! A recording's loss when something goes wrong in its middle: at most the last 100 ms, and no
//! whole frame before that.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::fs::File;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use sounding_diag::capture::{Capture, Located};
use sounding_diag::packet::Packet;
use sounding_host::Priority;
use sounding_testbed::radio::RadioLink;
use sounding_testdata::{may_emulate, steadily};

/// The largest permitted loss.
const LOSS: Duration = Duration::from_millis(100);

/// Time limit of a step. On an idle machine every step takes less than a second.
const PATIENCE: Duration = Duration::from_secs(60);

/// The number of times at which a recording is interrupted.
const POINTS: u64 = 30;

/// A recorder, and a modem that is this test: what it has sent, and when, is known to the byte.
struct Rig {
    folder: tempfile::TempDir,
    stream: Vec<u8>,
    /// A bridge: of all ports the one on which nothing but the recorder stands between what is
    /// sent and the file.
    modem: Option<TcpStream>,
    recorder: Child,
    /// When each stretch had been sent, and how much that was in all.
    sent: Vec<(Instant, usize)>,
}

impl Rig {
    fn new(stream: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let source = format!("tcp:{}", listener.local_addr().unwrap());
        let (file, said) = (folder.path().join("out.qmdl"), folder.path().join("said"));
        let recorder = record(Path::new(&source), &file, &said, &["--no-mask"]);
        let (modem, _) = listener.accept().unwrap();
        modem.set_nodelay(true).unwrap();
        let rig = Self {
            folder,
            stream: stream.to_vec(),
            modem: Some(modem),
            recorder,
            sent: Vec::new(),
        };
        wait_for("the recorder", || rig.file().exists());
        rig
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("out.qmdl")
    }

    /// Sends stretches that end anywhere for this long, 40 bytes per millisecond.
    fn send_for(&mut self, span: Duration) {
        let begin = Instant::now();
        let modem = self.modem.as_mut().unwrap();
        while begin.elapsed() < span {
            let from = self.sent.last().map_or(0, |(_, end)| *end);
            let to = (from + 37 + self.sent.len() % 7).min(self.stream.len());
            modem.write_all(&self.stream[from..to]).unwrap();
            self.sent.push((Instant::now(), to));
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The file is what had been sent, byte for byte, up to some moment; how much that is.
    fn kept(&self) -> usize {
        let file = std::fs::read(self.file()).unwrap();
        assert!(self.stream.starts_with(&file), "{} bytes are not what was sent", file.len());
        file.len()
    }

    /// The number of bytes that had been sent at this time.
    fn sent_by(&self, moment: Instant) -> usize {
        let sent = self.sent.iter().take_while(|(at, _)| *at <= moment).last();
        sent.map_or(0, |(_, sent)| *sent)
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let _ = self.recorder.kill();
        let _ = self.recorder.wait();
    }
}

fn record(source: &Path, file: &Path, said: &Path, flags: &[&str]) -> Child {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
    command.arg("record").arg(source).arg(file).args(flags);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(File::create(said).unwrap());
    // Before others, where that is permitted: what a busy machine keeps from it is not what it
    // loses. SAFETY: a system call, which concerns the child alone.
    unsafe {
        command.pre_exec(|| {
            let _ = Priority::RoundRobin(1).take();
            Ok(())
        });
    }
    command.spawn().unwrap()
}

fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "{what} does not happen");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn end(child: &mut Child, signal: i32) -> ExitStatus {
    // SAFETY: the child has not been waited for, so the id is its own.
    assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
    child.wait().unwrap()
}

fn logs(bytes: &[u8]) -> Vec<Vec<u8>> {
    let Ok(mut capture) = Capture::new(bytes) else { return Vec::new() };
    let mut records = Vec::new();
    while let Some(found) = capture.poll_packet() {
        if let Ok(Located { packet: Packet::Log(log), .. }) = found {
            records.push([&log.code.number().to_le_bytes()[..], log.body].concat());
        }
    }
    records
}

fn stream() -> Vec<u8> {
    RadioLink::generated(13, Duration::from_secs(20)).unwrap().capture
}

/// Moments that are spread over 300 ms and over what a recorder may be doing just then.
fn moments() -> impl Iterator<Item = Duration> {
    (0..POINTS).map(|point| Duration::from_micros(5_000 + point * 9_973))
}

#[test]
fn a_recorder_killed_at_any_moment_has_lost_the_last_one_at_most() {
    let stream = stream();
    for moment in moments() {
        steadily(|| {
            let mut rig = Rig::new(&stream);
            rig.send_for(moment);
            let killed = Instant::now();
            end(&mut rig.recorder, libc::SIGKILL);
            let (kept, owed) = (rig.kept(), rig.sent_by(killed - LOSS));
            assert!(kept >= owed, "{kept} bytes of the {owed} sent {LOSS:?} before");
        });
    }
}

#[test]
fn a_modem_gone_at_any_moment_leaves_everything_that_it_had_sent() {
    let stream = stream();
    for moment in moments() {
        let mut rig = Rig::new(&stream);
        rig.send_for(moment);
        rig.modem = None;
        let said = rig.folder.path().join("said");
        wait_for("the end of the port", || {
            std::fs::read_to_string(&said).unwrap().contains("waiting for it")
        });
        assert!(end(&mut rig.recorder, libc::SIGINT).success());
        assert_eq!(rig.kept(), rig.sent_by(Instant::now()));
    }
}

#[test]
fn a_file_system_that_is_full_ends_a_recording_with_an_error_and_a_readable_file() {
    if !may_emulate() {
        return;
    }
    // File systems belong to a namespace, and that to a thread and what it starts.
    let thread = std::thread::spawn(|| {
        let folder = tempfile::tempdir().unwrap();
        unshare(CloneFlags::CLONE_NEWNS).unwrap();
        let nothing = None::<&str>;
        mount(nothing, "/", nothing, MsFlags::MS_REC | MsFlags::MS_PRIVATE, nothing).unwrap();
        let full = folder.path().join("full");
        std::fs::create_dir(&full).unwrap();
        let size = Some("size=32k");
        mount(Some("tmpfs"), &full, Some("tmpfs"), MsFlags::empty(), size).unwrap();
        let stream = stream();
        let capture = folder.path().join("capture.fifo");
        nix::unistd::mkfifo(&capture, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let file = full.join("out.qmdl");
        let said = folder.path().join("said");
        let mut recorder = record(&capture, &file, &said, &[]);
        // A recorder that ends breaks the pipe.
        let _ = std::fs::write(&capture, &stream);
        assert_eq!(recorder.wait().unwrap().code(), Some(1));
        let said = std::fs::read_to_string(said).unwrap();
        (std::fs::read(&file).unwrap(), stream, said)
    });
    let (file, stream, said) = thread.join().unwrap();
    assert!(file.len() > 8_000 && stream.starts_with(&file), "{} bytes: {said}", file.len());
    assert_eq!(file.last(), Some(&0x7E), "a whole frame is the last");
    assert!(logs(&file).len() > 10);
    let said = said.replace('│', "").split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["out.qmdl", "No space left on device", "the recording ends here", "make room"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}
