//! What the daemon refuses of several modems, before it changes anything.

use std::process::Command;

use crate::rig::{PROGRAM, Place};

/// The error of a daemon with this file.
fn refusal(place: &Place, text: &str, flags: &[&str]) -> String {
    place.write(text);
    let mut command = Command::new(PROGRAM);
    command.args(["run", "--config"]).arg(place.path("file.toml")).args(flags);
    let mut command = assert_cmd::Command::from_std(command);
    let output = command.timeout(std::time::Duration::from_secs(10)).output().unwrap();
    assert!(!output.status.success(), "{text}");
    String::from_utf8(output.stderr).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn of_several_modems_one_without_a_network_device_is_refused_with_what_to_write() {
    let place = Place::new("refused");
    let _ptys = ["a", "b"].map(|name| sounding_modem::Pty::create(Some(&place.path(name))));
    let text = place.two().replace("interfaces = ['wwan1']\n", "");
    let said = refusal(&place, &text, &[]);
    assert!(said.contains("no network device of b is known"), "{said}");
    assert!(said.contains("interfaces = [\"wwan0\"] in its [[modem]]"), "{said}");
}

#[test]
fn where_no_modem_opens_the_first_is_named() {
    let place = Place::new("refused");
    let said = refusal(&place, &place.two(), &[]);
    assert!(said.contains("the modem's Diag port does not open"), "{said}");
    assert!(said.contains(&format!("{}", place.path("a").display())), "{said}");
}

#[test]
fn a_flag_about_one_modem_is_refused_beside_several_also_by_the_check() {
    let place = Place::new("refused");
    let said = refusal(&place, &place.two(), &["--check-config", "--device", "/dev/ttyUSB0"]);
    assert!(said.contains("--device is about one modem"), "{said}");
    let text = place.two() + "[board]\nname = 'x'\n";
    let said = refusal(&place, &text, &["--check-config"]);
    assert!(said.contains("board.modem: it reads one of the modems a, b"), "{said}");
}
