//! The device's side of a connection, over a loopback that plays the radio.

use std::path::Path;
use std::time::Duration;

use sounding_bpf::{Downlink, DownlinkConfig, OwnCgroup, Signal, downlink_preflight};
use sounding_testdata::steadily;

use crate::support::in_netns;

/// Runs a test alone, in a cgroup and a namespace of its own.
pub(crate) fn alone(test: impl Fn(&Path) + Send + Sync) {
    let missing = downlink_preflight().into_iter().find(|check| !check.ok);
    if let Some(check) = missing {
        sounding_testdata::skip(
            sounding_testdata::Need::Kernel,
            format_args!("{}: {}", check.name, check.detail),
        );
        return;
    }
    steadily(|| {
        let own = OwnCgroup::enter(&format!("sounding-bpf-{}", std::process::id())).unwrap();
        in_netns(|| test(own.path()));
    });
}

pub(crate) fn config(cgroup: &Path, signal: Signal) -> DownlinkConfig {
    DownlinkConfig {
        slack: Duration::from_millis(15),
        cgroup: Some(cgroup.to_path_buf()),
        interfaces: vec!["lo".into()],
        signal,
        ..DownlinkConfig::default()
    }
}

pub(crate) fn load(cgroup: &Path, signal: Signal) -> Downlink {
    Downlink::load(&config(cgroup, signal)).unwrap_or_else(|error| panic!("{error}"))
}
