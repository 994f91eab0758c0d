//! GStreamer, which is over 150 packages: `make test-long` alone runs it.

use std::process::Command;
use std::time::Duration;

use sounding_testdata::{Need, skip, steadily, unpacked};

use crate::{Promise, sender, started, watch};

/// Debian's, because its module `gi` is for no other.
const PYTHON: &str = "/usr/bin/python3";

/// Gives a program the unpacked GStreamer, and what this machine has of it.
fn with_gstreamer(command: &mut Command, folder: &std::path::Path) {
    let libraries = folder.join("usr/lib/x86_64-linux-gnu");
    let plugins =
        [libraries.join("gstreamer-1.0"), "/usr/lib/x86_64-linux-gnu/gstreamer-1.0".into()];
    command
        .env("LD_LIBRARY_PATH", &libraries)
        .env("GI_TYPELIB_PATH", libraries.join("girepository-1.0"))
        .env("GST_PLUGIN_SYSTEM_PATH", std::env::join_paths(plugins).unwrap())
        .env("GST_REGISTRY", folder.join("registry"))
        .env("PYTHONPATH", folder.join("usr/lib/python3/dist-packages"));
}

#[test]
#[ignore = "GStreamer is over 150 packages"]
fn the_gstreamer_pipeline_follows_its_advice() {
    let Some(folder) = unpacked("gstreamer", "complete") else {
        skip(Need::Gstreamer, "no GStreamer here: `scripts/setup gstreamer` unpacks it");
        return;
    };
    let promise = Promise { part: 0.7, burst: Duration::from_millis(100) };
    steadily(|| {
        watch(promise, None, |script, meter| {
            let mut command = sender(PYTHON, "gstreamer.py", script, meter);
            with_gstreamer(&mut command, &folder);
            started(command)
        });
    });
}
