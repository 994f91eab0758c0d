use std::env::var_os;
use std::path::{Path, PathBuf};

/// The variable that replaces the default folder.
pub const RUNTIME_OVERRIDE: &str = "SOUNDING_RUN_DIR";

/// The folder for files that other processes must find until the next boot: `$SOUNDING_RUN_DIR`,
/// else `/run/sounding` for root and `$XDG_RUNTIME_DIR/sounding` for others. It need not exist.
pub fn runtime_folder() -> Option<PathBuf> {
    let own = || var_os("XDG_RUNTIME_DIR").map(|folder| Path::new(&folder).join("sounding"));
    let is_root = nix::unistd::geteuid().is_root();
    var_os(RUNTIME_OVERRIDE)
        .map(PathBuf::from)
        .or_else(|| if is_root { Some("/run/sounding".into()) } else { own() })
}
