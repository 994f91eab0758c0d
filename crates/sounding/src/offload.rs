//! Fast paths of nftables that lead packets past a shaper.
//!
//! A software flowtable ends at the ordinary way out: `dev_queue_xmit()` of the flow's last device
//! (Linux, net/netfilter/nf_flow_table_ip.c), so the qdisc of that device holds. `tc`'s ingress
//! comes before its hook (`__netif_receive_skb_core()` in net/core/dev.c), so an IFB's shaper holds
//! too. A qdisc of a bridge, and in newer kernels and OpenWrt's that of a VLAN or PPPoE device, is
//! above the flow's last device, and packets do not come there (nf_flow_table_path.c).
//!
//! With `flags offload` the hardware forwards, and no qdisc sees a packet (OpenWrt's page "Flow
//! Offloading", Documentation/networking/nf_flowtable.rst).

use std::fs;
use std::path::Path;

use sounding_qdisc::{Error, Flowtable};

/// Where the kernel lists its devices.
pub(crate) const DEVICES: &str = "/sys/class/net";

/// Bridges over VLANs over bonds: chosen, so that no listing is followed for ever.
const DEEPEST: u32 = 8;

/// `ARPHRD_PPP`.
const PPP: &str = "512";

/// A flowtable whose packets skip the shaper of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bypass {
    pub(crate) flowtable: Flowtable,
    pub(crate) why: &'static str,
}

/// The flowtables that lead past a shaper of this device.
///
/// # Errors
///
/// [`Error::NotPermitted`] without CAP_NET_ADMIN: nothing is known then.
pub(crate) fn bypasses(device: &str) -> Result<Vec<Bypass>, Error> {
    let with_reason = |flowtable: Flowtable| {
        let why = bypass(&flowtable, device, Path::new(DEVICES))?;
        Some(Bypass { flowtable, why })
    };
    Ok(Flowtable::list()?.into_iter().filter_map(with_reason).collect())
}

/// Why the packets of a flowtable skip a shaper of this device, if they do.
pub(crate) fn bypass(table: &Flowtable, device: &str, devices: &Path) -> Option<&'static str> {
    let is_above = is_above(table, device, devices, DEEPEST);
    match table.is_hardware {
        true if is_above || table.has(device) => {
            Some("the hardware forwards its flows, and their packets skip every qdisc")
        }
        false if is_above => {
            Some("its flows leave by a device below, and their packets skip the qdisc above")
        }
        _ => None,
    }
}

/// Whether a device is made of one of the table's.
fn is_above(table: &Flowtable, device: &str, devices: &Path, depth: u32) -> bool {
    let folder = devices.join(device);
    // The kernel does not say which device carries a PPP link.
    let kind = fs::read_to_string(folder.join("type")).unwrap_or_default();
    if kind.trim() == PPP && !table.devices.is_empty() {
        return !table.devices.iter().all(|name| name == device);
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_prefix("lower_")?.to_owned()))
        .any(|lower| table.has(&lower) || depth > 0 && is_above(table, &lower, devices, depth - 1))
}

/// How a flowtable is taken away.
pub(crate) fn cure(table: &Flowtable) -> String {
    let option = if table.is_hardware { "flow_offloading_hw" } else { "flow_offloading" };
    let Flowtable { family, table: of, name, .. } = table;
    format!(
        "`nft -a list table {family} {of}` shows its rules `flow add @{name}`: delete them, then \
         `nft delete flowtable {family} {of} {name}`; on OpenWrt {}",
        uci(option)
    )
}

/// How an option of OpenWrt's firewall is switched off.
pub(crate) fn uci(option: &str) -> String {
    format!(
        "`uci set firewall.@defaults[0].{option}=0; uci commit firewall; service firewall restart`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(devices: &[&str], is_hardware: bool) -> Flowtable {
        let devices = devices.iter().map(|name| (*name).to_owned()).collect();
        Flowtable::new("inet", "fw4".into(), "ft".into(), devices, is_hardware)
    }

    /// A bridge of a port and a VLAN over a second one, and a PPP link.
    fn devices() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (device, lower) in [("br-lan", "lan1"), ("br-lan", "wan.7"), ("wan.7", "wan")] {
            let lower = folder.path().join(device).join(format!("lower_{lower}"));
            fs::create_dir_all(lower).expect("a folder");
        }
        let ppp = folder.path().join("pppoe-wan");
        fs::create_dir_all(&ppp).expect("a folder");
        fs::write(ppp.join("type"), "512\n").expect("a file");
        folder
    }

    #[test]
    fn software_skips_the_shaper_above_its_devices_and_not_their_own() {
        let devices = devices();
        let of = |device| bypass(&table(&["wan", "lan9"], false), device, devices.path());
        assert_eq!((of("wan"), of("lan1"), of("elsewhere")), (None, None, None));
        assert!(of("wan.7").is_some() && of("br-lan").is_some() && of("pppoe-wan").is_some());
    }

    #[test]
    fn hardware_skips_the_shapers_of_its_own_devices_too() {
        let devices = devices();
        let of = |device| bypass(&table(&["wan", "lan9"], true), device, devices.path());
        assert!(of("wan").is_some() && of("wan.7").is_some());
        assert_eq!(of("wwan0"), None);
    }

    #[test]
    fn the_cure_names_the_table_and_openwrts_option() {
        let cure = cure(&table(&["wan"], true));
        assert!(cure.contains("nft delete flowtable inet fw4 ft"), "{cure}");
        assert!(cure.contains("flow_offloading_hw=0"), "{cure}");
    }
}
