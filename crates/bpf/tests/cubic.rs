//! CUBIC as what flows fall back to, in this machine's kernel. Where it cannot be loaded, each test
//! says why and passes.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

#[allow(dead_code, reason = "made for kernel.rs too")]
mod support;

use std::time::Duration;

use sounding_bpf::{Config, Instance, Phase, Reason};
use sounding_host::monotonic_now;
use sounding_laws::{Fallback, Law};
use sounding_testdata::steadily;
use support::*;

const LAWS: [Law; 3] = [Law::Biscay, Law::Sounding, Law::PbeCc];

fn load(law: Law) -> Option<Instance> {
    load_config(Config { law, fallback: Fallback::Cubic, ..Config::default() })
}

fn bulk(loaded: &Instance) -> Bulk {
    in_netns(|| {
        let (near, far) = connected();
        select(&near, loaded.name()).unwrap();
        Bulk::start((near, far))
    })
}

#[test]
fn flows_go_on_without_a_publisher_and_come_back() {
    for law in LAWS {
        steadily(|| {
            let Some(loaded) = load(law) else { return };
            let log = KernelLog::watch();
            let daemon = Daemon::publish(loaded.feed(), 40);
            let bulk = bulk(&loaded);
            let flow = || loaded.flow(&bulk.sender).unwrap().unwrap();
            wait_for("the law to drive", || flow().phase.law_controls().then_some(()));
            drop(daemon);
            let silent_since = monotonic_now();
            let fell = wait_for("a fallback", || {
                std::iter::from_fn(|| loaded.poll_transition())
                    .find(|seen| seen.to == Phase::NoEstimate)
            });
            assert_eq!(fell.reason, Reason::Silent);
            assert!(fell.at - silent_since <= Duration::from_millis(100));
            let before = bulk.arrived();
            wait_for("data without a publisher", || {
                (bulk.arrived() > before + 1_000_000).then_some(())
            });
            let _daemon = Daemon::publish(loaded.feed(), 40);
            wait_for("the law to drive again", || flow().phase.law_controls().then_some(()));
            drop(bulk);
            assert_eq!(log.alarms(), Vec::<String>::new());
        });
    }
}
