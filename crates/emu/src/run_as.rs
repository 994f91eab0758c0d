use std::process::Command;

use sounding_host::tool;

/// The user that a program in a namespace runs as.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RunAs {
    /// This process's user, with all that this process may do.
    #[default]
    ThisUser,
    /// This process's user, without capabilities, also for all programs that it starts.
    ThisUserWithoutRights,
    /// Another user, without capabilities, also for all programs that it starts.
    User {
        /// The user.
        uid: u32,
        /// Its group.
        gid: u32,
        /// Its other groups; it has none of this process's.
        groups: Vec<u32>,
    },
}

impl RunAs {
    /// Puts the command that switches to that user before the program.
    pub(crate) fn become_by(&self, command: &mut Command) {
        if *self == Self::ThisUser {
            return;
        }
        command.arg(tool("setpriv"));
        if let Self::User { uid, gid, groups } = self {
            command.arg(format!("--reuid={uid}")).arg(format!("--regid={gid}"));
            // Only root becomes another user, and only root may take away what can be gained. Linux
            // starts no program whose file has a capability outside of this set, and the ping of
            // many distributions has this one.
            command.arg("--bounding-set=-all,+net_raw");
            match groups[..] {
                [] => command.arg("--clear-groups"),
                _ => {
                    let groups: Vec<String> = groups.iter().map(ToString::to_string).collect();
                    command.arg(format!("--groups={}", groups.join(",")))
                }
            };
        }
        command.args(["--inh-caps=-all", "--no-new-privs", "--"]);
        // With no_new_privs a file gives a process no capability that the process lacks. `setpriv`
        // itself still has them all, and this shell has none.
        command.arg(tool("sh")).args(["-c", r#"exec "$@""#, "sh"]);
    }
}
