//! What is left of a test.

/// The command lines of processes of this machine that have this word.
///
/// # Panics
///
/// If `/proc` cannot be read.
pub fn processes_with(word: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten().map(|entry| entry.path());
    let lines = processes.filter_map(|process| std::fs::read(process.join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(word)).collect()
}
