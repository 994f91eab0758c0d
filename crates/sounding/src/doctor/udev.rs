//! The rule of udev that makes ModemManager leave one port alone.
//!
//! Nothing installs it: which port is the right one is known only once a modem has answered.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::usb::interface_of;

/// Where an administrator's rules are.
pub(super) const FOLDER: &str = "/etc/udev/rules.d";

/// A rule for one port, in a file of its own, so that one rule does not replace another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    /// The name of its file.
    pub(super) file: String,
    /// The rule itself, one line.
    pub(super) line: String,
}

impl Rule {
    /// By vendor, product and interface, because names change whenever a device is plugged in. By
    /// its name where the port is on no USB, as `wwan0qcdm0`. `None` if the name is not one that
    /// the kernel gives: a quote in it would end the text of the rule.
    pub(super) fn of(sys: &Path, port: &Path) -> Option<Self> {
        let name = port.file_name()?.to_str()?;
        let (which, key) = match interface_of(sys, name) {
            Some(usb) => (
                format!(
                    r#"ENV{{ID_VENDOR_ID}}=="{}", ENV{{ID_MODEL_ID}}=="{}", ENV{{ID_USB_INTERFACE_NUM}}=="{}""#,
                    usb.vendor, usb.product, usb.number
                ),
                [usb.vendor, usb.product, usb.number].join("-"),
            ),
            None => (format!(r#"KERNEL=="{name}""#), name.to_owned()),
        };
        let is_plain = key.chars().all(|one| one.is_ascii_alphanumeric() || "-_".contains(one));
        is_plain.then(|| Self {
            // Of 78, because the rules that find out vendor and product have lower numbers.
            file: format!("78-sounding-{key}.rules"),
            line: format!(r#"{which}, ENV{{ID_MM_PORT_IGNORE}}="1""#),
        })
    }

    /// Writes it, and returns where. The folder is root's, so this is no result of a user of sudo:
    /// it is written as root, beside its name first, and no link is followed.
    pub(super) fn write(&self, folder: &Path) -> io::Result<PathBuf> {
        let path = folder.join(&self.file);
        let draft = folder.join(format!(".{}.new", self.file));
        match fs::remove_file(&draft) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).custom_flags(libc::O_NOFOLLOW).mode(0o644);
        let written = options.open(&draft).and_then(|mut file| {
            // Whatever the umask is: others may read what root has set.
            file.set_permissions(Permissions::from_mode(0o644))?;
            writeln!(file, "# Written by `sounding doctor --write-udev-rule`.\n{}", self.line)?;
            file.sync_all()?;
            fs::rename(&draft, &path)
        });
        if written.is_err() {
            // The first error is the one to report.
            let _ = fs::remove_file(&draft);
        }
        written.map(|()| path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// The kernel's view of a modem with ports at these interfaces.
    fn sys(ports: &[(&str, &str)]) -> tempfile::TempDir {
        let sys = tempfile::tempdir().expect("a folder");
        let device = sys.path().join("devices/usb1/1-1");
        fs::create_dir_all(&device).expect("a folder");
        for (port, number) in ports {
            let interface = device.join(format!("1-1:1.{number}"));
            fs::create_dir_all(interface.join(port)).expect("a folder");
            fs::write(interface.join("bInterfaceNumber"), format!("{number}\n")).expect("a file");
            let tty = sys.path().join("class/tty").join(port);
            fs::create_dir_all(&tty).expect("a folder");
            symlink(interface.join(port), tty.join("device")).expect("a link");
        }
        fs::write(device.join("idVendor"), "2c7c\n").expect("a file");
        fs::write(device.join("idProduct"), "0125\n").expect("a file");
        sys
    }

    #[test]
    fn a_rule_has_vendor_product_and_interface_of_the_port() {
        let sys = sys(&[("ttyUSB0", "00"), ("ttyUSB1", "01")]);
        let rule = |port: &str| Rule::of(sys.path(), Path::new(port)).expect("a rule");
        let second = rule("/dev/ttyUSB1");
        assert_eq!(
            second.line,
            r#"ENV{ID_VENDOR_ID}=="2c7c", ENV{ID_MODEL_ID}=="0125", ENV{ID_USB_INTERFACE_NUM}=="01", ENV{ID_MM_PORT_IGNORE}="1""#
        );
        assert_eq!(second.file, "78-sounding-2c7c-0125-01.rules");
        assert_ne!(rule("/dev/ttyUSB0").file, second.file);
    }

    #[test]
    fn a_port_that_is_on_no_usb_is_meant_by_its_name() {
        let sys = sys(&[]);
        let rule = Rule::of(sys.path(), Path::new("/dev/wwan0qcdm0")).expect("a rule");
        assert_eq!(rule.line, r#"KERNEL=="wwan0qcdm0", ENV{ID_MM_PORT_IGNORE}="1""#);
        assert_eq!(rule.file, "78-sounding-wwan0qcdm0.rules");
    }

    #[test]
    fn a_name_that_would_end_the_text_gets_no_rule() {
        let sys = sys(&[]);
        let hostile = r#"/dev/ttyUSB0", RUN+="x"#;
        assert_eq!(Rule::of(sys.path(), Path::new(hostile)), None);
        assert_eq!(Rule::of(sys.path(), Path::new("/")), None);
    }

    #[test]
    fn a_written_rule_replaces_itself_and_follows_no_link() {
        let sys = sys(&[("ttyUSB0", "00")]);
        let rules = tempfile::tempdir().expect("a folder");
        let rule = Rule::of(sys.path(), Path::new("/dev/ttyUSB0")).expect("a rule");
        let other = rules.path().join("other");
        fs::write(&other, "untouched").expect("a file");
        symlink(&other, rules.path().join(&rule.file)).expect("a link");
        for _ in 0..2 {
            let path = rule.write(rules.path()).expect("it is written");
            let about = fs::symlink_metadata(&path).expect("it is there");
            assert!(about.is_file(), "{about:?}");
            assert_eq!(about.permissions().mode() & 0o777, 0o644);
            let text = fs::read_to_string(&path).expect("readable");
            assert_eq!(text.lines().last(), Some(&*rule.line));
        }
        assert_eq!(fs::read_to_string(&other).expect("readable"), "untouched");
        assert_eq!(fs::read_dir(rules.path()).expect("readable").count(), 2, "a draft is left");
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let rule = Rule { file: "a.rules".into(), line: "b".into() };
        let error = rule.write(Path::new("/nowhere")).expect_err("there is no such folder");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
