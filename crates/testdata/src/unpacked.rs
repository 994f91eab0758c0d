use std::path::PathBuf;

/// A folder of packages that `scripts/setup NAME` has unpacked, which has this file: one beside
/// this program's build, or in `target`.
pub fn unpacked(name: &str, file: &str) -> Option<PathBuf> {
    let program = std::env::current_exe().unwrap_or_default();
    let beside = program.ancestors().skip(1).map(|folder| folder.join(name));
    let mut folders = beside.chain([PathBuf::from("target").join(name)]);
    folders.find(|folder| folder.join(file).exists())
}
