//! A board on a disk that has no room for it.

use std::fs;
use std::io::ErrorKind;
use std::thread;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use sounding_board::{Place, PublishError, Publisher, Reader};
use sounding_kpi::board::words_for;
use sounding_kpi::{Subscription, registry};
use sounding_testdata::{Need, skip};
use sounding_units::HostInstant;

/// A disk has whole pages.
const PAGE: usize = 4096;
const START: HostInstant = HostInstant::from_nanos(1_000_000_000);

/// Does something in a folder of so many bytes, that only its thread sees.
fn on_small_disk(bytes: usize, work: impl FnOnce(&std::path::Path) + Send) {
    if !nix::unistd::geteuid().is_root() {
        return skip(Need::Root, "mounting a small disk");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let within = move || {
        unshare(CloneFlags::CLONE_NEWNS).expect("a namespace");
        let (none, private) = (None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE);
        mount(none, "/", none, private, none).expect("what is mounted here stays here");
        let size = format!("size={bytes}");
        mount(Some("none"), path, Some("tmpfs"), MsFlags::empty(), Some(&size[..]))
            .expect("a disk");
        work(path);
    };
    thread::scope(|scope| scope.spawn(within).join()).expect("it ends in good order");
}

#[test]
fn a_board_without_room_is_an_error_and_not_the_end_of_its_writer() {
    let all = Subscription::of(registry::all());
    let board = (words_for(all.kpis().len()) * size_of::<u64>()).next_multiple_of(PAGE);
    on_small_disk(board, |folder| {
        let place = || Place::new(folder, "modem").expect("a plain name");
        let create = || Publisher::create(place(), all.kpis(), START);
        fs::write(folder.join("filler"), [1]).expect("room for that");
        match create() {
            Err(PublishError::Io { path, error }) => {
                assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
                assert_eq!(path, folder.join("modem.draft"));
            }
            other => panic!("{other:?}"),
        }
        assert!(!place().memory().exists(), "no reader finds half of a board");
        assert!(!folder.join("modem.draft").exists(), "and nothing of it takes room");
        fs::remove_file(folder.join("filler")).expect("it is there");
        let publisher = create().expect("now there is room");
        // A disk that fills up later takes nothing from it.
        let rest = fs::write(folder.join("filler"), [1]);
        assert_eq!(rest.map_err(|error| error.kind()), Err(ErrorKind::StorageFull));
        let reader = Reader::open(&place()).expect("it is there");
        assert_eq!(reader.names().len(), all.kpis().len());
        drop(publisher);
    });
}
