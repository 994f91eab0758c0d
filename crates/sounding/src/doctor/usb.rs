//! The kernel's data on USB modems: which one a port belongs to, and which have no driver.

use std::fs;
use std::path::{Path, PathBuf};

/// Makers of modems with Qualcomm's chips, by USB vendor id.
const MAKERS: [(&str, &str); 10] = [
    ("05c6", "Qualcomm"),
    ("0846", "Netgear"),
    ("1199", "Sierra Wireless"),
    ("12d1", "Huawei"),
    ("1508", "Fibocom"),
    ("1bc7", "Telit"),
    ("1e0e", "SIMCom"),
    ("2c7c", "Quectel"),
    ("2cb7", "Fibocom"),
    ("413c", "Dell"),
];

/// A vendor's own kind of interface: what modems have for Diag, AT commands and data.
const VENDOR_SPECIFIC: &str = "ff";

/// Kinds of ports that a modem's hardware has, as folders of `/sys/class`.
const PORTS: [&str; 3] = ["tty", "wwan", "usbmisc"];

/// The folder of the modem that has a port of this name, above which other hardware begins.
pub(crate) fn hardware_behind(sys: &Path, name: &Path) -> Option<PathBuf> {
    let of_class = |class| sys.join("class").join(class).join(name).join("device");
    let device = PORTS.into_iter().find_map(|class| fs::canonicalize(of_class(class)).ok())?;
    device.ancestors().find(|path| is_hardware(path)).map(Path::to_path_buf)
}

/// Whether a folder is a USB device, and not one of its interfaces, or a card on PCI.
fn is_hardware(path: &Path) -> bool {
    path.join("idVendor").exists()
        || fs::read_link(path.join("subsystem")).is_ok_and(|kind| kind.ends_with("bus/pci"))
}

/// The USB interface and device of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interface {
    pub(crate) vendor: String,
    pub(crate) product: String,
    pub(crate) number: String,
}

/// The USB interface behind a tty, if there is one.
pub(crate) fn interface_of(sys: &Path, tty: &str) -> Option<Interface> {
    let device = fs::canonicalize(sys.join("class/tty").join(tty).join("device")).ok()?;
    // The port, its interface, its device.
    let interface =
        device.ancestors().take(4).find(|path| path.join("bInterfaceNumber").exists())?;
    let usb = interface.parent()?;
    Some(Interface {
        vendor: text(&usb.join("idVendor"))?,
        product: text(&usb.join("idProduct"))?,
        number: text(&interface.join("bInterfaceNumber"))?,
    })
}

/// A modem none of whose own interfaces has a driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Orphan {
    pub(crate) maker: &'static str,
    pub(crate) vendor: String,
    pub(crate) product: String,
}

/// Modems that are plugged in and that no driver serves.
pub(crate) fn orphans(sys: &Path) -> Vec<Orphan> {
    let mut found: Vec<Orphan> = entries(&sys.join("bus/usb/devices"))
        .into_iter()
        .filter_map(|device| {
            let vendor = text(&device.join("idVendor"))?;
            let (_, maker) = MAKERS.iter().find(|(id, _)| *id == vendor)?;
            let product = text(&device.join("idProduct"))?;
            let mut own = entries(&device).into_iter().filter(|interface| {
                text(&interface.join("bInterfaceClass")).as_deref() == Some(VENDOR_SPECIFIC)
            });
            let first = own.next()?;
            let served = std::iter::once(first).chain(own).any(|one| one.join("driver").exists());
            (!served).then_some(Orphan { maker, vendor, product })
        })
        .collect();
    found.sort_by(|a, b| (&a.vendor, &a.product).cmp(&(&b.vendor, &b.product)));
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn text(path: &Path) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A modem with one interface for Diag and one for storage, as the kernel shows it.
    fn modem(sys: &Path, driver: bool) {
        let device = sys.join("bus/usb/devices/1-1");
        for (interface, class) in [("1-1:1.0", "ff"), ("1-1:1.1", "08")] {
            let interface = device.join(interface);
            fs::create_dir_all(&interface).expect("a folder");
            fs::write(interface.join("bInterfaceClass"), format!("{class}\n")).expect("a file");
            fs::write(interface.join("bInterfaceNumber"), "00\n").expect("a file");
        }
        fs::write(device.join("idVendor"), "2c7c\n").expect("a file");
        fs::write(device.join("idProduct"), "0125\n").expect("a file");
        if driver {
            fs::create_dir_all(device.join("1-1:1.0/driver")).expect("a folder");
        }
    }

    #[test]
    fn a_modem_without_a_driver_is_found_and_one_with_it_is_not() {
        let sys = tempfile::tempdir().expect("a folder");
        modem(sys.path(), false);
        let orphan = Orphan { maker: "Quectel", vendor: "2c7c".into(), product: "0125".into() };
        assert_eq!(orphans(sys.path()), [orphan]);
        modem(sys.path(), true);
        assert_eq!(orphans(sys.path()), []);
    }

    #[test]
    fn a_port_belongs_to_an_interface_of_a_device() {
        let sys = tempfile::tempdir().expect("a folder");
        modem(sys.path(), true);
        let port = sys.path().join("bus/usb/devices/1-1/1-1:1.0/ttyUSB0");
        fs::create_dir_all(&port).expect("a folder");
        let tty = sys.path().join("class/tty/ttyUSB0");
        fs::create_dir_all(&tty).expect("a folder");
        std::os::unix::fs::symlink(&port, tty.join("device")).expect("a link");
        let interface =
            Interface { vendor: "2c7c".into(), product: "0125".into(), number: "00".into() };
        assert_eq!(interface_of(sys.path(), "ttyUSB0"), Some(interface));
        assert_eq!(interface_of(sys.path(), "ttyUSB1"), None);
    }
}
