//! Every feature of every crate compiles by itself, and each crate without any: a feature that
//! leans on another one fails here.

use std::process::Command;

use cargo_metadata::Metadata;

/// One compilation: a package, and the feature that it has; none: without any.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Combination {
    package: String,
    feature: Option<String>,
}

/// What is to compile: for each package with features the package without any and with each one
/// alone.
pub(crate) fn combinations(metadata: &Metadata) -> Vec<Combination> {
    let mut found = Vec::new();
    for package in metadata.workspace_packages() {
        let features = package.features.keys().filter(|feature| *feature != "default");
        let alone = features.map(|feature| Some(feature.clone()));
        if package.features.is_empty() {
            continue;
        }
        found.extend(
            std::iter::once(None)
                .chain(alone)
                .map(|feature| Combination { package: package.name.to_string(), feature }),
        );
    }
    found
}

/// Compiles each combination, reports it on standard output, and returns how many failed.
pub(crate) fn check(metadata: &Metadata) -> usize {
    let combinations = combinations(metadata);
    combinations.iter().filter(|one| !one.compiles(metadata)).count()
}

impl Combination {
    fn compiles(&self, metadata: &Metadata) -> bool {
        let mut command = Command::new(env!("CARGO"));
        command.args(["check", "--quiet", "--locked", "--package", &self.package]);
        command.arg("--no-default-features").current_dir(&metadata.workspace_root);
        if let Some(feature) = &self.feature {
            command.args(["--features", feature]);
        }
        let compiles = command.status().is_ok_and(|status| status.success());
        let feature = self.feature.as_deref().unwrap_or("no feature");
        println!("{} {} with {feature}", if compiles { "ok  " } else { "FAIL" }, self.package);
        compiles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_feature_stands_alone_and_a_crate_without_features_is_left_to_the_build() {
        let metadata = cargo_metadata::MetadataCommand::new().no_deps().exec().expect("metadata");
        let found = combinations(&metadata);
        let of = |package: &str| {
            let features = found.iter().filter(|one| one.package == package);
            features.map(|one| one.feature.as_deref()).collect::<Vec<_>>()
        };
        assert_eq!(of("sounding-quic"), [None, Some("modem"), Some("noq"), Some("quinn")]);
        assert_eq!(of("sounding-units"), []);
    }
}
