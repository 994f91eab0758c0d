//! Opening a port, and why one does not open.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Opens a device for reading and writing without waiting.
pub(super) fn open_device(path: &Path) -> Result<File, OpenError> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK)
        .open(path)
        .map_err(|error| OpenError::at(path, error))?;
    let kind = file.metadata().map_err(|error| OpenError::at(path, error))?.file_type();
    let is_device = kind.is_char_device() && !file.is_terminal();
    if is_device { Ok(file) } else { Err(OpenError::NotModem { path: path.into() }) }
}

/// Why a port did not open.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The path does not exist.
    #[error(
        "{path}: no such device or file: is the modem plugged in, and is its driver (option, qcserial) loaded?"
    )]
    Missing {
        /// The requested device.
        path: PathBuf,
    },
    /// The path exists, but is not a terminal.
    #[error("{path}: is not a serial device: a modem's Diag port is one, as /dev/ttyUSB0")]
    NotSerial {
        /// The requested device.
        path: PathBuf,
    },
    /// It is a file, but only a live source is useful here.
    #[error("{path}: is a file, not a serial device: for a capture use `sounding link {path}`")]
    File {
        /// The requested device.
        path: PathBuf,
    },
    /// The caller may not open it.
    #[error(
        "{path}: permission denied: run as root, or join the group that owns it (often dialout)"
    )]
    Denied {
        /// The requested device.
        path: PathBuf,
    },
    /// Another program has it for itself.
    #[error("{path}: held by another program, often ModemManager: `fuser -v {path}` names it")]
    Busy {
        /// The requested device.
        path: PathBuf,
    },
    /// It is a device of another kind.
    #[error("{path}: is neither a modem's Diag port nor a serial device")]
    NotModem {
        /// The requested device.
        path: PathBuf,
    },
    /// The driver of `/dev/diag` refuses to hand the log over.
    #[error(
        "{path}: the driver does not switch logging to this process: {error}: stop the other program that logs"
    )]
    Switch {
        /// The requested device.
        path: PathBuf,
        /// The driver's error.
        error: io::Error,
    },
    /// No server listens there.
    #[error("tcp:{address}: {error}: is the bridge running?")]
    Connect {
        /// The requested address.
        address: String,
        /// The system's error.
        error: io::Error,
    },
    /// There is no such socket.
    #[error("no diag-router listens on the socket {name}: {error}")]
    NoRouter {
        /// The requested name.
        name: String,
        /// The system's error.
        error: io::Error,
    },
    /// Another program has taken the name.
    #[error(
        "process {process} of user {user} answers on the router's socket {name}: any user can take that name, so only root and \
         this user are believed; --router-user names another"
    )]
    Stranger {
        /// The requested name.
        name: String,
        /// The user id of its process.
        user: u32,
        /// Its number; 0 where it is in a process namespace out of sight.
        process: i32,
    },
    /// Another error of the system.
    #[error("{path}: {error}")]
    Io {
        /// The requested device.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

impl OpenError {
    /// The error for a failed `open` of `path`.
    pub(super) fn at(path: &Path, error: io::Error) -> Self {
        let path = path.to_path_buf();
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing { path },
            io::ErrorKind::PermissionDenied => Self::Denied { path },
            io::ErrorKind::ResourceBusy => Self::Busy { path },
            io::ErrorKind::IsADirectory => Self::NotSerial { path },
            // A name in /dev whose device is gone.
            _ if error.raw_os_error() == Some(libc::ENXIO) => Self::Missing { path },
            _ if error.raw_os_error() == Some(libc::ENODEV) => Self::Missing { path },
            _ => Self::Io { path, error },
        }
    }
}
