//! Tests the commands of the README, the guides and of reference pages that show output. Each
//! command runs unchanged, in the page's order, and must print the lines below it; numbers may
//! differ. A comment above a block says why it is not run, or how it ends.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod page;
mod shell;

use std::cell::Cell;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use page::How;
use shell::Shell;
use sounding_testdata::{say, steadily};

/// Tested pages besides the guides.
const PAGES: &[&str] =
    &["README.md", "docs/reference/configuration.md", "docs/reference/exit-codes.md"];

fn pages(root: &Path) -> Vec<PathBuf> {
    let guides = fs::read_dir(root.join("docs/guide")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> = PAGES.iter().map(|page| root.join(page)).chain(guides).collect();
    pages.sort();
    pages
}

/// Whether commands with `sudo` can be run: as root, on a kernel that can load the laws, while no
/// other daemon uses a law's name.
fn may_be_root() -> bool {
    if !sounding_testdata::may_emulate() {
        return false;
    }
    let begin = Instant::now();
    loop {
        let missing = ["biscay", "sounding"].into_iter().flat_map(sounding_bpf::preflight);
        match missing.filter(|check| !check.ok).map(|check| check.detail).next() {
            None => return true,
            Some(why) if begin.elapsed() > Duration::from_secs(20) => {
                sounding_testdata::skip(
                    sounding_testdata::Need::Kernel,
                    format_args!("commands behind sudo: {why}"),
                );
                return false;
            }
            Some(_) => std::thread::sleep(Duration::from_millis(200)),
        }
    }
}

/// Counts of a page's commands.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    run: u32,
    /// Marked as not run.
    marked: u32,
    /// Commands with sudo, if these cannot be run.
    skipped: u32,
}

/// Runs a page from its top, and fails with a list of all faults.
fn run(text: &str, as_root: bool) -> Counts {
    let steps = page::steps(text).unwrap_or_else(|error| panic!("{error}"));
    let mut shell = Shell::new(as_root).unwrap();
    let (mut counts, mut faults) = (Counts::default(), Vec::new());
    for step in &steps {
        match &step.how {
            How::Not(_) => counts.marked += 1,
            How::File(name) => shell.write(name, &step.command).unwrap(),
            _ => match shell.run(step) {
                Ok(true) => counts.run += 1,
                Ok(false) => counts.skipped += 1,
                Err(error) => faults.push(format!("line {}: {error}", step.line)),
            },
        }
    }
    faults.extend(shell.finish().err());
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    counts
}

#[test]
fn commands_of_readme_and_guides_do_what_the_page_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let as_root = may_be_root();
    let mut wrong = Vec::new();
    for path in pages(&root) {
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        let text = fs::read_to_string(&path).unwrap();
        let (begin, counts) = (Instant::now(), Cell::new(Counts::default()));
        // Continues after a faulty page, so that all faulty pages are named.
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            steadily(|| counts.set(run(&text, as_root)));
        }));
        let (Counts { run, marked, skipped }, took) = (counts.get(), begin.elapsed());
        say(&format!(
            "{name}: {run} commands run in {:.1} s, {marked} marked as not run, {skipped} skipped without root",
            took.as_secs_f64()
        ));
        if outcome.is_err() {
            wrong.push(name);
        } else if run + skipped == 0 {
            wrong.push(format!("{name}: no command is run"));
        }
    }
    assert!(wrong.is_empty(), "pages that are wrong: {wrong:?}");
}
