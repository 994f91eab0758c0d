use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::*;
use crate::caller::Caller;

const STRANGER: u32 = 4_242_421;

fn is_root() -> bool {
    let is_root = nix::unistd::geteuid().is_root();
    if !is_root {
        sounding_testdata::skip(sounding_testdata::Need::Root, "to act as another user");
    }
    is_root
}

fn for_stranger() -> Writer {
    Writer::User(Caller { uid: STRANGER, gid: STRANGER }, Vec::new())
}

/// A folder of root's with a file in it, and one of the stranger's.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("its owner");
        let machine = Self(folder);
        for name in ["roots", "theirs"] {
            fs::create_dir(machine.at(name)).expect("a folder");
        }
        fs::write(machine.at("roots/file"), "root's").expect("room");
        if nix::unistd::geteuid().is_root() {
            machine.give("theirs");
        }
        machine
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn give(&self, name: &str) {
        chown(self.at(name), Some(STRANGER), Some(STRANGER)).expect("root may");
    }

    /// Fails if the file of root is not as it was.
    fn check(&self, after: &str) {
        let path = self.at("roots/file");
        let about = fs::metadata(&path).expect("it is there");
        let whole = (about.uid(), fs::read(path).expect("it is readable"));
        assert_eq!(whole, (0, b"root's".to_vec()), "{after}");
        let names = fs::read_dir(self.at("roots")).expect("a folder").count();
        assert_eq!(names, 1, "{after}: something came into root's folder");
    }
}

fn write_as(writer: &Writer, path: &Path) -> io::Result<()> {
    let mut draft = Draft::begin_as(writer.clone(), path, Access::Private)?;
    draft.write_all(b"result")?;
    draft.finish(Over::File)
}

fn folder_as(writer: &Writer, path: &Path) -> io::Result<()> {
    let folder = Folder::begin_as(writer.clone(), path, Access::Private)?;
    folder.file("table")?.write_all(b"result")?;
    folder.finish(Over::All)
}

fn grown_as(writer: &Writer, path: &Path) -> io::Result<()> {
    grow_as(writer, path)?.write_all(b"result")
}

type Way = fn(&Writer, &Path) -> io::Result<()>;

const WAYS: [(&str, Way); 3] =
    [("a file", write_as), ("a folder", folder_as), ("a growing file", grown_as)];

#[test]
fn no_link_of_another_user_leads_to_a_file_of_root() {
    if !is_root() {
        return;
    }
    for writer in [for_stranger(), Writer::Root] {
        for (name, way) in WAYS {
            let machine = Machine::new();
            symlink(machine.at("roots/file"), machine.at("theirs/file")).expect("room");
            symlink(machine.at("roots"), machine.at("theirs/folder")).expect("room");
            symlink(machine.at("roots/new"), machine.at("theirs/dangling")).expect("room");
            for path in
                ["theirs/file", "theirs/folder/file", "theirs/folder/new", "theirs/dangling"]
            {
                let written = way(&writer, &machine.at(path));
                machine.check(&format!("{name} at {path} by {writer:?}: {written:?}"));
            }
        }
    }
}

#[test]
fn root_alone_writes_nothing_of_another_users_and_says_so() {
    if !is_root() {
        return;
    }
    for (name, way) in WAYS {
        let machine = Machine::new();
        fs::write(machine.at("theirs/file"), "their own").expect("room");
        machine.give("theirs/file");
        fs::create_dir(machine.at("theirs/empty")).expect("room");
        machine.give("theirs/empty");
        let pipe = machine.at("theirs/pipe");
        nix::unistd::mkfifo(&pipe, Mode::from_bits_truncate(0o666)).expect("room");
        machine.give("theirs/pipe");
        symlink(machine.at("theirs/file"), machine.at("theirs/link")).expect("room");
        for (path, says) in [
            ("theirs/file", "belongs to user 4242421"),
            ("theirs/empty", "belongs to user 4242421"),
            ("theirs/pipe", "user 4242421"),
            ("theirs/link", "symbolic link"),
        ] {
            let refused =
                way(&Writer::Root, &machine.at(path)).expect_err("it is refused").to_string();
            // A file that grows is opened, and the kernel refuses a folder first.
            let is_folder = path == "theirs/empty" && refused.contains("Is a directory");
            let is_said = refused.contains(says) && refused.contains("a folder of your own");
            let is_said = is_said || is_folder;
            assert!(is_said, "{name} at {path}: {refused}");
        }
        assert_eq!(fs::read(machine.at("theirs/file")).expect("it is there"), b"their own");
        assert_eq!(fs::read_dir(machine.at("theirs")).expect("a folder").count(), 4, "{name}");
        // In a folder that only root may change, root's own links lead where they should.
        symlink(machine.at("roots"), machine.at("link")).expect("room");
        way(&Writer::Root, &machine.at("link/new")).expect("root made the link");
        assert!(machine.at("roots/new").exists());
    }
}

#[test]
fn a_pipe_of_another_user_receives_nothing() {
    if !is_root() {
        return;
    }
    let machine = Machine::new();
    let pipe = machine.at("pipe");
    nix::unistd::mkfifo(&pipe, Mode::empty()).expect("room");
    fs::set_permissions(&pipe, Permissions::from_mode(0o666)).expect("its owner");
    chown(&pipe, Some(STRANGER + 1), None).expect("root may");
    for writer in [for_stranger(), Writer::Root] {
        let refused = write_as(&writer, &pipe).expect_err("it is refused").to_string();
        assert!(refused.contains("a pipe or a device of user 4242422"), "{refused}");
    }
    for writer in [for_stranger(), Writer::Root] {
        write_as(&writer, Path::new("/dev/null")).expect("everybody may write there");
    }
}

#[test]
fn a_folder_that_another_user_keeps_swapping_for_a_link_leads_to_no_file_of_root() {
    if !is_root() {
        return;
    }
    for writer in [for_stranger(), Writer::Root] {
        let machine = Machine::new();
        let [folder, aside, link] =
            ["theirs/folder", "theirs/aside", "theirs/link"].map(|name| machine.at(name));
        fs::create_dir(&folder).expect("room");
        machine.give("theirs/folder");
        symlink(machine.at("roots"), &link).expect("room");
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    // Each may fail, at either end of the swap.
                    let _ = fs::rename(&folder, &aside).and_then(|()| fs::rename(&link, &folder));
                    let _ = fs::rename(&folder, &link).and_then(|()| fs::rename(&aside, &folder));
                }
            });
            for number in 0..150 {
                let (_, way) = WAYS[number % WAYS.len()];
                let _ = way(&writer, &folder.join("file"));
                let _ = way(&writer, &folder.join("new"));
            }
            stop.store(true, Ordering::Relaxed);
        });
        machine.check(&format!("{writer:?}"));
    }
}

#[test]
fn a_new_folder_that_is_swapped_for_a_link_still_gets_its_files() {
    if !is_root() {
        return;
    }
    for writer in [for_stranger(), Writer::Root] {
        let machine = Machine::new();
        let folder = Folder::begin_as(writer.clone(), &machine.at("theirs/new"), Access::Private)
            .expect("a folder");
        let temporary = folder.path();
        fs::rename(&temporary, machine.at("theirs/away")).expect("its owner may");
        symlink(machine.at("roots"), &temporary).expect("room");
        folder.file("file").expect("the folder is open").write_all(b"result").expect("room");
        assert!(machine.at("theirs/away/file").exists());
        drop(folder);
        machine.check(&format!("{writer:?}"));
        for wrong in ["", ".", "..", "../file", "/file", "a/b"] {
            let again =
                Folder::begin_as(writer.clone(), &machine.at("theirs/again"), Access::Usual);
            assert!(again.expect("a folder").file(wrong).is_err(), "{wrong:?}");
        }
    }
}

#[test]
fn results_of_a_user_of_sudo_are_that_users_and_go_through_its_own_links() {
    if !is_root() {
        return;
    }
    for (name, way) in WAYS {
        let machine = Machine::new();
        fs::create_dir(machine.at("theirs/data")).expect("room");
        machine.give("theirs/data");
        symlink("data", machine.at("theirs/link")).expect("room");
        way(&for_stranger(), &machine.at("theirs/link/new")).expect("it may");
        let about = fs::metadata(machine.at("theirs/data/new")).expect("it is there");
        assert_eq!((about.uid(), about.gid()), (STRANGER, STRANGER), "{name}");
        let refused = way(&for_stranger(), &machine.at("roots/new")).expect_err("it may not");
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied, "{name}");
        assert_eq!(fs::read_dir(machine.at("theirs")).expect("a folder").count(), 2, "{name}");
    }
}

#[test]
fn what_is_not_finished_leaves_the_earlier_file_and_nothing_else() {
    let machine = Machine::new();
    let path = machine.at("file");
    for writer in [Writer::Own, Writer::Root] {
        fs::write(&path, "earlier").expect("room");
        let mut draft = Draft::begin_as(writer.clone(), &path, Access::Usual).expect("room");
        draft.write_all(b"half").expect("room");
        drop(draft);
        let folder = Folder::begin_as(writer.clone(), &path, Access::Usual).expect("room");
        folder.file("half").expect("room");
        drop(folder);
        let folder = Folder::begin_as(writer.clone(), &path, Access::Usual).expect("room");
        folder.finish(Over::Nothing).expect_err("a file has the name");
        let draft = Draft::begin_as(writer.clone(), &path, Access::Usual).expect("room");
        draft.finish(Over::Nothing).expect_err("a file has the name");
        assert_eq!(fs::read(&path).expect("it is there"), b"earlier");
        assert_eq!(fs::read_dir(machine.0.path()).expect("a folder").count(), 3, "{writer:?}");
        fs::remove_file(&path).expect("it is there");
    }
}

#[test]
fn a_file_and_a_folder_take_each_others_place_only_where_that_is_asked_for() {
    let machine = Machine::new();
    for writer in [Writer::Own, Writer::Root] {
        let path = machine.at("name");
        write_as(&writer, &path).expect("room");
        folder_as(&writer, &path).expect("it is replaced");
        folder_as(&writer, &path).expect("a full folder is, too");
        assert_eq!(fs::read(path.join("table")).expect("it is there"), b"result");
        write_as(&writer, &path).expect_err("a folder is no file");
        let draft = Draft::begin_as(writer.clone(), &path, Access::Usual).expect("room");
        draft.finish(Over::All).expect("it is replaced");
        assert!(path.is_file());
        assert_eq!(fs::read_dir(machine.0.path()).expect("a folder").count(), 3, "{writer:?}");
        fs::remove_file(&path).expect("it is there");
        fs::create_dir(&path).expect("room");
        let draft = Draft::begin_as(writer.clone(), &path, Access::Usual).expect("room");
        draft.finish(Over::Nothing).expect("an empty folder is nothing");
        fs::remove_file(&path).expect("it is a file");
    }
}

#[test]
fn only_descriptors_that_this_program_was_given_are_written_to_by_their_number() {
    let own = tempfile::tempfile().expect("a file");
    let number = std::os::fd::AsRawFd::as_raw_fd(&own);
    let path = format!("/dev/fd/{number}");
    assert!(names_descriptor(Path::new(&path)) && names_descriptor(Path::new("/dev/stdout")));
    assert!(!names_descriptor(Path::new("/dev/fd/x")) && !names_descriptor(Path::new("out")));
    let refused = write(Path::new(&path), b"x").expect_err("it was opened here").to_string();
    assert!(refused.contains("was not given"), "{refused}");
    fcntl(&own, FcntlArg::F_SETFD(FdFlag::empty())).expect("it is open");
    write(Path::new(&path), b"x").expect("as if it were given");
    assert_eq!(own.metadata().expect("it is open").len(), 1);
}
