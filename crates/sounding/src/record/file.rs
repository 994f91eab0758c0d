use std::fs::File;
use std::io::{self, IsTerminal as _, Write};
use std::path::Path;

use sounding_host::files::{Access, create_new};

use crate::patient::Patient;

/// A capture that is being written: a stream of HDLC frames.
///
/// Each part goes to the kernel at once. So a killed process loses nothing that it has received. If
/// the disk is full, the file is cut back to its last whole frame.
#[derive(Debug)]
pub(super) struct Recording {
    out: Out,
    /// Bytes that were written.
    len: u64,
    /// Bytes up to the end of the last whole frame.
    whole: u64,
}

#[derive(Debug)]
enum Out {
    File(File),
    /// Standard output, whose reader may read too slowly or go away.
    Pipe(Patient),
}

const TERMINATOR: u8 = 0x7E;

impl Recording {
    /// A new file; one that is there already is left alone. It holds identities, and only its owner
    /// may read it. `-` is standard output.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let out = match path == Path::new("-") {
            true => Out::Pipe(Patient::stdout(None)?),
            false => Out::File(create_new(path, Access::Private)?),
        };
        Ok(Self { out, len: 0, whole: 0 })
    }

    /// Whether its reader has closed the pipe.
    pub(super) fn is_gone(&self) -> bool {
        matches!(&self.out, Out::Pipe(out) if out.is_gone())
    }

    /// Bytes of whole frames so far.
    pub(super) fn whole(&self) -> u64 {
        self.whole
    }

    /// Writes a stretch. After an error the file ends with a whole frame, and takes no more.
    pub(super) fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = match &mut self.out {
                Out::File(file) => file.write(bytes),
                Out::Pipe(out) => out.write(bytes),
            };
            match written {
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
        if let Out::File(file) = &self.out {
            let _ = file.set_len(self.whole);
        }
        Err(error)
    }

    /// Ends the file: after this the data is on the disk, as far as the disk reports.
    pub(super) fn finish(self) -> io::Result<u64> {
        if let Out::File(file) = &self.out {
            file.sync_data()?;
        }
        Ok(self.len)
    }
}

/// Whether this path is standard output and leads to a terminal, for which the bytes of a modem are
/// commands.
pub(super) fn is_terminal(path: &Path) -> bool {
    path == Path::new("-") && io::stdout().is_terminal()
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
