//! A shaper at the root of a device: its rate, and nothing else of it.

use std::fmt;

use sounding_units::Rate;

use crate::before::{Before, Way};
use crate::error::Error;
use crate::htb;
use crate::kind::Kind;
use crate::limit::{self, Limit, Limiting, cake_rate, class_change};
use crate::message::Message;
use crate::numbers::TCA_CAKE_BASE_RATE64;
use crate::objects::{Device, Handle, Qdisc, Queue};
use crate::socket::Refusal;
use crate::tc::{Tc, refused, unreadable};

/// A qdisc that limits the rate of a device.
#[derive(Debug)]
pub struct Shaper {
    pub(crate) device: Device,
    pub(crate) kind: Kind,
    pub(crate) handle: Handle,
    /// The kind of queue behind HTB's class.
    pub(crate) leaf: Option<String>,
    pub(crate) limit: Limit,
    /// The rate in the kernel, unless another program has changed it.
    pub(crate) expected_bytes_per_sec: u64,
    /// The newest rate that was asked for; the kernel's is rounded.
    pub(crate) given: Option<Rate>,
    /// Bytes of a link's header that HTB counts with each packet, and a given rate does not.
    pub(crate) header_bytes: u16,
    pub(crate) before: Before,
}

impl Shaper {
    /// Takes the shaper at the root of a device. Nothing is changed yet. A downlink is shaped at
    /// the root of an IFB.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`], [`Error::NoShaper`], [`Error::Unsuitable`] if more than one class
    /// shapes or the qdisc sets its own rate, or the kernel's refusal.
    pub fn adopt(tc: &Tc, device: &str) -> Result<Self, Error> {
        let device = tc.device(device)?;
        let none = |kind: &str| Error::NoShaper { device: device.name.clone(), kind: kind.into() };
        let root = tc.root(&device)?.ok_or_else(|| none("none"))?;
        let kind = Kind::of(&root.kind).ok_or_else(|| none(&root.kind))?;
        let (limit, leaf) = limit::found(tc, &device, &root, kind)?;
        let way = Way::Adopted { limit: limit.clone() };
        let before =
            Before { device: device.name.clone(), index: device.index, handle: root.handle, way };
        Ok(Self {
            kind,
            handle: root.handle,
            leaf,
            expected_bytes_per_sec: limit.bytes_per_sec(),
            limit,
            given: None,
            header_bytes: 0,
            before,
            device,
        })
    }

    /// The device at whose root it stands: an IFB for a downlink that this program shapes.
    pub fn device(&self) -> &str {
        &self.device.name
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its number.
    pub fn handle(&self) -> Handle {
        self.handle
    }

    /// How to restore the machine.
    pub fn before(&self) -> &Before {
        &self.before
    }

    /// The rate that the kernel has now; `None` if CAKE has no limit. Of a shaper that was built it
    /// counts IP packets, of another one what its own options count.
    ///
    /// # Errors
    ///
    /// [`Error::Changed`] if another qdisc stands there, [`Error::Gone`] or [`Error::Returned`] if
    /// the device went, or the kernel's refusal.
    pub fn rate(&self, tc: &Tc) -> Result<Option<Rate>, Error> {
        let now = self.present(tc)?;
        if now == self.expected_bytes_per_sec && self.given.is_some() {
            return Ok(self.given);
        }
        let now = Rate::from_bytes_per_sec(now);
        let link = u32::from(self.header_bytes) + FULL_PACKET;
        Ok((now > Rate::ZERO).then(|| now.scaled(FULL_PACKET, link)))
    }

    /// Whether the rate is still the one that this process found or set.
    ///
    /// # Errors
    ///
    /// [`Error::Changed`] if not; otherwise as [`Shaper::rate`].
    pub fn check(&self, tc: &Tc) -> Result<(), Error> {
        let now = self.present(tc)?;
        if now == self.expected_bytes_per_sec {
            return Ok(());
        }
        Err(self.changed(&format!("its rate is {}", Rate::from_bytes_per_sec(now))))
    }

    /// Sets the rate. All else of the qdisc stays.
    ///
    /// # Errors
    ///
    /// As [`Shaper::check`]; then nothing is set. [`Error::Rate`] for a rate below 8 bit/s, and
    /// the kernel's refusal.
    pub fn set_rate(&mut self, tc: &Tc, rate: Rate) -> Result<(), Error> {
        let bytes_per_sec = self.kernels(rate)?;
        self.check(tc)?;
        if bytes_per_sec != self.expected_bytes_per_sec {
            self.set(tc, bytes_per_sec)?;
            self.expected_bytes_per_sec = bytes_per_sec;
        }
        self.given = Some(rate);
        Ok(())
    }

    /// The rates that the kernel may have, in bytes a second, if this process is killed while it
    /// sets this one: see [`Before::restore_after`].
    ///
    /// # Errors
    ///
    /// [`Error::Rate`] for a rate below 8 bit/s.
    pub fn rates_until(&self, rate: Rate) -> Result<[u64; 2], Error> {
        Ok([self.expected_bytes_per_sec, self.kernels(rate)?])
    }

    /// The queue of the qdisc and all below it. Every user may read it.
    ///
    /// # Errors
    ///
    /// As [`Shaper::rate`].
    pub fn queue(&self, tc: &Tc) -> Result<Queue, Error> {
        self.root(tc)?.queue.ok_or_else(|| unreadable(&self.device.name, "the queue"))
    }

    /// Puts back how the machine was, unless another program has changed it since.
    ///
    /// # Errors
    ///
    /// [`Error::Changed`] if an adopted rate was changed by another program: it stays. The kernel's
    /// refusal otherwise. A device that has gone is no error.
    pub fn restore(self, tc: &Tc) -> Result<(), Error> {
        if let Way::Adopted { .. } = self.before.way {
            match self.check(tc) {
                Err(Error::Gone { .. } | Error::Returned { .. }) => return Ok(()),
                checked => checked?,
            }
        }
        self.before.restore(tc).map(drop)
    }

    /// The rate as the kernel counts, in bytes a second.
    pub(crate) fn kernels(&self, rate: Rate) -> Result<u64, Error> {
        let link = u32::from(self.header_bytes) + FULL_PACKET;
        match rate.scaled(link, FULL_PACKET).bytes_per_sec() {
            0 => Err(Error::Rate { device: self.device.name.clone(), rate }),
            bytes_per_sec => Ok(bytes_per_sec),
        }
    }

    fn set(&self, tc: &Tc, bytes_per_sec: u64) -> Result<(), Error> {
        let requests = match &self.limit {
            Limit::Cake { .. } => {
                vec![cake_rate(&self.device, self.kind.name(), self.handle, bytes_per_sec)]
            }
            Limit::Htb { classes } => {
                let rate = Rate::from_bytes_per_sec(bytes_per_sec);
                let of = |class: &Limiting| {
                    let options = class.options.with(rate);
                    class_change(&self.device, &Limiting { options, ..class.clone() })
                };
                let mut all: Vec<Message> = classes.iter().map(of).collect();
                // No class has more than the one above it, also in between.
                if bytes_per_sec < self.expected_bytes_per_sec {
                    all.reverse();
                }
                all
            }
        };
        for request in requests {
            tc.change(request).map_err(|refusal| self.lost(tc, self.refused(refusal)))?;
        }
        Ok(())
    }

    fn refused(&self, refusal: Refusal) -> Error {
        refused(&self.device.name, &format!("set the rate of {self}"), refusal)
    }

    fn root(&self, tc: &Tc) -> Result<Qdisc, Error> {
        let root = tc.root(&self.device).map_err(|error| self.lost(tc, error))?;
        match root {
            Some(root) if root.kind == self.kind.name() && root.handle == self.handle => Ok(root),
            Some(other) => Err(self.changed(&format!("the root is {other}"))),
            None => Err(self.changed("the device has no root qdisc")),
        }
    }

    /// The rate in the kernel, in bytes a second.
    fn present(&self, tc: &Tc) -> Result<u64, Error> {
        let root = self.root(tc)?;
        match &self.limit {
            Limit::Cake { .. } => root
                .options()
                .u64(TCA_CAKE_BASE_RATE64)
                .ok_or_else(|| unreadable(&self.device.name, "the rate of CAKE")),
            Limit::Htb { classes } => {
                let all = tc.classes_of(&self.device, self.handle);
                let all = all.map_err(|error| self.lost(tc, error))?;
                let mut found = None;
                for class in classes {
                    let now = all.iter().find(|now| now.handle == class.handle);
                    let now = now.and_then(|class| htb::Options::read(&class.options)?.rate());
                    match (now, found) {
                        (Some(rate), None) => found = Some(rate),
                        (Some(rate), Some(above)) if rate == above => {}
                        _ => return Err(self.changed("its classes have other rates")),
                    }
                }
                let rate = found.ok_or_else(|| unreadable(&self.device.name, "the rate of HTB"))?;
                Ok(rate.bytes_per_sec())
            }
        }
    }

    fn changed(&self, now: &str) -> Error {
        let device = self.device.name.clone();
        Error::Changed { device, qdisc: self.to_string(), now: now.into() }
    }

    /// A device that is no longer the same says more than the kernel's error about its number.
    fn lost(&self, tc: &Tc, error: Error) -> Error {
        let (device, qdisc) = (self.device.name.clone(), self.to_string());
        match (&error, tc.device(&device)) {
            (Error::NoDevice { .. }, Err(Error::NoDevice { .. })) => Error::Gone { device, qdisc },
            (Error::NoDevice { .. }, Ok(_)) => Error::Returned { device, qdisc },
            _ => error,
        }
    }
}

/// Kind, number, and the queue behind it.
impl fmt::Display for Shaper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.handle)?;
        self.leaf.as_ref().map_or(Ok(()), |leaf| write!(f, " with {leaf}"))
    }
}

/// The packet for which a rate of IP packets is exact in HTB, in bytes: of smaller ones HTB then
/// sends less than the rate, never more.
const FULL_PACKET: u32 = 1500;

#[cfg(test)]
mod tests;
