//! The token: a file that no other user reads.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

/// The shortest that is taken, and the longest file.
const LEAST: usize = 16;
const MOST: u64 = 1024;

/// What is wrong with the file of a token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The system refused something.
    #[error("the token's file {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Others may read it.
    #[error(
        "the token's file {path} has the mode {mode:04o}: others may read it: chmod 600 {path}"
    )]
    Mode {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// It is another user's, or no file.
    #[error("the token's file {path} is no file of this user: remove it, and a new one is made")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Its contents are no token.
    #[error(
        "the token's file {path} has no token: 16 or more letters, digits, \"-\" and \"_\"; remove it, and a new one is made"
    )]
    Contents {
        /// The file.
        path: PathBuf,
    },
}

/// The token in this file. Where there is none, one is made.
pub(crate) fn read_or_make(path: &Path) -> Result<String, TokenError> {
    let fail = |source| TokenError::Io { path: path.into(), source };
    match read(path) {
        Err(TokenError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {}
        read => return read,
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(fail)?;
    }
    let mut random = [0; 24];
    File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut random)).map_err(fail)?;
    let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut options = OpenOptions::new();
    let made = options.write(true).create_new(true).mode(0o600).open(path);
    let written = made.and_then(|mut file| {
        // A full disk leaves no file without a token, which no later start would take.
        writeln!(file, "{token}").inspect_err(|_| drop(fs::remove_file(path)))
    });
    match written {
        Ok(()) => Ok(token),
        // Another daemon was first.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => read(path),
        Err(error) => Err(fail(error)),
    }
}

fn read(path: &Path) -> Result<String, TokenError> {
    let fail = |source| TokenError::Io { path: path.into(), source };
    // A link could lead anywhere, and a pipe would be waited for.
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path);
    let file = file.map_err(fail)?;
    let about = file.metadata().map_err(fail)?;
    let own = [0, nix::unistd::geteuid().as_raw()];
    if !about.is_file() || !own.contains(&about.uid()) {
        return Err(TokenError::Foreign { path: path.into() });
    }
    let mode = about.mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(TokenError::Mode { path: path.into(), mode });
    }
    let mut text = String::new();
    let contents = TokenError::Contents { path: path.into() };
    match file.take(MOST).read_to_string(&mut text) {
        Err(error) if error.kind() == ErrorKind::InvalidData => return Err(contents),
        Err(error) => return Err(fail(error)),
        Ok(_) => {}
    }
    let token = text.trim();
    let is_sign = |sign: char| sign.is_ascii_alphanumeric() || "-_".contains(sign);
    if token.len() < LEAST || !token.chars().all(is_sign) {
        return Err(contents);
    }
    Ok(token.into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_token_is_made_once_for_its_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new").join("token");
        let token = read_or_make(&path).unwrap();
        assert_eq!(token.len(), 48);
        assert_eq!(read_or_make(&path).unwrap(), token);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_ne!(read_or_make(&folder.path().join("other")).unwrap(), token);
    }

    #[test]
    fn a_file_that_others_read_or_that_has_no_token_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        fs::write(&path, "0123456789abcdef\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(read_or_make(&path), Err(TokenError::Mode { mode: 0o640, .. })));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(read_or_make(&path).unwrap(), "0123456789abcdef");
        for contents in [&b"short"[..], b"", b"0123456789 abcdef", b"0123456789abcdef\xFF"] {
            fs::write(&path, contents).unwrap();
            assert!(matches!(read_or_make(&path), Err(TokenError::Contents { .. })));
        }
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(matches!(read_or_make(&link), Err(TokenError::Io { .. })));
        assert!(matches!(read_or_make(folder.path()), Err(TokenError::Foreign { .. })));
    }
}
