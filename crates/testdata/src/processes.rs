//! Programs that tests start, and what is left of them.

use std::ops::{Deref, DerefMut};
use std::process::Child;
use std::time::{Duration, Instant};

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

/// A program that a test started. It ends with the test, also with one that fails.
#[derive(Debug)]
pub struct Running(pub Child);

impl Deref for Running {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !matches!(self.0.try_wait(), Ok(None)) {
            return;
        }
        // Politely first: it may have something to restore.
        // SAFETY: it was not waited for, so the number is still its own.
        unsafe { libc::kill(self.0.id() as i32, libc::SIGTERM) };
        let until = Instant::now() + Duration::from_secs(2);
        while matches!(self.0.try_wait(), Ok(None)) {
            if Instant::now() > until {
                let _ = self.0.kill();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
