//! The namespaces and devices at the ends of an emulation.

use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;

use crate::device::{self, Settings, tun_name};
use crate::error::system;
use crate::outside::Outside;
use crate::{Between, Config, Far, Netns, StartError};

/// The two ends of all links, and what is at them.
pub(crate) struct Ends {
    /// One for each device.
    pub(crate) nears: Vec<Netns>,
    pub(crate) far: Netns,
    pub(crate) outside: Option<Outside>,
    /// Of the first device's host, of its far end, of the second device's host, and so on.
    pub(crate) tuns: Vec<OwnedFd>,
    /// Of the first device and of the far end.
    pub(crate) addresses: (Ipv4Addr, Ipv4Addr),
}

impl Ends {
    pub(crate) fn make(config: &Config) -> Result<Self, StartError> {
        let &Config { near_address, far_address, mtu, .. } = config;
        let mut addresses = (near_address, far_address);
        let count = config.devices.len();
        let nears = (0..count).map(|_| new_netns()).collect::<Result<Vec<_>, StartError>>()?;
        let (far, mut far_tun, outside) = match config.far {
            Far::Namespace => (new_netns()?, None, None),
            Far::Machine => {
                let machine = Netns::current().map_err(system("open this network namespace"))?;
                let (tun, outside) = Outside::make(&machine, mtu, true)?;
                addresses = (outside.near, outside.far);
                (machine, Some(tun), Some(outside))
            }
        };
        let mut tuns = Vec::new();
        for (place, near) in nears.iter().enumerate() {
            let (peer, sysctls) = (addresses.1, &config.sysctls);
            let address = address_of(addresses.0, place);
            let name = tun_name(0);
            let settings = Settings {
                side: "near",
                name: &name,
                is_default: true,
                address,
                peer,
                mtu,
                sysctls,
            };
            tuns.push(device::create(near, &settings)?);
            let name = tun_name(place);
            let (is_default, address, peer) = (place == 0, peer, address);
            let settings =
                Settings { side: "far", name: &name, is_default, address, peer, mtu, sysctls };
            tuns.push(match far_tun.take() {
                Some(tun) => tun,
                None => device::create(&far, &settings)?,
            });
        }
        Ok(Self { nears, far, outside, tuns, addresses })
    }
}

/// Whether the settings are in their ranges.
pub(crate) fn check(config: &Config) -> Result<(), StartError> {
    let (mtu, count) = (config.mtu, config.devices.len());
    if !(576..=9000).contains(&mtu) {
        return Err(StartError::Mtu { mtu });
    }
    if !(1..=MAX_DEVICES).contains(&count) {
        return Err(StartError::Devices { count });
    }
    if config.far == Far::Machine && count > 1 {
        return Err(StartError::OneDevice { count });
    }
    let logged = config.logs.up.is_some() || config.logs.down.is_some();
    if logged && matches!(config.between, Between::Network(_)) {
        return Err(StartError::NoLink);
    }
    Ok(())
}

/// Limit: each device needs a namespace, and a unique number in the third byte of its address.
const MAX_DEVICES: usize = 64;

/// The address of a device, whose place among those with hosts is this.
pub(crate) fn address_of(near: Ipv4Addr, place: usize) -> Ipv4Addr {
    Ipv4Addr::from_bits(near.to_bits().wrapping_add((place as u32) << 8))
}

fn new_netns() -> Result<Netns, StartError> {
    Netns::new().map_err(|source| match source.raw_os_error() {
        Some(libc::EPERM) => StartError::NotPermitted,
        Some(libc::EINVAL | libc::ENOSYS) => StartError::NoNamespaces { source },
        _ => system("make a network namespace")(source),
    })
}
