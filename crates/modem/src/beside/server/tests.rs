use std::io::Write as _;

use sounding_diag::LogRecord;
use sounding_diag::session::Event;
use sounding_host::monotonic_now;
use sounding_testdata::{as_stranger, steadily};
use sounding_units::ModemInstant;

use super::*;
use crate::beside::queue::MAX_WAITING;
use crate::beside::{BesideError, Client};
use crate::{Pty, Read, Transport};

const PUSCH: LogCode = LogCode::new(0xB139);
const MAC: LogCode = LogCode::new(0xB064);

/// A holder without a modem, in a folder of its own.
struct Rig {
    folder: tempfile::TempDir,
    pty: Pty,
    server: Server,
}

impl Rig {
    fn new() -> Self {
        Self::at(|pty| Source::Path(pty.path().into()))
    }

    fn at(source: impl FnOnce(&Pty) -> Source) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let pty = Pty::create(None).expect("a pty");
        let source = source(&pty);
        let server = Server::start_in(folder.path(), &source).expect("a socket");
        Self { folder, pty, server }
    }

    fn port(&self) -> String {
        folder::port(&Source::Path(self.pty.path().into()))
    }

    /// Has the holder turn while a reader connects.
    fn open(&mut self, codes: Option<&[LogCode]>) -> Result<Client, BesideError> {
        let (folder, port) = (self.folder.path().to_path_buf(), self.port());
        let before = self.server.readers();
        std::thread::scope(|scope| {
            let client = scope.spawn(move || Client::open_in(&folder, &port, &[], codes));
            while !client.is_finished() {
                self.turn();
            }
            let client = client.join().expect("no panic")?.expect("a holder");
            while self.server.readers() == before {
                self.turn();
            }
            Ok(client)
        })
    }

    fn turn(&mut self) -> bool {
        std::thread::sleep(Duration::from_millis(1));
        self.server.attend(monotonic_now())
    }

    fn send(&mut self, code: LogCode, body: &[u8]) {
        let at = ModemInstant::from_diag(7);
        let record = LogRecord { code, at, stamp: 7, radio: None, body };
        let now = monotonic_now();
        self.server.handle_packet(now, &Packet::Log(record));
        self.server.flush(now);
    }
}

fn code_of(packet: &[u8]) -> LogCode {
    match Packet::parse(packet).expect("a packet") {
        Packet::Log(record) => record.code,
        other => panic!("{other:?}"),
    }
}

fn next(client: &mut Client) -> Vec<u8> {
    let mut buffer = vec![0; crate::READ_SIZE];
    match client.read(&mut buffer, Duration::from_secs(5)).expect("it is open") {
        Read::Bytes(count) => buffer[..count].to_vec(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_reader_gets_its_own_codes_and_one_without_codes_everything() {
    let mut rig = Rig::new();
    let mut one = rig.open(Some(&[PUSCH])).expect("it may");
    let mut every = rig.open(None).expect("it may");
    assert_eq!(rig.server.codes(), [PUSCH]);
    rig.send(MAC, &[1]);
    rig.send(PUSCH, &[2]);
    assert_eq!(code_of(&next(&mut one)), PUSCH);
    assert_eq!(code_of(&next(&mut every)), MAC);
    assert_eq!(code_of(&next(&mut every)), PUSCH);
    assert!(one.arrived().is_some());
}

#[test]
fn codes_leave_with_their_reader() {
    let mut rig = Rig::new();
    let one = rig.open(Some(&[PUSCH, MAC])).expect("it may");
    let _other = rig.open(Some(&[MAC])).expect("it may");
    assert_eq!(rig.server.codes(), [PUSCH, MAC]);
    drop(one);
    let until = monotonic_now() + Duration::from_secs(5);
    while !rig.turn() {
        assert!(monotonic_now() < until, "no reader has left");
    }
    assert_eq!((rig.server.codes(), rig.server.readers()), (vec![MAC], 1));
}

#[test]
fn lacking_codes_are_said_once_and_again_when_they_change() {
    let mut rig = Rig::new();
    let mut client = rig.open(Some(&[PUSCH, MAC])).expect("it may");
    let now = monotonic_now();
    rig.server.tell_lacks(now, |_| None);
    for _ in 0..2 {
        rig.server.tell_lacks(now, |code| Some((code == MAC).then_some(Lack::Budget)));
    }
    rig.server.tell_lacks(now, |_| Some(None));
    rig.send(PUSCH, &[1]);
    next(&mut client);
    let told: Vec<Event> = std::iter::from_fn(|| client.poll_event()).collect();
    let lacks = |budget: &[LogCode]| {
        let budget = budget.to_vec();
        Event::Beside(Beside::Lacks { budget, unknown: Vec::new(), kept: Vec::new() })
    };
    assert_eq!(told, [lacks(&[MAC]), lacks(&[])]);
}

#[test]
fn ten_readers_and_one_that_never_reads_share_no_fate() {
    let mut rig = Rig::new();
    let mut never = rig.open(Some(&[PUSCH])).expect("it may");
    let mut readers: Vec<Client> =
        (0..10).map(|_| rig.open(Some(&[PUSCH])).expect("it may")).collect();
    const SENT: u64 = 4_000;
    for number in 0..SENT {
        let body = [&number.to_le_bytes()[..], &[0; 1_000]].concat();
        rig.send(PUSCH, &body);
        for reader in &mut readers {
            assert!(next(reader).len() > 1_000);
        }
        assert!(rig.server.waiting() <= MAX_WAITING + (1 << 16), "{}", rig.server.waiting());
    }
    assert!(readers.iter().all(|reader| reader.lost() == 0));
    // The one that was late learns how many it has missed, once there is room.
    let mut came = 0;
    let until = monotonic_now() + Duration::from_secs(20);
    let mut buffer = vec![0; crate::READ_SIZE];
    while came + never.lost() < SENT {
        assert!(monotonic_now() < until, "{came} came and {} are lost", never.lost());
        rig.server.flush(monotonic_now());
        if let Read::Bytes(_) = never.read(&mut buffer, Duration::ZERO).expect("it is open") {
            came += 1;
        }
    }
    assert!(never.lost() > 1_000 && came + never.lost() == SENT, "{came} and {}", never.lost());
    let told = std::iter::from_fn(|| never.poll_event()).count();
    assert_eq!(told, 1, "losses are said once, and counted");
}

#[test]
fn there_are_no_more_readers_than_room() {
    let mut rig = Rig::new();
    let readers: Vec<Client> =
        (0..MAX_OF_A_USER).map(|_| rig.open(None).expect("there is room")).collect();
    let refused = rig.open(None);
    assert!(matches!(refused, Err(BesideError::Full { .. })), "{refused:?}");
    assert_eq!((readers.len(), rig.server.readers()), (MAX_OF_A_USER, MAX_OF_A_USER));
}

#[test]
fn a_reader_that_asks_nothing_or_nonsense_is_sent_away() {
    let mut rig = Rig::new();
    let path = rig.server.path.clone();
    let connect = || UnixStream::connect(&path).expect("it listens");
    let mut sockets: Vec<UnixStream> = (0..3).map(|_| connect()).collect();
    sockets[0].write_all(b"GET / HTTP/1.1\n").expect("it is open");
    sockets[1].write_all(&[b' '; MAX_REQUEST + 1]).expect("it is open");
    let begin = monotonic_now();
    while rig.server.readers.is_empty() {
        rig.turn();
    }
    for at in [begin, begin + MAX_SILENCE + Duration::from_secs(1)] {
        for step in 1..=40 {
            std::thread::sleep(Duration::from_millis(1));
            assert!(!rig.server.attend(at + step * EVERY), "no code has changed");
        }
    }
    assert!(rig.server.readers.is_empty(), "{:?}", rig.server.readers);
}

#[test]
fn a_user_who_may_not_open_the_port_is_refused() {
    let mut rig = Rig::new();
    let mode = |mode| fs::set_permissions(rig.pty.path(), fs::Permissions::from_mode(mode));
    let (folder, port) = (rig.folder.path().to_path_buf(), rig.port());
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("it is ours");
    // A stranger's folders are not root's, so the strangers of this test believe root's.
    for (bits, may) in [(0o600, false), (0o660, false), (0o666, true)] {
        mode(bits).expect("the pty is ours");
        let opened = std::thread::scope(|scope| {
            let client = scope.spawn(|| {
                as_stranger(|| {
                    Client::open_in(&folder, &port, &[], None).map(|found| found.is_some())
                })
            });
            while !client.is_finished() {
                std::thread::sleep(Duration::from_millis(1));
                rig.server.attend(monotonic_now());
            }
            client.join().expect("no panic")
        });
        let Some(opened) = opened else { return };
        match may {
            true => assert!(matches!(opened, Ok(true)), "{bits:o}: {opened:?}"),
            false => {
                assert!(matches!(opened, Err(BesideError::Denied { .. })), "{bits:o}: {opened:?}");
            }
        }
    }
}

#[test]
fn the_socket_of_a_stranger_is_not_read() {
    steadily(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let mode = |mode| fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode));
        mode(0o777).expect("it is ours");
        let path = folder.path().join(folder::file_name("/dev/ttyUSB0"));
        let Some(bound) = as_stranger(|| UnixListener::bind(&path)) else { return };
        let listener = bound.expect("everybody may write there");
        let open = |holders: &[u32]| Client::open_in(folder.path(), "/dev/ttyUSB0", holders, None);
        let found = open(&[]);
        assert!(matches!(found, Err(BesideError::Folder { .. })), "{found:?}");
        mode(0o755).expect("it is ours");
        let found = open(&[]);
        assert!(matches!(found, Err(BesideError::Stranger { .. })), "{found:?}");
        // Nor that of root, where another process holds the port.
        drop(listener);
        fs::remove_file(&path).expect("it is there");
        let _own = UnixListener::bind(&path).expect("a socket");
        let found = open(&[1]);
        assert!(matches!(found, Err(BesideError::Stranger { .. })), "{found:?}");
    });
}

#[test]
fn a_port_has_one_socket_that_outlives_no_holder() {
    let rig = Rig::new();
    let source = Source::Path(rig.pty.path().into());
    let again = Server::start_in(rig.folder.path(), &source);
    assert!(matches!(again, Err(ServeError::Taken { .. })), "{again:?}");
    let path = rig.server.path.clone();
    drop(rig.server);
    assert!(!path.exists());
    // A holder that was killed leaves its socket.
    drop(UnixListener::bind(&path).expect("a socket"));
    assert!(Client::open_in(rig.folder.path(), "x", &[], None).expect("no process").is_none());
    drop(Server::start_in(rig.folder.path(), &source).expect("the place is free"));
    fs::set_permissions(rig.folder.path(), fs::Permissions::from_mode(0o777)).expect("ours");
    let open = Server::start_in(rig.folder.path(), &source);
    assert!(matches!(open, Err(ServeError::Folder { .. })), "{open:?}");
}

#[test]
fn a_modem_that_comes_back_as_another_port_has_a_socket_of_that_name() {
    let links = tempfile::tempdir().expect("a folder");
    let link = links.path().join("modem");
    let mut rig = Rig::at(|pty| {
        std::os::unix::fs::symlink(pty.path(), &link).expect("a link");
        Source::Path(link.clone())
    });
    let mut reader = rig.open(Some(&[PUSCH])).expect("it may");
    let before = rig.server.path.clone();
    let again = Pty::create(None).expect("a pty");
    rig.server.handle_closed(monotonic_now());
    fs::remove_file(&link).expect("it is there");
    std::os::unix::fs::symlink(again.path(), &link).expect("a link");
    rig.server.handle_reopened(monotonic_now()).expect("there is a place");
    rig.pty = again;
    assert!(!before.exists() && rig.server.path.exists());
    let _second = rig.open(Some(&[PUSCH])).expect("it is found by its new name");
    rig.send(PUSCH, &[1]);
    next(&mut reader);
    let told: Vec<Event> = std::iter::from_fn(|| reader.poll_event()).collect();
    assert_eq!(told, [Event::Beside(Beside::Closed), Event::Beside(Beside::Reopened)]);
}
