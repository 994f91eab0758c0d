//! Another user of the machine can only read a board, and cannot disturb its readers.

use std::fs::{self, File, Permissions};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use nix::fcntl::{Flock, FlockArg};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use sounding_board::{Place, PublishError, Publisher, Reader, Writer};
use sounding_diag::layout::Item;
use sounding_kpi::{Reading, Subscription};
use sounding_testdata::as_stranger;
use sounding_units::{HostInstant, ModemInstant};

const START: HostInstant = HostInstant::from_nanos(1_000_000_000);

/// A folder that every user may look into, as /run/sounding is.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("its owner");
    folder
}

fn place(folder: &tempfile::TempDir) -> Place {
    Place::new(folder.path(), "modem").expect("a plain name")
}

fn publish(folder: &tempfile::TempDir) -> Result<Publisher, PublishError> {
    let subscription = Subscription::new(["lte.pusch.tbs"]).expect("it is registered");
    Publisher::create(place(folder), subscription.kpis(), START)
}

fn post(publisher: &mut Publisher, value: f64) {
    let at = ModemInstant::from_nanos(9);
    publisher.handle(&Reading { slot: 0, value, item: Item::default(), at }, START);
    publisher.post(START);
}

/// Accepts all waiting clients, in the third of a second after `since`.
fn attend(publisher: &mut Publisher, since: HostInstant) -> HostInstant {
    // 64 looks, 5 ms apart: one look accepts only some of the clients.
    let looks = (1..=64).map(|look| since + Duration::from_millis(5 * look));
    looks.inspect(|now| publisher.heartbeat(*now)).last().expect("many")
}

fn is_woken(reader: &Reader) -> bool {
    let mut fds = [PollFd::new(reader.as_fd(), PollFlags::POLLIN)];
    poll(&mut fds, PollTimeout::ZERO).expect("poll works") == 1
}

#[test]
fn no_stranger_holds_the_lock_and_keeps_the_next_writer_out() {
    let folder = folder();
    drop(publish(&folder).expect("it is free"));
    let path = folder.path().join("modem.lock");
    let held = as_stranger(|| {
        let file = File::open(&path)?;
        Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| errno.into())
    });
    let Some(held) = held else { return };
    let next = publish(&folder).map(drop);
    assert!(next.is_ok(), "{next:?}: a stranger holds the lock");
    let refused: std::io::Error = held.map(drop).expect_err("it is not theirs to open");
    assert_eq!(refused.kind(), std::io::ErrorKind::PermissionDenied);
}

#[test]
fn a_lock_of_another_user_is_refused_and_reported() {
    let folder = folder();
    // A folder in which every user may create files, like /tmp.
    fs::set_permissions(folder.path(), Permissions::from_mode(0o1777)).expect("its owner");
    let lock = folder.path().join("modem.lock");
    if as_stranger(|| fs::write(&lock, "").expect("room")).is_none() {
        return;
    }
    // As root may on machines that do not protect such files.
    let refused = publish(&folder).map(drop).expect_err("it is a stranger's");
    assert!(
        matches!(refused, PublishError::NotALock { .. } | PublishError::Io { .. }),
        "{refused:?}"
    );
    fs::remove_file(&lock).expect("it is there");
    let victim = folder.path().join("victim");
    as_stranger(|| std::os::unix::fs::symlink(&victim, &lock).expect("a link"));
    let refused = publish(&folder).map(drop).expect_err("it leads elsewhere");
    assert!(refused.to_string().contains("modem.lock"), "{refused}");
    assert!(!victim.exists(), "a file of the stranger's choice was made");
}

#[test]
fn a_user_that_connects_without_end_takes_no_others_place() {
    let folder = folder();
    let mut publisher = publish(&folder).expect("it is free");
    let socket = folder.path().join("modem.wake");
    let strangers = as_stranger(|| {
        let connect = || UnixStream::connect(&socket).expect("it listens");
        (0..100).map(|_| connect()).collect::<Vec<_>>()
    });
    let Some(strangers) = strangers else { return };
    let now = attend(&mut publisher, START);
    let mut reader = Reader::open(&place(&folder)).expect("it is there");
    let now = attend(&mut publisher, now);
    reader.rearm();
    assert!(!reader.is_turned_away());
    assert_eq!(reader.writer(now), Writer::Alive, "it was taken for dead");
    assert!(!is_woken(&reader));
    post(&mut publisher, 7.0);
    assert!(is_woken(&reader), "it was let in");
    drop(strangers);
}

#[test]
fn a_reader_over_the_limit_is_notified_and_reads_on() {
    let folder = folder();
    let mut publisher = publish(&folder).expect("it is free");
    let open = || Reader::open(&place(&folder)).expect("it is there");
    let mut readers: Vec<Reader> = (0..17).map(|_| open()).collect();
    let now = attend(&mut publisher, START);
    readers.iter_mut().for_each(Reader::rearm);
    let away: Vec<bool> = readers.iter().map(Reader::is_turned_away).collect();
    assert_eq!(away.iter().filter(|away| **away).count(), 1, "{away:?}");
    let mut last = readers.pop().expect("seventeen");
    post(&mut publisher, 7.0);
    last.rearm();
    assert_eq!(last.writer(now), Writer::Alive, "full is not dead");
    let sample = last.read(0).expect("no write is under way").expect("it was posted");
    assert_eq!(sample.value, 7.0);
    // A reader that leaves makes room, even without a post in between.
    readers.truncate(15);
    let mut next = open();
    let now = attend(&mut publisher, now);
    assert!(is_woken(&next), "it was let in or turned away");
    next.rearm();
    assert!(!next.is_turned_away());
    drop(publisher);
    last.rearm();
    assert_eq!(last.writer(now), Writer::Ended, "the end is still seen");
}
