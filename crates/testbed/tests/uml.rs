//! A guest of User-Mode Linux: it boots, runs commands, shapes by CAKE, and leaves nothing.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::net::Ipv4Addr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sounding_emu::Netns;
use sounding_testbed::uml::{Guest, Image, Tc};
use sounding_testdata::{Need, may_emulate, processes_with, skip};
use sounding_units::Rate;

const GUEST: Ipv4Addr = Ipv4Addr::new(10, 2, 0, 2);
const HOST: Ipv4Addr = Ipv4Addr::new(10, 2, 0, 1);

/// The unpacked packages; `None`, with a reported skip, where a guest cannot run.
fn image() -> Option<Image> {
    if !may_emulate() {
        return None;
    }
    Image::find().inspect_err(|absent| skip(Need::Uml, absent)).ok()
}

/// Processes of guests with this default route.
fn guests(route: Ipv4Addr) -> Vec<String> {
    processes_with(&format!("sounding_route={route} "))
}

fn eventually(done: impl Fn() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(20);
    while !done() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    done()
}

#[test]
fn a_guest_shapes_by_cake_and_is_gone_when_it_is_dropped() {
    let Some(image) = image() else { return };
    let netns = Netns::new().unwrap();
    let guest = Guest::start(&image, &[GUEST], HOST).unwrap();
    guest.attach(0, &netns, "wan", &[HOST]).unwrap();
    let pinged = format!("{} ping -c 1 -W 5 {HOST}", image.busybox().display());
    guest.run(&pinged).unwrap();
    let answer = guest.answer("echo one; echo two >&2; exit 3").unwrap();
    assert_eq!((answer.text.as_str(), answer.code), ("one\ntwo\n", 3), "{}", guest.console());
    guest.run("tc qdisc replace dev vec0 root cake bandwidth 20mbit overhead 0").unwrap();
    let mut tc = Tc::open(&guest).unwrap();
    let rates = [20, 3, 45].map(|mbit| Rate::from_bits_per_sec(mbit * 1_000_000));
    for rate in rates {
        tc.set("vec0", rate).unwrap();
        assert_eq!(tc.look("vec0").unwrap().and_then(|shaper| shaper.rate), Some(rate));
    }
    let sleeping = guest.spawn("sleep 100").unwrap();
    assert!(sleeping.is_running());
    sleeping.stop().unwrap();
    assert!(!guests(HOST).is_empty(), "the check below would prove nothing");
    drop(guest);
    assert!(eventually(|| guests(HOST).is_empty()), "{:?}", guests(HOST));
}

/// The default route of a guest that is known by it.
const KILLED: Ipv4Addr = Ipv4Addr::new(10, 2, 0, 77);

#[test]
#[ignore = "run, and killed, by a_guest_dies_with_a_process_that_is_killed"]
fn hold_a_guest_until_killed() {
    let _guest = Guest::start(&Image::find().unwrap(), &[GUEST], KILLED).unwrap();
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

#[test]
fn a_guest_dies_with_a_process_that_is_killed() {
    if image().is_none() {
        return;
    }
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "hold_a_guest_until_killed", "--ignored"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let began = eventually(|| guests(KILLED).len() > 3);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(began, "the guest did not start");
    assert!(eventually(|| guests(KILLED).is_empty()), "{:?}", guests(KILLED));
}
