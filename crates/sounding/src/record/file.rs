use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use sounding_host::files::{Access, create_new};

/// A capture that is being written: a stream of HDLC frames.
///
/// Each part goes to the kernel at once. So a killed process loses nothing that it has received. If
/// the disk is full, the file is cut back to its last whole frame.
#[derive(Debug)]
pub(super) struct Recording {
    file: File,
    /// Bytes in the file.
    len: u64,
    /// Bytes up to the end of the last whole frame.
    whole: u64,
}

const TERMINATOR: u8 = 0x7E;

impl Recording {
    /// A new file; one that is there already is left alone. It holds identities, and only its owner
    /// may read it.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let file = create_new(path, Access::Private)?;
        Ok(Self { file, len: 0, whole: 0 })
    }

    /// Bytes of whole frames so far.
    pub(super) fn whole(&self) -> u64 {
        self.whole
    }

    /// Writes a stretch. After an error the file ends with a whole frame, and takes no more.
    pub(super) fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.file.write(bytes) {
                Ok(0) => return self.cut(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    let written = &bytes[..count];
                    if let Some(at) = written.iter().rposition(|&byte| byte == TERMINATOR) {
                        self.whole = self.len + at as u64 + 1;
                    }
                    self.len += count as u64;
                    bytes = &bytes[count..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return self.cut(error),
            }
        }
        Ok(())
    }

    fn cut(&mut self, error: io::Error) -> io::Result<()> {
        // A file that cannot be cut back ends in a broken frame, which readers count and skip.
        let _ = self.file.set_len(self.whole);
        Err(error)
    }

    /// Ends the file: after this the data is on the disk, as far as the disk reports.
    pub(super) fn finish(self) -> io::Result<u64> {
        self.file.sync_data()?;
        Ok(self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_there_before_the_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("drive.qmdl");
        let mut recording = Recording::create(&path).expect("a file");
        recording.write(b"one\x7Etw").expect("room");
        assert_eq!(std::fs::read(&path).expect("readable"), b"one\x7Etw");
        assert_eq!(recording.whole(), 4);
        recording.write(b"o\x7E").expect("room");
        assert_eq!((recording.whole(), recording.finish().expect("syncs")), (8, 8));
    }

    #[test]
    fn a_file_that_is_there_is_left_alone() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let refused = Recording::create(file.path()).expect_err("it is there");
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
    }
}
