//! The licences of foreign code allow its use in programs under this project's licences, and no package is compiled in two
//! versions without a known reason.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use cargo_metadata::Metadata;
use spdx::{Expression, ParseMode};

/// Licences that allow redistribution beside a notice. A package may also offer others.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Packages that are there in several versions, and the packages that hold on to the older ones.
const DUPLICATES: &[(&str, &str)] = &[
    ("cargo-platform", "libbpf-cargo"),
    ("cargo_metadata", "libbpf-cargo"),
    ("cpufeatures", "aes-gcm, of noq"),
    ("crypto-common", "aes-gcm, of noq"),
    ("getrandom", "ring and ahash"),
    ("miniz_oxide", "png"),
    ("syn", "pcap-file's macro, and macros of two generations"),
    ("thiserror", "pcap-file"),
    ("thiserror-impl", "pcap-file"),
    ("unicode-width", "miette"),
];

/// Packages whose licence is not among the allowed ones.
pub(crate) fn violations(metadata: &Metadata) -> Vec<String> {
    let foreign = metadata.packages.iter().filter(|package| package.source.is_some());
    let faults = foreign.filter_map(|package| {
        let licence = package.license.as_deref();
        let fault = fault(licence)?;
        Some(format!("{} {}: {fault}", package.name, package.version))
    });
    faults.collect()
}

/// The fault of a package's licence expression, if it has one.
fn fault(licence: Option<&str>) -> Option<String> {
    let Some(text) = licence else { return Some("its manifest names no licence".into()) };
    let expression = match Expression::parse_mode(text, ParseMode::LAX) {
        Ok(expression) => expression,
        Err(error) => return Some(format!("the licence {text} is no SPDX expression: {error}")),
    };
    let is_allowed = expression
        .evaluate(|wanted| wanted.license.id().is_some_and(|id| ALLOWED.contains(&id.name)));
    (!is_allowed).then(|| format!("the licence {text} is not allowed ({})", ALLOWED.join(", ")))
}

/// Packages in several versions that are not listed, and listed ones that are there once.
pub(crate) fn duplicates(metadata: &Metadata) -> Vec<String> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--workspace", "--duplicates", "--depth", "0"])
        .args(["--prefix", "none", "--edges", "normal,build,dev"])
        .current_dir(&metadata.workspace_root)
        .output();
    match tree {
        Ok(tree) if tree.status.success() => {
            differences(&String::from_utf8_lossy(&tree.stdout), DUPLICATES)
        }
        Ok(tree) => vec![String::from_utf8_lossy(&tree.stderr).into_owned()],
        Err(error) => vec![format!("cargo tree: {error}")],
    }
}

/// Compares the lines `NAME vVERSION` of a tree with a list. The same version twice is one package with other features.
fn differences(tree: &str, listed: &[(&str, &str)]) -> Vec<String> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in tree.lines() {
        let mut words = line.split_whitespace();
        if let (Some(name), Some(version)) = (words.next(), words.next()) {
            versions.entry(name).or_default().insert(version);
        }
    }
    versions.retain(|_, versions| versions.len() > 1);
    let is_listed = |name: &str| listed.iter().any(|(known, _)| *known == name);
    let new = versions.iter().filter(|(name, _)| !is_listed(name)).map(|(name, versions)| {
        let versions: Vec<&str> = versions.iter().copied().collect();
        format!(
            "{name} is compiled as {}: cargo tree -i shows what holds each",
            versions.join(", ")
        )
    });
    let gone = listed.iter().filter(|(name, _)| !versions.contains_key(name));
    let gone = gone.map(|(name, by)| {
        format!("{name} is there once and {by} holds no older one: take it off the list")
    });
    new.chain(gone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_is_allowed_if_one_choice_is() {
        for licence in ["MIT", "MIT/Apache-2.0", "LGPL-2.1-only OR BSD-2-Clause"] {
            assert_eq!(fault(Some(licence)), None);
        }
        assert_eq!(fault(Some("(MIT OR Apache-2.0) AND Unicode-3.0")), None);
        assert_eq!(fault(Some("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT")), None);
        for licence in ["GPL-2.0-only", "MIT AND GPL-3.0-or-later", "SSPL-1.0", "free"] {
            assert!(fault(Some(licence)).is_some_and(|fault| fault.contains(licence)), "{licence}");
        }
        assert!(fault(None).is_some());
    }

    #[test]
    fn a_new_duplicate_and_a_listed_one_that_is_gone_are_named() {
        let tree = "syn v1.0.1\nserde v1.0.2\nserde v1.0.2\n\nsyn v2.0.1 (proc-macro)\n";
        assert_eq!(differences(tree, &[("syn", "an old macro")]), Vec::<String>::new());
        let found = differences(tree, &[("nix", "a library")]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("syn is compiled as v1.0.1, v2.0.1"), "{found:?}");
        assert!(found[1].starts_with("nix is there once"), "{found:?}");
    }
}
