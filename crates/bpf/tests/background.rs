//! `background` in this kernel, over a namespace's own loopback.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

#[allow(dead_code, reason = "made for kernel.rs too")]
mod support;

use std::collections::BTreeSet;
use std::time::Duration;

use libbpf_rs::query::{LinkInfo, LinkTypeInfo};
use sounding_bpf::inventory::{self, Object};
use sounding_bpf::{
    Background, BackgroundConfig, BackgroundPhase, OwnCgroup, background_preflight,
};
use sounding_testdata::steadily;
use support::*;

fn config() -> Option<BackgroundConfig> {
    let name = name()?;
    let missing = background_preflight(&name).into_iter().find(|check| !check.ok);
    if let Some(check) = missing {
        sounding_testdata::skip(
            sounding_testdata::Need::Kernel,
            format_args!("{}: {}", check.name, check.detail),
        );
        return None;
    }
    Some(BackgroundConfig { name, ..BackgroundConfig::default() })
}

#[test]
fn the_verifier_takes_it_at_a_cost_that_leaves_room() {
    let Some(config) = config() else { return };
    let loaded = Background::load(&config).unwrap_or_else(|error| panic!("{error}"));
    let verified = loaded.verified().unwrap();
    println!("{verified:?}");
    assert!(verified.iter().all(|(_, insns)| (1..200_000).contains(insns)), "{verified:?}");
}

#[test]
fn a_second_instance_of_a_name_is_refused_and_a_hyphen_too() {
    let Some(config) = config() else { return };
    let _loaded = Background::load(&config).unwrap();
    let error = Background::load(&config).err().unwrap();
    assert!(error.to_string().contains("already registered"), "{error}");
}

#[test]
#[ignore = "loopback queues nothing, and a verdict may take minutes; crates/sounding/tests/background has an emulated cell"]
fn a_flow_sends_and_waits_and_outlives_its_loader() {
    steadily(|| {
        let Some(config) = config() else { return };
        let log = KernelLog::watch();
        let loaded = Background::load(&config).unwrap();
        let bulk = in_netns(|| {
            let (near, far) = connected();
            select(&near, loaded.name()).unwrap();
            Bulk::start((near, far))
        });
        // On loopback, which queues nothing, the first verdict may take ten seconds.
        let seen = wait_for_long("a wait that ends", || {
            let flow = loaded.flow(&bulk.sender).unwrap().unwrap();
            (flow.spent[BackgroundPhase::Waiting as usize] > Duration::from_millis(200))
                .then_some(flow)
        });
        println!("{seen:?}");
        assert!(seen.transitions >= 2 && seen.least_rtt.is_some(), "{seen:?}");
        assert_eq!(loaded.counts().flows, 1);
        let name = loaded.name().to_owned();
        drop(loaded);
        let before = bulk.arrived();
        wait_for("data without the loader", || (bulk.arrived() > before + 100_000).then_some(()));
        assert_eq!(selected(&bulk.sender), name, "it stays background");
        drop(bulk);
        assert_eq!(log.alarms(), Vec::<String>::new());
    });
}

/// As [`wait_for`], for up to 40 s.
fn wait_for_long<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    for _ in 0..8_000 {
        if let Some(value) = found() {
            return value;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("waited 40 s for {what}");
}

#[test]
#[ignore = "loopback queues nothing, and a verdict may take minutes; crates/sounding/tests/background has an emulated cell"]
fn nothing_leaves_during_a_wait() {
    steadily(|| {
        let Some(config) = config() else { return };
        let loaded = Background::load(&config).unwrap();
        let bulk = in_netns(|| {
            let (near, far) = connected();
            select(&near, loaded.name()).unwrap();
            Bulk::start((near, far))
        });
        let mut silences = 0;
        for _ in 0..4_000 {
            let flow = loaded.flow(&bulk.sender).unwrap().unwrap();
            if flow.phase == BackgroundPhase::Waiting {
                std::thread::sleep(Duration::from_millis(20));
                let before = bulk.arrived();
                std::thread::sleep(Duration::from_millis(100));
                let still = loaded.flow(&bulk.sender).unwrap().unwrap();
                if still.phase == BackgroundPhase::Waiting && still.since == flow.since {
                    let arrived = bulk.arrived() - before;
                    assert!(
                        arrived <= 2 * 1448,
                        "{arrived} bytes in a tenth of a second of silence"
                    );
                    silences += 1;
                }
            }
            if silences > 5 {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(silences > 0, "there was no wait");
    });
}

#[test]
fn a_cgroups_sockets_get_it_as_they_connect_and_those_of_loopback_do_not() {
    steadily(|| {
        let Some(config) = config() else { return };
        let own = OwnCgroup::enter(&format!("sounding-bg-{}", std::process::id())).unwrap();
        let cgroup = Some(own.path().to_path_buf());
        let config = BackgroundConfig { cgroup, downloads: true, ..config };
        let loaded = Background::load(&config).unwrap();
        in_netns(|| {
            ip("address add 10.9.8.7/32 dev lo");
            let (near, far) = connect(&listen(), "10.9.8.7".parse().unwrap());
            assert_eq!([selected(&near), selected(&far)], [loaded.name(), loaded.name()]);
            let (near, _far) = connected();
            assert_eq!(selected(&near), "reno");
        });
        let counts = loaded.counts();
        assert_eq!((counts.chosen, counts.received), (2, 2), "{counts:?}");
    });
}

/// The numbers of the links that hold programs at cgroups.
fn at_cgroups(loaded: &Background) -> BTreeSet<u32> {
    let links = loaded.keeps().into_iter().map(|fd| LinkInfo::from_fd(fd).unwrap());
    links.filter(|link| matches!(link.info, LinkTypeInfo::Cgroup(_))).map(|link| link.id).collect()
}

#[test]
fn more_instances_than_a_cgroup_takes_programs_share_the_one_that_sees_all_traffic() {
    let Some(config) = config() else { return };
    let load = |number| {
        let name = format!("bm{}_{number}", std::process::id() % 1_000_000);
        Background::load(&BackgroundConfig { name, ..config.clone() })
    };
    let mut all = Vec::new();
    for number in 0..66 {
        all.push(load(number).unwrap_or_else(|error| panic!("instance {number}: {error}")));
    }
    let links: BTreeSet<u32> = all.iter().flat_map(at_cgroups).collect();
    assert_eq!(links.len(), 1, "{links:?}");
    let link = Object::Link(links.into_iter().next().unwrap());
    let last = all.pop().unwrap();
    drop(all);
    assert!(inventory::alive().contains(&link), "the last one needs it");
    drop(last);
    wait_for_long("the program to go with the last", || {
        (!inventory::alive().contains(&link)).then_some(())
    });
}
