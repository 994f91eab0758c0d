use std::path::{Path, PathBuf};

/// The folders of system programs: Linux distributions of all kinds, NixOS, Android. Only root can
/// write there.
const FOLDERS: [&str; 6] =
    ["/usr/sbin", "/usr/bin", "/sbin", "/bin", "/run/current-system/sw/bin", "/system/bin"];

/// The path of a system program, such as `ip` or `unshare`. `PATH` is not used: it may lead root to
/// another user's program. A missing program has a path too, so that the error of starting it names
/// it.
pub fn tool(name: &str) -> PathBuf {
    let found =
        FOLDERS.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.exists());
    found.unwrap_or_else(|| Path::new("/usr/bin").join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_found_where_the_system_keeps_it_or_said_to_be_missing_there() {
        let sh = tool("sh");
        assert!(sh.is_absolute() && sh.exists(), "{}", sh.display());
        let none = tool("no-such-tool");
        assert!(none.is_absolute() && !none.exists(), "{}", none.display());
    }
}
