//! Files that are read whole, up to a limit: their size is another's choice, and memory is this
//! machine's.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// The largest plan or configuration. The largest ones of this project have some ten kilobytes.
pub const MAX_TEXT: u64 = 1 << 20;
/// The largest trace, and the largest capture that is read whole, in bytes.
pub const MAX_TRACE: u64 = 4 << 30;

/// A file's bytes, at most `most`. A pipe or a device without an end is read no further than that.
///
/// # Errors
///
/// The kernel's error, if the file cannot be read; an error that names both figures if it has more
/// than `most` bytes.
pub fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let about = file.metadata()?;
    if about.is_file() && about.len() > most {
        return Err(too_large(&format!("{} bytes", about.len()), most));
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_large(&format!("more than {most} bytes"), most));
    }
    Ok(bytes)
}

/// The same for text.
///
/// # Errors
///
/// As [`read_at_most`], and `InvalidData` for bytes that are not UTF-8.
pub fn read_text_at_most(path: &Path, most: u64) -> io::Result<String> {
    let bytes = read_at_most(path, most)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn too_large(size: &str, most: u64) -> io::Error {
    let limit = match most {
        GIB.. if most.is_multiple_of(GIB) => format!("{} GiB", most / GIB),
        MIB.. if most.is_multiple_of(MIB) => format!("{} MiB", most / MIB),
        _ => format!("{most} bytes"),
    };
    let text = format!("it has {size}, and the limit is {limit}");
    io::Error::new(io::ErrorKind::FileTooLarge, text)
}

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_of_the_limit_is_read_and_a_larger_one_is_refused_by_its_size() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        fs::write(&path, "1234").expect("room");
        assert_eq!(read_text_at_most(&path, 4).expect("it fits"), "1234");
        let error = read_at_most(&path, 3).expect_err("one byte more").to_string();
        assert_eq!(error, "it has 4 bytes, and the limit is 3 bytes");
        // Without a byte on the disk.
        File::create(&path).and_then(|file| file.set_len(5 << 30)).expect("a sparse file");
        let error = read_at_most(&path, MAX_TRACE).expect_err("larger").to_string();
        assert_eq!(error, "it has 5368709120 bytes, and the limit is 4 GiB");
    }

    #[test]
    fn what_has_no_end_is_read_no_further_than_the_limit() {
        let error = read_at_most(Path::new("/dev/zero"), MAX_TEXT).expect_err("no end");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        let text = "it has more than 1048576 bytes, and the limit is 1 MiB";
        assert_eq!(error.to_string(), text);
    }
}
