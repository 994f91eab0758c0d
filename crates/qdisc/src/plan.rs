//! A shaper that is made where none stands.

use nix::errno::Errno;
use sounding_estimate::Direction;
use sounding_shape::cake_interval;
use sounding_units::Rate;

use crate::before::{Before, REBUILT, Root, Way};
use crate::error::Error;
use crate::htb;
use crate::ifb::{self, Arriving};
use crate::kind::Kind;
use crate::limit::{Limit, Limiting};
use crate::message::{At, Message, u32_at};
use crate::numbers::{
    CAKE_BESTEFFORT, TCA_CAKE_BASE_RATE64, TCA_CAKE_DIFFSERV_MODE, TCA_CAKE_INGRESS, TCA_CAKE_NAT,
    TCA_CAKE_OVERHEAD, TCA_CAKE_RTT, TCA_CAKE_TARGET, TCA_KIND, TCA_OPTIONS,
};
use crate::objects::{Device, Handle, Qdisc};
use crate::shaper::Shaper;
use crate::socket::Refusal;
use crate::tc::{MAKE, REPLACE, Tc, refused};

/// The number of qdiscs that this program makes.
const OURS: Handle = Handle::new(0x50d0_0000);
/// The class of HTB.
const CLASS: u16 = 1;
/// Packets that wait in a plain queue behind HTB. Chosen: 60 ms at 10 Mbit/s.
const PLAIN_PACKETS: u32 = 50;

/// A shaper that can be made: all that it would replace is known, and nothing is changed yet.
#[derive(Debug)]
pub struct Plan {
    device: Device,
    direction: Direction,
    kind: Option<Kind>,
    arriving: Arriving,
    before: Before,
}

impl Plan {
    /// Looks at a device before a shaper of this kind is made there, or of the best kind that the
    /// kernel has: CAKE, else HTB with fq_codel, else HTB with a plain queue.
    ///
    /// # Errors
    ///
    /// [`Error::Unsuitable`] if the present state could not be restored exactly, or another program
    /// uses it; [`Error::NoDevice`], or the kernel's refusal.
    pub fn new(
        tc: &Tc,
        direction: Direction,
        device: &str,
        kind: Option<Kind>,
    ) -> Result<Self, Error> {
        let device = tc.device(device)?;
        if kind == Some(Kind::CakeMq) {
            let why = "this program makes no cake_mq";
            return Err(unsuitable(&device.name, "cake_mq", why, "make it by tc, and adopt it"));
        }
        let (arriving, before) = match direction {
            Direction::Uplink => {
                let (name, index) = (device.name.clone(), device.index);
                let way = Way::Root(root_before(tc, &device)?);
                (Arriving::Nothing, Before { device: name, index, handle: OURS, way })
            }
            Direction::Downlink => {
                let arriving = ifb::arriving(tc, &device)?;
                let name = ifb::name(&device.name);
                no_ifb_yet(tc, &device, &name)?;
                let (from, from_index) = (device.name.clone(), device.index);
                let has_ingress = arriving == Arriving::Unused;
                let way = Way::Ifb { from, from_index, has_ingress };
                (arriving, Before { device: name, index: 0, handle: OURS, way })
            }
        };
        Ok(Self { device, direction, kind, arriving, before })
    }

    /// How to restore the machine. It is known before the first change, so that it can be kept in a
    /// file by then. Restoring from it before that does nothing.
    pub fn before(&self) -> &Before {
        &self.before
    }

    /// Makes the shaper. Its rate counts IP packets.
    ///
    /// # Errors
    ///
    /// [`Error::NoKind`] if the kernel lacks the kind, [`Error::NotPermitted`], or another refusal
    /// of the kernel. It takes back the parts that it has made by then.
    pub fn make(self, tc: &Tc, rate: Rate) -> Result<Shaper, Error> {
        let before = self.before.clone();
        self.make_all(tc, rate).inspect_err(|_| {
            // The first error says more than a second one of the same cause.
            let _ = before.restore(tc);
        })
    }

    fn make_all(self, tc: &Tc, rate: Rate) -> Result<Shaper, Error> {
        let place = match self.direction {
            Direction::Uplink => self.device.clone(),
            Direction::Downlink => ifb::make(tc, &self.before.device)?,
        };
        let mut shaper = Shaper {
            device: place,
            kind: Kind::Cake,
            handle: OURS,
            leaf: None,
            limit: Limit::Cake { bytes_per_sec: 0 },
            expected_bytes_per_sec: 0,
            given: Some(rate),
            header_bytes: 0,
            before: self.before,
        };
        let has_cake = match self.kind {
            Some(Kind::Htb) => false,
            _ => make_cake(tc, &mut shaper, self.direction, rate)?,
        };
        if !has_cake && self.kind == Some(Kind::Cake) {
            return Err(Error::NoKind { device: self.device.name, kind: "cake".into() });
        }
        if !has_cake {
            // An IFB has a header of its own, but not of packets without one.
            shaper.header_bytes = self.device.header_bytes;
            make_htb(tc, &mut shaper, rate)?;
        }
        if self.direction == Direction::Downlink {
            ifb::redirect(tc, &self.device, &shaper.device, self.arriving)?;
        }
        Ok(shaper)
    }
}

impl Shaper {
    /// Makes a shaper for a direction of a device: [`Plan::new`] and [`Plan::make`].
    ///
    /// # Errors
    ///
    /// The errors of both.
    pub fn build(
        tc: &Tc,
        direction: Direction,
        device: &str,
        kind: Option<Kind>,
        rate: Rate,
    ) -> Result<Self, Error> {
        Plan::new(tc, direction, device, kind)?.make(tc, rate)
    }
}

/// The root qdisc, if it can be put back exactly.
fn root_before(tc: &Tc, device: &Device) -> Result<Root, Error> {
    let Some(root) = tc.root(device)? else { return Ok(Root::Default) };
    let name = &device.name;
    let refuse = |why: &str, remedy: &str| Err(unsuitable(name, &root.to_string(), why, remedy));
    let all = tc.qdiscs(device)?;
    let is_below =
        |qdisc: &&Qdisc| !qdisc.handle.is_default() && qdisc.parent.class(0) == root.handle;
    let delete = format!("remove it by `tc qdisc del dev {name} root`");
    if root.handle == OURS {
        return refuse("an earlier run left it there", &delete);
    }
    if root.handle.is_default() {
        return Ok(Root::Default);
    }
    if Kind::of(&root.kind) == Some(Kind::Htb) || Kind::of(&root.kind) == Some(Kind::CakeMq) {
        return refuse("it has classes, and shapes already", &format!("adopt it, or {delete}"));
    }
    if !REBUILT.contains(&&*root.kind) {
        return refuse("this program cannot put this kind back exactly", &delete);
    }
    if let Some(below) = all.iter().find(is_below) {
        return refuse(&format!("another qdisc stands in it ({below})"), &delete);
    }
    if root.shares_filters || !tc.filters(device, root.handle)?.is_empty() {
        return refuse("it has filters", &delete);
    }
    // The kernel lists the head of a size table alone.
    let has_table = |sizes: &Vec<u8>| u32_at(sizes, 24).is_some_and(|length| length != 0);
    if root.sizes.as_ref().is_some_and(has_table) {
        return refuse("it has a size table (stab)", &delete);
    }
    let Qdisc { kind, handle, options, sizes, .. } = root;
    Ok(Root::Chosen { kind, handle, options, sizes })
}

fn no_ifb_yet(tc: &Tc, device: &Device, name: &str) -> Result<(), Error> {
    match tc.device(name) {
        Err(Error::NoDevice { .. }) => Ok(()),
        Err(error) => Err(error),
        Ok(_) => {
            let why = format!("device {name} is there already, as SQM makes it");
            let remedy = format!("adopt the shaper of {name}, or stop the program that made it");
            Err(unsuitable(&device.name, "ingress", &why, &remedy))
        }
    }
}

fn unsuitable(device: &str, qdisc: &str, why: &str, remedy: &str) -> Error {
    let [device, qdisc, why, remedy] = [device, qdisc, why, remedy].map(String::from);
    Error::Unsuitable { device, qdisc, why, remedy }
}

/// Whether the kernel has CAKE.
fn make_cake(
    tc: &Tc,
    shaper: &mut Shaper,
    direction: Direction,
    rate: Rate,
) -> Result<bool, Error> {
    let bytes_per_sec = shaper.kernels(rate)?;
    let mut made = tc.change(cake(&shaper.device, direction, bytes_per_sec, true));
    // A kernel without connection tracking.
    if matches!(made, Err(Refusal { errno: Errno::EOPNOTSUPP, .. })) {
        made = tc.change(cake(&shaper.device, direction, bytes_per_sec, false));
    }
    match made {
        Err(Refusal { errno: Errno::ENOENT, .. }) => return Ok(false),
        made => made.map_err(|refusal| refused(&shaper.device.name, "make CAKE", refusal))?,
    }
    shaper.limit = Limit::Cake { bytes_per_sec };
    shaper.expected_bytes_per_sec = bytes_per_sec;
    Ok(true)
}

/// CAKE that counts IP packets: with an `overhead`, of 0 bytes, it takes the link's header off.
fn cake(device: &Device, direction: Direction, bytes_per_sec: u64, has_nat: bool) -> Message {
    let is_downlink = direction == Direction::Downlink;
    make(device, Handle::ROOT, OURS, "cake").nested(TCA_OPTIONS, |options| {
        let mut options = options.attribute(TCA_CAKE_BASE_RATE64, &bytes_per_sec.to_ne_bytes());
        if is_downlink {
            // The network's marks say nothing here.
            options = options.number(TCA_CAKE_DIFFSERV_MODE, CAKE_BESTEFFORT);
        }
        options = options.number(TCA_CAKE_OVERHEAD, 0);
        // The kernel takes microseconds, and a target that is not given stays that of 100 ms.
        let interval = cake_interval(direction).as_micros() as u32;
        options = options.number(TCA_CAKE_RTT, interval);
        options = options.number(TCA_CAKE_TARGET, interval / 20);
        if has_nat {
            // Hosts behind this one share by their own addresses.
            options = options.number(TCA_CAKE_NAT, 1);
        }
        // Dropped packets have used the radio too.
        if is_downlink { options.number(TCA_CAKE_INGRESS, 1) } else { options }
    })
}

fn make_htb(tc: &Tc, shaper: &mut Shaper, rate: Rate) -> Result<(), Error> {
    shaper.kind = Kind::Htb;
    let bytes_per_sec = shaper.kernels(rate)?;
    let options = htb::Options::new(Rate::from_bytes_per_sec(bytes_per_sec));
    let class = Limiting { handle: OURS.class(CLASS), parent: Handle::ROOT, options };
    let device = &shaper.device;
    let doing = "make HTB";
    let root = make(device, Handle::ROOT, OURS, "htb")
        .nested(TCA_OPTIONS, |options| htb::root(options, CLASS));
    match tc.change(root) {
        Err(Refusal { errno: Errno::ENOENT, .. }) => {
            return Err(Error::NoKind { device: device.name.clone(), kind: "htb".into() });
        }
        made => made.map_err(|refusal| refused(&device.name, doing, refusal))?,
    }
    let at =
        At { device: device.index, handle: class.handle.number(), parent: OURS.number(), info: 0 };
    let request = Message::new(libc::RTM_NEWTCLASS, MAKE)
        .about(at)
        .text(TCA_KIND, "htb")
        .nested(TCA_OPTIONS, |options| class.options.write(options));
    tc.change(request).map_err(|refusal| refused(&device.name, doing, refusal))?;
    let fair = make(device, class.handle, Handle::default(), "fq_codel");
    let plain = make(device, class.handle, Handle::default(), "pfifo")
        .attribute(TCA_OPTIONS, &PLAIN_PACKETS.to_ne_bytes());
    let (leaf, made) = match tc.change(fair) {
        Err(Refusal { errno: Errno::ENOENT, .. }) => ("pfifo", tc.change(plain)),
        made => ("fq_codel", made),
    };
    made.map_err(|refusal| refused(&device.name, &format!("make {leaf}"), refusal))?;
    shaper.leaf = Some(leaf.into());
    shaper.limit = Limit::Htb { classes: vec![class] };
    shaper.expected_bytes_per_sec = bytes_per_sec;
    Ok(())
}

/// A qdisc of ours in the place of what is there.
fn make(device: &Device, parent: Handle, handle: Handle, kind: &str) -> Message {
    let (handle, parent) = (handle.number(), parent.number());
    let at = At { device: device.index, handle, parent, info: 0 };
    Message::new(libc::RTM_NEWQDISC, REPLACE).about(at).text(TCA_KIND, kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `tc qdisc add dev v0 root handle 50d0: cake bandwidth 10mbit overhead 0 rtt 100ms nat
    /// ingress besteffort` of iproute2 6.1, without its `autorate-ingress 0`.
    #[test]
    fn cake_is_made_by_the_message_of_tc() {
        let kind = Some("veth".into());
        let device = Device { name: "v0".into(), index: 3, kind, header_bytes: 14, is_up: true };
        let sent = cake(&device, Direction::Downlink, 1_250_000, true).finish(0);
        let sent: String = sent.iter().map(|byte| format!("{byte:02x}")).collect();
        let header = "700000002400050500000000000000000000000003000000";
        let place = "0000d050ffffffff00000000";
        let options = "0900010063616b650000000040000200";
        let rate = "0c000200d012130000000000";
        let others = "08000300030000000800060000000000\
                      08000700a08601000800080088130000\
                      08000b000100000008000f0001000000";
        assert_eq!(sent, [header, place, options, rate, others].concat());
    }
}
