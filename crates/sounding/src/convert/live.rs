//! Writers of records one after another, whose output another program may read meanwhile.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use sounding_diag::capture::Format;
use sounding_export::pcap::Messages;

use crate::output::Output;

/// Writes a capture in one of the formats, one packet at a time.
pub(super) enum Writer {
    Lines(Output),
    /// The output is shared, because not every writer of messages hands out its own.
    Messages(Messages<Shared>, Shared),
    Capture(Output, Format, Vec<u8>),
}

impl Writer {
    /// Everything that was written so far goes to the reader.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Lines(output) | Self::Capture(output, ..) => output.show(),
            Self::Messages(_, output) => output.0.borrow_mut().show(),
        }
    }
}

/// An output that two parts of a program have.
#[derive(Clone)]
pub(super) struct Shared(Rc<RefCell<Output>>);

impl Shared {
    pub(super) fn new(output: Output) -> Self {
        Self(Rc::new(RefCell::new(output)))
    }

    /// The output, if nothing else has it any more.
    pub(super) fn into_inner(self) -> io::Result<Output> {
        let output = Rc::into_inner(self.0).map(RefCell::into_inner);
        output.ok_or_else(|| io::Error::other("its writer is still there"))
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().flush()
    }
}
