//! A TUN device and the few settings a namespace needs, by `ioctl`: no other program is needed.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

use crate::{Netns, StartError};

/// The name of a device's TUN device in the far namespace. In its own namespace it is alone, and
/// has the first name.
pub(crate) fn tun_name(place: usize) -> String {
    format!("radio{place}")
}

/// Packets that the kernel may queue for the emulator before it drops any. mahimahi leaves the
/// default of 500, and loses bursts silently. This many full packets are 600 MB. If even these are
/// too few, the kernel's counter shows it.
const TX_QUEUE_LEN: i32 = 400_000;

/// Settings of a device.
pub(crate) struct Settings<'a> {
    pub(crate) side: &'static str,
    pub(crate) name: &'a str,
    /// Whether it has the default route.
    pub(crate) is_default: bool,
    pub(crate) address: Ipv4Addr,
    pub(crate) peer: Ipv4Addr,
    pub(crate) mtu: u16,
    pub(crate) sysctls: &'a [(String, String)],
}

/// Makes a TUN device in `netns`, up and with the default route through it.
pub(crate) fn create(netns: &Netns, settings: &Settings<'_>) -> Result<OwnedFd, StartError> {
    let side = settings.side;
    netns.enter(|| create_here(settings)).map_err(|error| StartError::Setup {
        doing: "enter".into(),
        side,
        source: io::Error::other(error),
    })?
}

fn create_here(settings: &Settings<'_>) -> Result<OwnedFd, StartError> {
    let &Settings { side, name, .. } = settings;
    let setup = |doing: &str| {
        let doing = doing.to_owned();
        move |source| StartError::Setup { doing, side, source }
    };
    // Without this the kernel announces itself by IPv6 multicast, and these packets would be in
    // every log.
    for scope in ["all", "default"] {
        let path = format!("/proc/sys/net/ipv6/conf/{scope}/disable_ipv6");
        match std::fs::write(path, "1") {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(setup("switch IPv6 off")(error));
            }
            _ => {}
        }
    }
    // Users are no danger to a network that is theirs alone: without root they may ping, and listen
    // on any port. Where the kernel does not let it, they may not.
    for (key, value) in [("ping_group_range", "0 2147483647"), ("ip_unprivileged_port_start", "0")]
    {
        let _ = std::fs::write(format!("/proc/sys/net/ipv4/{key}"), value);
    }
    for (key, value) in settings.sysctls {
        let path = format!("/proc/sys/{}", key.replace('.', "/"));
        std::fs::write(path, value).map_err(setup(&format!("set {key}")))?;
    }

    let tun = open_tun(name)?;
    let control = Control::open().map_err(setup("open a control socket"))?;
    control.set_flags("lo", libc::IFF_UP).map_err(setup("set lo up"))?;
    control.set_tx_queue_len(name, TX_QUEUE_LEN).map_err(setup("set the queue length"))?;
    control.set_mtu(name, settings.mtu).map_err(setup("set the MTU"))?;
    control.set_address(name, settings.address).map_err(setup("set the address"))?;
    control.set_peer(name, settings.peer).map_err(setup("set the peer address"))?;
    control.set_flags(name, libc::IFF_UP).map_err(setup("set the TUN device up"))?;
    if settings.is_default {
        control.add_default_route(name).map_err(setup("add the default route"))?;
    }
    Ok(tun)
}

/// Sets a TUN device up that is to be one of this machine's own, and forwards. No other device's
/// settings change.
pub(crate) fn set_up(name: &str, address: Ipv4Addr, peer: Ipv4Addr, mtu: u16) -> io::Result<()> {
    for (family, setting) in [("ipv6", "disable_ipv6"), ("ipv4", "forwarding")] {
        let path = format!("/proc/sys/net/{family}/conf/{name}/{setting}");
        match std::fs::write(path, "1") {
            // A kernel without IPv6.
            Err(error) if family == "ipv6" && error.kind() == io::ErrorKind::NotFound => {}
            written => written?,
        }
    }
    let control = Control::open()?;
    control.set_tx_queue_len(name, TX_QUEUE_LEN)?;
    control.set_mtu(name, mtu)?;
    control.set_address(name, address)?;
    control.set_peer(name, peer)?;
    control.set_flags(name, libc::IFF_UP)
}

fn open_tun(name: &str) -> Result<OwnedFd, StartError> {
    open_new_tun(name)?.ok_or_else(|| StartError::TunNotPermitted {
        source: io::Error::from_raw_os_error(libc::EBUSY),
    })
}

/// A new TUN device; `None` if there is a device of this name.
pub(crate) fn open_new_tun(name: &str) -> Result<Option<OwnedFd>, StartError> {
    let tun = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open("/dev/net/tun")
        .map_err(|source| match source.raw_os_error() {
            Some(libc::ENOENT | libc::ENXIO | libc::ENODEV) => StartError::NoTun,
            _ => StartError::TunNotPermitted { source },
        })?;
    let mut request = ifreq(name);
    // With IFF_VNET_HDR superpackets can be written. Read packets only get a header before them,
    // because TUNSETOFFLOAD offers no features: the sender's kernel cuts and checksums by
    // itself.
    let flags = libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR | libc::IFF_TUN_EXCL;
    request.ifr_ifru.ifru_flags = flags as libc::c_short;
    match ioctl(tun.as_raw_fd(), libc::TUNSETIFF, &mut request) {
        // The driver says so of devices that are not its own.
        Err(source) if matches!(source.raw_os_error(), Some(libc::EBUSY | libc::EINVAL)) => {
            Ok(None)
        }
        made => {
            made.map(|()| Some(tun.into())).map_err(|source| StartError::TunNotPermitted { source })
        }
    }
}

/// A socket through which devices are configured.
pub(crate) struct Control(OwnedFd);

impl Control {
    pub(crate) fn open() -> io::Result<Self> {
        Ok(Self(socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?))
    }

    fn set_flags(&self, device: &str, flags: libc::c_int) -> io::Result<()> {
        let mut request = ifreq(device);
        self.ioctl(libc::SIOCGIFFLAGS, &mut request)?;
        // SAFETY: SIOCGIFFLAGS has filled in this member of the union.
        let present = unsafe { request.ifr_ifru.ifru_flags };
        request.ifr_ifru.ifru_flags = present | flags as libc::c_short;
        self.ioctl(libc::SIOCSIFFLAGS, &mut request)
    }

    fn set_tx_queue_len(&self, device: &str, packets: i32) -> io::Result<()> {
        let mut request = ifreq(device);
        request.ifr_ifru.ifru_metric = packets;
        self.ioctl(libc::SIOCSIFTXQLEN, &mut request)
    }

    fn set_mtu(&self, device: &str, mtu: u16) -> io::Result<()> {
        let mut request = ifreq(device);
        request.ifr_ifru.ifru_mtu = mtu.into();
        self.ioctl(libc::SIOCSIFMTU, &mut request)
    }

    fn set_address(&self, device: &str, address: Ipv4Addr) -> io::Result<()> {
        let mut request = ifreq(device);
        request.ifr_ifru.ifru_addr = sockaddr(address);
        self.ioctl(libc::SIOCSIFADDR, &mut request)
    }

    fn set_peer(&self, device: &str, address: Ipv4Addr) -> io::Result<()> {
        let mut request = ifreq(device);
        request.ifr_ifru.ifru_dstaddr = sockaddr(address);
        self.ioctl(libc::SIOCSIFDSTADDR, &mut request)
    }

    fn add_default_route(&self, device: &str) -> io::Result<()> {
        let mut name = ifreq(device).ifr_name;
        // SAFETY: an all-zero rtentry is a valid one: it is integers, addresses and null pointers.
        let mut route: libc::rtentry = unsafe { mem::zeroed() };
        route.rt_dst = sockaddr(Ipv4Addr::UNSPECIFIED);
        route.rt_genmask = sockaddr(Ipv4Addr::UNSPECIFIED);
        route.rt_flags = libc::RTF_UP;
        route.rt_dev = name.as_mut_ptr();
        ioctl(self.0.as_raw_fd(), libc::SIOCADDRT, &mut route)
    }

    /// Whether the TUN driver made this device, so that a program is at its other end; not so where
    /// there is no such device.
    pub(crate) fn is_tun(&self, device: &str) -> io::Result<bool> {
        let mut info = DriverInfo { command: GET_DRIVER_INFO, ..DriverInfo::default() };
        let mut request = ifreq(device);
        request.ifr_ifru.ifru_data = std::ptr::from_mut(&mut info).cast();
        match self.ioctl(libc::SIOCETHTOOL as libc::Ioctl, &mut request) {
            // No device, or one whose driver has no name.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENODEV | libc::EOPNOTSUPP)) => {
                Ok(false)
            }
            Err(error) => Err(error),
            // The bus of a TAP device is "tap".
            Ok(()) => Ok(text(&info.driver) == b"tun" && text(&info.bus) == b"tun"),
        }
    }

    fn ioctl(&self, request: libc::Ioctl, argument: &mut libc::ifreq) -> io::Result<()> {
        ioctl(self.0.as_raw_fd(), request, argument)
    }
}

/// ETHTOOL_GDRVINFO of `linux/ethtool.h`.
const GET_DRIVER_INFO: u32 = 3;

/// `struct ethtool_drvinfo`.
#[repr(C)]
#[derive(Default)]
struct DriverInfo {
    command: u32,
    driver: [u8; 32],
    version: [u8; 32],
    firmware: [u8; 32],
    bus: [u8; 32],
    rom: [u8; 32],
    reserved: [u8; 12],
    counts: [u32; 5],
}

/// The text before the first zero.
fn text(field: &[u8]) -> &[u8] {
    field.split(|byte| *byte == 0).next().unwrap_or_default()
}

fn ioctl<T>(fd: RawFd, request: libc::Ioctl, argument: &mut T) -> io::Result<()> {
    // SAFETY: every request in this file takes a pointer to the structure that is passed here, and
    // the kernel keeps no pointer after it returns. Where that structure points to another, it
    // is the one that the request writes.
    let result = unsafe { libc::ioctl(fd, request, std::ptr::from_mut(argument)) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn ifreq(device: &str) -> libc::ifreq {
    // SAFETY: an all-zero ifreq is a valid one: it is integers, addresses and null pointers.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    // One byte is left as the end of the name.
    let room = libc::IFNAMSIZ - 1;
    for (to, from) in request.ifr_name[..room].iter_mut().zip(device.bytes()) {
        *to = from as libc::c_char;
    }
    request
}

fn sockaddr(address: Ipv4Addr) -> libc::sockaddr {
    let internet = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: 0,
        sin_addr: libc::in_addr { s_addr: u32::from(address).to_be() },
        sin_zero: [0; 8],
    };
    // SAFETY: both have the same size, and any bytes are a valid sockaddr.
    unsafe { mem::transmute(internet) }
}

/// A file that reads as this namespace's packet counters.
pub(crate) fn counters_file() -> io::Result<File> {
    File::open("/proc/thread-self/net/dev")
}
