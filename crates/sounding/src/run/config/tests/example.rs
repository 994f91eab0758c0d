//! The example against the types that it is read into, and printed configurations.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// The keys that a section may have, as the error about an unknown one lists them.
fn known(section: &str) -> BTreeSet<String> {
    let header = if section.is_empty() { String::new() } else { format!("[{section}]\n") };
    let error = parse(&format!("{header}zzz = 1"), Flags::default()).expect_err("unknown");
    let text = error.to_string();
    let listed = text.split("expected one of ").nth(1).or(text.split("expected ").nth(1));
    let listed = listed.unwrap_or_else(|| panic!("{text}"));
    let listed = listed.lines().next().unwrap_or_default();
    listed.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The keys that the example has or mentions, by section.
fn mentioned() -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut section = String::new();
    for line in EXAMPLE.lines() {
        let line = line.strip_prefix("# ").unwrap_or(line);
        let is_name = |text: &str| {
            !text.is_empty() && text.chars().all(|of| of.is_ascii_lowercase() || "_.".contains(of))
        };
        if let Some(header) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'))
            && is_name(header)
        {
            section = header.to_owned();
            all.entry(section.clone()).or_default();
            match header.split_once('.') {
                Some((of, key)) => all.entry(of.to_owned()).or_default().insert(key.to_owned()),
                None => all.entry(String::new()).or_default().insert(header.to_owned()),
            };
        } else if let Some((key, _)) = line.split_once(" = ")
            && is_name(key)
        {
            all.entry(section.clone()).or_default().insert(key.to_owned());
        }
    }
    all
}

#[test]
fn every_key_of_every_section_is_in_the_example_and_no_other() {
    let mentioned = mentioned();
    let sections = [
        "",
        "modem",
        "link",
        "cc",
        "downlink",
        "feed",
        "serve",
        "arrivals",
        "calls",
        "board",
        "shape",
        "shape.uplink",
    ];
    for section in sections {
        assert_eq!(mentioned.get(section), Some(&known(section)), "[{section}]");
    }
    // Owners of weights are free, and both directions of a shaper have the same keys.
    let others: Vec<&str> = (mentioned.keys().map(String::as_str))
        .filter(|section| !sections.contains(section))
        .collect();
    assert_eq!(others, ["cc.weights", "shape.downlink"]);
    assert!(mentioned["shape.downlink"].is_subset(&known("shape.downlink")));
}

/// What a configuration comes to, printed and read again.
fn again(file: &str, flags: &Flags) -> [String; 2] {
    let read: File = toml::from_str(file).expect("TOML");
    let printed = toml::to_string(&read.with(flags.clone())).expect("TOML");
    let before = parse(file, flags.clone()).expect(file);
    let after = parse(&printed, Flags::default()).unwrap_or_else(|why| panic!("{printed}: {why}"));
    [format!("{before:?}"), format!("{after:?}")]
}

#[test]
fn a_printed_configuration_reads_back_as_the_file_and_the_flags() {
    let several = "[[modem]]\nname = 'a'\ndevice = 'x'\ninterfaces = ['wwan0']\n\
                   [[modem]]\nname = 'b'\ndevice = 'y'\ninterfaces = ['wwan1']\nbudget = '1Mbit'\n\
                   [[shape]]\nmodem = 'b'\nmanage = true\n[shape.uplink]\nmin = '1Mbit'\n\
                   [[cc]]\nlaw = 'sounding'\n[[cc]]\nlaw = 'copa'\nroutes = ['default']\n\
                   [board]\nmodem = 'a'\nname = 'a'\nkpis = ['all']\n";
    let device = "[modem]\ndevice = '/dev/ttyUSB0'\n";
    let weighted = format!("{device}[cc]\nshare = 'weighted'\n[cc.weights]\n'port:443' = 2.5\n");
    let none = || Flags::default();
    let flags = || Flags {
        device: Some("tcp:10.0.0.1:43555".into()),
        no_mask: true,
        budget: Some(Rate::from_bits_per_sec(1_234_567)),
        interface: vec!["wwan0".into(), "wwan1".into()],
        cpu_latency: Some(Duration::from_micros(20)),
        window: Some(Duration::from_millis(50)),
        name: Some("mine".into()),
        route: vec!["10.0.0.0/8".into()],
        default: true,
        board: Some("b".into()),
        kpi: vec!["all".into()],
        feed: Some("wan".into()),
        serve: Some("127.0.0.1:8080".into()),
        arrivals: Some("wwan0".into()),
        calls: Some("/run/call".into()),
        ..Flags::default()
    };
    let laws = || Flags {
        law: vec![CcWord::Law(Law::Sounding), CcWord::Law(Law::Biscay)],
        background: true,
        fallback: Some(FallbackWord::Cubic),
        share: Some(crate::run::share::ShareWord::Weighted),
        weight: vec!["user:1000=0.5".into()],
        ..flags()
    };
    let alone = || Flags {
        law: vec![CcWord::None],
        name: Some("pins".into()),
        downlink: downlink::Flags::window(),
        ..Flags::default()
    };
    for (file, flags) in [
        (EXAMPLE, none()),
        (EXAMPLE, flags()),
        (several, none()),
        (device, flags()),
        (device, laws()),
        (device, alone()),
        (&weighted, none()),
        (&weighted, Flags { weight: vec!["port:80=1".into()], ..none() }),
        ("[downlink]\npeers = true\n", none()),
        ("", Flags { background: true, ..none() }),
    ] {
        let [before, after] = again(file, &flags);
        assert_eq!(before, after, "{file}");
    }
}
