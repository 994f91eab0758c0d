//! A router with CAKE in User-Mode Linux beside a modelled cell: this program in the router, and
//! `sounding lab run router`.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::net::Ipv4Addr;
use std::time::Duration;

use serde_json::Value as Json;
use sounding_emu::Direction;
use sounding_experiment::plan::{Run, Text};
use sounding_testbed::flow::TcpFlow;
use sounding_testbed::router::Router;
use sounding_testbed::uml::{Guest, Image};
use sounding_testdata::{Need, may_emulate, skip, steadily};

/// The unpacked packages; `None`, with a reported skip, where no router can run.
fn image() -> Option<Image> {
    if !may_emulate() {
        return None;
    }
    Image::find().inspect_err(|absent| skip(Need::Uml, absent)).ok()
}

fn cell() -> Run {
    let text = "duration = \"60s\"\n[[cell.carriers]]\nprb = 50\n[[cell.devices]]\nmodem = {}\n\
                [[flows]]\ndirection = \"up\"\n";
    let runs = Text::new("router", text.to_owned(), ".".into()).runs().unwrap();
    runs.into_iter().next().unwrap()
}

#[test]
fn this_program_reads_the_modem_from_inside_the_router() {
    let Some(image) = image() else { return };
    steadily(|| {
        let router = Router::start(&cell(), &image, true).unwrap();
        let program = assert_cmd::cargo::cargo_bin!("sounding").display().to_string();
        let version = router.guest().run(&format!("'{program}' --version")).unwrap();
        assert!(version.starts_with("sounding "), "{version}");
        let reader =
            router.guest().spawn(&format!("'{program}' link --json {}", router.modem())).unwrap();
        let upload = TcpFlow::new(Direction::Uplink).start_between(router.ends(0)).unwrap();
        std::thread::sleep(Duration::from_secs(4));
        let sent = upload.abort().unwrap().received.count();
        let output = reader.stop().unwrap();
        let estimates = output.lines().filter(|line| line.contains("bits_per_sec")).count();
        assert!(estimates > 50, "{estimates} estimates: {output}");
        assert!(sent > 2_000_000, "{sent} bytes passed the router");
        router.stop().unwrap();
    });
}

/// Makes a flowtable of both devices in a router, by this machine's `nft`.
fn make_flowtable(guest: &Guest, image: &Image) {
    let (busybox, tools) = (image.busybox(), image.tools());
    let (busybox, usr) = (busybox.display(), tools.parent().unwrap().display());
    let modules = "netfilter/nfnetlink netfilter/nf_tables ipv4/netfilter/nf_defrag_ipv4 \
                   ipv6/netfilter/nf_defrag_ipv6 netfilter/nf_conntrack netfilter/nf_flow_table \
                   netfilter/nf_flow_table_inet llc/llc 802/stp ../lib/crc-ccitt ipv6/ipv6 \
                   bridge/bridge";
    let load = format!(
        "cd '{usr}'/lib/uml/modules/*/kernel/net || exit
         for module in {modules}; do '{busybox}' insmod $module.ko || exit; done"
    );
    guest.run(&load).unwrap();
    let table = "add table inet fw4; add flowtable inet fw4 ft \
                 { hook ingress priority 0; devices = { vec0, vec1 }; }";
    guest.run(&format!("nft '{table}'")).unwrap();
}

/// Makes a bridge above a device of the flowtable, with a shaper.
fn make_bridge(guest: &Guest) {
    let bridge = "ip link add br0 type bridge && ip link set vec1 master br0 && \
                  ip link set br0 up && tc qdisc replace dev br0 root cake bandwidth 5mbit";
    guest.run(bridge).unwrap();
}

/// The checks of an area by `sounding doctor` in the guest.
fn doctor(guest: &Guest, rights: &str) -> Vec<Json> {
    let program = assert_cmd::cargo::cargo_bin!("sounding").display().to_string();
    // Its code says whether the demo can run, which it cannot there.
    let answer = guest.answer(&format!("{rights} '{program}' doctor --json --no-ports")).unwrap();
    let lines = answer.text.lines().filter_map(|line| serde_json::from_str(line).ok());
    let checks: Vec<Json> = lines.filter(|check: &Json| check["area"] == "router").collect();
    assert!(!checks.is_empty(), "{}", answer.text);
    checks
}

fn named<'a>(checks: &'a [Json], name: &str) -> &'a Json {
    let found = checks.iter().find(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("no {name}: {checks:?}"))
}

/// The image's kernel has no `flow add`, so no flow enters the table, and no packet is followed
/// here. For an entered one the kernel's source says where it leaves: `crates/sounding/src/offload.rs`.
#[test]
fn the_doctor_names_flowtables_and_the_shaper_that_they_pass_by() {
    let Some(image) = image() else { return };
    steadily(|| {
        let [wan, lan] = [Ipv4Addr::new(10, 2, 0, 2), Ipv4Addr::new(10, 3, 0, 1)];
        let guest = Guest::start(&image, &[wan, lan], Ipv4Addr::new(10, 2, 0, 1)).unwrap();
        // A kernel without nf_tables has none.
        assert_eq!(named(&doctor(&guest, ""), "flowtables")["ok"], true);
        make_flowtable(&guest, &image);
        guest.run("tc qdisc replace dev vec0 root cake bandwidth 5mbit").unwrap();
        // The shaper of a device of the table holds.
        let checks = doctor(&guest, "");
        let found = named(&checks, "inet fw4 ft");
        assert_eq!((&found["ok"], &found["cure"]), (&true.into(), &"".into()), "{found}");
        assert!(found["detail"].as_str().unwrap().contains("vec0, vec1"), "{found}");
        // Packets to a bridge leave by its port, and its shaper does not see them.
        make_bridge(&guest);
        let checks = doctor(&guest, "");
        let found = named(&checks, "inet fw4 ft");
        assert!(found["ok"] == false && found["detail"].as_str().unwrap().contains("below br0,"));
        assert!(found["cure"].as_str().unwrap().contains("nft delete flowtable inet fw4 ft"));
        // Without the right nothing is known, and that is said.
        let checks = doctor(&guest, "setpriv --bounding-set=-net_admin --inh-caps=-net_admin");
        let found = named(&checks, "flowtables");
        assert!(found["ok"] == false && found["detail"].as_str().unwrap().contains("not known"));
    });
}

#[test]
fn shape_says_once_that_packets_pass_its_shaper_by() {
    let Some(image) = image() else { return };
    steadily(|| {
        let router = Router::start(&cell(), &image, true).unwrap();
        let (guest, modem) = (router.guest(), router.modem());
        make_flowtable(guest, &image);
        make_bridge(guest);
        let program = assert_cmd::cargo::cargo_bin!("sounding").display().to_string();
        let shape = |device: &str| {
            let command = format!(
                "'{program}' shape --json --device {modem} --interface {device} --only uplink"
            );
            let shape = guest.spawn(&command).unwrap();
            std::thread::sleep(Duration::from_secs(3));
            let output = shape.stop().unwrap();
            let lines = output.lines().filter_map(|line| serde_json::from_str(line).ok());
            let lines: Vec<Json> = lines.collect();
            assert!(lines.iter().any(|line| line["event"] == "shaping"), "{output}");
            lines.into_iter().filter(|line| line["event"] == "bypass").collect::<Vec<_>>()
        };
        let said = shape("br0");
        assert_eq!(said.len(), 1, "{said:?}");
        assert_eq!(said[0]["flowtable"], "inet fw4 ft");
        guest.run("tc qdisc replace dev vec0 root cake bandwidth 5mbit").unwrap();
        assert_eq!(shape("vec0"), Vec::<Json>::new(), "a shaper of the table's device holds");
        router.stop().unwrap();
    });
}

mod long {
    use std::path::Path;
    use std::process::Command;
    use std::time::Instant;

    use super::*;

    const RULES: [&str; 3] = ["none", "fixed-p50", "truth-0"];

    /// Runs the short rig. Returns its runs in the order of the rules.
    fn rig(folder: &Path, rules: &[&str]) -> Vec<Json> {
        let json = folder.join("runs.json");
        let output = Command::new(assert_cmd::cargo::cargo_bin!("sounding"))
            .args(["lab", "run", "router", "--cases", "still", "--radio", "lte", "--seeds", "1"])
            .args(["--duration", "12s", "--rules", &rules.join(","), "--json"])
            .arg(&json)
            .arg("--out")
            .arg(folder.join("runs"))
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{error}");
        let runs: Vec<Json> = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
        assert_eq!(runs.iter().map(|run| run["rule"].clone()).collect::<Vec<_>>(), rules);
        runs
    }

    #[test]
    #[ignore = "two minutes"]
    fn a_router_that_knows_its_rate_has_no_queue_and_a_matrix_goes_on() {
        if image().is_none() {
            return;
        }
        steadily(|| {
            let folder = tempfile::tempdir().unwrap();
            let runs = rig(folder.path(), &RULES);
            let figures = |run: usize, name: &str| runs[run]["figures"][name].clone();
            let p95 = |run: usize| figures(run, "probe")["p95_ms"].as_f64().unwrap();
            // The modem's own queue is deep, and a known rate leaves it empty.
            assert!(p95(0) > 2.0 * p95(2), "{} {}", p95(0), p95(2));
            let [granted, up] = ["truth_mbit_per_sec", "up_mbit_per_sec"]
                .map(|name| figures(2, name).as_f64().unwrap());
            assert!(up > 0.5 * granted && up < 1.1 * granted, "{up} of {granted}");
            let rates = [0, 1, 2].map(|run| figures(run, "rates_seen").as_u64().unwrap());
            assert!(rates[0] == 0 && rates[1] == 1 && rates[2] > 10, "{rates:?}");
            // All of its runs are files, so the second time there is nothing to run.
            let began = Instant::now();
            assert_eq!(rig(folder.path(), &RULES), runs);
            assert!(began.elapsed().as_secs() < 10);
        });
    }

    /// Behind its own shaper the radio's estimate is the shaper's, and a part of it is less each
    /// time.
    #[test]
    #[ignore = "two minutes"]
    fn a_rule_that_follows_each_estimate_starves_and_ours_does_not() {
        if image().is_none() {
            return;
        }
        steadily(|| {
            let folder = tempfile::tempdir().unwrap();
            let runs = rig(folder.path(), &["truth-50", "naive", "ours"]);
            let figures = |run: &Json| {
                let figures = &run["figures"];
                let of = |value: &Json| value.as_f64().unwrap();
                (of(&figures["up_mbit_per_sec"]), of(&figures["probe"]["p95_ms"]))
            };
            let [truth, naive, ours] = [0, 1, 2].map(|run| figures(&runs[run]));
            println!("Mbit/s, p95 ms: truth-50 {truth:?}, naive {naive:?}, ours {ours:?}");
            assert!(naive.0 < truth.0 / 2.0, "{naive:?} beside {truth:?}");
            assert!(ours.0 >= 0.75 * truth.0, "{ours:?} beside {truth:?}");
            assert!(ours.1 <= truth.1 + 50.0, "{ours:?} beside {truth:?}");
        });
    }
}
