//! ModemManager, and the rule of udev that makes it leave one port alone.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::holders::Holder;
use super::udev::{FOLDER, Rule};

/// Where udev keeps what its rules have said of each device.
const UDEV: &str = "/run/udev/data";

pub(super) fn is_manager(holder: &Holder) -> bool {
    holder.name.starts_with("ModemManager")
}

/// The way to make a program close a port that is known to be the right one.
pub(super) fn release(sys: &Path, port: &Path, holder: &Holder) -> String {
    if is_manager(holder) { rule(sys, port) } else { format!("end it: kill {}", holder.pid) }
}

/// The way to the right port among those of a modem that ModemManager has open.
pub(super) fn ask_without(holder: &Holder) -> String {
    format!(
        "{} has ports of this modem open, and one of them may be Diag: `sudo systemctl stop ModemManager`, then `sudo sounding doctor`, \
         which finds the port and names the rule for it, then `sudo systemctl start ModemManager`",
        holder.name
    )
}

/// The command that makes ModemManager leave a port alone.
pub(super) fn rule(sys: &Path, port: &Path) -> String {
    let Some(Rule { file, line }) = Rule::of(sys, port) else {
        return "end ModemManager: sudo systemctl stop ModemManager".into();
    };
    format!(
        "have ModemManager leave this port alone: echo '{line}' | sudo tee {FOLDER}/{file} && sudo udevadm control --reload && \
         sudo udevadm trigger && sudo systemctl restart ModemManager"
    )
}

/// Whether a rule of udev makes ModemManager leave this port alone.
pub(super) fn is_left_alone(port: &Path) -> bool {
    port.metadata().is_ok_and(|about| is_ignored(Path::new(UDEV), about.rdev()))
}

fn is_ignored(udev: &Path, device: u64) -> bool {
    use nix::sys::stat::{major, minor};
    let entry = udev.join(format!("c{}:{}", major(device), minor(device)));
    let text = fs::read_to_string(entry).unwrap_or_default();
    text.lines().any(|line| line == "E:ID_MM_PORT_IGNORE=1")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOWHERE: &str = "/nowhere";

    #[test]
    fn a_rule_makes_modem_manager_leave_one_port_alone() {
        let sys = Path::new(NOWHERE);
        let holder = Holder { pid: 7, name: "ModemManager".into() };
        let cure = release(sys, Path::new("/dev/wwan0qcdm0"), &holder);
        assert!(cure.contains(r#"KERNEL=="wwan0qcdm0", ENV{ID_MM_PORT_IGNORE}="1""#), "{cure}");
        let holder = Holder { pid: 7, name: "qcsuper".into() };
        assert_eq!(release(sys, Path::new("/dev/ttyUSB0"), &holder), "end it: kill 7");
    }

    #[test]
    fn rules_for_two_ports_are_in_two_files() {
        let file = |port: &str| {
            let rule = rule(Path::new(NOWHERE), Path::new(port));
            rule.split_whitespace().find(|word| word.ends_with(".rules")).map(str::to_owned)
        };
        let files = [file("/dev/ttyUSB0"), file("/dev/ttyUSB4")];
        assert!(files[0].is_some() && files[0] != files[1], "{files:?}");
    }

    #[test]
    fn a_rule_that_is_there_is_seen_in_the_data_of_udev() {
        let udev = tempfile::tempdir().expect("a folder");
        let device = nix::sys::stat::makedev(188, 3);
        assert!(!is_ignored(udev.path(), device));
        let entry = udev.path().join("c188:3");
        fs::write(&entry, "E:ID_VENDOR_ID=2c7c\nE:ID_MM_PORT_IGNORE=0\n").expect("a file");
        assert!(!is_ignored(udev.path(), device));
        fs::write(&entry, "E:ID_MM_PORT_IGNORE=1\n").expect("a file");
        assert!(is_ignored(udev.path(), device));
    }
}
