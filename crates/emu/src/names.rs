//! Where programs in a namespace look names up.

use std::net::Ipv4Addr;
use std::process::Command;

use sounding_host::tool;

/// The name server of a program in a namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// Those of this machine, as its files name them.
    #[default]
    OfMachine,
    /// None: a name outside of /etc/hosts fails at once.
    Nowhere,
    /// The one at this address.
    At(Ipv4Addr),
}

/// Runs a program after it has replaced the files that lead to the machine's name servers. The
/// mounts are in the private mount namespace that `unshare --mount-proc` has made, and end with it.
/// The folder is only a place for the new file; the file outlives the mount over it.
///
/// A daemon's socket would answer from the machine's own network, past the emulated one.
const SCRIPT: &str = r#"
names=$1 mount=$2 umount=$3; shift 3
if [ -n "$names" ]; then (
    for socket in /run/systemd/resolve/io.systemd.Resolve /run/nscd/socket; do
        [ ! -e "$socket" ] || "$mount" --bind /dev/null "$socket"
    done
    [ -e /etc/resolv.conf ] || exit 0
    umask 022
    "$mount" -t tmpfs -o size=64k,mode=755 sounding /tmp || exit
    printf '%s' "$names" >/tmp/names && "$mount" --bind /tmp/names /etc/resolv.conf
    "$umount" /tmp
) || echo "sounding: names are still looked up as on this machine: /etc/resolv.conf cannot be replaced" >&2; fi
"$@"; exit "$?"
"#;

impl Names {
    /// Appends the arguments of a shell that becomes the parent of the program named next.
    pub(crate) fn begin(self, command: &mut Command) {
        command.args(["-c", SCRIPT, "sh", &self.file()]).arg(tool("mount")).arg(tool("umount"));
    }

    /// A resolv.conf(5); empty for the machine's own.
    fn file(self) -> String {
        let server = match self {
            Self::OfMachine => return String::new(),
            // No program listens there, and the kernel says so at once.
            Self::Nowhere => Ipv4Addr::LOCALHOST,
            Self::At(server) => server,
        };
        // The C library musl does not hear that nothing listens, and waits.
        let options = if self == Self::Nowhere { "options timeout:1 attempts:1\n" } else { "" };
        format!("# Made by sounding emu, for its command alone.\nnameserver {server}\n{options}")
    }
}
