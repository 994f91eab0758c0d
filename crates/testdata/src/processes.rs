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

/// A variable by which processes of one command are known, those that it starts among them.
pub const MARK: &str = "SOUNDING_TEST_MARK";

/// Processes of this machine whose [`MARK`] was this when they began.
///
/// # Panics
///
/// If `/proc` cannot be read.
pub fn processes_marked(mark: &str) -> Vec<i32> {
    let wanted = format!("{MARK}={mark}");
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten().map(|entry| entry.path());
    let number = |path: &std::path::Path| path.file_name()?.to_str()?.parse().ok();
    let processes = entries.filter_map(|path| Some((number(&path)?, path)));
    let is_marked = |path: &std::path::Path| {
        let variables = std::fs::read(path.join("environ")).unwrap_or_default();
        variables.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    processes.filter(|(_, path)| is_marked(path)).map(|(number, _)| number).collect()
}
