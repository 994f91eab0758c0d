//! What the kernel lists: devices, qdiscs, classes and filters, as decoded values.

use std::fmt;

use serde::{Deserialize, Serialize};
use sounding_units::Bytes;

use crate::message::{Attributes, u16_at, u32_at, u64_at};
use crate::numbers::{
    IFINFO_BYTES, ROOT, TCA_EGRESS_BLOCK, TCA_INGRESS_BLOCK, TCA_KIND, TCA_OPTIONS, TCA_STAB,
    TCA_STATS_BASIC, TCA_STATS_PKT64, TCA_STATS_QUEUE, TCA_STATS2, TCMSG_BYTES,
};

/// The number of a qdisc (`50d0:`) or a class (`50d0:1`).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Handle(u32);

impl Handle {
    /// The parent of a qdisc or class at the root of a device.
    pub const ROOT: Self = Self(ROOT);

    /// From the kernel's number.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The kernel's number.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The class of this qdisc with this number.
    pub const fn class(self, minor: u16) -> Self {
        Self(self.0 & 0xffff_0000 | minor as u32)
    }

    /// Whether it is the kernel's own: no user or program has asked for the qdisc.
    pub const fn is_default(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 >> 16, self.0 & 0xffff) {
            _ if *self == Self::ROOT => f.write_str("root"),
            (major, 0) => write!(f, "{major:x}:"),
            (major, minor) => write!(f, "{major:x}:{minor:x}"),
        }
    }
}

/// A network device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Its number. A device that went and came back has another.
    pub index: u32,
    /// Its kind if it is a virtual device: `ifb`, `veth`, `tun`.
    pub kind: Option<String>,
    /// Bytes of the link's header in front of an IP packet, as qdiscs count them.
    pub header_bytes: u16,
    /// Whether it is up.
    pub is_up: bool,
}

impl Device {
    pub(crate) fn read(content: &[u8]) -> Option<Self> {
        let attributes = Attributes::after(content, IFINFO_BYTES);
        let info = attributes.nested(libc::IFLA_LINKINFO);
        Some(Self {
            name: attributes.text(libc::IFLA_IFNAME)?,
            index: u32_at(content, 4)?,
            kind: info.text(libc::IFLA_INFO_KIND),
            header_bytes: header_bytes(u16_at(content, 2)?),
            is_up: u32_at(content, 8)? & libc::IFF_UP.cast_unsigned() != 0,
        })
    }
}

/// Of a kind of link: raw IP, PPP and TUN devices have no header where qdiscs stand.
fn header_bytes(link: u16) -> u16 {
    if link == libc::ARPHRD_ETHER { 14 } else { 0 }
}

/// A qdisc.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Qdisc {
    /// Its kind: `cake`, `htb`, `pfifo_fast`.
    pub kind: String,
    /// Its number, zero if the kernel chose the qdisc.
    pub handle: Handle,
    /// Root, or the class that it belongs to.
    pub parent: Handle,
    /// Its queue, where the kernel says it.
    pub queue: Option<Queue>,
    /// Its options as the kernel lists them.
    pub(crate) options: Option<Vec<u8>>,
    /// Its size table.
    pub(crate) sizes: Option<Vec<u8>>,
    /// Whether its filters are shared with other devices.
    pub(crate) shares_filters: bool,
    pub(crate) device: u32,
}

impl Qdisc {
    pub(crate) fn read(content: &[u8]) -> Option<Self> {
        let attributes = Attributes::after(content, TCMSG_BYTES);
        let bytes_of = |kind| attributes.get(kind).map(<[u8]>::to_vec);
        Some(Self {
            kind: attributes.text(TCA_KIND)?,
            handle: Handle(u32_at(content, 8)?),
            parent: Handle(u32_at(content, 12)?),
            queue: Queue::read(attributes.nested(TCA_STATS2)),
            options: bytes_of(TCA_OPTIONS),
            sizes: bytes_of(TCA_STAB),
            shares_filters: [TCA_INGRESS_BLOCK, TCA_EGRESS_BLOCK]
                .iter()
                .any(|kind| attributes.get(*kind).is_some()),
            device: u32_at(content, 4)?,
        })
    }

    pub(crate) fn options(&self) -> Attributes<'_> {
        Attributes(self.options.as_deref().unwrap_or_default())
    }
}

impl fmt::Display for Qdisc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.handle)
    }
}

/// A class of a qdisc.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Class {
    /// The kind of its qdisc.
    pub kind: String,
    /// Its number.
    pub handle: Handle,
    /// Root, or the class above it.
    pub parent: Handle,
    /// Its options as the kernel lists them.
    pub(crate) options: Vec<u8>,
}

impl Class {
    pub(crate) fn read(content: &[u8]) -> Option<Self> {
        let attributes = Attributes::after(content, TCMSG_BYTES);
        Some(Self {
            kind: attributes.text(TCA_KIND)?,
            handle: Handle(u32_at(content, 8)?),
            parent: Handle(u32_at(content, 12)?),
            options: attributes.get(TCA_OPTIONS).unwrap_or_default().to_vec(),
        })
    }
}

/// A filter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filter {
    /// Its kind: `matchall`, `u32`, `bpf`.
    pub kind: String,
    /// The qdisc or class, or the side of it, that it filters.
    pub parent: Handle,
    /// Its place among the filters there.
    pub priority: u16,
}

impl Filter {
    pub(crate) fn read(content: &[u8]) -> Option<Self> {
        let attributes = Attributes::after(content, TCMSG_BYTES);
        Some(Self {
            kind: attributes.text(TCA_KIND)?,
            parent: Handle(u32_at(content, 12)?),
            priority: (u32_at(content, 16)? >> 16) as u16,
        })
    }
}

/// The queue of a qdisc with all below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Queue {
    /// Packets that wait. A packet of many segments counts once, except in CAKE.
    pub packets: u32,
    /// Their bytes, with the link's header.
    pub waiting: Bytes,
    /// Bytes sent since the qdisc began, with the link's header.
    pub sent: Bytes,
    /// Packets sent since the qdisc began.
    pub sent_packets: u64,
    /// Packets dropped since the qdisc began; it starts again at 2^32.
    pub drops: u32,
}

impl Queue {
    fn read(stats: Attributes<'_>) -> Option<Self> {
        let (basic, queue) = (stats.get(TCA_STATS_BASIC)?, stats.get(TCA_STATS_QUEUE)?);
        let few = || u32_at(basic, 8).map(u64::from);
        Some(Self {
            packets: u32_at(queue, 0)?,
            waiting: Bytes::new(u32_at(queue, 4)?.into()),
            sent: Bytes::new(u64_at(basic, 0)?),
            sent_packets: stats.u64(TCA_STATS_PKT64).or_else(few)?,
            drops: u32_at(queue, 8)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_handle_is_written_as_tc_writes_it() {
        for (number, text) in
            [(0x50d0_0000, "50d0:"), (0x1_0010, "1:10"), (0, "0:"), (u32::MAX, "root")]
        {
            assert_eq!(Handle::new(number).to_string(), text);
        }
        assert_eq!(Handle::new(0x50d0_0000).class(1).to_string(), "50d0:1");
    }

    proptest! {
        #[test]
        fn no_content_makes_a_reader_panic(content: Vec<u8>) {
            let (device, qdisc) = (Device::read(&content), Qdisc::read(&content));
            let (class, filter) = (Class::read(&content), Filter::read(&content));
            // Each needs at least its header and a name.
            let is_short = content.len() < IFINFO_BYTES + 4;
            let none = device.is_none() && qdisc.is_none() && class.is_none() && filter.is_none();
            prop_assert!(!is_short || none);
        }
    }
}
