use std::path::Path;
use std::process::{Command, Output};

/// The shell's exit code if it cannot mount. The tested programs do not use this code.
const NO_MOUNT: i32 = 99;

/// Runs a shell script while a separate tmpfs of `size` is mounted at `folder`. No other process
/// sees it, and it ends with the shell. `None`, with a reported skip, if it cannot be mounted.
pub fn on_small_disk(folder: &Path, size: &str, script: &str) -> Option<Output> {
    let mount =
        format!("mount -t tmpfs -o size={size} tmpfs {} || exit {NO_MOUNT}", folder.display());
    let script = format!("{mount}; {script}");
    let why = match Command::new("unshare").args(["--mount", "sh", "-c", &script]).output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            if !said.starts_with("unshare") && output.status.code() != Some(NO_MOUNT) {
                return Some(output);
            }
            said
        }
        Err(error) => format!("unshare: {error}"),
    };
    crate::skip(
        crate::Need::Root,
        format_args!("no separate file system here: {}", why.trim_end()),
    );
    None
}
