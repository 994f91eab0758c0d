//! The folder for files that outlive a boot.

use std::env::var_os;
use std::path::PathBuf;

/// The variable that replaces the default folder for what the next boot is to find.
const STATE_OVERRIDE: &str = "SOUNDING_STATE_DIR";

/// The folder for files that outlive a boot: `$SOUNDING_STATE_DIR`, else the first of a service's
/// `$STATE_DIRECTORY`, else `/var/lib/sounding` for root, and for others `sounding` in
/// `$XDG_STATE_HOME` or `~/.local/state`. It need not exist.
pub(in crate::run::outputs) fn state_folder() -> Option<PathBuf> {
    let set = |name| var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // Systemd separates several by colons.
    let service = || {
        let all = set("STATE_DIRECTORY")?.into_os_string().into_string().ok()?;
        all.split(':').next().map(PathBuf::from)
    };
    let own = || {
        let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")))?;
        Some(state.join("sounding"))
    };
    let is_root = nix::unistd::geteuid().is_root();
    set(STATE_OVERRIDE)
        .or_else(service)
        .or_else(|| if is_root { Some("/var/lib/sounding".into()) } else { own() })
}
