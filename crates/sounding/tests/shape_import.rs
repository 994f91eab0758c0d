//! `sounding shape import` on configurations in the manner of cake-autorate's users.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::process::{Command, Stdio};

/// The exit code, the output, and the messages without the name of the file.
fn import(text: &[u8]) -> (i32, String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.primary.sh");
    std::fs::write(&file, text).unwrap();
    let program = assert_cmd::cargo::cargo_bin!("sounding");
    let command = Command::new(program)
        .args(["shape", "import"])
        .arg(&file)
        .env("HOME", "/nowhere")
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let [printed, said] =
        [command.stdout, command.stderr].map(|text| String::from_utf8(text).unwrap());
    let name = format!("{}: ", file.display());
    let said = said.lines().map(|line| line.replace(&name, "")).collect();
    // Only the file that was there: nothing of it was run.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    (command.status.code().unwrap(), printed, said)
}

/// The section is one of the daemon's configuration: both verbs that read it take it.
fn checks(printed: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("router.toml");
    std::fs::write(&file, format!("[modem]\ndevice = '/dev/ttyUSB0'\n\n{printed}")).unwrap();
    for verb in ["shape", "run"] {
        let output = Command::new(assert_cmd::cargo::cargo_bin!("sounding"))
            .arg(verb)
            .args(["--check-config", "--config"])
            .arg(&file)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{verb}: {said}\n{printed}");
    }
}

#[test]
fn a_file_of_an_openwrt_router_becomes_the_section() {
    let (code, printed, said) = import(
        b"#!/bin/bash\n\n# LTE stick, evenings are slow\ndl_if=ifb4wwan0\nul_if=wwan0\n\n\
          adjust_dl_shaper_rate=1 # both\nadjust_ul_shaper_rate=1\n\n\
          min_dl_shaper_rate_kbps=4000\nbase_dl_shaper_rate_kbps=25000\nmax_dl_shaper_rate_kbps=90000\n\
          min_ul_shaper_rate_kbps=1500\nbase_ul_shaper_rate_kbps=10000\nmax_ul_shaper_rate_kbps=40000\n\n\
          connection_active_thr_kbps=500\nreflectors=(\n  \"192.0.2.53\"   # near\n  \"198.51.100.53\"\n)\n\
          log_file_path_override=\"/tmp/$(touch ran)\"\n",
    );
    assert_eq!(code, 0, "{said:?}");
    let table: toml::Table = printed.parse().unwrap();
    let expected: toml::Table = "[shape]\ninterface = 'wwan0'\nmanage = false\n\
         [shape.uplink]\ndevice = 'wwan0'\nmin = '1500kbit'\nbase = '10Mbit'\nmax = '40Mbit'\n\
         [shape.downlink]\ndevice = 'ifb4wwan0'\nmin = '4Mbit'\nbase = '25Mbit'\nmax = '90Mbit'\n"
        .parse()
        .unwrap();
    assert_eq!(table, expected);
    checks(&printed);
    assert_eq!(
        said,
        [
            "sounding: line 17: connection_active_thr_kbps: no equivalent: the modem's records show \
             whether the link is in use",
            "sounding: lines 18 to 21: reflectors: no equivalent: Sounding sends no pings",
            "sounding: line 22: log_file_path_override: no equivalent: Sounding keeps no log file: \
             `--json` prints events",
            "sounding: 10 settings taken over, 3 without an equivalent, 0 not read",
        ]
    );
}

#[test]
fn lines_that_only_bash_could_run_are_named_and_end_with_code_1() {
    let (code, printed, said) = import(
        b"ul_if=usb0\ntouch ran\nif [ -e /etc/fast ]; then\n  max_ul_shaper_rate_kbps=90000\nfi\n\
          max_dl_shaper_rate_kbps=$((60 * 1000))\nmax_dl_shaper_rates_kbps=1\n",
    );
    assert_eq!(code, 1);
    assert!(printed.contains("\n# max = …  # line 6 could not be read\n"), "{printed}");
    checks(&printed);
    let begins = [
        "line 2: not read: a command",
        "lines 3 to 5: not read: a condition",
        "line 6: max_dl_shaper_rate_kbps: not read: bash computes",
        "line 7: max_dl_shaper_rates_kbps: not read: ",
        "1 setting taken over, 0 without an equivalent, 4 not read",
    ];
    assert_eq!(said.len(), begins.len(), "{said:?}");
    for (said, begin) in said.iter().zip(begins) {
        assert!(said.starts_with(&format!("sounding: {begin}")), "{said}");
    }
}

#[test]
fn control_characters_of_a_file_never_reach_the_terminal() {
    let (code, printed, said) =
        import(b"ul_if=\x1b]0;mine\x07\n\x1b[2J\xff\xfe=1\ndl_if=ifb0 # \x1b[2J\n");
    assert_eq!(code, 1);
    let is_harm = |c: char| c.is_control() && c != '\n';
    assert!(!printed.contains(is_harm) && !said.concat().contains(is_harm), "{printed}{said:?}");
}

#[test]
fn remarks_are_printed_up_to_a_number() {
    let (code, _, said) = import(format!("ul_if=wan\n{}", "x=1\n".repeat(300)).as_bytes());
    assert_eq!((code, said.len()), (1, 202));
    assert_eq!(said[200], "sounding: 100 remarks not shown");
}

#[test]
fn a_file_that_is_no_configuration_or_too_large_is_refused_with_a_remedy() {
    let (code, printed, said) = import(b"#!/bin/sh\necho hello\n");
    assert_eq!((code, printed.as_str()), (1, ""));
    let said = said.join("\n");
    assert!(said.contains("no line of it sets a key of cake-autorate"), "{said}");
    assert!(said.contains("give the file that sets dl_if and ul_if"), "{said}");
    let (code, _, said) = import(&vec![b'#'; (1 << 20) + 1]);
    assert!(code == 1 && said.join("\n").contains("the limit is 1 MiB"), "{said:?}");
}
