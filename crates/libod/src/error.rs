use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::io;

use sounding_board::{NameError, OpenError as BoardError};
use sounding_kpi::UnknownKpi;
use sounding_modem::{OpenError, SourceError};

/// An errno, and its meaning here.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) errno: i32,
    text: String,
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

impl Failure {
    pub(crate) fn new(errno: i32, text: impl ToString) -> Self {
        Self { errno, text: text.to_string() }
    }

    /// Sets errno, and keeps the words for `od_error`.
    pub(crate) fn raise(self) {
        let text = CString::new(self.text).unwrap_or_else(|_| c"an error that says nothing".into());
        // A thread that is ending keeps no words.
        let _ = LAST.try_with(|last| last.replace(text));
        nix::errno::Errno::set_raw(self.errno);
    }
}

/// The words of this thread's last failure.
pub(crate) fn last() -> *const c_char {
    let words = |last: &RefCell<CString>| last.borrow().as_ptr();
    LAST.try_with(words).unwrap_or(c"".as_ptr())
}

/// Reads a C string; an error if it is null or not UTF-8.
///
/// # Safety
///
/// `text` is null or points to bytes that end in a zero and stay as they are while the result is
/// used.
pub(crate) unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(Failure::new(libc::EFAULT, format_args!("{what} is null")));
    }
    // SAFETY: not null, and the caller says the rest.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Failure::new(libc::EINVAL, format_args!("{what} is not UTF-8")))
}

impl From<NameError> for Failure {
    fn from(error: NameError) -> Self {
        Self::new(libc::EINVAL, error)
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        Self::new(libc::EINVAL, error)
    }
}

impl From<UnknownKpi> for Failure {
    fn from(error: UnknownKpi) -> Self {
        Self::new(libc::ENOENT, error)
    }
}

impl From<BoardError> for Failure {
    fn from(error: BoardError) -> Self {
        let errno = match &error {
            BoardError::Missing { .. } => libc::ENOENT,
            BoardError::Abandoned { .. } => libc::EPIPE,
            BoardError::Io { error, .. } => code(error),
            BoardError::Other { .. } => libc::EINVAL,
        };
        Self::new(errno, error)
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let errno = match &error {
            OpenError::Missing { .. } => libc::ENOENT,
            OpenError::Denied { .. } => libc::EACCES,
            OpenError::Busy { .. } => libc::EBUSY,
            OpenError::NotSerial { .. } | OpenError::File { .. } | OpenError::NotModem { .. } => {
                libc::EINVAL
            }
            _ => libc::EIO,
        };
        Self::new(errno, error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::new(code(&error), error)
    }
}

/// The errno in an error of the system.
pub(crate) fn code(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EIO)
}
