//! An emulation inside another.

use std::process::Command;

use sounding_emu::{Config, Emulation, Netns, StartError, refuse_inside};
use sounding_sim::PathConfig;
use sounding_testdata::may_emulate;
use sounding_units::Rate;

fn config() -> Config {
    let way = || PathConfig::new(Rate::from_bits_per_sec(10_000_000));
    Config::new(way(), way())
}

#[test]
fn neither_end_of_an_emulation_takes_another() {
    if !may_emulate() {
        return;
    }
    let outer = Emulation::start(config()).unwrap();
    for end in [outer.near(), outer.far()] {
        let inner = end.enter(|| Emulation::start(config())).unwrap();
        let Err(StartError::Inside { device }) = inner else { panic!("{inner:?}") };
        assert_eq!(device, "radio0");
    }
    outer.stop().unwrap();
    Emulation::start(config()).unwrap().stop().unwrap();
}

/// Whether a namespace with such a device in it takes an emulation.
fn takes_one_beside(words: &[&str]) -> bool {
    let netns = Netns::new().unwrap();
    let refused = netns.enter(|| {
        let output = Command::new("ip").args(words).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        refuse_inside().is_err()
    });
    !refused.unwrap()
}

#[test]
fn devices_of_others_are_not_taken_for_those_of_an_emulation() {
    if !may_emulate() {
        return;
    }
    assert!(takes_one_beside(&["tuntap", "add", "dev", "vpn0", "mode", "tun"]));
    assert!(takes_one_beside(&["tuntap", "add", "dev", "radio0", "mode", "tap"]));
    assert!(takes_one_beside(&["link", "set", "lo", "name", "radio0"]));
    // The reference for the others.
    assert!(!takes_one_beside(&["tuntap", "add", "dev", "radio0", "mode", "tun"]));
}
