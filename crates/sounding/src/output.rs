//! Output files that are never incomplete.
//!
//! Output goes to a temporary name beside the final one, and is renamed once it is complete and on disk. An error, a
//! full disk or Ctrl-C removes it, and leaves any earlier file of the final name.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Stdout, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;
#[cfg(feature = "lab")]
pub(crate) use sounding_host::files::Folder;
use sounding_host::files::{folder_of, temporary};
use tempfile::NamedTempFile;

use crate::caller;

/// The users who may read an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// By the process's umask.
    Usual,
    /// Its owner alone: it holds what identifies a person.
    Private,
}

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
    Zstd(zstd::stream::write::Encoder<'static, Target>),
}

enum Target {
    Stdout(BufWriter<Stdout>),
    /// A device or a pipe, which cannot be renamed to.
    Direct(BufWriter<File>),
    /// With its final name, and whether another file may have that.
    File(BufWriter<NamedTempFile>, PathBuf, bool),
}

impl Output {
    /// Begins an output; `-` is standard output. An existing file is replaced at the end with `force`, and is an error
    /// without.
    pub(crate) fn begin(
        path: &Path,
        packing: Packing,
        access: Access,
        force: bool,
    ) -> io::Result<Self> {
        let target = Target::begin(path, access, force)?;
        let packed = match packing {
            Packing::None => Packed::None(target),
            Packing::Gzip => Packed::Gzip(GzEncoder::new(target, flate2::Compression::default())),
            Packing::Zstd => Packed::Zstd(zstd::stream::write::Encoder::new(target, 3)?),
        };
        Ok(Self { packed })
    }

    /// Completes the output and gives it its name.
    pub(crate) fn finish(self) -> io::Result<()> {
        let target = match self.packed {
            Packed::None(target) => target,
            Packed::Gzip(encoder) => encoder.finish()?,
            Packed::Zstd(encoder) => encoder.finish()?,
        };
        target.finish()
    }
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

impl Target {
    fn begin(path: &Path, access: Access, force: bool) -> io::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Stdout(BufWriter::new(io::stdout())));
        }
        if path.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir()) {
            let file = OpenOptions::new().write(true).open(path)?;
            return Ok(Self::Direct(BufWriter::new(file)));
        }
        let mut temporary = temporary();
        if access == Access::Private {
            temporary.permissions(Permissions::from_mode(0o600));
        }
        let file = temporary.tempfile_in(folder_of(path))?;
        if access == Access::Private {
            caller::hand_over(file.as_file());
        }
        Ok(Self::File(BufWriter::new(file), path.to_path_buf(), force))
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Stdout(mut out) => out.flush(),
            Self::Direct(mut out) => out.flush(),
            Self::File(_, path, false) if path.exists() => Err(io::ErrorKind::AlreadyExists.into()),
            Self::File(out, path, _) => {
                let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
                // Some file systems report a full disk only here.
                file.as_file().sync_all()?;
                file.persist(path).map(drop).map_err(|error| error.error)
            }
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::Direct(out) => out.write(bytes),
            Self::File(out, ..) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::Direct(out) => out.flush(),
            Self::File(out, ..) => out.flush(),
        }
    }
}
