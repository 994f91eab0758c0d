//! The user of sudo: results are written with its rights, and its programs run as it.

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::unistd::{Gid, Uid, User, geteuid, getgrouplist};

/// The user that became root by sudo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The user.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
}

/// The caller in sudo's environment is no user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}={value:?} is no user or group: sudo sets SUDO_UID and SUDO_GID, both as numbers")]
pub struct NoCaller {
    name: &'static str,
    value: String,
}

impl Caller {
    /// `None` if this is not root, sudo was not used, or root used it. Only root, or sudo, can set
    /// this in root's environment.
    ///
    /// # Errors
    ///
    /// [`NoCaller`] if sudo's words do not name a user and a group.
    pub fn of_sudo() -> Result<Option<Self>, NoCaller> {
        if !geteuid().is_root() {
            return Ok(None);
        }
        let word = |name| std::env::var_os(name).map(|word| word.to_string_lossy().into_owned());
        Self::named(word("SUDO_UID").as_deref(), word("SUDO_GID").as_deref())
    }

    fn named(uid: Option<&str>, gid: Option<&str>) -> Result<Option<Self>, NoCaller> {
        let Some(uid) = uid else { return Ok(None) };
        // The kernel reads -1, the largest number, as "unchanged".
        let number = |name, value: &str| match value.parse::<u32>() {
            Ok(number) if number != u32::MAX => Ok(number),
            _ => Err(NoCaller { name, value: value.into() }),
        };
        let uid = number("SUDO_UID", uid)?;
        let gid = number("SUDO_GID", gid.unwrap_or_default())?;
        Ok((uid != 0).then_some(Self { uid, gid }))
    }
}

/// A user as the machine knows it.
pub struct Home {
    name: String,
    folder: PathBuf,
    shell: PathBuf,
}

impl Home {
    /// The command finds this user's files, and not those of root, whose home sudo names.
    pub fn name_in(&self, command: &mut Command) {
        command.env("HOME", &self.folder).env("SHELL", &self.shell);
        command.env("USER", &self.name).env("LOGNAME", &self.name);
    }

    /// The shell that the user logs in with.
    pub fn shell(&self) -> &Path {
        &self.shell
    }
}

impl Caller {
    /// Its groups, and its home if the machine knows it. A machine that does not know a user gives
    /// it no groups.
    pub fn known(self) -> (Vec<u32>, Option<Home>) {
        let Some(user) = User::from_uid(Uid::from_raw(self.uid)).ok().flatten() else {
            return (Vec::new(), None);
        };
        let name = CString::new(user.name.as_str()).unwrap_or_default();
        let groups = getgrouplist(&name, Gid::from_raw(self.gid)).unwrap_or_default();
        let home = Home { name: user.name, folder: user.dir, shell: user.shell };
        (groups.into_iter().map(Gid::as_raw).collect(), Some(home))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sudo_says_who_called_it_in_two_numbers() {
        let caller = |uid, gid| Caller::named(uid, gid);
        assert_eq!(caller(None, None), Ok(None));
        assert_eq!(caller(None, Some("7")), Ok(None));
        assert_eq!(caller(Some("0"), Some("0")), Ok(None), "root called it");
        assert_eq!(caller(Some("7"), Some("8")), Ok(Some(Caller { uid: 7, gid: 8 })));
        for (uid, gid) in
            [("", "8"), ("-1", "8"), ("4294967295", "8"), ("7", ""), ("7", "x"), ("root", "8")]
        {
            assert!(caller(Some(uid), Some(gid)).is_err(), "{uid:?} {gid:?}");
        }
        assert!(caller(Some("7"), None).is_err(), "half of it is not enough");
    }
}
