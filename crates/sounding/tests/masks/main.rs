//! Masks that another program set in a modem are restored once a command that read it has ended in
//! any way.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod beside;
mod unread;
mod untold;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sounding_diag::capture::{Located, Reader};
use sounding_diag::command::{Answer, LogMask, MessageRange, Request, message_ranges};
use sounding_diag::packet::Packet;
use sounding_modem::{
    Behaviour, Place, READ_SIZE, Read, Script, Simulation, Source, Tally, Transport,
};
use sounding_testbed::radio::RadioLink;
use sounding_testdata::Running;

/// Time limit of a step. On an idle machine every step takes less than a second.
const PATIENCE: Duration = Duration::from_secs(60);

/// A simulated modem that another program has configured, and a folder for what a verb leaves
/// behind.
struct Rig {
    folder: tempfile::TempDir,
    stop: Arc<AtomicBool>,
    modem: Option<JoinHandle<Tally>>,
}

impl Rig {
    fn new() -> Self {
        let rig = Self::of(Behaviour { all_on: true, ..Behaviour::default() });
        let mut tool = rig.tool();
        // No code that the verbs ask for is among these but by chance.
        for (equipment, bits) in [(4, 0xA5), (7, 0x00), (0xB, 0x81)] {
            let bits = vec![bits; 512];
            tool.ask(Request::LogMask(LogMask { equipment, items: 4096, bits: &bits }));
        }
        rig
    }

    fn of(behaviour: Behaviour) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let capture = RadioLink::generated(11, Duration::from_secs(120)).unwrap().capture;
        let place = Place::Pty(Some(folder.path().join("modem")));
        let mut modem = Simulation::new(Script::of(&capture), behaviour, place).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&stop);
        let modem = std::thread::spawn(move || modem.run(&until, |_| {}).unwrap());
        // The doctor looks for ports by their names.
        std::fs::create_dir(folder.path().join("ports")).unwrap();
        std::os::unix::fs::symlink("../modem", folder.path().join("ports/ttyUSB0")).unwrap();
        Self { folder, stop, modem: Some(modem) }
    }

    fn device(&self) -> PathBuf {
        self.folder.path().join("modem")
    }

    fn tool(&self) -> Tool {
        let source: Source = self.device().to_str().unwrap().parse().unwrap();
        Tool { port: source.open().unwrap(), reader: Reader::new() }
    }

    /// A verb that reads the modem, its output in `out`.
    fn verb(&self, arguments: &[&str]) -> Running {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
        let out = std::fs::File::create(self.folder.path().join("out")).unwrap();
        command.args(arguments).current_dir(self.folder.path());
        command.env("SOUNDING_RUN_DIR", self.folder.path().join("run"));
        command.env("SOUNDING_BOARD_DIR", self.folder.path().join("boards"));
        let said = out.try_clone().unwrap();
        Running(command.stdin(Stdio::null()).stdout(out).stderr(said).spawn().unwrap())
    }

    fn said(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.folder.path().join("out")).unwrap())
            .into_owned()
    }

    /// Lets a verb read until the modem does what it was asked, and ends it by a signal.
    fn run(&self, arguments: &[&str], is_reading: fn(&Rig) -> bool, signal: i32) {
        let _ = std::fs::remove_file(self.folder.path().join("drive.qmdl"));
        let mut child = self.verb(arguments);
        let begin = Instant::now();
        while !is_reading(self) {
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none() && begin.elapsed() < PATIENCE, "{ended:?}: {}", self.said());
            std::thread::sleep(Duration::from_millis(20));
        }
        // SAFETY: the child has not been waited for, so the id is its own.
        assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
        child.wait().unwrap();
    }

    /// Everything that the modem can be set to send.
    fn masks(&self) -> Masks {
        let mut tool = self.tool();
        let Some(Answer::LogRanges(ranges)) = parse(&tool.ask(Request::LogRanges)) else {
            panic!("no ranges")
        };
        let equipments = (0..).zip(ranges).filter(|(_, items)| *items > 0);
        let logs = equipments.map(|(equipment, _)| tool.ask(Request::LogMaskOf(equipment)));
        let logs = logs.collect();
        let ranges = tool.ask(Request::MessageRanges);
        let Some(Answer::MessageRanges(ranges)) = parse(&ranges) else { panic!("no ranges") };
        let messages = message_ranges(ranges);
        let messages =
            messages.map(|range: MessageRange| tool.ask(Request::MessageMaskOf(range))).collect();
        Masks { logs, messages, events: tool.ask(Request::EventMask) }
    }

    /// What is kept of masks that could not go back.
    fn notes(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.folder.path().join("run")).into_iter().flatten();
        files.map(|file| file.unwrap().path()).collect()
    }

    /// What the modem was asked.
    fn end(mut self) -> Tally {
        self.stop.store(true, Ordering::Relaxed);
        self.modem.take().unwrap().join().unwrap()
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Masks as the modem answers them.
#[derive(Debug, PartialEq, Eq)]
struct Masks {
    logs: Vec<Vec<u8>>,
    messages: Vec<Vec<u8>>,
    events: Vec<u8>,
}

fn parse(answer: &[u8]) -> Option<Answer<'_>> {
    Answer::parse(answer[0], &answer[1..])
}

/// The other program.
struct Tool {
    port: Box<dyn Transport>,
    reader: Reader,
}

impl Tool {
    /// The payload of the answer, found among the records that come meanwhile.
    fn ask(&mut self, request: Request<'_>) -> Vec<u8> {
        let mut payload = Vec::new();
        request.emit(&mut payload);
        self.port.send(&payload).unwrap();
        let mut buffer = vec![0; READ_SIZE];
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            let Read::Bytes(count) = self.port.read(&mut buffer, PATIENCE).unwrap() else {
                continue;
            };
            let (mut rest, mut answer) = (&buffer[..count], None);
            while let Some(found) = self.reader.poll_packet(&mut rest) {
                if let Ok(Located { packet: Packet::Other { command, body, .. }, .. }) = found
                    && command == request.command()
                {
                    answer = Some([&[command], body].concat());
                }
            }
            if let Some(answer) = answer {
                return answer;
            }
        }
        panic!("no answer to {request:?}");
    }
}

/// However `arguments` end, the masks that were found are there again; and no request was sent that
/// the modem does not know, which those that set events and messages are.
fn leaves_everything_as_it_was(arguments: &[&str], is_reading: fn(&Rig) -> bool) {
    let rig = Rig::new();
    let before = rig.masks();
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        rig.run(arguments, is_reading, signal);
        assert!(rig.masks() == before, "after signal {signal}: {}", rig.said());
        assert!(rig.notes().is_empty(), "nothing is to be put back: {:?}", rig.notes());
    }
    rig.run(arguments, is_reading, libc::SIGKILL);
    let left = rig.masks();
    assert!(left.logs != before.logs, "the dead put nothing back");
    assert!((&left.messages, &left.events) == (&before.messages, &before.events));
    // Once more, with another command: the masks found now are not those found first.
    rig.run(&RECORD, is_recording, libc::SIGKILL);
    rig.run(arguments, is_reading, libc::SIGINT);
    assert!(rig.masks() == before, "the next start puts it back: {}", rig.said());
    assert!(rig.notes().is_empty(), "nothing is to be put back: {:?}", rig.notes());
    let tally = rig.end();
    assert_eq!(tally.refused, 0, "{tally:?}");
}

const RECORD: [&str; 3] = ["record", "modem", "drive.qmdl"];

fn is_recording(rig: &Rig) -> bool {
    let file = std::fs::metadata(rig.folder.path().join("drive.qmdl"));
    rig.said().contains("the modem logs") && file.is_ok_and(|file| file.len() > 30_000)
}

#[test]
fn a_recording_leaves_masks_as_it_found_them() {
    leaves_everything_as_it_was(&RECORD, is_recording);
}

#[test]
fn the_next_recording_says_whose_masks_it_has_found() {
    let rig = Rig::new();
    rig.run(&RECORD, is_recording, libc::SIGKILL);
    assert!(!rig.said().contains("killed"), "{}", rig.said());
    rig.run(&RECORD, is_recording, libc::SIGINT);
    let said = rig.said();
    assert!(said.contains("a program that was killed") && said.contains("as it was"), "{said}");
}

#[test]
fn what_was_to_go_back_to_a_modem_that_is_gone_is_forgotten_aloud() {
    let (gone, rig) = (Rig::new(), Rig::new());
    let port = gone.device().canonicalize().unwrap();
    gone.run(&RECORD, is_recording, libc::SIGKILL);
    std::fs::rename(gone.folder.path().join("run"), rig.folder.path().join("run")).unwrap();
    rig.run(&RECORD, is_recording, libc::SIGINT);
    assert!(!rig.said().contains("is gone"), "it is there: {}", rig.said());
    assert_eq!(rig.notes().len(), 1);
    gone.end();
    rig.run(&RECORD, is_recording, libc::SIGINT);
    let sentence = format!("{} is gone, and with it the way", port.display());
    assert_eq!(rig.said().matches(&sentence).count(), 1, "{}", rig.said());
    assert!(rig.notes().is_empty(), "{:?}", rig.notes());
}

const NOT_KEPT: &str = "cannot be kept for the next start";

#[test]
fn a_note_of_masks_that_cannot_be_kept_is_reported_once() {
    let rig = Rig::new();
    rig.run(&RECORD, is_recording, libc::SIGINT);
    assert!(!rig.said().contains(NOT_KEPT), "{}", rig.said());
    // Its folder is none.
    let run = rig.folder.path().join("run");
    let _ = std::fs::remove_dir_all(&run);
    std::fs::write(&run, "").unwrap();
    rig.run(&RECORD, is_recording, libc::SIGINT);
    let said = rig.said();
    assert_eq!(said.matches(NOT_KEPT).count(), 1, "{said}");
    assert!(said.contains(run.to_str().unwrap()), "{said}");
}

#[test]
fn a_note_of_masks_that_a_full_disk_does_not_take_is_reported_once() {
    let rig = Rig::new();
    let disk = rig.folder.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let script = format!(
        "head -c 1M /dev/zero >{disk}/full 2>/dev/null; SOUNDING_RUN_DIR={disk} exec {program} record {device} {out} --for 1s",
        disk = disk.display(),
        program = assert_cmd::cargo::cargo_bin!("sounding").display(),
        device = rig.device().display(),
        out = rig.folder.path().join("drive.qmdl").display(),
    );
    let Some(output) = sounding_testdata::on_small_disk(&disk, "64k", &script) else { return };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "a recording goes on: {said}");
    assert_eq!(said.matches(NOT_KEPT).count(), 1, "{said}");
    assert!(said.contains("No space left"), "{said}");
}

#[test]
fn a_recording_whose_terminal_is_closed_leaves_masks_as_it_found_them() {
    let rig = Rig::new();
    let before = rig.masks();
    let program = assert_cmd::cargo::cargo_bin!("sounding");
    let mut recorder = Command::new(program);
    recorder.args(RECORD).current_dir(rig.folder.path()).stdin(Stdio::null());
    recorder.env("SOUNDING_RUN_DIR", rig.folder.path().join("run"));
    let recorder = recorder.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut recorder = Running(recorder);
    drop((recorder.stdout.take(), recorder.stderr.take()));
    let file = rig.folder.path().join("drive.qmdl");
    let begin = Instant::now();
    while std::fs::metadata(&file).map_or(0, |file| file.len()) < 30_000 {
        assert!(begin.elapsed() < PATIENCE && recorder.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(20));
    }
    // SAFETY: the child has not been waited for, so the id is its own.
    assert_eq!(unsafe { libc::kill(recorder.id() as i32, libc::SIGHUP) }, 0);
    assert!(recorder.wait().unwrap().success());
    assert!(rig.masks() == before);
}

#[test]
fn a_look_at_kpis_leaves_masks_as_it_found_them() {
    leaves_everything_as_it_was(&["kpi", "modem", "--kpi", "lte.pusch.tbs"], |rig| {
        rig.said().lines().count() > 100
    });
}

#[test]
fn a_look_at_the_link_leaves_masks_as_it_found_them() {
    leaves_everything_as_it_was(&["link", "modem", "--bin", "10ms"], |rig| {
        rig.said().contains("the modem logs") && rig.said().lines().count() > 40
    });
}

#[test]
fn a_doctor_that_listens_leaves_masks_as_it_found_them() {
    let arguments = ["doctor", "--ports", "ports", "--listen", "10min"];
    leaves_everything_as_it_was(&arguments, |rig| rig.said().contains("the modem logs"));
}

#[test]
fn a_board_leaves_masks_as_it_found_them() {
    leaves_everything_as_it_was(&["board", "modem", "--name", "masks"], |rig| {
        let place = sounding_board::Place::new(&rig.folder.path().join("boards"), "masks").unwrap();
        let Ok(reader) = sounding_board::Reader::open(&place) else { return false };
        let slot = reader.find("lte.pusch.tbs").unwrap();
        reader.read(slot).is_ok_and(|sample| sample.is_some_and(|sample| sample.sequence > 20))
    });
}

#[test]
fn the_daemon_leaves_masks_as_it_found_them() {
    let name = format!("{}_masks", std::process::id() % 1_000_000);
    let missing = sounding_bpf::preflight(&name).into_iter().find(|check| !check.ok);
    if let Some(check) = missing {
        sounding_testdata::skip(sounding_testdata::Need::Kernel, &check.detail);
        return;
    }
    let arguments = ["run", "--device", "modem", "--name", &name, "--json"];
    leaves_everything_as_it_was(&arguments, |rig| {
        rig.said().matches(r#""active""#).count() > 10 && rig.said().contains(r#""logging""#)
    });
}
