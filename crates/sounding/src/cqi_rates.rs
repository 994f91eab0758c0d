//! The file of `--cqi-rates`: what was learnt of each cell's rates by CQI, for the next reader of
//! the same modem.
//!
//! ```text
//! sounding: rates by CQI, version 1
//! lte 123 64qam 1/15=612.5 2/9=480.2
//! ```
//!
//! The first line says what the others are. A file without it is something else, and is neither
//! read nor replaced.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sounding_host::files::{self, Access, Draft, Over};
use sounding_link::{CellRates, NoRates};
use sounding_units::{HostInstant, without_mark};

const HEADER: &str = "sounding: rates by CQI, version 1";

/// The cells that an estimator keeps, each with all its entries, take half of this.
const MOST: u64 = 1 << 20;

/// A daemon that is killed loses no more than this.
const KEPT_EVERY: Duration = Duration::from_secs(60);

/// Why a file is not read, or not written.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("the rates by CQI in {path}: {wrong}", path = path.display())]
#[diagnostic(help("--cqi-rates takes a file that this user's own program wrote, or a new one"))]
pub(crate) struct NotKept {
    path: PathBuf,
    wrong: Wrong,
}

#[derive(Debug, thiserror::Error)]
enum Wrong {
    #[error("{0}")]
    System(#[from] io::Error),
    #[error("it is no regular file of this user")]
    Foreign,
    #[error("it has more than {MOST} bytes")]
    Large,
    #[error("it does not begin with {HEADER:?}")]
    Other,
    #[error("line {number}: {error}")]
    Line { number: usize, error: NoRates },
}

/// Its cells; none if there is no such file yet.
pub(crate) fn read(file: &Path) -> Result<Vec<CellRates>, NotKept> {
    cells(file).map_err(|wrong| NotKept { path: file.into(), wrong })
}

/// Replaces it with these cells.
pub(crate) fn write(file: &Path, rates: impl Iterator<Item = CellRates>) -> Result<(), NotKept> {
    replace(file, &text(rates)).map_err(|wrong| NotKept { path: file.into(), wrong: wrong.into() })
}

fn cells(file: &Path) -> Result<Vec<CellRates>, Wrong> {
    let mut options = OpenOptions::new();
    // A symbolic link that another user has made leads elsewhere, and a pipe would be waited for.
    options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = match options.open(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) if error.raw_os_error() == Some(libc::ELOOP) => return Err(Wrong::Foreign),
        opened => opened?,
    };
    let about = file.metadata()?;
    let own = [files::owner()?, nix::unistd::geteuid().as_raw()];
    if !about.is_file() || !own.contains(&about.uid()) {
        return Err(Wrong::Foreign);
    }
    let mut text = Vec::new();
    if file.take(MOST + 1).read_to_end(&mut text)? as u64 > MOST {
        return Err(Wrong::Large);
    }
    let text = str::from_utf8(without_mark(&text)).map_err(io::Error::other)?;
    let mut lines = (1..).zip(text.lines());
    if lines.next().is_none_or(|(_, line)| line != HEADER) {
        return Err(Wrong::Other);
    }
    let cell =
        |(number, line): (usize, &str)| line.parse().map_err(|error| Wrong::Line { number, error });
    lines.filter(|(_, line)| !line.trim().is_empty()).map(cell).collect()
}

fn text(rates: impl Iterator<Item = CellRates>) -> String {
    let lines = rates.map(|rates| format!("{rates}\n"));
    [format!("{HEADER}\n")].into_iter().chain(lines).collect()
}

/// A reader finds the old file or the new one, and never half of one.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    // Cells say where a device was.
    let mut draft = Draft::begin(file, Access::Private)?;
    draft.write_all(text.as_bytes())?;
    draft.finish_unsynced(Over::File)
}

/// The file of a daemon, which keeps it up to date.
#[derive(Debug)]
pub(crate) struct Store {
    file: PathBuf,
    text: String,
    looked_at: HostInstant,
}

impl Store {
    /// The file's cells, and what keeps them from here on.
    pub(crate) fn open(file: PathBuf) -> Result<(Self, Vec<CellRates>), NotKept> {
        let cells = read(&file)?;
        let text = text(cells.iter().cloned());
        Ok((Self { file, text, looked_at: HostInstant::default() }, cells))
    }

    /// Whether they are to be kept again.
    pub(crate) fn is_due(&mut self, now: HostInstant) -> bool {
        let due = now - self.looked_at >= KEPT_EVERY;
        if due {
            self.looked_at = now;
        }
        due
    }

    /// Replaces the file with these cells, if it has others.
    pub(crate) fn keep(&mut self, rates: impl Iterator<Item = CellRates>) -> Result<(), NotKept> {
        let text = text(rates);
        if text != self.text {
            replace(&self.file, &text)
                .map_err(|error| NotKept { path: self.file.clone(), wrong: error.into() })?;
            self.text = text;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    const CELLS: [&str; 2] = ["lte 123 64qam 1/15=612.5 2/9=300.0", "nr 1007 nr"];

    fn rates() -> impl Iterator<Item = CellRates> {
        CELLS.iter().map(|line| line.parse().expect("a cell"))
    }

    #[test]
    fn what_one_daemon_kept_the_next_one_begins_with() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("cells");
        let (mut store, cells) = Store::open(file.clone()).expect("no file is none kept");
        assert!(cells.is_empty() && store.is_due(HostInstant::from_nanos(100_000_000_000)));
        assert!(!store.is_due(HostInstant::from_nanos(159_000_000_000)));
        store.keep(rates()).expect("room");
        let mode = fs::metadata(&file).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let (_, cells) = Store::open(file.clone()).expect("its own");
        assert_eq!(cells, rates().collect::<Vec<_>>());
        // An editor may have put a byte-order mark before it.
        let kept = fs::read_to_string(&file).expect("it is there");
        fs::write(&file, format!("\u{feff}{kept}")).expect("room");
        assert_eq!(read(&file).expect("its own"), cells);
        // Rates that have not changed are not written again.
        fs::remove_file(&file).expect("it is there");
        store.keep(rates()).expect("nothing to do");
        assert!(!file.exists());
    }

    #[test]
    fn a_file_of_something_else_or_of_someone_else_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let wrong = |path: &Path| read(path).expect_err("refused").to_string();
        fs::write(at("other"), "[modem]\ndevice = 'x'\n").expect("room");
        assert!(wrong(&at("other")).contains("does not begin with"));
        fs::write(at("empty"), "").expect("room");
        assert!(wrong(&at("empty")).contains("does not begin with"));
        fs::write(at("line"), format!("{HEADER}\nlte 1 64qam\nlte 70000 64qam\n")).expect("room");
        assert!(wrong(&at("line")).contains("line 3"), "{}", wrong(&at("line")));
        fs::write(at("large"), vec![b'x'; MOST as usize + 1]).expect("room");
        assert!(wrong(&at("large")).contains("more than"));
        fs::write(at("bytes"), [0xff, 0xfe]).expect("room");
        assert!(read(&at("bytes")).is_err());
        write(&at("good"), rates()).expect("room");
        symlink(at("good"), at("link")).expect("room");
        assert!(wrong(&at("link")).contains("no regular file"));
        nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).expect("room");
        assert!(wrong(&at("pipe")).contains("no regular file"));
        if nix::unistd::geteuid().is_root() {
            std::os::unix::fs::chown(at("good"), Some(65_534), None).expect("root may");
            assert!(wrong(&at("good")).contains("no regular file"));
        } else {
            assert!(wrong(Path::new("/etc/hostname")).contains("no regular file"));
        }
    }

    #[test]
    fn a_link_beside_it_leads_nowhere() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, victim) = (folder.path().join("cells"), folder.path().join("victim"));
        fs::write(&victim, "theirs").expect("room");
        symlink(&victim, folder.path().join("cells.new")).expect("room");
        write(&file, rates()).expect("room");
        assert_eq!(fs::read_to_string(&victim).expect("it is there"), "theirs");
        assert_eq!(read(&file).expect("its own").len(), 2);
    }
}
