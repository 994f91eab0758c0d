//! The licences of foreign code that is linked into the installed programs.
//!
//! Nearly every licence allows redistribution if its text is included. The texts come from the
//! packages that cargo has unpacked for the build. These packages also contain the licences of
//! bundled C libraries.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use cargo_metadata::camino::{Utf8Path, Utf8PathBuf};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, PackageId, TargetKind};

/// The packages that `make install` installs, and the Python module.
const INSTALLED: [&str; 3] = ["sounding", "sounding-libod", "sounding-python"];

/// Deeper in a package no licence is looked for: a bundled library has its own two folders down.
const DEPTH: u32 = 3;

/// The font of the figures, which is no crate.
const FONT: &str = "crates/report/assets/font";

/// The packages that what a folder's workspace installs is linked with on this machine.
pub(crate) fn metadata(folder: &Path) -> Result<Metadata, String> {
    let host = host()?;
    let options = ["--locked".to_owned(), "--filter-platform".to_owned(), host];
    let mut command = MetadataCommand::new();
    command.current_dir(folder).other_options(options);
    command.exec().map_err(|error| error.to_string())
}

fn host() -> Result<String, String> {
    let output = std::process::Command::new("rustc").arg("-vV").output();
    let output = output.map_err(|error| format!("rustc: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc -vV says no host".into())
}

/// The whole file, or the missing parts.
pub(crate) fn notices(metadata: &Metadata) -> Result<String, String> {
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut heads = String::new();
    let mut lacking = Vec::new();
    for package in linked(metadata)? {
        let name = format!("{} {}", package.name, package.version);
        let folder = package.manifest_path.parent().unwrap_or(Utf8Path::new("/"));
        let mut files = BTreeSet::new();
        find(folder, DEPTH, &mut files);
        files.extend(package.license_file().filter(|file| file.is_file()));
        let licence = package.license.as_deref().unwrap_or("see its text");
        let by = match &package.authors[..] {
            [] => String::new(),
            authors => format!(", by {}", authors.join(", ")),
        };
        let at = package.repository.as_deref().map_or(String::new(), |at| format!("\n    {at}"));
        // Writing into a string cannot fail, here and below.
        let _ = writeln!(heads, "{name}: {licence}{by}{at}");
        for file in &files {
            let within = file.strip_prefix(folder).unwrap_or(file);
            let of = match within.parent().filter(|inner| !inner.as_str().is_empty()) {
                Some(inner) => format!("{name}, {inner}"),
                None => name.clone(),
            };
            texts.entry(read(file)?).or_default().insert(of);
        }
        if files.is_empty() {
            lacking.push((name, licence.to_owned()));
        }
    }
    let mut files = BTreeSet::new();
    if metadata.packages.iter().any(|package| package.name.as_str() == "sounding-report") {
        let font = metadata.workspace_root.join(FONT);
        find(&font, 1, &mut files);
        if files.is_empty() {
            return Err(format!("{font}: the font has no licence beside it"));
        }
    }
    for file in &files {
        texts.entry(read(file)?).or_default().insert("the font Inter".into());
    }
    for (name, licence) in lacking {
        let text = standard(metadata, &licence).ok_or_else(|| {
            format!(
                "{name}: its package has no text of its licence, {licence}: add it to {}",
                file!()
            )
        })?;
        texts.entry(text?).or_default().insert(format!("{name}, whose package has no text"));
    }
    let mut out = String::from(
        "Parts of Sounding's programs that others have written\n\
         ====================================================\n\n",
    );
    out += &heads;
    for (text, names) in texts {
        let names: Vec<String> = names.into_iter().collect();
        let _ = write!(out, "\n\n{}\n{}\n\n{text}", "-".repeat(65), names.join("\n"));
    }
    out.push('\n');
    Ok(out)
}

/// Every package of others that is linked, in order: what only builds or expands is not.
pub(crate) fn linked(metadata: &Metadata) -> Result<Vec<&Package>, String> {
    let resolve = metadata.resolve.as_ref().ok_or("cargo metadata resolves nothing")?;
    let nodes: BTreeMap<&PackageId, _> = resolve.nodes.iter().map(|n| (&n.id, n)).collect();
    let packages: BTreeMap<&PackageId, &Package> =
        metadata.packages.iter().map(|package| (&package.id, package)).collect();
    let mut seen = BTreeSet::new();
    let mut queue: VecDeque<&PackageId> = metadata
        .workspace_packages()
        .into_iter()
        .filter(|package| INSTALLED.contains(&package.name.as_str()))
        .map(|package| &package.id)
        .collect();
    while let Some(id) = queue.pop_front() {
        let expands = packages[id].targets.iter().any(|t| t.kind.contains(&TargetKind::ProcMacro));
        if expands || !seen.insert(id) {
            continue;
        }
        let dependencies = nodes.get(id).into_iter().flat_map(|node| &node.deps);
        queue.extend(
            dependencies
                .filter(|dep| dep.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal))
                .map(|dep| &dep.pkg),
        );
    }
    let mut found: Vec<&Package> = seen
        .into_iter()
        .map(|id| packages[id])
        .filter(|package| package.source.is_some())
        .collect();
    found.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    Ok(found)
}

/// Files that are called as licences are.
fn find(folder: &Utf8Path, depth: u32, found: &mut BTreeSet<Utf8PathBuf>) {
    const NAMES: [&str; 6] = ["license", "licence", "copying", "copyright", "notice", "unlicense"];
    /// Folders of tests and tools, which are not linked.
    const OTHERS: [&str; 5] = ["tests", "test", "benches", "examples", "target"];
    for entry in folder.read_dir_utf8().into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name().to_lowercase(), entry.path());
        if path.is_dir() {
            // A nested package is listed for itself.
            let is_other = OTHERS.contains(&name.as_str()) || path.join("Cargo.toml").exists();
            if depth > 1 && !is_other {
                find(path, depth - 1, found);
            }
            continue;
        }
        let is_code = [".rs", ".c", ".h", ".py", ".sh"].iter().any(|ending| name.ends_with(ending));
        if !is_code && NAMES.iter().any(|begin| name.starts_with(begin)) {
            found.insert(path.to_owned());
        }
    }
}

fn read(file: &Utf8Path) -> Result<String, String> {
    let bytes = fs::read(file).map_err(|error| format!("{file}: {error}"))?;
    let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
    // Packages differ in the lines around the same text.
    Ok(format!("{}\n", text.trim_matches('\n').trim_end()))
}

/// The text of a licence that a package only names, where it is one of those that this project has
/// too.
fn standard(metadata: &Metadata, licence: &str) -> Option<Result<String, String>> {
    let alternatives: Vec<&str> = licence.split([' ', '/', '(', ')']).collect();
    let text = |file: &str| read(&metadata.workspace_root.join(file));
    match () {
        () if alternatives.contains(&"Apache-2.0") => Some(text("LICENSE-APACHE")),
        () if alternatives.contains(&"MIT") => {
            Some(text("LICENSE-MIT").map(|text| of_others(&text)))
        }
        () => None,
    }
}

/// This project's MIT licence as that of the packages named before it.
fn of_others(text: &str) -> String {
    let whose = |line: &str| match line.starts_with("Copyright") {
        true => "Copyright (c) its authors, named above\n".to_owned(),
        false => format!("{line}\n"),
    };
    text.lines().map(whose).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installation_has_them() {
        let makefile = concat!(env!("CARGO_MANIFEST_DIR"), "/../Makefile");
        let makefile = fs::read_to_string(makefile).expect("it is there");
        let rule = makefile.split("\ninstall: ").nth(1).expect("a rule").split("\n\n").next();
        let rule = rule.expect("it has lines");
        assert!(
            rule.contains("cargo xtask notices > $(TARGET)/release/THIRD-PARTY-NOTICES"),
            "{rule}"
        );
        let install = rule
            .lines()
            .find(|line| line.ends_with("share/doc/sounding") && line.contains("-m 644"));
        assert!(
            install.is_some_and(|line| line.contains("$(TARGET)/release/THIRD-PARTY-NOTICES")),
            "{rule}"
        );
    }

    #[test]
    fn every_crate_that_is_linked_is_named_with_the_text_of_its_licence() {
        let metadata = metadata(Path::new(".")).expect("cargo says what is linked");
        let text = notices(&metadata).expect("every licence has a text");
        let linked = linked(&metadata).expect("it is resolved");
        assert!(linked.len() > 80, "{}", linked.len());
        for package in &linked {
            let name = format!("{} {}", package.name, package.version);
            let lines = text.lines().filter(|line| {
                let rest = line.strip_prefix(&name);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([',', ':']))
            });
            assert!(lines.count() >= 2, "{name}: in the list, and above a text");
        }
        for part in
            ["Permission is hereby granted", "Apache License", "The goals of the Open Font License"]
        {
            assert!(text.contains(part), "{part}");
        }
        // C that is bundled with a crate.
        for part in ["libbpf-sys", "zstd-sys"] {
            assert!(text.contains(&format!("\n{part} ")), "{part}");
        }
        // A package that only takes part in building is not in the program.
        for part in ["serde_derive ", "libbpf-cargo ", "assert_cmd ", "cargo_metadata "] {
            assert!(!text.contains(&format!("\n{part}")), "{part}");
        }
    }

    #[test]
    fn the_python_module_has_those_of_its_crates_and_not_the_font() {
        let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../python");
        let metadata = metadata(&python).expect("cargo says what is linked");
        let text = notices(&metadata).expect("every licence has a text");
        for part in ["pyo3 ", "parquet ", "zstd-sys "] {
            assert!(text.contains(&format!("\n{part}")), "{part}");
        }
        assert!(!text.contains("the font Inter"), "the module draws nothing");
    }
}
