//! Which network devices are those of the modem behind a port: those that the kernel hangs on the
//! same piece of hardware.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use sounding_bpf::MAX_RADIOS;
use sounding_modem::Source;

use crate::doctor::hardware_behind;

/// Where the kernel shows its devices.
const SYS: &str = "/sys";

/// Looks for the network devices of one modem.
#[derive(Clone, Debug)]
pub(super) struct Hardware {
    sys: PathBuf,
    port: PathBuf,
}

impl Hardware {
    /// Devices of the modem behind this port; `None` if the port is no device of this machine.
    pub(super) fn behind(source: &Source) -> Option<Self> {
        Self::behind_in(Path::new(SYS), source)
    }

    /// The same in another place than `/sys`.
    fn behind_in(sys: &Path, source: &Source) -> Option<Self> {
        match source.place() {
            Source::Path(path) => Some(Self { sys: sys.into(), port: path.clone() }),
            _ => None,
        }
    }

    /// Its network devices as they are now, in the order of their names, and no more than there is
    /// room for.
    ///
    /// A device that others stand on, as `wwan0` below `qmimux0` or a bridge, is not among them:
    /// flows leave by what stands on it.
    pub(super) fn network_devices(&self) -> Vec<String> {
        let Some(hardware) = self.path() else { return Vec::new() };
        let devices = names(&self.sys.join("class/net"));
        let folder = |name: &OsString| self.sys.join("class/net").join(name);
        let is_on = |upper: &OsString, lower: &OsString| {
            let mut link = OsString::from("lower_");
            link.push(lower);
            fs::symlink_metadata(folder(upper).join(link)).is_ok()
        };
        let own = devices.iter().filter(|name| {
            fs::canonicalize(folder(name)).is_ok_and(|path| path.starts_with(&hardware))
        });
        let mut known: BTreeSet<&OsString> = own.collect();
        // Each turn adds at least one of a finite number.
        loop {
            let on_known = |name: &&OsString| known.iter().any(|lower| is_on(name, lower));
            let more: Vec<_> =
                devices.iter().filter(|name| !known.contains(name) && on_known(name)).collect();
            if more.is_empty() {
                break;
            }
            known.extend(more);
        }
        let bears = |lower: &OsString| known.iter().any(|upper| is_on(upper, lower));
        let tops = known.iter().filter(|name| !bears(name));
        // A name that is not text cannot be given on the command line either.
        let tops = tops.filter_map(|name| name.to_str().map(String::from));
        tops.take(MAX_RADIOS).collect()
    }

    /// The folder of the modem, above which other hardware begins.
    fn path(&self) -> Option<PathBuf> {
        // udev's name of it is a link to the kernel's.
        let port = fs::canonicalize(&self.port).unwrap_or_else(|_| self.port.clone());
        let name = port.strip_prefix("/dev").ok()?;
        hardware_behind(&self.sys, name)
    }
}

fn names(folder: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A tree as the kernel shows it.
    struct Sys(tempfile::TempDir);

    impl Sys {
        /// With loopback and a network card, as any machine has.
        fn new() -> Self {
            let sys = Self(tempfile::tempdir().expect("a folder"));
            sys.network("devices/virtual", "lo");
            sys.card("devices/pci0000:00/0000:00:03.0");
            sys.network("devices/pci0000:00/0000:00:03.0", "eth0");
            sys
        }

        fn folder(&self, path: &str) -> PathBuf {
            let path = self.0.path().join(path);
            fs::create_dir_all(&path).expect("a folder");
            path
        }

        fn link(&self, to: &Path, at: &str, name: &str) {
            symlink(to, self.folder(at).join(name)).expect("a link");
        }

        fn card(&self, path: &str) {
            self.link(&self.folder("bus/pci"), path, "subsystem");
        }

        /// A modem on USB, and a hub before it.
        fn usb(&self, path: &str) {
            let usb = self.folder(path);
            fs::write(usb.join("idVendor"), "2c7c\n").expect("a file");
            let hub = usb.parent().expect("below a hub");
            fs::write(hub.join("idVendor"), "1d6b\n").expect("a file");
        }

        fn network(&self, below: &str, name: &str) {
            let device = self.folder(&format!("{below}/net/{name}"));
            self.link(&device, "class/net", name);
        }

        fn port(&self, class: &str, at: &str, name: &str) {
            let parent = self.folder(at);
            self.link(&parent, &format!("{at}/{class}/{name}"), "device");
            let port = self.folder(&format!("{at}/{class}/{name}"));
            self.link(&port, &format!("class/{class}"), name);
        }

        /// One network device stands on another.
        fn stands_on(&self, upper: &str, lower: &str) {
            let lower_device = self.0.path().join("class/net").join(lower);
            self.link(&lower_device, &format!("class/net/{upper}"), &format!("lower_{lower}"));
        }

        fn found(&self, port: &str) -> Vec<String> {
            let source = port.parse().expect("a source");
            let hardware = Hardware::behind_in(self.0.path(), &source);
            hardware.map(|hardware| hardware.network_devices()).unwrap_or_default()
        }
    }

    const MODEM: &str = "devices/pci0000:00/0000:00:14.0/usb1/1-1";

    fn usb_modem() -> Sys {
        let sys = Sys::new();
        sys.card("devices/pci0000:00/0000:00:14.0");
        sys.usb(MODEM);
        sys.port("tty", &format!("{MODEM}/1-1:1.0/ttyUSB0"), "ttyUSB0");
        sys.network(&format!("{MODEM}/1-1:1.4"), "wwan0");
        // Another device behind the same hub.
        sys.usb("devices/pci0000:00/0000:00:14.0/usb1/1-2");
        sys.network("devices/pci0000:00/0000:00:14.0/usb1/1-2/1-2:1.0", "enx0");
        sys
    }

    #[test]
    fn a_port_on_usb_has_the_network_devices_of_its_usb_device() {
        let sys = usb_modem();
        assert_eq!(sys.found("/dev/ttyUSB0"), ["wwan0"]);
        assert_eq!(sys.found("non-hdlc:/dev/ttyUSB0"), ["wwan0"]);
        sys.network(&format!("{MODEM}/1-1:1.5"), "usb7");
        assert_eq!(sys.found("/dev/ttyUSB0"), ["usb7", "wwan0"]);
    }

    #[test]
    fn a_port_on_pci_has_the_network_devices_of_its_card() {
        let sys = Sys::new();
        let card = "devices/pci0000:00/0000:00:1c.0/0000:01:00.0";
        sys.card("devices/pci0000:00/0000:00:1c.0");
        sys.card(card);
        sys.port("wwan", &format!("{card}/mhi0/wwan/wwan0"), "wwan0qcdm0");
        assert_eq!(sys.found("/dev/wwan0qcdm0"), [""; 0]);
        // It appears with the first connection.
        sys.network(&format!("{card}/mhi0/wwan/wwan0"), "wwan0");
        assert_eq!(sys.found("/dev/wwan0qcdm0"), ["wwan0"]);
    }

    #[test]
    fn what_stands_on_a_network_device_is_found_in_its_place() {
        let sys = usb_modem();
        for upper in ["qmimux0", "qmimux1"] {
            sys.network("devices/virtual", upper);
            sys.stands_on(upper, "wwan0");
        }
        assert_eq!(sys.found("/dev/ttyUSB0"), ["qmimux0", "qmimux1"]);
        sys.network("devices/virtual", "br0");
        sys.stands_on("br0", "qmimux0");
        sys.stands_on("br0", "eth0");
        assert_eq!(sys.found("/dev/ttyUSB0"), ["br0", "qmimux1"]);
    }

    #[test]
    fn a_port_without_hardware_here_has_none_and_nor_has_one_that_is_not_there() {
        let sys = usb_modem();
        sys.port("tty", "devices/platform/serial8250", "ttyS0");
        for port in ["/dev/ttyS0", "/dev/ttyUSB1", "/dev/pts/3", "tcp:192.0.2.1:43555", "-"] {
            assert_eq!(sys.found(port), [""; 0], "{port}");
        }
        // A file of the same name elsewhere is not the port.
        assert_eq!(sys.found("/tmp/ttyUSB0"), [""; 0]);
    }

    #[test]
    fn no_more_are_found_than_there_is_room_for() {
        let sys = usb_modem();
        for number in 1..20 {
            sys.network(&format!("{MODEM}/1-1:1.{}", number + 4), &format!("wwan{number}"));
        }
        assert_eq!(sys.found("/dev/ttyUSB0").len(), MAX_RADIOS);
    }
}
