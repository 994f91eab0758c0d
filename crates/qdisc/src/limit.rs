//! The limit that a shaper sets: read, and written by the messages that `tc` would send.

use serde::{Deserialize, Serialize};
use sounding_units::Rate;

use crate::error::Error;
use crate::htb;
use crate::kind::Kind;
use crate::message::{At, Message};
use crate::numbers::{TCA_CAKE_AUTORATE, TCA_CAKE_BASE_RATE64, TCA_KIND, TCA_OPTIONS};
use crate::objects::{Class, Device, Handle, Qdisc};
use crate::tc::{CHANGE, Tc, unreadable};

/// A class of HTB that limits the rate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Limiting {
    pub(crate) handle: Handle,
    pub(crate) parent: Handle,
    pub(crate) options: htb::Options,
}

/// The limit as it was found, or made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Limit {
    /// CAKE's rate; zero is none.
    Cake { bytes_per_sec: u64 },
    /// The classes of HTB from the root to the one leaf. All have one rate.
    Htb { classes: Vec<Limiting> },
}

impl Limit {
    pub(crate) fn bytes_per_sec(&self) -> u64 {
        match self {
            Self::Cake { bytes_per_sec } => *bytes_per_sec,
            Self::Htb { classes } => {
                let leaf = classes.last().and_then(|class| class.options.rate());
                leaf.map(Rate::bytes_per_sec).unwrap_or_default()
            }
        }
    }
}

/// The limit of a root qdisc, and the kind of queue behind it.
pub(crate) fn found(
    tc: &Tc,
    device: &Device,
    root: &Qdisc,
    kind: Kind,
) -> Result<(Limit, Option<String>), Error> {
    let unsuitable = |why: &str, remedy: &str| Error::Unsuitable {
        device: device.name.clone(),
        qdisc: root.to_string(),
        why: why.into(),
        remedy: remedy.into(),
    };
    if kind != Kind::Htb {
        let rate = cake_limit(root).map_err(|why| match why {
            Some(why) => unsuitable(why, "take that option from it"),
            None => unreadable(&device.name, "the rate of CAKE"),
        })?;
        return Ok((Limit::Cake { bytes_per_sec: rate }, None));
    }
    let all = tc.classes_of(device, root.handle)?;
    let classes = chain(&all, root.handle).map_err(|count| {
        let why = format!("{count} classes shape side by side");
        unsuitable(&why, "leave one class, or use CAKE")
    })?;
    let rates = classes.iter().map(|class| class.options.rate());
    let rates: Option<Vec<Rate>> = rates.collect();
    if rates.is_none_or(|rates| rates.windows(2).any(|pair| pair[0] != pair[1])) {
        let why = "rate and ceil of its classes differ";
        return Err(unsuitable(why, "give all one rate, and ceil the same"));
    }
    let leaf = classes.last().map(|class| class.handle);
    let leaf = tc.qdiscs(device)?.into_iter().find(|qdisc| Some(qdisc.parent) == leaf);
    // The kernel hides the one that it makes with a class.
    let leaf = leaf.map_or_else(|| "pfifo".into(), |qdisc| qdisc.kind);
    Ok((Limit::Htb { classes }, Some(leaf)))
}

/// The rate of CAKE, or a reason that it cannot be set, if one is known.
pub(crate) fn cake_limit(root: &Qdisc) -> Result<u64, Option<&'static str>> {
    let options = root.options();
    if options.u32(TCA_CAKE_AUTORATE).unwrap_or_default() != 0 {
        return Err(Some("it sets its own rate (autorate-ingress)"));
    }
    options.u64(TCA_CAKE_BASE_RATE64).ok_or(None)
}

/// The classes from the root to the one leaf, or how many are side by side.
fn chain(all: &[Class], root: Handle) -> Result<Vec<Limiting>, usize> {
    let mut found: Vec<Limiting> = Vec::new();
    let mut parent = Handle::ROOT;
    loop {
        let of_root = |class: &&Class| class.handle.class(0) == root && class.kind == "htb";
        let below = all.iter().filter(of_root).filter(|class| class.parent == parent);
        let below: Vec<&Class> = below.collect();
        let [class] = below[..] else {
            return if below.is_empty() && !found.is_empty() {
                Ok(found)
            } else {
                Err(below.len())
            };
        };
        let options = htb::Options::read(&class.options).ok_or(0_usize)?;
        // The kernel's classes are a tree; this ends also if they were not.
        if found.len() == all.len() {
            return Err(all.len());
        }
        parent = class.handle;
        found.push(Limiting { handle: class.handle, parent: class.parent, options });
    }
}

/// Only the rate, and only of the qdisc that stands there: it names kind and number, and does not
/// let the kernel make one.
pub(crate) fn cake_rate(
    device: &Device,
    kind: &str,
    handle: Handle,
    bytes_per_sec: u64,
) -> Message {
    let (handle, parent) = (handle.number(), Handle::ROOT.number());
    let at = At { device: device.index, handle, parent, info: 0 };
    Message::new(libc::RTM_NEWQDISC, CHANGE)
        .about(at)
        .text(TCA_KIND, kind)
        .nested(TCA_OPTIONS, |options| {
            options.attribute(TCA_CAKE_BASE_RATE64, &bytes_per_sec.to_ne_bytes())
        })
}

/// A class that is there, with these options.
pub(crate) fn class_change(device: &Device, class: &Limiting) -> Message {
    let (handle, parent) = (class.handle.number(), class.parent.number());
    let at = At { device: device.index, handle, parent, info: 0 };
    Message::new(libc::RTM_NEWTCLASS, CHANGE)
        .about(at)
        .text(TCA_KIND, Kind::Htb.name())
        .nested(TCA_OPTIONS, |options| class.options.write(options))
}
