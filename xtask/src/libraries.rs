//! Libraries that others use, which are the crates without `publish = false`, are whole packages:
//! all that they need is published too, and has one version everywhere. Each has a README with a
//! compiled example, words to be found by, and the same oldest compiler.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use cargo_metadata::semver::{Version, VersionReq};
use cargo_metadata::{Dependency, DependencyKind, Metadata, Package};

/// Keywords that a registry takes.
const MOST_KEYWORDS: usize = 5;
/// The crate whose compiler is that of the whole project.
const PINNED: &str = "xtask";
const LICENCES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];
const EXAMPLE: &str = "```rust";
/// How a crate makes a test of its README.
const IS_TESTED: &str = "#[doc = include_str!(\"../README.md\")]";

fn is_library(package: &Package) -> bool {
    package.publish.as_ref().is_none_or(|registries| !registries.is_empty())
}

fn libraries(metadata: &Metadata) -> Vec<&Package> {
    metadata.workspace_packages().into_iter().filter(|package| is_library(package)).collect()
}

/// The names of all libraries, each after those that it needs.
pub(crate) fn in_order(metadata: &Metadata) -> Vec<String> {
    let needs = libraries(metadata).into_iter().map(|package| {
        let within = package.dependencies.iter().filter(|needed| needed.path.is_some());
        let within = within.filter(|needed| needed.kind != DependencyKind::Development);
        (package.name.to_string(), within.map(|needed| needed.name.clone()).collect())
    });
    sorted(needs.collect())
}

/// What has no needs left comes first. A circle ends the list; Cargo allows none.
fn sorted(mut needs: BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut all = Vec::new();
    loop {
        let open: BTreeSet<String> = needs.keys().cloned().collect();
        let ready = needs.iter().find(|(_, needed)| needed.is_disjoint(&open));
        let Some(ready) = ready.map(|(name, _)| name.clone()) else { return all };
        needs.remove(&ready);
        all.push(ready);
    }
}

pub(crate) fn violations(metadata: &Metadata) -> Vec<String> {
    let libraries = libraries(metadata);
    if libraries.is_empty() {
        return vec!["no crate is for others".into()];
    }
    let members: BTreeMap<String, (Version, bool)> = metadata
        .workspace_packages()
        .into_iter()
        .map(|package| (package.name.to_string(), (package.version.clone(), is_library(package))))
        .collect();
    let mut found = Vec::new();
    for package in &libraries {
        let needed = package.dependencies.iter().filter(|needed| needed.path.is_some());
        let faults = needed.filter_map(|needed| fault_of_need(needed, &members));
        let faults = faults.chain(faults_of_manifest(package)).chain(faults_of_files(package));
        found.extend(faults.map(|fault| format!("{}: {fault}", package.name)));
    }
    let words = libraries.iter().map(|package| (package.name.to_string(), &package.keywords));
    found.extend(shared_words(words));
    let pinned = metadata.workspace_packages().into_iter().find(|package| package.name == PINNED);
    let pinned = pinned.and_then(|package| package.rust_version.as_ref());
    let oldest =
        libraries.iter().map(|package| (package.name.as_str(), package.rust_version.as_ref()));
    found.extend(fault_of_compilers(&oldest.collect::<Vec<_>>(), pinned));
    found
}

/// A package's dependency on another crate of this project.
fn fault_of_need(
    needed: &Dependency,
    members: &BTreeMap<String, (Version, bool)>,
) -> Option<String> {
    let name = &needed.name;
    let Some((version, is_library)) = members.get(name) else {
        return Some(format!("it needs {name}, which is no member of the workspace"));
    };
    let is_open = needed.req == VersionReq::STAR;
    let in_tests = needed.kind == DependencyKind::Development;
    let exact = VersionReq::parse(&version.to_string()).ok();
    match (is_library, in_tests) {
        (false, false) => Some(format!("it needs {name}, which has `publish = false`")),
        // Cargo leaves a dependency of tests out of the package if it has no version.
        (false, true) => (!is_open).then(|| {
            format!(
                "its tests need {name} {}, which has `publish = false`: leave the version out",
                needed.req
            )
        }),
        (true, _) => (Some(&needed.req) != exact.as_ref()).then(|| {
            format!(
                "it needs {name} {}, and {name} is {version}: see the root Cargo.toml",
                needed.req
            )
        }),
    }
}

fn faults_of_manifest(package: &Package) -> Vec<String> {
    let mut found = Vec::new();
    if package.description.as_ref().is_none_or(String::is_empty) {
        found.push("it has no description".into());
    }
    if package.license.is_none() {
        found.push("it has no licence".into());
    }
    if package.categories.is_empty() {
        found.push("it has no categories".into());
    }
    match package.keywords.len() {
        1..=MOST_KEYWORDS => {}
        count => found.push(format!("it has {count} keywords, and may have 1 to {MOST_KEYWORDS}")),
    }
    found
}

fn faults_of_files(package: &Package) -> Vec<String> {
    let folder = package.manifest_path.with_file_name("");
    let has = |name: &str, text: &str| {
        fs::read_to_string(folder.join(name)).is_ok_and(|read| read.contains(text))
    };
    let mut found = Vec::new();
    if package.readme.as_ref().is_none_or(|readme| readme != "README.md")
        || !has("README.md", EXAMPLE)
    {
        found.push(format!("it has no README.md with an example in {EXAMPLE}"));
    }
    if !has("src/lib.rs", IS_TESTED) {
        found.push(format!("its README is no test: src/lib.rs lacks {IS_TESTED}"));
    }
    let lacking = LICENCES.iter().filter(|name| !folder.join(name).exists());
    found.extend(lacking.map(|name| format!("it lacks {name}")));
    found
}

/// Keywords describe a crate, not the project: no two have the same.
fn shared_words<'a>(of: impl Iterator<Item = (String, &'a Vec<String>)>) -> Vec<String> {
    let mut first: BTreeMap<&'a Vec<String>, String> = BTreeMap::new();
    let mut found = Vec::new();
    for (name, words) in of {
        match first.get(words) {
            Some(other) => found.push(format!("{name} has the keywords of {other}")),
            None => drop(first.insert(words, name)),
        }
    }
    found
}

/// All libraries name one oldest compiler, which is older than that of this project.
fn fault_of_compilers(
    oldest: &[(&str, Option<&Version>)],
    pinned: Option<&Version>,
) -> Option<String> {
    let (first, of_first) = *oldest.first()?;
    if let Some((name, _)) = oldest.iter().find(|(_, version)| *version != of_first) {
        return Some(format!("{name} and {first} have different rust-versions"));
    }
    (of_first.is_none() || of_first >= pinned).then(|| {
        "libraries have the project's own rust-version: theirs is the oldest that compiles them"
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dependency(name: &str, req: &str, kind: &str) -> Dependency {
        let text = format!(
            r#"{{"name": "{name}", "req": "{req}", "kind": {kind}, "optional": false,
                "uses_default_features": true, "features": [], "target": null, "path": "/x"}}"#
        );
        serde_json::from_str(&text).expect("a dependency as Cargo prints it")
    }

    #[test]
    fn a_need_is_published_at_the_version_of_its_package() {
        let member =
            |name: &str, is_library| (name.to_owned(), (Version::new(0, 2, 0), is_library));
        let members = [member("a", true), member("b", false)].into();
        let (normal, dev) = ("null", "\"dev\"");
        for (name, req, kind, fault) in [
            ("a", "^0.2.0", normal, None),
            ("a", "^0.1.0", normal, Some("a is 0.2.0")),
            ("a", "*", normal, Some("a is 0.2.0")),
            ("a", "*", dev, Some("a is 0.2.0")),
            ("b", "^0.2.0", normal, Some("publish = false")),
            ("b", "*", dev, None),
            ("b", "^0.2.0", dev, Some("leave the version out")),
            ("c", "*", normal, Some("no member")),
        ] {
            let found = fault_of_need(&dependency(name, req, kind), &members);
            let is_same = match (&found, fault) {
                (Some(found), Some(fault)) => found.contains(fault),
                (found, fault) => found.is_none() && fault.is_none(),
            };
            assert!(is_same, "{name} {req} {kind}: {found:?}");
        }
    }

    #[test]
    fn a_library_comes_after_those_that_it_needs() {
        let set = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let needs = [("a", set(&["c"])), ("b", set(&["a", "c"])), ("c", set(&["unpublished"]))];
        let needs = needs.map(|(name, needed)| (name.to_owned(), needed));
        assert_eq!(sorted(needs.into()), ["c", "a", "b"]);
    }

    #[test]
    fn libraries_have_one_oldest_compiler_before_the_pinned_one() {
        let (old, new) = (Version::new(1, 88, 0), Version::new(1, 95, 0));
        let fault = |of: &[(&str, Option<&Version>)]| fault_of_compilers(of, Some(&new));
        assert_eq!(fault(&[("a", Some(&old)), ("b", Some(&old))]), None);
        assert!(fault(&[("a", Some(&old)), ("b", Some(&new))]).is_some());
        assert!(fault(&[("a", Some(&new))]).is_some());
        assert!(fault(&[("a", None)]).is_some());
    }

    #[test]
    fn two_crates_have_no_keywords_in_common_all_at_once() {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let (one, two) = (words(&["lte", "rrc"]), words(&["lte", "kpi"]));
        let of = |second| [("a".to_owned(), &one), ("b".to_owned(), second)].into_iter();
        assert_eq!(shared_words(of(&two)), Vec::<String>::new());
        assert_eq!(shared_words(of(&one)).len(), 1);
    }

    /// The list decides what is packaged: an empty one would let every test of packages pass.
    #[test]
    fn the_libraries_of_this_project_are_those_that_others_use() {
        let metadata = cargo_metadata::MetadataCommand::new().no_deps().exec().expect("metadata");
        let found = in_order(&metadata);
        let wanted =
            "units estimate diag phy rrc kpi trace link cc laws baselines host modem quic rtc";
        let wanted: BTreeSet<String> =
            wanted.split(' ').map(|name| format!("sounding-{name}")).collect();
        assert_eq!(found.iter().cloned().collect::<BTreeSet<_>>(), wanted);
        assert_eq!(found.len(), wanted.len());
    }
}
