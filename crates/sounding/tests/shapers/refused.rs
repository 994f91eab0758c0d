use std::process::{Command, Stdio};

use sounding_testdata::{Running, write_script};

use crate::{ADOPT, HTB, MANAGE, Place, keep, rate};

#[test]
fn a_rate_out_of_limits_or_of_an_unknown_direction_is_refused() {
    let Some(place) = Place::new() else { return };
    let mut keeper = place.keeper();
    let early = keeper.ask(&rate("uplink", 5_000_000));
    assert!(early.contains("not closed yet"), "{early}");
    keeper.keep(ADOPT);
    let text = place.text();
    for (line, why) in [
        (rate("uplink", 1_999_999), "1999999 bit/s is not within 2000000 to 50000000"),
        (rate("uplink", 50_000_001), "not within"),
        (rate("uplink", 0), "not within"),
        (rate("downlink", 5_000_000), "no downlink was named"),
        (rate("sidelink", 5_000_000), "no instruction"),
        (keep("downlink", "v1", MANAGE), "closed"),
        ("\"close\"".into(), "closed"),
        (r#"{"rate":{"direction":"uplink","bits_per_sec":-1}}"#.into(), "no instruction"),
        (
            r#"{"rate":{"direction":"uplink","bits_per_sec":5000000,"device":"v1"}}"#.into(),
            "no instruction",
        ),
        ("{}".into(), "no instruction"),
        ("\u{1b}[2J".into(), "no instruction"),
    ] {
        let refused = keeper.ask(&line);
        assert!(
            refused.starts_with(r#"{"refused":"#) && refused.contains(why),
            "{line}: {refused}"
        );
    }
    assert_eq!(place.text(), text);
    let said = keeper.end();
    assert!(said.contains("12 instructions were refused"), "{said}");
}

#[test]
fn a_keeper_has_one_right_alone_and_none_of_its_daemons_signals_ends_it() {
    let Some(place) = Place::new() else { return };
    let mut keeper = place.keeper();
    keeper.keep(ADOPT);
    let status = std::fs::read_to_string(format!("/proc/{}/status", keeper.child.id())).unwrap();
    // CAP_NET_ADMIN is the twelfth.
    for set in ["CapEff:\t0000000000001000", "CapPrm:\t0000000000001000", "NoNewPrivs:\t1"] {
        assert!(status.contains(set), "{set}: {status}");
    }
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGABRT] {
        // SAFETY: a child of this test, which has not been waited for.
        unsafe { libc::kill(keeper.child.id() as i32, signal) };
    }
    keeper.rate(20);
    place.wait_until(|text| text.contains("rate 20Mbit"));
    keeper.end();
}

#[test]
fn garbage_takes_no_memory_and_the_next_rate_is_set() {
    let Some(place) = Place::new() else { return };
    let mut keeper = place.keeper();
    keeper.keep(ADOPT);
    let peak = |keeper: &crate::Keeper| {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", keeper.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
    };
    // The first refusal loads code.
    keeper.ask("garbage");
    let before = peak(&keeper);
    let long = "x".repeat(100_000);
    let refused = keeper.ask(&long);
    assert!(refused.contains("longer than 4096 bytes"), "{refused}");
    for _ in 0..100 {
        keeper.ask(&long);
    }
    keeper.rate(20);
    place.wait_until(|text| text.contains("rate 20Mbit"));
    let after = peak(&keeper);
    assert!(after < before + 1024, "{before} kB, then {after} kB");
    keeper.end();
}

#[test]
fn a_daemon_that_reads_no_answer_is_restored_all_the_same() {
    let Some(place) = Place::new() else { return };
    let before = place.text();
    let mut command = place.command(crate::program(), &["shape-keep"]);
    // No process reads from it.
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let unread = child.stdout.take().unwrap();
    let mut input = child.stdin.take().unwrap();
    use std::io::Write as _;
    writeln!(input, "{}\n\"close\"\n{}", keep("uplink", "v0", ADOPT), rate("uplink", 9_000_000))
        .unwrap();
    place.wait_until(|text| text.contains("rate 9Mbit"));
    // More answers than a pipe holds.
    for _ in 0..5000 {
        input.write_all(b"nonsense\n").unwrap();
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    drop(unread);
    assert_eq!(place.text(), before);
}

#[test]
fn a_direction_that_cannot_be_kept_is_refused_and_nothing_is_changed() {
    let Some(place) = Place::new() else { return };
    let before = place.text();
    let mut keeper = place.keeper();
    for (line, why) in [
        (keep("uplink", "absent", ADOPT), "absent: no such network device"),
        (keep("uplink", "../../etc/passwd", MANAGE), "is no name of a network device"),
        (keep("uplink", "v1", ADOPT), "whose rate this program cannot set"),
        (keep("uplink", "v0", MANAGE), "adopt it"),
        (keep("uplink", "v1", &MANAGE.replace("5000000", "1")), "1 bit/s is not within"),
        (keep("uplink", "v1", ADOPT).replace("2000000", "60000000"), "no range of rates"),
    ] {
        let refused = keeper.ask(&line);
        assert!(
            refused.starts_with(r#"{"refused":"#) && refused.contains(why),
            "{line}: {refused}"
        );
    }
    let twice = [0; 2].map(|_| keeper.ask(&keep("uplink", "v0", ADOPT)));
    assert!(twice[1].contains("named already"), "{twice:?}");
    keeper.end();
    assert_eq!((place.text(), place.notes()), (before, 0));
}

#[test]
fn a_device_of_cake_autorate_is_refused_with_its_process() {
    let Some(place) = Place::plain() else { return };
    // Keepers of other tests see the process too, and not its namespace.
    place.run("ip link add auto0 type veth peer name auto1");
    HTB.iter().for_each(|line| drop(place.run(&line.replace("v0", "auto0"))));
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("cake-autorate.sh");
    write_script(&script, "#!/bin/sh\nread line\n");
    let settings = folder.path().join("config.primary.sh");
    for (device, is_refused) in [("auto0", true), ("other", false)] {
        std::fs::write(&settings, format!("ul_if={device}\n")).unwrap();
        let mut command = Command::new("sh");
        command.args([&script, &settings]).stdin(Stdio::piped());
        place.netns.bring_in(&mut command);
        let running = Running(command.spawn().unwrap());
        let mut keeper = place.keeper();
        let answer = keeper.ask(&keep("uplink", "auto0", ADOPT));
        let expected = format!("cake-autorate (process {})", running.id());
        assert_eq!(answer.contains(&expected), is_refused, "{answer}");
        assert_eq!(answer.contains("standing"), !is_refused, "{answer}");
        keeper.end();
    }
}
