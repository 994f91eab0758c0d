//! The commands of the README, the guides and of reference pages that show output do what the page says: each runs as it
//! stands, in the page's order, and prints the lines below it, whatever their numbers. A comment above a block says why it
//! is not run, or how it ends.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod page;
mod shell;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use page::How;
use shell::Shell;
use sounding_testdata::say;

/// Pages beside the guides.
const PAGES: &[&str] =
    &["README.md", "docs/reference/configuration.md", "docs/reference/exit-codes.md"];

fn pages(root: &Path) -> Vec<PathBuf> {
    let guides = fs::read_dir(root.join("docs/guide")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> = PAGES.iter().map(|page| root.join(page)).chain(guides).collect();
    pages.sort();
    pages
}

/// Whether commands behind `sudo` can be run: as root, on a kernel that takes the laws, while no other daemon has a law's
/// name.
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
                say(&format!("SKIPPED: commands behind sudo: {why}"));
                return false;
            }
            Some(_) => std::thread::sleep(Duration::from_millis(200)),
        }
    }
}

#[test]
fn commands_of_readme_and_guides_do_what_the_page_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let as_root = may_be_root();
    let mut faults = Vec::new();
    for path in pages(&root) {
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        let steps = match page::steps(&fs::read_to_string(&path).unwrap()) {
            Ok(steps) => steps,
            Err(error) => {
                faults.push(format!("{name}: {error}"));
                continue;
            }
        };
        let begin = Instant::now();
        let mut shell = Shell::new(as_root).unwrap();
        let (mut ran, mut marked, mut skipped) = (0, 0, 0);
        for step in &steps {
            match &step.how {
                How::Not(_) => {
                    marked += 1;
                    continue;
                }
                How::File(name) => {
                    shell.write(name, &step.command).unwrap();
                    continue;
                }
                _ => {}
            }
            match shell.run(step) {
                Ok(true) => ran += 1,
                Ok(false) => skipped += 1,
                Err(error) => faults.push(format!("{name}:{}: {error}", step.line)),
            }
        }
        faults.extend(shell.finish().err().map(|error| format!("{name}: {error}")));
        say(&format!(
            "{name}: {ran} commands run in {:.1} s, {marked} marked as not run, {skipped} skipped without root",
            begin.elapsed().as_secs_f64()
        ));
        if ran + skipped == 0 {
            faults.push(format!("{name}: no command is run"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}
