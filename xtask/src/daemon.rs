//! The daemon's build leaves the lab out: Cargo lists the dependencies of `--features daemon`.

use std::collections::BTreeSet;
use std::process::Command;

use cargo_metadata::Metadata;

/// Crates that a router has no room for.
const LEFT_OUT: &[&str] = &[
    "parquet",
    "plotters",
    "resvg",
    "sounding-cell",
    "sounding-emu",
    "sounding-experiment",
    "sounding-lab",
    "sounding-report",
    "sounding-sim",
    "sounding-testbed",
];

pub(crate) fn violations(metadata: &Metadata) -> Vec<String> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--package", "sounding", "--no-default-features"])
        .args(["--features", "daemon", "--edges", "normal", "--prefix", "none"])
        .current_dir(&metadata.workspace_root)
        .output();
    let tree = match tree {
        Ok(tree) if tree.status.success() => tree,
        Ok(tree) => return vec![String::from_utf8_lossy(&tree.stderr).into_owned()],
        Err(error) => return vec![format!("cargo tree: {error}")],
    };
    carried(&String::from_utf8_lossy(&tree.stdout))
}

fn carried(tree: &str) -> Vec<String> {
    let names: BTreeSet<&str> =
        tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    if !names.contains("sounding-bpf") {
        return vec!["cargo tree shows no daemon".into()];
    }
    let carried = LEFT_OUT.iter().filter(|name| names.contains(*name));
    carried.map(|name| format!("the daemon's build carries {name}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_daemon_must_not_carry_is_named() {
        let daemon = "sounding v0.1.0 (/a)\nsounding-bpf v0.1.0 (/a)\nlibc v0.2.1 (*)\n";
        assert_eq!(carried(daemon), Vec::<String>::new());
        let found = carried(&format!("{daemon}parquet v60.1.0\n"));
        assert_eq!(found, ["the daemon's build carries parquet"]);
        assert_eq!(carried("").len(), 1);
    }
}
