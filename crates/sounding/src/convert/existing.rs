//! An existing file with the name of an output. It is kept, unless it may be replaced.

use std::ffi::OsString;
use std::path::Path;

use miette::{Result, miette};
use sounding_export::table::ABOUT_ALL;
use sounding_host::files::names_descriptor;

use super::format::FileKind;

/// Kind of the existing file.
#[derive(Debug)]
enum What {
    /// No file, or one that is written to and not replaced: a device, a pipe, standard output.
    Nothing,
    File,
    Folder(Contents),
}

/// Contents of a folder.
#[derive(Debug, PartialEq, Eq)]
enum Contents {
    Nothing,
    /// Tables of log codes, as this program names them.
    Tables,
    /// Another file, with this name.
    Other(OsString),
}

/// The existing file with the name of an output.
#[derive(Debug)]
pub(super) struct Existing<'a> {
    path: &'a Path,
    what: What,
    /// Whether it may be replaced.
    force: bool,
}

impl<'a> Existing<'a> {
    pub(super) fn of(path: &'a Path, force: bool) -> Self {
        let what = match path.metadata() {
            _ if path == Path::new("-") || names_descriptor(path) => What::Nothing,
            Ok(about) if about.is_file() => What::File,
            Ok(about) if about.is_dir() => What::Folder(Contents::of(path)),
            _ => What::Nothing,
        };
        Self { path, what, force }
    }

    /// Returns an error if the output would replace a file without `--force`. The error names the
    /// option.
    pub(super) fn refuse(&self, kind: FileKind) -> Result<()> {
        let path = self.path.display();
        match &self.what {
            What::Nothing => Ok(()),
            What::File if self.force => Ok(()),
            What::File => Err(miette!(
                help = "--force replaces it; or name another file",
                "{path}: the file exists already"
            )),
            What::Folder(_) if kind != FileKind::Parquet => {
                Err(miette!(help = "name a file", "{path}: is a folder"))
            }
            What::Folder(Contents::Nothing) => Ok(()),
            What::Folder(Contents::Other(name)) => Err(miette!(
                help = "name another folder, or remove this one",
                "{path}: the folder is not empty, and holds more than tables: {}",
                Path::new(name).display()
            )),
            What::Folder(Contents::Tables) if self.force => Ok(()),
            What::Folder(Contents::Tables) => Err(miette!(
                help = "--force replaces its tables; or name another folder",
                "{path}: the folder is not empty"
            )),
        }
    }
}

impl Contents {
    fn of(folder: &Path) -> Self {
        // A folder that cannot be listed is not replaced.
        let Ok(entries) = folder.read_dir() else { return Self::Other(".".into()) };
        let mut contents = Self::Nothing;
        for entry in entries {
            match entry.map(|entry| entry.file_name()) {
                Ok(name) if is_table(&name) => contents = Self::Tables,
                Ok(name) => return Self::Other(name),
                Err(_) => return Self::Other(".".into()),
            }
        }
        contents
    }
}

/// `0xB139.parquet`, `0xB064-mac.parquet`, and the two files about all tables.
fn is_table(name: &std::ffi::OsStr) -> bool {
    let name = name.to_str().unwrap_or_default();
    if ABOUT_ALL.contains(&name) {
        return true;
    }
    let table = name.strip_prefix("0x").and_then(|name| name.strip_suffix(".parquet"));
    let code = table.map(|table| table.split_once('-').map_or(table, |(code, _)| code));
    code.is_some_and(|code| code.len() == 4 && u16::from_str_radix(code, 16).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_named_by_its_code() {
        for (name, is) in [
            ("0xB139.parquet", true),
            ("0xB064-mac.parquet", true),
            ("_schema.json", true),
            ("0xB139.csv", false),
            ("B139.parquet", false),
            ("0xB13.parquet", false),
            ("thesis.parquet", false),
        ] {
            assert_eq!(is_table(name.as_ref()), is, "{name}");
        }
    }
}
