//! Finds the captures, and the captures that another reader has read.
//!
//! Every file under `captures` whose content is a capture counts. The reference's reading is
//! `expected/{its path under captures, with _ for each /}.jsonl.zst`, in any folder under
//! `expected`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sounding_diag::capture::Capture;

use crate::pinned::PINNED;

/// The suffix of an expected reading, after the capture's name.
const ENDING: &str = ".jsonl.zst";

/// A capture with its expected reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    /// The capture's path under `captures`, with `/`.
    pub name: String,
    pub capture: PathBuf,
    pub expected: PathBuf,
}

impl Pair {
    /// Whether its content is known.
    pub(crate) fn is_known(&self) -> bool {
        PINNED.iter().any(|(name, ..)| *name == self.name)
    }
}

/// What a folder holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// In order of names.
    pub pairs: Vec<Pair>,
    /// Captures without an expected reading: name and file.
    pub unread: Vec<(String, PathBuf)>,
    /// Expected readings without a capture.
    pub orphans: Vec<PathBuf>,
}

impl Found {
    /// Everything under these two folders. A folder that is not there is empty.
    pub(crate) fn look(captures: &Path, expected: &Path) -> Self {
        let readings = files(expected).into_iter().filter_map(|path| {
            let name = path.file_name()?.to_str()?.strip_suffix(ENDING)?.to_owned();
            Some((name, path))
        });
        let mut readings: BTreeMap<String, PathBuf> = readings.collect();
        let mut found = Self::default();
        for capture in files(captures) {
            let Ok(under) = capture.strip_prefix(captures) else { continue };
            let parts: Vec<_> = under.iter().map(|part| part.to_string_lossy()).collect();
            let name = parts.join("/");
            match readings.remove(&parts.join("_")) {
                Some(expected) => found.pairs.push(Pair { name, capture, expected }),
                None if is_capture(&capture) => found.unread.push((name, capture)),
                None => {}
            }
        }
        found.orphans.extend(readings.into_values());
        found
    }
}

fn is_capture(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| Capture::new(&bytes).is_ok())
}

/// Every file under a folder, in order of names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()) {
            if path.is_dir() { &mut folders } else { &mut files }.push(path);
        }
    }
    files.sort();
    files
}
