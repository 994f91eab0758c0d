//! The far end as a device of this machine's own network, from which the near end reaches what the
//! machine reaches.
//!
//! All of it ends with descriptors of this process: the device with that of the TUN driver, and its
//! settings, address and route with the device; the rules with their socket.

mod table;

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;

use nix::ifaddrs::getifaddrs;
use nix::net::if_::if_nametoindex;

use crate::device::{self, tun_name};
use crate::gso::VNET_HEADER;
use crate::name_relay::NameRelay;
use crate::{Netns, StartError};
use table::{TRIAL, Table};

/// How the far end's device is called, before its number.
const PREFIX: &str = "sounding";

/// Pairs of addresses in the last byte of one.
const PAIRS: u8 = 127;

/// RFC 6598: never routed on the Internet, but some networks of operators and some tunnels use it.
const SHARED: Ipv4Addr = Ipv4Addr::new(100, 64, 0, 0);
/// RFC 2544: for measurements.
const OTHER: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 0);

/// The far end's device.
#[derive(Debug)]
pub(crate) struct Outside {
    pub(crate) device: String,
    pub(crate) near: Ipv4Addr,
    pub(crate) far: Ipv4Addr,
    /// Whether packets of the near end come through this machine's firewall.
    pub(crate) is_open: bool,
    /// The rules end with this socket.
    _rules: OwnedFd,
    /// None where a server of the machine has that port at all its addresses.
    _names: Option<NameRelay>,
}

impl Outside {
    /// Makes the device in a network namespace, if asked with a way to the machine's name servers.
    pub(crate) fn make(
        machine: &Netns,
        mtu: u16,
        with_names: bool,
    ) -> Result<(OwnedFd, Self), StartError> {
        let made = machine.enter(|| Self::make_here(mtu, with_names));
        made.map_err(|error| setup("enter")(io::Error::other(error)))?
    }

    fn make_here(mtu: u16, with_names: bool) -> Result<(OwnedFd, Self), StartError> {
        let (base, first) = addresses_here().map_err(setup("read the addresses"))?;
        for number in first..PAIRS {
            let device = format!("{PREFIX}{number}");
            let Some(tun) = device::open_new_tun(&device)? else { continue };
            let address = |last: u8| Ipv4Addr::from_bits(base.to_bits() | u32::from(last));
            let (near, far) = (address(2 * number + 1), address(2 * number + 2));
            device::set_up(&device, far, near, mtu).map_err(setup(&format!("set {device} up")))?;
            let index = if_nametoindex(device.as_str())
                .map_err(|error| setup("find the device")(error.into()))?;
            let refused = |refusal: sounding_qdisc::netlink::Refusal| StartError::Rules {
                source: refusal.errno.into(),
                words: refusal.words,
            };
            let table = Table::make(&device, index, near).map_err(refused)?;
            nix::unistd::write(&tun, &trial_packet(near))
                .map_err(|error| setup("try the way to the network")(error.into()))?;
            let trial = table.trial().map_err(refused)?;
            let is_open = trial.entered == 0 || trial.left > 0;
            let names = match with_names.then(|| NameRelay::start(far, near)).transpose() {
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => None,
                names => names.map_err(setup("pass names on"))?,
            };
            return Ok((
                tun,
                Self { device, near, far, is_open, _rules: table.into_socket(), _names: names },
            ));
        }
        Err(StartError::Full)
    }
}

fn setup(doing: &str) -> impl Fn(io::Error) -> StartError + use<> {
    let doing = doing.to_owned();
    move |source| StartError::Setup { doing: doing.clone(), side: "machine's", source }
}

/// The network of this namespace's pairs of addresses, and the number of the first pair that may be
/// free. Behind an emulated link, pairs follow that of the link, so that both far ends stay in
/// reach.
fn addresses_here() -> io::Result<(Ipv4Addr, u8)> {
    let mut is_shared_used = false;
    for one in getifaddrs()? {
        let Some(address) = one.address.as_ref().and_then(|it| it.as_sockaddr_in()) else {
            continue;
        };
        let address = address.ip();
        if one.interface_name == tun_name(0) {
            let [.., last] = address.octets();
            return Ok((Ipv4Addr::from_bits(address.to_bits() & !0xff), last.div_ceil(2)));
        }
        let is_ours = one.interface_name.starts_with(PREFIX);
        // A /10.
        is_shared_used |= !is_ours && address.to_bits() >> 22 == SHARED.to_bits() >> 22;
    }
    Ok((if is_shared_used { OTHER } else { SHARED }, 0))
}

/// A packet to an address that no machine has (RFC 5737). It goes as far as the device that leads
/// there, and is dropped before it.
fn trial_packet(from: Ipv4Addr) -> Vec<u8> {
    const TO: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
    const LENGTH: u8 = 20;
    let mut header = vec![0x45, 0, 0, LENGTH, 0, 0, 0x40, 0, 64, TRIAL, 0, 0];
    header.extend(from.octets());
    header.extend(TO.octets());
    let sum: u32 = header.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    [vec![0; VNET_HEADER], header].concat()
}
