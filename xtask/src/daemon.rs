//! The build for routers leaves out what they have no room for, and has few foreign crates: Cargo
//! lists what it depends on, without any feature.

use std::collections::BTreeSet;
use std::process::Command;

use cargo_metadata::Metadata;

/// Foreign crates that the daemon's build may have. Each is code that someone must trust and a
/// router must hold.
const MOST: usize = 80;

/// Crates that a router has no room for.
const LEFT_OUT: &[&str] = &[
    "icu_segmenter",
    "indicatif",
    "libbpf-rs",
    "libbpf-sys",
    "oxirush-nas",
    "parquet",
    "pcap-file",
    "plotters",
    "regex-automata",
    "resvg",
    "sounding-baselines",
    "sounding-cell",
    "sounding-emu",
    "sounding-experiment",
    "sounding-lab",
    "sounding-nas",
    "sounding-report",
    "sounding-sim",
    "sounding-testbed",
    "zstd-sys",
];

pub(crate) fn violations(metadata: &Metadata) -> Vec<String> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--package", "sounding", "--no-default-features"])
        .args(["--edges", "normal", "--prefix", "none"])
        .current_dir(&metadata.workspace_root)
        .output();
    let tree = match tree {
        Ok(tree) if tree.status.success() => tree,
        Ok(tree) => return vec![String::from_utf8_lossy(&tree.stderr).into_owned()],
        Err(error) => return vec![format!("cargo tree: {error}")],
    };
    let own: Vec<_> =
        metadata.workspace_packages().iter().map(|own| own.name.to_string()).collect();
    carried(&String::from_utf8_lossy(&tree.stdout), &own)
}

fn carried(tree: &str, own: &[String]) -> Vec<String> {
    let names: BTreeSet<&str> =
        tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    if !names.contains("sounding-bpf") {
        return vec!["cargo tree shows no daemon".into()];
    }
    let carried = LEFT_OUT.iter().filter(|name| names.contains(*name));
    let foreign = names.iter().filter(|name| !own.iter().any(|own| own == *name)).count();
    let too_many = (foreign > MOST).then(|| {
        format!("the daemon's build has {foreign} foreign crates, and {MOST} are allowed: see `cargo tree`")
    });
    carried.map(|name| format!("the daemon's build carries {name}")).chain(too_many).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_daemon_must_not_carry_is_named() {
        let daemon = "sounding v0.1.0 (/a)\nsounding-bpf v0.1.0 (/a)\nlibc v0.2.1 (*)\n";
        assert_eq!(carried(daemon, &[]), Vec::<String>::new());
        let found = carried(&format!("{daemon}parquet v60.1.0\noxirush-nas v0.5.0\n"), &[]);
        let carries = |name| format!("the daemon's build carries {name}");
        assert_eq!(found, ["oxirush-nas", "parquet"].map(carries));
        assert_eq!(carried("", &[]).len(), 1);
    }

    #[test]
    fn one_foreign_crate_too_many_is_a_fault_and_own_crates_do_not_count() {
        let own = ["sounding", "sounding-bpf"].map(str::to_owned);
        let tree = |foreign: usize| {
            let lines = (0..foreign).map(|number| format!("foreign-{number} v1.0.0\n"));
            // The same crate again, as `cargo tree` prints it.
            "sounding v0.1.0 (/a)\nsounding-bpf v0.1.0 (/a)\nforeign-0 v1.0.0 (*)\n".to_owned()
                + &lines.collect::<String>()
        };
        assert_eq!(carried(&tree(MOST), &own), Vec::<String>::new());
        let found = carried(&tree(MOST + 1), &own);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("81 foreign crates, and 80 are allowed"), "{found:?}");
    }
}
