//! Checks that a compiler does not make, and papers of a release. `cargo xtask check` checks the
//! architecture, words and tests. `features` compiles every feature alone. `libraries` lists the
//! crates that others use, each after those that it needs. `loops` lists tests that judge only what
//! a loop finds. `notices` prints the licences of other projects for those who install the
//! programs, `sbom` the bill of materials.

use std::process::ExitCode;

use cargo_metadata::Metadata;

mod arrows;
mod circles;
mod code_prose;
mod columns;
mod commits;
mod daemon;
mod features;
mod io_free;
mod libraries;
mod links;
mod map;
mod names;
mod notices;
mod panics;
mod prose;
mod sbom;
mod silent_tests;
mod skips;
mod units;
mod words;
mod writes;

fn main() -> ExitCode {
    let task = std::env::args_os().nth(1).unwrap_or_default();
    match &*task.to_string_lossy() {
        "check" => check(),
        "features" => check_features(),
        "libraries" => print_libraries(),
        "loops" => print_loops(),
        "notices" => print("notices", notices::notices),
        "sbom" => print("sbom", sbom::sbom),
        _ => {
            eprintln!("usage: cargo xtask check|features|libraries|loops|notices|sbom");
            ExitCode::from(2)
        }
    }
}

fn check_features() -> ExitCode {
    match cargo_metadata::MetadataCommand::new().no_deps().exec() {
        Ok(metadata) if features::check(&metadata) == 0 => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cargo metadata: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print_libraries() -> ExitCode {
    match cargo_metadata::MetadataCommand::new().no_deps().exec() {
        Ok(metadata) => {
            libraries::in_order(&metadata).iter().for_each(|name| println!("{name}"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("cargo metadata: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print_loops() -> ExitCode {
    let Ok(metadata) = cargo_metadata::MetadataCommand::new().no_deps().exec() else {
        eprintln!("cargo metadata fails");
        return ExitCode::FAILURE;
    };
    for test in silent_tests::loops(&metadata) {
        println!("{test}");
    }
    ExitCode::SUCCESS
}

/// Prints what a function makes of the packages that the installed programs are linked with, or
/// what the workspace in the folder of the next argument installs.
fn print(name: &str, of: fn(&Metadata) -> Result<String, String>) -> ExitCode {
    let folder = std::env::args_os().nth(2).unwrap_or_else(|| ".".into());
    match notices::metadata(folder.as_ref()).and_then(|metadata| of(&metadata)) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn check() -> ExitCode {
    let metadata = match cargo_metadata::MetadataCommand::new().exec() {
        Ok(metadata) => metadata,
        Err(error) => {
            eprintln!("cargo metadata: {error}");
            return ExitCode::FAILURE;
        }
    };
    let circles = circles::find(&metadata);
    let checks: [(&str, Vec<String>); 18] = [
        ("arrows run one way", arrows::violations(&metadata)),
        ("modules of one parent use each other one way", circles.violations),
        ("ARCHITECTURE.md is a true map", map::violations(&metadata)),
        ("pure crates do no I/O", io_free::violations(&metadata)),
        ("the daemon is small", daemon::violations(&metadata)),
        ("libraries are whole packages of one version", libraries::violations(&metadata)),
        ("documents are in plain words", prose::violations(&metadata)),
        ("code is in plain words", code_prose::violations(&metadata)),
        ("skips of tests are reported in one way", skips::violations(&metadata)),
        ("no call panics where another returns an error", panics::violations(&metadata)),
        ("tests judge something whatever happens", silent_tests::violations(&metadata)),
        ("results are written in one place", writes::violations(&metadata)),
        ("names of tests are short sentences", names::violations(&metadata)),
        ("subjects of commits name their area", commits::violations(&metadata)),
        ("numbers that others read have a unit", units::violations(&metadata)),
        ("comments have at most 100 columns", columns::violations(&metadata)),
        ("links of documents lead somewhere", links::violations(&metadata)),
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
    if !circles.known.is_empty() {
        println!("circles of modules that are known and are to go:");
        for circle in &circles.known {
            println!("     {circle}");
        }
    }
    println!("code that writes what is no result of a user:");
    for (path, reason) in writes::ALLOWED {
        println!("     {path}: {reason}");
    }
    println!("code that keeps a phrase of the list:");
    for (path, part) in code_prose::ALLOWED {
        println!("     {path}: {part}");
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
