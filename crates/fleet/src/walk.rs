//! Which files there are.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};

use crate::error::{FleetError, read};

/// A file that tells that a folder is a dataset.
pub(crate) const DATASET: &str = "_about/dataset.json";

/// Where captures are: a folder with all that is in it, a file, or a pattern.
#[derive(Clone, Debug)]
pub struct Captures {
    root: PathBuf,
    pattern: Option<Pattern>,
}

/// A file that was found.
#[derive(Debug)]
pub(crate) struct Found {
    /// Below the folder of all captures.
    pub(crate) path: String,
    /// Its size in bytes, or why it cannot be one.
    pub(crate) size: Result<u64, String>,
}

impl Captures {
    /// Everything in a folder, whatever its name.
    pub fn folder(path: impl Into<PathBuf>) -> Self {
        Self { root: path.into(), pattern: None }
    }

    /// The files of a folder, of its path alone, or of a pattern: `drives/**/*.qmdl`. `**` stands
    /// for any folders, and at the end for all that is in them.
    ///
    /// # Errors
    ///
    /// [`FleetError::Pattern`] if the text is no pattern.
    pub fn matching(text: &str) -> Result<Self, FleetError> {
        let is_plain = |part: &&str| !part.contains(['*', '?', '[']);
        let path = Path::new(text);
        let parts: Vec<&str> = text.split('/').collect();
        let plain = parts.iter().take_while(|part| is_plain(part)).count();
        if plain == parts.len() {
            let Some(name) = path.file_name().filter(|_| path.is_file()) else {
                return Ok(Self::folder(text));
            };
            let name = Pattern::escape(&name.to_string_lossy());
            return Self::within(path.parent().unwrap_or(Path::new("")), &name, text);
        }
        let mut rest = parts[plain..].join("/");
        if rest == "**" || rest.ends_with("/**") {
            rest += "/*";
        }
        let root = parts[..plain].join("/");
        let root = if root.is_empty() && plain > 0 { "/" } else { &root };
        Self::within(Path::new(root), &rest, text)
    }

    fn within(root: &Path, pattern: &str, text: &str) -> Result<Self, FleetError> {
        let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
        let pattern = Pattern::new(pattern).map_err(|error| FleetError::Pattern {
            pattern: text.into(),
            fault: error.msg.into(),
        })?;
        Ok(Self { root: root.into(), pattern: Some(pattern) })
    }

    /// The folder of all.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The files, sorted by path. Names that begin with a dot are passed over, and so are datasets
    /// of this program. A folder is read once, whatever links lead to it.
    pub(crate) fn find(&self) -> Result<Vec<Found>, FleetError> {
        let options = MatchOptions { require_literal_separator: true, ..MatchOptions::default() };
        let is_wanted = |path: &str| {
            self.pattern.as_ref().is_none_or(|pattern| pattern.matches_with(path, options))
        };
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let mut folders = vec![String::new()];
        fs::read_dir(&self.root).map_err(read(&self.root))?;
        while let Some(folder) = folders.pop() {
            let own = self.root.join(&folder);
            let (about, entries) = match fs::metadata(&own).and_then(|a| Ok((a, own.read_dir()?))) {
                Ok(both) => both,
                // Any of its files could match.
                Err(error) => {
                    found.push(Found { path: folder, size: Err(error.to_string()) });
                    continue;
                }
            };
            let is_dataset = own.join(DATASET).exists();
            if is_dataset || !seen.insert((about.dev(), about.ino())) {
                continue;
            }
            let mut within = Vec::new();
            let mut add = |path: String, size: Result<u64, String>| {
                if is_wanted(&path) {
                    found.push(Found { path, size });
                }
            };
            for entry in entries {
                let name = match entry {
                    Ok(entry) => entry.file_name(),
                    Err(error) => {
                        add(folder.clone(), Err(error.to_string()));
                        break;
                    }
                };
                let lossy = name.to_string_lossy();
                if lossy.starts_with('.') {
                    continue;
                }
                let below = if folder.is_empty() { "" } else { "/" };
                let path = format!("{folder}{below}{lossy}");
                if name.to_str().is_none() {
                    add(path, Err("its name is not UTF-8: rename it".into()));
                    continue;
                }
                match fs::metadata(self.root.join(&path)) {
                    Ok(about) if about.is_dir() => within.push(path),
                    Ok(about) if about.is_file() => add(path, Ok(about.len())),
                    Ok(_) => add(path, Err("is no file, but a pipe, a socket or a device".into())),
                    Err(error) => add(path, Err(error.to_string())),
                }
            }
            // The first one is taken next.
            within.sort_unstable_by(|one, other| other.cmp(one));
            folders.append(&mut within);
        }
        found.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_finds_the_files_that_it_names() {
        let folder = tempfile::tempdir().expect("a set-up that works");
        for path in ["a.qmdl", "notes.txt", "one/b.qmdl", "one/two/c.hdf", ".hidden", "one/.d.qmdl"]
        {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a set-up that works"))
                .expect("a set-up that works");
            fs::write(path, "").expect("a set-up that works");
        }
        let all = ["a.qmdl", "notes.txt", "one/b.qmdl", "one/two/c.hdf"];
        for (pattern, expected) in [
            ("", &all[..]),
            ("/**", &all),
            ("/**/*", &all),
            ("/*", &["a.qmdl", "notes.txt"]),
            ("/**/*.qmdl", &["a.qmdl", "one/b.qmdl"]),
            ("/a.qmdl", &["a.qmdl"]),
            // Paths are below the part of the pattern that is plain.
            ("/one/*/c.*", &["two/c.hdf"]),
        ] {
            let text = format!("{}{pattern}", folder.path().display());
            let found = Captures::matching(&text)
                .expect("a set-up that works")
                .find()
                .expect("a set-up that works");
            let found: Vec<_> = found.iter().map(|found| found.path.as_str()).collect();
            assert_eq!(found, expected, "{pattern}");
        }
        assert!(Captures::matching("drives/[").is_err());
    }
}
