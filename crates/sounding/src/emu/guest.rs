//! The user that a command runs as.

use std::ffi::CString;
use std::path::PathBuf;
use std::process::Command;

use nix::unistd::{Gid, Uid, User, geteuid, getgrouplist};
use sounding_emu::RunAs;

use crate::caller::{Caller, NoCaller};

/// A user of the emulation. Making it takes root; using it does not.
pub(super) struct Guest {
    user: RunAs,
    /// As the machine knows this user, if it does.
    home: Option<Home>,
}

struct Home {
    name: String,
    folder: PathBuf,
    shell: PathBuf,
}

impl Guest {
    /// The user of sudo, or with `as_root` this process's user with all its rights.
    pub(super) fn of(as_root: bool) -> Result<Self, NoCaller> {
        if as_root {
            return Ok(Self { user: RunAs::ThisUser, home: None });
        }
        if let Some(Caller { uid, gid }) = Caller::of_sudo()? {
            // A machine that does not know a user gives it no groups.
            let known = User::from_uid(Uid::from_raw(uid)).ok().flatten();
            let groups = known.as_ref().map_or(Vec::new(), |known| groups(&known.name, gid));
            let home =
                known.map(|known| Home { name: known.name, folder: known.dir, shell: known.shell });
            return Ok(Self { user: RunAs::User { uid, gid, groups }, home });
        }
        if geteuid().is_root() {
            eprintln!(
                "sounding: the command runs as root, with all that root may do: no other user called sudo (--as-root says so \
                 without this line)"
            );
            return Ok(Self { user: RunAs::ThisUser, home: None });
        }
        Ok(Self { user: RunAs::ThisUserWithoutRights, home: None })
    }

    pub(super) fn user(&self) -> &RunAs {
        &self.user
    }

    /// The command finds this user's files, and not those of root, whose home sudo names.
    pub(super) fn at_home(&self, command: &mut Command) {
        match (&self.home, &self.user) {
            (Some(Home { name, folder, shell }), _) => {
                command.env("HOME", folder).env("SHELL", shell);
                command.env("USER", name).env("LOGNAME", name);
            }
            // A user that the machine does not know has no files.
            (None, RunAs::User { .. }) => drop(command.env("HOME", "/")),
            (None, _) => {}
        }
    }
}

fn groups(name: &str, gid: u32) -> Vec<u32> {
    let name = CString::new(name).unwrap_or_default();
    let groups = getgrouplist(&name, Gid::from_raw(gid)).unwrap_or_default();
    groups.into_iter().map(Gid::as_raw).collect()
}
