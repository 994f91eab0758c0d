use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsFd;
use std::time::Duration;

use super::{Read, Transport, outcome, wait};

/// A capture, or another program's output: HDLC frames that come by themselves and an end.
#[derive(Debug)]
pub struct Stream {
    file: File,
}

impl Stream {
    /// A file or a pipe.
    pub fn new(file: File) -> Self {
        Self { file }
    }

    /// Standard input.
    ///
    /// # Errors
    ///
    /// The kernel's error, if it has no descriptor left.
    pub fn stdin() -> io::Result<Self> {
        Ok(Self::new(io::stdin().as_fd().try_clone_to_owned()?.into()))
    }
}

impl Transport for Stream {
    fn read(&mut self, buffer: &mut [u8], patience: Duration) -> io::Result<Read> {
        if !wait([self.file.as_fd()], patience)? {
            return Ok(Read::Idle);
        }
        outcome(self.file.read(buffer))
    }

    fn takes_requests(&self) -> bool {
        false
    }
}
