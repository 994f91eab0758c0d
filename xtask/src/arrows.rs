//! The permitted dependencies between crates.

use cargo_metadata::{DependencyKind, Metadata};

/// Layers from the foundation up: a crate may depend only on crates of layers before its own.
///
/// `units ◀ estimate ◀ {host, diag, phy, trace, shape, feed} ◀ {nas, rrc, qdisc, serve} ◀ kpi ◀
/// export ◀ {link, cc, fleet} ◀ {cell, laws} ◀ {baselines, sim} ◀
/// {board, modem, bpf, emu, experiment} ◀ {quic, rtc, report} ◀ {testbed, libod} ◀ lab ◀ sounding`
const LAYERS: &[&[&str]] = &[
    &["sounding-units"],
    &["sounding-estimate"],
    &[
        "sounding-host",
        "sounding-diag",
        "sounding-phy",
        "sounding-trace",
        "sounding-shape",
        "sounding-feed",
    ],
    &["sounding-nas", "sounding-rrc", "sounding-qdisc", "sounding-serve"],
    &["sounding-kpi"],
    &["sounding-export"],
    &["sounding-link", "sounding-cc", "sounding-fleet"],
    &["sounding-cell", "sounding-laws"],
    &["sounding-baselines", "sounding-sim"],
    &["sounding-board", "sounding-modem", "sounding-bpf", "sounding-emu", "sounding-experiment"],
    &["sounding-quic", "sounding-rtc", "sounding-report"],
    &["sounding-testbed", "sounding-libod"],
    &["sounding-lab"],
    &["sounding"],
];

/// Members outside the layers: tools for tests and for CI. No shipped crate depends on them.
const OUTSIDE: &[&str] = &["sounding-testdata", "xtask"];

fn layer(name: &str) -> Option<usize> {
    LAYERS.iter().position(|crates| crates.contains(&name))
}

pub(crate) fn violations(metadata: &Metadata) -> Vec<String> {
    let mut found = Vec::new();
    for package in metadata.workspace_packages() {
        let name = package.name.as_str();
        if OUTSIDE.contains(&name) {
            continue;
        }
        let Some(own) = layer(name) else {
            found.push(format!("{name} has no layer: give it one in xtask/src/arrows.rs"));
            continue;
        };
        for dependency in &package.dependencies {
            let target = dependency.name.as_str();
            let in_tests = dependency.kind == DependencyKind::Development;
            if OUTSIDE.contains(&target) && !in_tests {
                found.push(format!("{name} ships {target}, which is for tests"));
            }
            match layer(target) {
                // Tests may reach sideways or up: a kernel test needs a link to run over.
                Some(other) if other >= own && !in_tests => {
                    found.push(format!("{name} depends on {target}, which is not before it"));
                }
                _ => {}
            }
        }
    }
    found
}
