//! Output files that are never incomplete, and may be compressed.
//!
//! An error, a full disk or Ctrl-C leaves any earlier file of the final name.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::write::GzEncoder;
#[cfg(feature = "lab")]
pub(crate) use sounding_host::files::Folder;
use sounding_host::files::{self, Draft};
pub(crate) use sounding_host::files::{Access, Over};

use crate::left_out::Encoder;
use crate::patient::Patient;

/// The compression of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    None,
    Gzip,
    Zstd,
}

/// An output on its way.
pub(crate) struct Output {
    packed: Packed,
}

enum Packed {
    None(Target),
    Gzip(GzEncoder<Target>),
    Zstd(Encoder<Target>),
}

enum Target {
    Stdout(BufWriter<Patient>),
    File(Draft),
}

impl Output {
    /// Begins an output; `-` is standard output.
    pub(crate) fn begin(path: &Path, packing: Packing, access: Access) -> io::Result<Self> {
        let target = match path == Path::new("-") {
            true => Target::Stdout(BufWriter::new(Patient::stdout(None)?)),
            false => Target::File(Draft::begin(path, access)?),
        };
        let packed = match packing {
            Packing::None => Packed::None(target),
            Packing::Gzip => Packed::Gzip(GzEncoder::new(target, flate2::Compression::default())),
            Packing::Zstd => Packed::Zstd(Encoder::new(target, 3)?),
        };
        Ok(Self { packed })
    }

    /// Passes on what was written so far, for the reader of a pipe. A packed output is left alone,
    /// because it would be packed worse.
    pub(crate) fn show(&mut self) -> io::Result<()> {
        match &mut self.packed {
            Packed::None(target) => target.flush(),
            Packed::Gzip(_) | Packed::Zstd(_) => Ok(()),
        }
    }

    /// Completes the output and gives it its name.
    pub(crate) fn finish(self, over: Over) -> io::Result<()> {
        let target = match self.packed {
            Packed::None(target) => target,
            Packed::Gzip(encoder) => encoder.finish()?,
            Packed::Zstd(encoder) => encoder.finish()?,
        };
        match target {
            Target::Stdout(mut out) => out.flush(),
            Target::File(draft) => draft.finish(over),
        }
    }
}

/// Writes a text that is there whole or not at all; `-` is standard output.
pub(crate) fn write_text(path: &Path, text: &str) -> io::Result<()> {
    if path == Path::new("-") {
        return io::stdout().write_all(text.as_bytes());
    }
    files::write(path, text.as_bytes())
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.packed {
            Packed::None(target) => target.write(bytes),
            Packed::Gzip(encoder) => encoder.write(bytes),
            Packed::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.packed {
            Packed::None(target) => target.flush(),
            Packed::Gzip(encoder) => encoder.flush(),
            Packed::Zstd(encoder) => encoder.flush(),
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::File(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::File(out) => out.flush(),
        }
    }
}
