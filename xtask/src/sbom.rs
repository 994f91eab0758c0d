//! The bill of materials of the installed programs: every package that is linked, with version,
//! licence and checksum, as `CycloneDX` 1.5 in JSON. It has no time and no serial number, so that
//! the same sources give the same bytes.

use std::collections::BTreeMap;
use std::fs;

use cargo_metadata::{Metadata, Package};
use serde_json::{Value, json};

use crate::notices;

/// The bill, or why there is none.
pub(crate) fn sbom(metadata: &Metadata) -> Result<String, String> {
    let checksums = checksums(metadata)?;
    let linked = notices::linked(metadata)?;
    let components: Vec<Value> = linked
        .iter()
        .map(|package| component(package, checksums.get(&key(&package.name, &package.version))))
        .collect();
    let version = metadata.workspace_packages().into_iter().find(|own| own.name == "sounding");
    let version = version.map(|own| own.version.to_string()).ok_or("there is no sounding")?;
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {
            "type": "application",
            "name": "sounding",
            "version": version,
            "licenses": [{"expression": "MIT OR Apache-2.0"}],
        }},
        "components": components,
    });
    serde_json::to_string_pretty(&bill).map_err(|error| error.to_string())
}

fn component(package: &Package, checksum: Option<&String>) -> Value {
    let mut component = json!({
        "type": "library",
        "name": package.name,
        "version": package.version,
        "purl": format!("pkg:cargo/{}@{}", package.name, package.version),
    });
    // Some manifests still write a slash for OR.
    let licence = package.license.as_ref().map(|licence| licence.replace('/', " OR "));
    if let Some(licence) = licence {
        component["licenses"] = json!([{"expression": licence}]);
    }
    if let Some(checksum) = checksum {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    component
}

fn key(name: impl ToString, version: impl ToString) -> (String, String) {
    (name.to_string(), version.to_string())
}

/// The checksums of the lock file, by name and version.
fn checksums(metadata: &Metadata) -> Result<BTreeMap<(String, String), String>, String> {
    let file = metadata.workspace_root.join("Cargo.lock");
    let text = fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
    let mut found = BTreeMap::new();
    for package in text.split("[[package]]").skip(1) {
        let value = |wanted: &str| {
            let mut lines = package.lines().filter_map(|line| line.split_once(" = "));
            let (_, value) = lines.find(|(name, _)| *name == wanted)?;
            Some(value.trim_matches('"').to_owned())
        };
        if let (Some(name), Some(version), Some(sum)) =
            (value("name"), value("version"), value("checksum"))
        {
            found.insert((name, version), sum);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_linked_package_is_in_it_with_licence_and_checksum() {
        let metadata = notices::metadata(".".as_ref()).expect("cargo says what is linked");
        let text = sbom(&metadata).expect("a bill");
        let bill: Value = serde_json::from_str(&text).expect("it is JSON");
        let components = bill["components"].as_array().expect("a list");
        assert_eq!(components.len(), notices::linked(&metadata).expect("resolved").len());
        for component in components {
            let licence = component["licenses"][0]["expression"].as_str();
            assert!(licence.is_some_and(|licence| !licence.contains('/')), "{component}");
            let sum = component["hashes"][0]["content"].as_str();
            assert!(sum.is_some_and(|sum| sum.len() == 64), "{component}");
        }
    }
}
