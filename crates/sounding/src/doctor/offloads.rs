//! Fast paths that lead packets past a router's shaper: nftables' flowtables, and vendors' engines.

use std::fs;
use std::path::Path;

use sounding_qdisc::{Flowtable, Tc};

use super::{Check, check};
use crate::offload::{self, DEVICES, bypass};

const AREA: &str = "router";

/// OpenWrt's firewall.
const FIREWALL: &str = "/etc/config/firewall";

/// Qdiscs with a rate.
const SHAPERS: [&str; 5] = ["cake", "cake_mq", "htb", "tbf", "hfsc"];

pub(super) fn checks() -> Vec<Check> {
    let mut checks = flowtables();
    checks.extend(openwrt(Path::new(FIREWALL)));
    checks.extend(engines(Path::new("/")));
    checks
}

fn flowtables() -> Vec<Check> {
    const NAME: &str = "flowtables";
    let tables = match Flowtable::list() {
        Ok(tables) => tables,
        Err(error) => {
            let found = Err(format!("{error}: whether packets skip a shaper is not known"));
            return vec![check(AREA, NAME, found, "run as root or with CAP_NET_ADMIN")];
        }
    };
    if tables.is_empty() {
        return vec![check(
            AREA,
            NAME,
            Ok("none: nftables leads no packet past a shaper".into()),
            "",
        )];
    }
    let shaped = shaped();
    tables.iter().map(|table| of(table, &shaped)).collect()
}

fn of(table: &Flowtable, shaped: &[String]) -> Check {
    let why = |device: &String| bypass(table, device, Path::new(DEVICES));
    let skipped: Vec<&str> =
        shaped.iter().filter(|name| why(name).is_some()).map(String::as_str).collect();
    let devices = table.devices.join(", ");
    let found = match (table.is_hardware, skipped.is_empty()) {
        (true, _) => Err(format!(
            "flowtable of {devices}: the hardware forwards its flows, and their packets skip every shaper"
        )),
        (false, false) => Err(format!(
            "flowtable of {devices}: its flows leave by a device below {}, and their packets skip the shaper there",
            skipped.join(", ")
        )),
        (false, true) => Ok(format!(
            "flowtable of {devices}, in software: its flows skip the firewall's rules, and pass the shapers of its devices"
        )),
    };
    check(AREA, &table.to_string(), found, &offload::cure(table))
}

/// The devices with a shaper at their root.
fn shaped() -> Vec<String> {
    let Ok(tc) = Tc::open() else { return Vec::new() };
    let entries = fs::read_dir(DEVICES).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let root = |name: &String| tc.root(&tc.device(name).ok()?).ok()?;
    names
        .filter(|name| root(name).is_some_and(|root| SHAPERS.contains(&root.kind.as_str())))
        .collect()
}

/// OpenWrt's settings, where there is OpenWrt.
fn openwrt(file: &Path) -> Option<Check> {
    let text = fs::read_to_string(file).ok()?;
    let option = |name| is_on(&text, name);
    let found = match (option("flow_offloading"), option("flow_offloading_hw")) {
        (true, true) => Err(
            "flow_offloading_hw is on: where hardware takes flows, their packets skip every shaper"
                .into(),
        ),
        (true, false) => Ok("flow_offloading is on, in software: see its flowtable".into()),
        // Without the first one the second does nothing.
        (false, _) => Ok("flow_offloading is off".into()),
    };
    Some(check(AREA, "OpenWrt firewall", found, &offload::uci("flow_offloading_hw")))
}

/// Whether an option of the section `defaults` is on, as UCI reads it: the last word counts.
fn is_on(text: &str, wanted: &str) -> bool {
    let (mut is_inside, mut is_on) = (false, false);
    for line in text.lines() {
        let mut words = line.split_whitespace().map(|word| word.trim_matches(['\'', '"']));
        match (words.next(), words.next(), words.next()) {
            (Some("config"), kind, _) => is_inside = kind == Some("defaults"),
            (Some("option"), Some(name), value) if is_inside && name == wanted => {
                is_on = matches!(value, Some("1" | "on" | "true" | "yes" | "enabled"));
            }
            _ => {}
        }
    }
    is_on
}

/// A vendor's way of forwarding beside the kernel's.
struct Engine {
    name: &'static str,
    /// One of these says that it is loaded.
    signs: &'static [&'static str],
    /// A file that says whether it works, and what stands there when it does not.
    switch: Option<(&'static str, &'static [&'static str])>,
    cure: &'static str,
}

/// MediaTek's PPE in Linux itself is not among them: it takes flows by flowtables alone. Nor are
/// `qca-nss-drv` and `qca-nss-sfe`, which take flows by ECM alone.
const ENGINES: [Engine; 6] = [
    // qca-nss-ecm, ecm_init.c and its init script.
    Engine {
        name: "Qualcomm ECM",
        signs: &["sys/module/ecm"],
        switch: Some(("sys/kernel/debug/ecm/front_end_ipv4_stop", &["1"])),
        cure: "`for f in front_end_ipv4_stop front_end_ipv6_stop ecm_db/defunct_all; do echo 1 > /sys/kernel/debug/ecm/$f; done`",
    },
    // shortcut-fe, sfe_cm.c and fast-classifier.c: they take packets in `athrs_fast_nat_recv`,
    // before tc's ingress.
    Engine {
        name: "shortcut-fe",
        signs: &["sys/module/shortcut_fe_cm", "sys/module/fast_classifier"],
        switch: None,
        cure: "`rmmod fast_classifier; rmmod shortcut_fe_cm`",
    },
    // MediaTek's SDK, mtk_hnat/hnat_debugfs.c.
    Engine {
        name: "MediaTek HNAT",
        signs: &["sys/module/mtkhnat", "sys/kernel/debug/hnat"],
        switch: Some(("sys/kernel/debug/hnat/hook_toggle", &["0", "disabled"])),
        cure: "`echo 0 > /sys/kernel/debug/hnat/hook_toggle`",
    },
    // Its older SDK.
    Engine {
        name: "MediaTek hw_nat",
        signs: &["sys/module/hw_nat"],
        switch: None,
        cure: "`rmmod hw_nat`",
    },
    // Broadcom's SDK: the flow cache, and what executes it (RDK's WAN manager calls fcctl so).
    Engine {
        name: "Broadcom fcache",
        signs: &[
            "proc/fcache",
            "sys/module/pktflow",
            "sys/module/bcm_flowcache",
            "sys/module/pktrunner",
            "sys/module/bcm_archer",
        ],
        switch: None,
        cure: "`fcctl disable; fcctl flush`; `fcctl status` says whether it is on",
    },
    // Realtek's SDK, /proc/hw_nat: zero is off.
    Engine {
        name: "Realtek hw_nat",
        signs: &["proc/hw_nat"],
        switch: Some(("proc/hw_nat", &["0"])),
        cure: "`echo 0 > /proc/hw_nat`",
    },
];

fn engines(root: &Path) -> Vec<Check> {
    let found: Vec<Check> = ENGINES.iter().filter_map(|engine| engine.check(root)).collect();
    match found.is_empty() {
        false => found,
        true => vec![check(AREA, "vendor engines", Ok("none of those known is loaded".into()), "")],
    }
}

impl Engine {
    fn check(&self, root: &Path) -> Option<Check> {
        let sign = self.signs.iter().find(|sign| root.join(sign).exists())?;
        let state = self.switch.and_then(|(file, off)| {
            let text = fs::read_to_string(root.join(file)).ok()?;
            Some(off.contains(&text.split_whitespace().next()?))
        });
        let found = match state {
            Some(true) => Ok(format!("it is loaded (/{sign}) and switched off")),
            Some(false) => {
                Err(format!("it is on (/{sign}): packets that it forwards skip the shaper"))
            }
            None => Err(format!(
                "it is loaded (/{sign}), and may be on: packets that it forwards skip the shaper"
            )),
        };
        Some(check(AREA, self.name, found, self.cure))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_openwrts_defaults_are_read_and_those_of_other_sections_are_not() {
        let text = "config defaults\n\toption flow_offloading '1'\n\toption input 'REJECT'\n\
                    config zone\n\toption flow_offloading_hw '1'\n";
        assert!(is_on(text, "flow_offloading") && !is_on(text, "flow_offloading_hw"));
        let later = "config 'defaults'\noption flow_offloading 1\noption flow_offloading '0'\n";
        assert!(!is_on(later, "flow_offloading"));
        assert!(!is_on("option flow_offloading '1'", "flow_offloading"));
    }

    #[test]
    fn openwrts_hardware_option_is_a_finding_with_its_command() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("firewall");
        assert!(openwrt(&file).is_none());
        let text = "config defaults\n option flow_offloading '1'\n option flow_offloading_hw '1'\n";
        fs::write(&file, text).expect("a file");
        let found = openwrt(&file).expect("there is a firewall");
        assert!(!found.ok && found.cure.contains("flow_offloading_hw=0"), "{found:?}");
        fs::write(&file, "config defaults\n option flow_offloading '1'\n").expect("a file");
        assert!(openwrt(&file).expect("there is a firewall").ok);
    }

    #[test]
    fn an_engine_that_is_loaded_is_named_until_it_is_switched_off() {
        let root = tempfile::tempdir().expect("a folder");
        let found = engines(root.path());
        assert!(found.len() == 1 && found[0].ok, "{found:?}");
        fs::create_dir_all(root.path().join("sys/module/ecm")).expect("a folder");
        let found = engines(root.path());
        assert!(found[0].name == "Qualcomm ECM" && found[0].detail.contains("may be on"));
        fs::create_dir_all(root.path().join("sys/kernel/debug/ecm")).expect("a folder");
        for (state, ok) in [("0\n", false), ("1\n", true)] {
            let file = root.path().join("sys/kernel/debug/ecm/front_end_ipv4_stop");
            fs::write(file, state).expect("a file");
            let found = engines(root.path());
            assert!(found.len() == 1 && found[0].ok == ok, "{found:?}");
        }
    }
}
