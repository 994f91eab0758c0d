//! The way of arriving packets through an IFB, at whose root they are shaped.

use nix::errno::Errno;

use crate::error::Error;
use crate::message::{At, Message};
use crate::numbers::{
    EGRESS_FILTERS, EGRESS_REDIRECT, IFINFO_BYTES, INGRESS, INGRESS_FILTERS, INGRESS_HANDLE,
    NESTED, STOLEN, TCA_ACT_KIND, TCA_ACT_OPTIONS, TCA_KIND, TCA_MATCHALL_ACT, TCA_MIRRED_PARMS,
    TCA_OPTIONS, TCA_U32_ACT, TCA_U32_SEL, U32_TERMINAL,
};
use crate::objects::{Device, Handle};
use crate::socket::Refusal;
use crate::tc::{CHANGE, MAKE, Tc, refused};

/// The priority of our filter. It tells our filter from those of others.
const PRIORITY: u16 = 0x50d0;

/// The name of a device's IFB: `ifb4` and as much of the device's name as fits, from its end, where
/// names of one maker differ.
pub(crate) fn name(device: &str) -> String {
    const PREFIX: &str = "ifb4";
    let room = libc::IFNAMSIZ - 1 - PREFIX.len();
    let skip = device.len().saturating_sub(room);
    format!("{PREFIX}{}", device.get(skip..).unwrap_or(device))
}

/// What stands at a device's arriving side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arriving {
    Nothing,
    /// An `ingress` or `clsact` without a filter.
    Unused,
}

/// The arriving side, if no filter stands there.
pub(crate) fn arriving(tc: &Tc, device: &Device) -> Result<Arriving, Error> {
    let at_ingress = Handle::new(INGRESS);
    let Some(qdisc) = tc.qdiscs(device)?.into_iter().find(|qdisc| qdisc.parent == at_ingress)
    else {
        return Ok(Arriving::Nothing);
    };
    let mut filters = tc.filters(device, Handle::new(INGRESS_FILTERS))?;
    // Without those on leaving packets the qdisc would still be another's.
    if qdisc.kind == "clsact" {
        filters.extend(tc.filters(device, Handle::new(EGRESS_FILTERS))?);
    }
    if filters.is_empty() && !qdisc.shares_filters {
        return Ok(Arriving::Unused);
    }
    let (name, kind) = (&device.name, &qdisc.kind);
    Err(Error::Unsuitable {
        device: name.clone(),
        qdisc: qdisc.to_string(),
        why: "another program filters arriving packets there".into(),
        remedy: format!(
            "stop that program (`tc filter show dev {name} ingress` lists its filters), or remove \
             them by `tc qdisc del dev {name} {kind}`"
        ),
    })
}

/// Makes an IFB and sets it up.
pub(crate) fn make(tc: &Tc, name: &str) -> Result<Device, Error> {
    let link = Message::new(libc::RTM_NEWLINK, MAKE)
        .raw(&[0; IFINFO_BYTES])
        .text(libc::IFLA_IFNAME, name)
        .nested(libc::IFLA_LINKINFO, |info| info.text(libc::IFLA_INFO_KIND, "ifb"));
    tc.change(link).map_err(|refusal| match refusal.errno {
        Errno::EOPNOTSUPP => Error::NoKind { device: name.into(), kind: "ifb".into() },
        _ => refused(name, "make an IFB", refusal),
    })?;
    let device = tc.device(name)?;
    let up = libc::IFF_UP.cast_unsigned();
    tc.change(about_link(libc::RTM_NEWLINK, &device, up))
        .map_err(|refusal| refused(name, "set the IFB up", refusal))?;
    Ok(device)
}

/// Removes a device.
pub(crate) fn remove(tc: &Tc, device: &Device) -> Result<(), Error> {
    match tc.change(about_link(libc::RTM_DELLINK, device, 0)) {
        Ok(()) | Err(Refusal { errno: Errno::ENODEV, .. }) => Ok(()),
        Err(refusal) => Err(refused(&device.name, "remove the IFB", refusal)),
    }
}

fn about_link(kind: u16, device: &Device, flags: u32) -> Message {
    let mut bytes = [0; IFINFO_BYTES];
    bytes[4..8].copy_from_slice(&device.index.to_ne_bytes());
    bytes[8..12].copy_from_slice(&flags.to_ne_bytes());
    bytes[12..16].copy_from_slice(&flags.to_ne_bytes());
    Message::new(kind, CHANGE).raw(&bytes)
}

/// Sends every arriving packet of a device to an IFB.
pub(crate) fn redirect(tc: &Tc, device: &Device, ifb: &Device, at: Arriving) -> Result<(), Error> {
    if at == Arriving::Nothing {
        tc.change(ingress(libc::RTM_NEWQDISC, MAKE, device))
            .map_err(|refusal| refused(&device.name, "add the ingress qdisc", refusal))?;
    }
    let refusal = match tc.change(matchall(device, ifb)) {
        Ok(()) => return Ok(()),
        Err(refusal) => refusal,
    };
    let doing = "redirect arriving packets";
    if refusal.errno != Errno::ENOENT {
        return Err(refused(&device.name, doing, refusal));
    }
    // A kernel without matchall.
    tc.change(u32_all(device, ifb)).map_err(|refusal| refused(&device.name, doing, refusal))
}

/// Takes our filter out, and the ingress qdisc too if it is ours and no other filter uses it. The
/// answer is whether there was any of both.
pub(crate) fn take_out(tc: &Tc, device: &Device, has_made: bool) -> Result<bool, Error> {
    let side = Handle::new(INGRESS_FILTERS);
    let filters = match tc.filters(device, side) {
        // No ingress qdisc.
        Err(Error::Kernel { .. }) => Vec::new(),
        filters => filters?,
    };
    let ours = filters.iter().find(|filter| filter.priority == PRIORITY);
    if let Some(filter) = ours {
        let request = filter_message(libc::RTM_DELTFILTER, CHANGE, device, &filter.kind);
        tc.change(request)
            .map_err(|refusal| refused(&device.name, "remove the redirection", refusal))?;
    }
    let is_free = filters.iter().all(|filter| filter.priority == PRIORITY);
    let at_ingress = Handle::new(INGRESS);
    let stands = |qdisc: &crate::Qdisc| qdisc.parent == at_ingress && qdisc.kind == "ingress";
    if !has_made || !is_free || !tc.qdiscs(device)?.iter().any(stands) {
        return Ok(ours.is_some());
    }
    tc.change(ingress(libc::RTM_DELQDISC, CHANGE, device))
        .map_err(|refusal| refused(&device.name, "remove the ingress qdisc", refusal))?;
    Ok(true)
}

fn ingress(kind: u16, flags: u16, device: &Device) -> Message {
    let at = At { device: device.index, handle: INGRESS_HANDLE, parent: INGRESS, info: 0 };
    Message::new(kind, flags).about(at).text(TCA_KIND, "ingress")
}

fn filter_message(kind: u16, flags: u16, device: &Device, filter: &str) -> Message {
    let protocol = u16::try_from(libc::ETH_P_ALL).unwrap_or_default().to_be();
    let info = u32::from(PRIORITY) << 16 | u32::from(protocol);
    let at = At { device: device.index, handle: 0, parent: INGRESS_FILTERS, info };
    Message::new(kind, flags).about(at).text(TCA_KIND, filter)
}

fn matchall(device: &Device, ifb: &Device) -> Message {
    filter_message(libc::RTM_NEWTFILTER, MAKE, device, "matchall")
        .nested(TCA_OPTIONS, |options| options.nested(TCA_MATCHALL_ACT, |acts| to(acts, ifb)))
}

fn u32_all(device: &Device, ifb: &Device) -> Message {
    // `struct tc_u32_sel` with one key, which compares no bit.
    let mut selector = [0; 32];
    selector[0] = U32_TERMINAL;
    selector[2] = 1;
    filter_message(libc::RTM_NEWTFILTER, MAKE, device, "u32").nested(TCA_OPTIONS, |options| {
        options.nested(TCA_U32_ACT, |acts| to(acts, ifb)).attribute(TCA_U32_SEL, &selector)
    })
}

/// The one action: the packet goes to the IFB.
fn to(actions: Message, ifb: &Device) -> Message {
    // `struct tc_mirred`: index, capabilities, verdict, two counters, the action, the device.
    let mirred = [0, 0, STOLEN, 0, 0, EGRESS_REDIRECT, ifb.index];
    actions.nested(1, |action| {
        action.text(TCA_ACT_KIND, "mirred").nested(TCA_ACT_OPTIONS | NESTED, |options| {
            options.attribute(TCA_MIRRED_PARMS, mirred.map(u32::to_ne_bytes).as_flattened())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_ifb_fits() {
        assert_eq!(name("wwan0"), "ifb4wwan0");
        assert_eq!(name("enx001122334455"), "ifb41122334455"[..4].to_owned() + "01122334455");
        assert!(name("enx001122334455").len() < libc::IFNAMSIZ);
    }

    fn device(index: u32) -> Device {
        Device { name: "v0".into(), index, kind: None, header_bytes: 14, is_up: true }
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// From iproute2 6.1: `tc filter add dev v0 parent ffff:fff2 protocol all prio 20688 … action
    /// mirred egress redirect dev i0`, its request and that for matchall and u32.
    #[test]
    fn filters_are_those_of_tc() {
        let (from, to) = (device(3), device(4));
        let sent = hex(&matchall(&from, &to).finish(0x6bda_d270)[20..]);
        assert!(sent.contains("0d0001006d61746368616c6c00000000"), "{sent}");
        assert!(sent.ends_with(&format!("3c00020038000200{MIRRED}")), "{sent}");
        let sent = hex(&u32_all(&from, &to).finish(1)[20..]);
        assert!(sent.ends_with(&format!("6000020038000700{MIRRED}{SELECTOR}")), "{sent}");
    }

    const MIRRED: &str = "340001000b0001006d6972726564000024000280200002000000000000000000040000000000000000000000\
                          0100000004000000";
    const SELECTOR: &str =
        "240005000100010000000000000000000000000000000000000000000000000000000000";
}
