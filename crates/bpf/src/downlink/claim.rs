//! Whose sockets are whose: two instances that hold the windows of the same ones each take the
//! other's for the program's own, and make them ever smaller.
//!
//! A claim is a locked file in a folder that all daemons check. The kernel unlocks it when its
//! process ends in any way. A file without a lock is therefore void, and the next daemon removes
//! it.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process;
use std::thread;
use std::time::{Duration, Instant};

use super::error::DownlinkError;
use super::sockets::Sockets;

/// More than any claim needs.
const LONGEST: u64 = 64 * 1024;
/// A folder that goes as often as this while it is entered is none. Chosen.
const ATTEMPTS: u32 = 100;
/// A daemon that checks the folder needs less.
const PATIENCE: Duration = Duration::from_secs(5);

/// Sockets that no other process may limit while this lives.
#[derive(Debug)]
pub(super) struct Claim {
    path: PathBuf,
    /// What it keeps locked.
    _file: File,
    // The last to go, with what is in them.
    _made: Made,
}

impl Claim {
    /// Claims `sockets` in `folder`, unless a living process has claimed some of them there.
    pub(super) fn make(folder: &Path, sockets: &Sockets) -> Result<Self, DownlinkError> {
        let mut made = Made::default();
        let mut attempts = 0;
        let (path, file) = loop {
            attempts += 1;
            match Self::enter(folder, sockets, &mut made) {
                // The process that made the folder has removed it meanwhile.
                Err(DownlinkError::Claim { source, .. })
                    if source.kind() == io::ErrorKind::NotFound && attempts < ATTEMPTS => {}
                entered => break entered?,
            }
        };
        Ok(Self { path, _file: file, _made: made })
    }

    fn enter(
        folder: &Path,
        sockets: &Sockets,
        made: &mut Made,
    ) -> Result<(PathBuf, File), DownlinkError> {
        let fail = |source| DownlinkError::Claim { path: folder.to_path_buf(), source };
        // No other user may even lock files in there.
        made.create(folder, 0o700).map_err(fail)?;
        let gate = Gate::enter(folder).map_err(fail)?;
        for text in gate.claims().map_err(fail)? {
            refuse_overlap(&text, sockets)?;
        }
        let (name, file) = create_file(&gate.inside()).map_err(fail)?;
        let path = folder.join(name);
        let text = sockets.to_text(process::id());
        if let Err(source) = write_within(&gate, folder, &file, &text) {
            let _ = fs::remove_file(&path);
            return Err(fail(source));
        }
        Ok((path, file))
    }
}

/// Locks a claim and writes it before the gate opens: a process that looks in sees all of it or
/// nothing.
fn write_within(gate: &Gate, folder: &Path, mut file: &File, text: &str) -> io::Result<()> {
    // The folder may have been removed and made again meanwhile. Then this gate guards nothing.
    if !gate.is_of(folder)? {
        return Err(io::ErrorKind::NotFound.into());
    }
    file.try_lock()?;
    file.write_all(text.as_bytes())
}

impl Drop for Claim {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Takes away what killed processes claimed there.
pub(super) fn sweep(folder: &Path) -> io::Result<()> {
    match Gate::enter(folder) {
        Ok(gate) => gate.claims().map(drop),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// A folder that one process checks at a time.
struct Gate {
    /// What it keeps locked.
    open: File,
}

impl Gate {
    fn enter(folder: &Path) -> io::Result<Self> {
        const STEP: Duration = Duration::from_millis(5);
        let open = File::open(folder)?;
        let until = Instant::now() + PATIENCE;
        while let Err(error) = open.try_lock() {
            match error {
                TryLockError::WouldBlock if Instant::now() < until => thread::sleep(STEP),
                TryLockError::WouldBlock => {
                    let why = "another process looks into it and does not come to an end";
                    return Err(io::Error::new(io::ErrorKind::TimedOut, why));
                }
                TryLockError::Error(error) => return Err(error),
            }
        }
        Ok(Self { open })
    }

    /// The folder of this gate, and no other that has its name by now. A folder that was removed is
    /// empty.
    fn inside(&self) -> PathBuf {
        Path::new("/proc/self/fd").join(self.open.as_raw_fd().to_string())
    }

    /// Whether the name still refers to this folder.
    fn is_of(&self, folder: &Path) -> io::Result<bool> {
        let (own, named) = (self.open.metadata()?, fs::metadata(folder)?);
        Ok((own.dev(), own.ino()) == (named.dev(), named.ino()))
    }

    /// What processes that are alive claim.
    fn claims(&self) -> io::Result<Vec<String>> {
        let texts = fs::read_dir(self.inside())?.map(|entry| claimed(&entry?.path()));
        texts.filter_map(Result::transpose).collect()
    }
}

/// Folders that were new. Each is removed with this, unless another process uses it by then.
#[derive(Debug, Default)]
struct Made {
    /// The inner ones first.
    folders: Vec<PathBuf>,
}

impl Made {
    /// A folder, and what it is in.
    fn create(&mut self, folder: &Path, mode: u32) -> io::Result<()> {
        if let Some(above) = folder.parent()
            && !above.exists()
        {
            self.create(above, 0o755)?;
        }
        match DirBuilder::new().mode(mode).create(folder) {
            Ok(()) => {
                self.folders.insert(0, folder.into());
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for folder in &self.folders {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// A file with a unique name: in another process namespace there is a process with the same number.
fn create_file(folder: &Path) -> io::Result<(String, File)> {
    let names = (0..).map(|count: u32| format!("{}-{count}", process::id()));
    for name in names {
        match OpenOptions::new().write(true).create_new(true).open(folder.join(&name)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (name, file)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// The sockets of a claim whose process lives. A dead process's claim is removed.
fn claimed(path: &Path) -> io::Result<Option<String>> {
    // Its owner lets go of it without waiting for the gate.
    let gone = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Ok(None),
        _ => Err(error),
    };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => return gone(error),
    };
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    match file.try_lock() {
        Ok(()) => fs::remove_file(path).map(|()| None).or_else(gone),
        Err(TryLockError::WouldBlock) => {
            let mut text = Vec::new();
            file.take(LONGEST).read_to_end(&mut text)?;
            Ok(Some(String::from_utf8_lossy(&text).into()))
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn refuse_overlap(text: &str, ours: &Sockets) -> Result<(), DownlinkError> {
    match Sockets::from_text(text) {
        Some((_, theirs)) if !theirs.overlap(ours) => Ok(()),
        Some((process, theirs)) => {
            Err(DownlinkError::Taken { by: format!("process {process}"), what: theirs.name() })
        }
        // Of another version, which may claim any socket.
        None => Err(DownlinkError::Taken {
            by: "another version of this program".into(),
            what: "sockets that it names in a way of its own".into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sockets::tests::sockets;
    use super::*;

    const ROOT: &[u64] = &[1];

    #[test]
    fn what_is_claimed_is_refused_by_name_until_it_is_let_go() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("made for it");
        let wwan0 = sockets(1, ROOT, &["wwan0"]);
        let first = Claim::make(&folder, &wwan0).expect("it is free");
        let _beside = Claim::make(&folder, &sockets(1, ROOT, &["wwan1"])).expect("another");
        let error = Claim::make(&folder, &wwan0).expect_err("it is the first one's");
        let said = error.to_string();
        assert!(said.contains(&process::id().to_string()) && said.contains("wwan0"), "{said}");
        drop(first);
        Claim::make(&folder, &wwan0).expect("it is free again");
    }

    #[test]
    fn an_unlocked_file_is_removed_and_one_of_another_version_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let left = folder.path().join("1-0");
        fs::write(&left, sockets(1, ROOT, &[]).to_text(1)).expect("written");
        let wwan0 = sockets(1, ROOT, &["wwan0"]);
        drop(Claim::make(folder.path(), &wwan0).expect("its process is gone"));
        assert!(!left.exists());
        fs::write(&left, "").expect("written");
        sweep(folder.path()).expect("swept");
        assert!(!left.exists());
        sweep(&left).expect("there is nothing");
        fs::create_dir(folder.path().join("a folder")).expect("made");
        let held = File::create(&left).expect("made");
        held.lock().expect("locked");
        (&held).write_all(b"{\"version\": 2}\xFF").expect("written");
        let error = Claim::make(folder.path(), &wwan0).expect_err("its meaning is unknown");
        assert!(error.to_string().contains("another version"), "{error}");
    }

    #[test]
    fn a_process_of_the_same_id_in_another_pid_namespace_keeps_its_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let theirs = folder.path().join(format!("{}-0", process::id()));
        let held = File::create(&theirs).expect("made");
        held.lock().expect("locked");
        let text = sockets(1, ROOT, &["wwan0"]).to_text(process::id());
        (&held).write_all(text.as_bytes()).expect("written");
        drop(Claim::make(folder.path(), &sockets(2, ROOT, &[])).expect("another's sockets"));
        assert_eq!(fs::read_to_string(&theirs).expect("it is there"), text);
        Claim::make(folder.path(), &sockets(1, ROOT, &["wwan0"])).expect_err("it is theirs");
    }

    #[test]
    fn a_claim_leaves_nothing_new_and_unused_behind() {
        let folder = tempfile::tempdir().expect("a folder");
        let above = folder.path().join("run/sounding");
        let claims = above.join("claims");
        let first = Claim::make(&claims, &sockets(1, ROOT, &["wwan0"])).expect("it is free");
        let second = Claim::make(&claims, &sockets(1, ROOT, &["wwan1"])).expect("another");
        Claim::make(&claims, &sockets(1, ROOT, &["wwan1"])).expect_err("it is the second's");
        drop(first);
        assert!(claims.exists(), "the second is in it");
        drop(second);
        fs::remove_dir_all(folder.path().join("run")).expect("it is there");
        drop(Claim::make(&claims, &sockets(1, ROOT, &[])).expect("it is free"));
        assert!(!folder.path().join("run").exists());
        fs::create_dir_all(&above).expect("room");
        drop(Claim::make(&claims, &sockets(1, ROOT, &[])).expect("it is free"));
        assert!(above.exists() && !claims.exists(), "it was there before");
    }

    #[test]
    fn claims_come_and_go_without_getting_in_each_others_way() {
        let folder = tempfile::tempdir().expect("a folder");
        let claims = folder.path().join("run/claims");
        thread::scope(|scope| {
            for number in 0..4u64 {
                let claims = &claims;
                scope.spawn(move || {
                    for _ in 0..50 {
                        Claim::make(claims, &sockets(number, ROOT, &[])).expect("its own");
                    }
                });
            }
        });
    }

    #[test]
    fn a_folder_that_cannot_be_is_named() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let error = Claim::make(file.path(), &sockets(1, ROOT, &[])).expect_err("a file");
        assert!(error.to_string().contains(&file.path().display().to_string()), "{error}");
    }
}
