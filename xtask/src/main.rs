//! Checks of the architecture that a compiler does not make. `cargo xtask check` runs them all.

use std::process::ExitCode;

mod arrows;
mod io_free;
mod words;

fn main() -> ExitCode {
    let task = std::env::args().nth(1).unwrap_or_default();
    if task != "check" {
        eprintln!("usage: cargo xtask check");
        return ExitCode::from(2);
    }
    let metadata = match cargo_metadata::MetadataCommand::new().exec() {
        Ok(metadata) => metadata,
        Err(error) => {
            eprintln!("cargo metadata: {error}");
            return ExitCode::FAILURE;
        }
    };
    let checks: [(&str, Vec<String>); 3] = [
        ("arrows run one way", arrows::violations(&metadata)),
        ("pure crates do no I/O", io_free::violations(&metadata)),
        ("the project speaks of itself alone", words::violations(&metadata)),
    ];
    let mut failed = false;
    for (name, violations) in checks {
        println!("{} {name}", if violations.is_empty() { "ok  " } else { "FAIL" });
        for violation in &violations {
            println!("     {violation}");
        }
        failed |= !violations.is_empty();
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
