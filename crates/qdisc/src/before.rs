//! How the machine was before a shaper was made or changed, and the way back.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::htb;
use crate::ifb;
use crate::kind::Kind;
use crate::limit::{Limit, Limiting, cake_rate, class_change};
use crate::message::{At, Attributes, Message};
use crate::numbers::{TCA_CAKE_BASE_RATE64, TCA_KIND, TCA_OPTIONS, TCA_STAB};
use crate::objects::{Device, Handle, Qdisc};
use crate::tc::{CHANGE, REPLACE, Tc, refused};

/// All that is needed to put a machine back. It can be kept in a file (serde), and another process
/// can restore from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Before {
    /// The device at whose root the shaper stands: of a downlink that was made, the IFB.
    pub(crate) device: String,
    /// The number of the device that was there; zero of an IFB that was still to be made.
    pub(crate) index: u32,
    pub(crate) handle: Handle,
    pub(crate) way: Way,
}

/// The way by which a shaper came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Way {
    /// It stood there.
    Adopted { limit: Limit },
    /// It was made in the place of a root qdisc.
    Root(Root),
    /// It was made at an IFB, to which this device's arriving packets go.
    Ifb { from: String, from_index: u32, has_ingress: bool },
}

/// The root qdisc before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Root {
    /// The kernel's own choice.
    Default,
    /// One that a user or program had put there.
    Chosen { kind: String, handle: Handle, options: Option<Vec<u8>>, sizes: Option<Vec<u8>> },
}

/// The outcome of a restoration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restored {
    /// The machine is as it was.
    Restored,
    /// Nothing of it stood there any more.
    Nothing,
    /// Another program has changed it since. That change stays.
    Others,
}

impl Before {
    /// The device at whose root the shaper stands.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// Restores the machine. A second time it does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::NotPermitted`] without CAP_NET_ADMIN, or the kernel's refusal.
    pub fn restore(&self, tc: &Tc) -> Result<Restored, Error> {
        self.restore_after(tc, None)
    }

    /// The same for a program that has set nothing but these rates, in bytes a second as the kernel
    /// has them. An adopted shaper with another rate is another program's by now, and stays.
    ///
    /// # Errors
    ///
    /// As [`Before::restore`].
    pub fn restore_after(&self, tc: &Tc, set: Option<&[u64]>) -> Result<Restored, Error> {
        match &self.way {
            Way::Adopted { limit } => self.put_back_rate(tc, limit, set),
            Way::Root(root) => self.put_back_root(tc, root),
            Way::Ifb { from, from_index, has_ingress } => {
                // The filter goes with its device, and not with the device's name.
                let filter = match tc.same(from, *from_index)? {
                    Some(device) => ifb::take_out(tc, &device, !has_ingress)?,
                    None => false,
                };
                let ifb = self.remove_ifb(tc)?;
                let did = filter || ifb == Restored::Restored;
                Ok(if did { Restored::Restored } else { ifb })
            }
        }
    }

    fn put_back_rate(
        &self,
        tc: &Tc,
        limit: &Limit,
        set: Option<&[u64]>,
    ) -> Result<Restored, Error> {
        let Some((device, root)) = self.standing(tc)? else { return Ok(Restored::Nothing) };
        if root.handle != self.handle {
            return Ok(Restored::Others);
        }
        let is_other =
            |now: u64| now != limit.bytes_per_sec() && set.is_some_and(|set| !set.contains(&now));
        let requests = match (limit, Kind::of(&root.kind)) {
            (Limit::Cake { bytes_per_sec }, Some(Kind::Cake | Kind::CakeMq)) => {
                if root.options().u64(TCA_CAKE_BASE_RATE64).is_some_and(is_other) {
                    return Ok(Restored::Others);
                }
                vec![cake_rate(&device, &root.kind, root.handle, *bytes_per_sec)]
            }
            (Limit::Htb { classes }, Some(Kind::Htb)) => {
                let all = tc.classes_of(&device, root.handle)?;
                for Limiting { handle, .. } in classes {
                    let now = all.iter().find(|class| class.handle == *handle);
                    let now = now.and_then(|class| htb::Options::read(&class.options)?.rate());
                    if now.is_none_or(|rate| is_other(rate.bytes_per_sec())) {
                        return Ok(Restored::Others);
                    }
                }
                classes.iter().map(|class| class_change(&device, class)).collect()
            }
            _ => return Ok(Restored::Others),
        };
        for request in requests {
            let doing = "put the rate back";
            tc.change(request).map_err(|refusal| refused(&device.name, doing, refusal))?;
        }
        Ok(Restored::Restored)
    }

    fn put_back_root(&self, tc: &Tc, root: &Root) -> Result<Restored, Error> {
        let Some((device, now)) = self.standing(tc)? else { return Ok(Restored::Nothing) };
        if now.handle != self.handle {
            let is_before = match root {
                Root::Default => now.handle.is_default(),
                Root::Chosen { handle, .. } => now.handle == *handle,
            };
            return Ok(if is_before { Restored::Nothing } else { Restored::Others });
        }
        let (kind, flags) = match root {
            // The kernel then puts its default there.
            Root::Default => (libc::RTM_DELQDISC, CHANGE),
            Root::Chosen { .. } => (libc::RTM_NEWQDISC, REPLACE),
        };
        let handle = if let Root::Chosen { handle, .. } = root { *handle } else { now.handle };
        let (handle, parent) = (handle.number(), Handle::ROOT.number());
        let at = At { device: device.index, handle, parent, info: 0 };
        let mut request = Message::new(kind, flags).about(at);
        if let Root::Chosen { kind, options, sizes, .. } = root {
            request = request.text(TCA_KIND, kind);
            if let Some(options) = options {
                request = request.attribute(TCA_OPTIONS, &again(kind, options));
            }
            if let Some(sizes) = sizes {
                request = request.attribute(TCA_STAB, sizes);
            }
        }
        let doing = "put the root qdisc back";
        tc.change(request).map_err(|refusal| refused(&device.name, doing, refusal))?;
        Ok(Restored::Restored)
    }

    fn remove_ifb(&self, tc: &Tc) -> Result<Restored, Error> {
        let device = match tc.device(&self.device) {
            Err(Error::NoDevice { .. }) => return Ok(Restored::Nothing),
            device => device?,
        };
        let root = tc.root(&device)?;
        // A kill in between leaves it with the kernel's default.
        let is_ours =
            root.is_none_or(|root| root.handle == self.handle || root.handle.is_default());
        if device.kind.as_deref() != Some("ifb") || !is_ours {
            return Ok(Restored::Others);
        }
        ifb::remove(tc, &device)?;
        Ok(Restored::Restored)
    }

    /// The same device and its root, if they are still there.
    fn standing(&self, tc: &Tc) -> Result<Option<(Device, Qdisc)>, Error> {
        let Some(device) = tc.same(&self.device, self.index)? else { return Ok(None) };
        Ok(tc.root(&device)?.map(|root| (device, root)))
    }
}

/// Kinds that the kernel rebuilds from the options that it lists. A test shows it of each that the
/// kernel has.
pub(crate) const REBUILT: [&str; 8] =
    ["bfifo", "cake", "codel", "fq_codel", "noqueue", "pfifo", "pfifo_fast", "tbf"];

/// The options as a kernel takes them, of those that it listed.
fn again(kind: &str, options: &[u8]) -> Vec<u8> {
    // CoDel keeps times in units of 1024 ns and lists them in microseconds, rounded down each time
    // (`codel_time_to_us`). One more comes to the same unit, and less would come to the one before.
    let times: &[u16] = match kind {
        // Target, interval, threshold.
        "codel" => &[1, 3, 5],
        "fq_codel" => &[1, 3, 7],
        _ => return options.to_vec(),
    };
    let mut message = Message::new(0, 0);
    for (attribute, data) in Attributes(options) {
        message = match <[u8; 4]>::try_from(data) {
            Ok(time) if times.contains(&attribute) => {
                message.number(attribute, u32::from_ne_bytes(time).saturating_add(1))
            }
            _ => message.attribute(attribute, data),
        };
    }
    message.content()
}
