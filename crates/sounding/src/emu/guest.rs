//! The user that a command runs as.

use std::path::Path;
use std::process::Command;

use nix::unistd::geteuid;
use sounding_emu::RunAs;
use sounding_host::caller::{Caller, Home, NoCaller};

/// A user of the emulation. Making it takes root; using it does not.
pub(super) struct Guest {
    user: RunAs,
    /// As the machine knows this user, if it does.
    home: Option<Home>,
}

impl Guest {
    /// The user of sudo, or with `as_root` this process's user with all its rights.
    pub(super) fn of(as_root: bool) -> Result<Self, NoCaller> {
        if as_root {
            return Ok(Self { user: RunAs::ThisUser, home: None });
        }
        if let Some(caller) = Caller::of_sudo()? {
            let (groups, home) = caller.known();
            return Ok(Self {
                user: RunAs::User { uid: caller.uid, gid: caller.gid, groups },
                home,
            });
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

    /// The shell of the user of sudo, if the machine knows it.
    pub(super) fn shell(&self) -> Option<&Path> {
        self.home.as_ref().map(Home::shell).filter(|shell| !shell.as_os_str().is_empty())
    }

    /// The command finds this user's files, and not those of root, whose home sudo names.
    pub(super) fn at_home(&self, command: &mut Command) {
        match (&self.home, &self.user) {
            (Some(home), _) => home.name_in(command),
            // A user that the machine does not know has no files.
            (None, RunAs::User { .. }) => drop(command.env("HOME", "/")),
            (None, _) => {}
        }
    }
}
