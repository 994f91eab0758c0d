//! The flowtables of nftables: flows in them skip most of this kernel's way from device to device.

use nix::errno::Errno;
use nix::sys::socket::SockProtocol;

use crate::error::Error;
use crate::message::{Attributes, Message, u32_at_network};
use crate::socket::Socket;
use crate::tc::{refused, unreadable};

/// `NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETFLOWTABLE`.
const GET_FLOWTABLES: u16 = 10 << 8 | 23;
const LIST: u16 = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
/// `struct nfgenmsg`.
const GENERIC_BYTES: usize = 4;
/// `NFTA_FLOWTABLE_TABLE` and the others, of `linux/netfilter/nf_tables.h`.
const TABLE: u16 = 1;
const NAME: u16 = 2;
const HOOK: u16 = 3;
const FLAGS: u16 = 7;
/// `NFTA_FLOWTABLE_HOOK_DEVS`.
const DEVICES: u16 = 3;
/// `NFTA_DEVICE_NAME`.
const DEVICE: u16 = 1;
/// `NFTA_DEVICE_PREFIX`: all devices whose names begin so.
const PREFIX: u16 = 2;
/// `NFT_FLOWTABLE_HW_OFFLOAD`.
const HARDWARE: u32 = 1;

/// A flowtable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Flowtable {
    /// The family of its table, as `nft` writes it: `inet`, `ip`, `ip6`.
    pub family: &'static str,
    /// Its table.
    pub table: String,
    /// Its name there.
    pub name: String,
    /// Its devices, as nftables names them. A `*` at the end stands for any end.
    pub devices: Vec<String>,
    /// Whether its flows are given to the devices' hardware (`flags offload`).
    pub is_hardware: bool,
}

impl Flowtable {
    /// One that is known from elsewhere.
    pub const fn new(
        family: &'static str,
        table: String,
        name: String,
        devices: Vec<String>,
        is_hardware: bool,
    ) -> Self {
        Self { family, table, name, devices, is_hardware }
    }

    /// Those of this network namespace. None where the kernel has no nftables.
    ///
    /// As with `nft list flowtables`, a kernel with nftables as a module loads it.
    ///
    /// # Errors
    ///
    /// [`Error::NotPermitted`] without CAP_NET_ADMIN: nothing is known then. Or the kernel's
    /// refusal.
    pub fn list() -> Result<Vec<Self>, Error> {
        const ABOUT: &str = "nftables";
        let socket = match Socket::open_for(SockProtocol::NetlinkNetFilter) {
            Err(error) if error.raw_os_error() == Some(libc::EPROTONOSUPPORT) => {
                return Ok(Vec::new());
            }
            socket => socket.map_err(Error::Socket)?,
        };
        let (mut all, mut unread) = (Vec::new(), false);
        // Of all families.
        let request = Message::new(GET_FLOWTABLES, LIST).raw(&[0; GENERIC_BYTES]);
        let asked = socket.ask(request, |answer| match Self::read(answer.content) {
            Some(one) => all.push(one),
            None => unread = true,
        });
        match asked {
            // nfnetlink.c: no nf_tables, or one from before flowtables.
            Err(refusal) if refusal.errno == Errno::EINVAL => Ok(Vec::new()),
            Err(refusal) => Err(refused(ABOUT, "list flowtables", refusal)),
            Ok(()) if unread => Err(unreadable(ABOUT, "its flowtables")),
            Ok(()) => Ok(all),
        }
    }

    /// Whether a device of this name is one of its devices.
    pub fn has(&self, device: &str) -> bool {
        self.devices.iter().any(|name| match name.strip_suffix('*') {
            Some(prefix) => device.starts_with(prefix),
            None => name == device,
        })
    }

    fn read(content: &[u8]) -> Option<Self> {
        let attributes = Attributes::after(content, GENERIC_BYTES);
        let devices = attributes.nested(HOOK).nested(DEVICES);
        let text = |data: &[u8]| {
            let name = data.split(|byte| *byte == 0).next().unwrap_or_default();
            String::from_utf8_lossy(name).into_owned()
        };
        let flags = attributes.get(FLAGS).and_then(|data| u32_at_network(data, 0));
        Some(Self {
            family: match i32::from(*content.first()?) {
                libc::NFPROTO_INET => "inet",
                libc::NFPROTO_IPV4 => "ip",
                libc::NFPROTO_IPV6 => "ip6",
                _ => return None,
            },
            table: attributes.text(TABLE)?,
            name: attributes.text(NAME)?,
            devices: devices
                .filter_map(|(kind, data)| match kind {
                    DEVICE => Some(text(data)),
                    PREFIX => Some(text(data) + "*"),
                    _ => None,
                })
                .collect(),
            is_hardware: flags.unwrap_or_default() & HARDWARE != 0,
        })
    }
}

/// As `nft` names it: `inet filter ft`.
impl std::fmt::Display for Flowtable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.family, self.table, self.name)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As `nf_tables_fill_flowtable_info()` of Linux writes `table inet t { flowtable f { hook
    /// ingress priority 0; devices = { vec0, vec1 } } }`, behind the message's header.
    const WRITTEN: &[u8] = &[
        1, 0, 0, 3, // nfgenmsg: inet, the generation's number
        6, 0, 1, 0, b't', 0, 0, 0, // its table
        6, 0, 2, 0, b'f', 0, 0, 0, // its name
        12, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 2, // its handle
        8, 0, 4, 0, 0, 0, 0, 0, // its users
        8, 0, 7, 0, 0, 0, 0, 0, // its flags
        48, 0, 3, 0x80, // its hook
        8, 0, 1, 0, 0, 0, 0, 0, // ingress
        8, 0, 2, 0, 0, 0, 0, 0, // its priority
        28, 0, 3, 0x80, // its devices
        9, 0, 1, 0, b'v', b'e', b'c', b'0', 0, 0, 0, 0, //
        9, 0, 1, 0, b'v', b'e', b'c', b'1', 0, 0, 0, 0,
    ];

    #[test]
    fn a_flowtable_is_read_with_its_devices() {
        let read = Flowtable::read(WRITTEN).expect("it is whole");
        assert_eq!((read.to_string().as_str(), read.is_hardware), ("inet t f", false));
        assert_eq!(read.devices, ["vec0", "vec1"]);
        assert!(read.has("vec1") && !read.has("vec"));
    }

    #[test]
    fn the_hardwares_flag_is_in_the_networks_order() {
        let mut bytes = WRITTEN.to_vec();
        // The flags' data, behind 4 + 8 + 8 + 12 + 8 bytes and a header.
        bytes[47] = 1;
        assert!(Flowtable::read(&bytes).expect("it is whole").is_hardware);
    }

    #[test]
    fn a_prefix_stands_for_every_device_that_begins_so() {
        let mut bytes = WRITTEN.to_vec();
        let last = bytes.len() - 12;
        bytes[last + 2] = 2;
        let read = Flowtable::read(&bytes).expect("it is whole");
        assert_eq!(read.devices, ["vec0", "vec1*"]);
        assert!(read.has("vec10") && !read.has("vec00"));
    }

    proptest! {
        #[test]
        fn no_content_makes_a_reader_panic(content: Vec<u8>) {
            if let Some(read) = Flowtable::read(&content) {
                prop_assert!(content.len() > GENERIC_BYTES && !read.family.is_empty());
            }
        }
    }
}
