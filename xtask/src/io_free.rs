//! Pure crates are `no_std`: the compiler then proves that they open no file and no socket, read no
//! clock and use no randomness of the system. This check ensures that pure crates stay `no_std`.

use std::fs;

use cargo_metadata::{DependencyKind, Metadata};

const PURE: &[&str] = &[
    "sounding-units",
    "sounding-estimate",
    "sounding-diag",
    "sounding-phy",
    "sounding-trace",
    "sounding-shape",
    "sounding-nas",
    "sounding-rrc",
    "sounding-kpi",
    "sounding-link",
    "sounding-cc",
    "sounding-laws",
    "sounding-baselines",
    "sounding-cell",
    "sounding-sim",
];

/// Dependencies that pure crates may have: crates without I/O, with their `std` features off.
const ALLOWED: &[&str] = &[
    "arrayvec",
    "crc",
    "csv-core",
    "libm",
    "memchr",
    "oxirush-nas",
    "rand",
    "rand_chacha",
    "serde",
    "thiserror",
];

pub(crate) fn violations(metadata: &Metadata) -> Vec<String> {
    let mut found = Vec::new();
    for package in metadata.workspace_packages() {
        let name = package.name.as_str();
        if !PURE.contains(&name) {
            continue;
        }
        let lib = package.manifest_path.with_file_name("src").join("lib.rs");
        let text = fs::read_to_string(&lib).unwrap_or_default();
        for line in ["#![no_std]", "#![forbid(unsafe_code)]"] {
            if !text.lines().any(|have| have == line) {
                found.push(format!("{lib}: lacks {line}"));
            }
        }
        for dependency in &package.dependencies {
            let target = dependency.name.as_str();
            if dependency.kind != DependencyKind::Normal {
                continue;
            }
            if !PURE.contains(&target) && !ALLOWED.contains(&target) {
                found.push(format!(
                    "{name} depends on {target}, which is not known to be free of I/O"
                ));
            }
            if dependency.features.iter().any(|feature| feature == "std") {
                found.push(format!("{name} turns on the std feature of {target}"));
            }
        }
        found.extend(std_outside_tests(&package.manifest_path.with_file_name("src")));
    }
    found
}

/// `extern crate std` would allow I/O again, so it is permitted only right below `#[cfg(test)]`.
fn std_outside_tests(folder: &cargo_metadata::camino::Utf8Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in folder.read_dir_utf8().into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            found.extend(std_outside_tests(entry.path()));
            continue;
        }
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (number, line) in lines.iter().enumerate() {
            let guarded = number > 0 && lines[number - 1] == "#[cfg(test)]";
            if line.starts_with("extern crate std") && !guarded {
                found.push(format!(
                    "{}:{}: brings std into a pure crate",
                    entry.path(),
                    number + 1
                ));
            }
        }
    }
    found
}
