//! The ports of one modem: once one has answered, the others are left alone.

use std::fs::{self, File};
use std::os::unix::fs::symlink;

use sounding_modem::Pty;
use sounding_testbed::radio::RadioLink;
use sounding_testdata::{Running, copy_program};

use super::*;

/// The kernel's view of one USB modem with these ports, each an interface.
fn usb_modem(rig: &Rig, ports: &[&str]) -> PathBuf {
    let sys = rig.path("sys");
    let device = sys.join("devices/usb1/1-1");
    fs::create_dir_all(&device).unwrap();
    fs::write(device.join("idVendor"), "2c7c\n").unwrap();
    fs::write(device.join("idProduct"), "0125\n").unwrap();
    for (number, port) in ports.iter().enumerate() {
        let interface = device.join(format!("1-1:1.{number}"));
        fs::create_dir_all(interface.join(port)).unwrap();
        fs::write(interface.join("bInterfaceNumber"), format!("{number:02}\n")).unwrap();
        let tty = sys.join("class/tty").join(port);
        fs::create_dir_all(&tty).unwrap();
        symlink(interface.join(port), tty.join("device")).unwrap();
    }
    sys
}

/// A program of this name that has a port open.
fn holder(rig: &Rig, name: &str, port: &str) -> Running {
    let copy = rig.path(name);
    if !copy.exists() {
        copy_program("/bin/sleep".as_ref(), &copy);
    }
    let tty = File::options().read(true).write(true).open(rig.path(port)).unwrap();
    let mut command = Command::new(copy);
    Running(command.arg("600").stdin(tty).stdout(Stdio::null()).spawn().unwrap())
}

fn capture() -> Vec<u8> {
    RadioLink::generated(7, std::time::Duration::from_secs(3)).unwrap().capture
}

/// Whether anything was sent to a port.
fn was_asked(pty: &mut Pty) -> bool {
    pty.read(&mut [0; 64]).is_ok_and(|count| count > 0)
}

#[test]
fn once_a_port_answers_the_other_ports_of_its_modem_are_left_alone() {
    let rig = Rig::with_modem(&capture(), "ttyUSB7");
    let at = Pty::create(Some(&rig.path("ttyUSB8"))).unwrap();
    let mut gps = Pty::create(Some(&rig.path("ttyUSB9"))).unwrap();
    let sys = usb_modem(&rig, &["ttyUSB7", "ttyUSB8", "ttyUSB9"]);
    let manager = holder(&rig, "ModemManager", "ttyUSB8");
    let checks = rig.checks("modem", &["--sys", text(&sys)]);
    let was_asked = was_asked(&mut gps);
    drop((manager, at, gps));
    assert!(!was_asked, "a port was asked although another had answered");
    let names: Vec<&str> = checks.iter().map(|check| check["name"].as_str().unwrap()).collect();
    assert_eq!(names, [text(&rig.path("ttyUSB7")), "ModemManager"], "{checks:#?}");
    let others = [rig.path("ttyUSB8"), rig.path("ttyUSB9")];
    assert_eq!(checks[0]["others"], serde_json::json!(others), "{checks:#?}");
    // The rule is about the port that has answered, in a file of its own.
    let cure = checks[1]["cure"].as_str().unwrap();
    assert!(cure.contains(r#"ENV{ID_USB_INTERFACE_NUM}=="00""#), "{cure}");
    assert!(cure.contains("/etc/udev/rules.d/78-sounding-2c7c-0125-00.rules"), "{cure}");
}

#[test]
fn a_modem_whose_second_port_answers_has_no_complaint_about_the_first() {
    let rig = Rig::with_modem(&capture(), "ttyUSB8");
    let silent = Pty::create(Some(&rig.path("ttyUSB7"))).unwrap();
    let sys = usb_modem(&rig, &["ttyUSB7", "ttyUSB8"]);
    let checks = rig.checks("modem", &["--sys", text(&sys)]);
    drop(silent);
    assert_eq!(checks.len(), 1, "{checks:#?}");
    assert_eq!(checks[0]["name"], text(&rig.path("ttyUSB8")), "{checks:#?}");
}

#[test]
fn no_rule_is_advised_for_a_port_that_has_not_answered() {
    let rig = Rig::new();
    let ports = ["ttyUSB2", "ttyUSB3"];
    let ptys = ports.map(|port| Pty::create(Some(&rig.path(port))).unwrap());
    let sys = usb_modem(&rig, &ports);
    let managers = ports.map(|port| holder(&rig, "ModemManager", port));
    let checks = rig.checks("modem", &["--sys", text(&sys)]);
    drop((managers, ptys));
    assert_eq!(checks.len(), 2, "{checks:#?}");
    for check in &checks {
        let cure = check["cure"].as_str().unwrap();
        assert!(
            cure.contains("systemctl stop ModemManager") && !cure.contains("rules.d"),
            "{cure}"
        );
    }
}

#[test]
fn two_modems_are_two_answers() {
    let rig = Rig::with_modem(&capture(), "ttyUSB7");
    let other = Pty::create(Some(&rig.path("ttyUSB8"))).unwrap();
    let sys = usb_modem(&rig, &["ttyUSB7"]);
    let checks = rig.checks("modem", &["--sys", text(&sys)]);
    drop(other);
    let oks: Vec<bool> = checks.iter().map(|check| check["ok"].as_bool().unwrap()).collect();
    assert_eq!(oks, [true, false], "{checks:#?}");
}

#[test]
fn the_rule_is_for_the_port_that_has_answered_and_is_written_only_on_request() {
    let rig = Rig::with_modem(&capture(), "ttyUSB8");
    let silent = Pty::create(Some(&rig.path("ttyUSB7"))).unwrap();
    let sys = usb_modem(&rig, &["ttyUSB7", "ttyUSB8"]);
    let rules = rig.path("rules.d");
    fs::create_dir(&rules).unwrap();
    let common = ["--sys", text(&sys), "--udev-rules", text(&rules)];
    let doctor = |flag: &str| rig.doctor(&[&common[..], &[flag]].concat());
    let printed = doctor("--udev-rule");
    let rule = r#"ENV{ID_VENDOR_ID}=="2c7c", ENV{ID_MODEL_ID}=="0125", ENV{ID_USB_INTERFACE_NUM}=="01", ENV{ID_MM_PORT_IGNORE}="1""#;
    assert!(printed.status.success(), "{printed:?}");
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), format!("{rule}\n"));
    assert_eq!(fs::read_dir(&rules).unwrap().count(), 0, "nothing was asked to be written");
    let written = doctor("--write-udev-rule");
    drop(silent);
    assert!(written.status.success() && written.stdout.is_empty(), "{written:?}");
    let file = fs::read_to_string(rules.join("78-sounding-2c7c-0125-01.rules")).unwrap();
    assert_eq!(file.lines().last(), Some(rule));
}

#[test]
fn without_an_answer_no_rule_is_written() {
    let rig = Rig::new();
    let silent = Pty::create(Some(&rig.path("ttyUSB7"))).unwrap();
    let sys = usb_modem(&rig, &["ttyUSB7"]);
    let rules = rig.path("rules.d");
    fs::create_dir(&rules).unwrap();
    let said =
        rig.doctor(&["--sys", text(&sys), "--udev-rules", text(&rules), "--write-udev-rule"]);
    drop(silent);
    assert_eq!(said.status.code(), Some(1), "{said:?}");
    let error = String::from_utf8(said.stderr).unwrap();
    assert!(error.contains("no modem has answered") && error.contains("doctor"), "{error}");
    assert_eq!(fs::read_dir(&rules).unwrap().count(), 0);
}
