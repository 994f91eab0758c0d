//! A router with real CAKE between its own network and a modelled cell.
//!
//! ```text
//! lan ────── vec1 guest vec0 ── wan near radio0 ──── cell ──── far
//! 10.3.0.2 …           10.2.0.2     10.2.0.1                   100.64.0.2, 10.9.0.1 …
//! ```
//!
//! The guest is a kernel of its own ([`crate::uml`]). The modem of the cell listens on a TCP port
//! of `near`. Both ends of all flows and probes are of this kernel, so that their times have one
//! clock.

mod bridge;
mod probe;

use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Duration;

use sounding_emu::{Emulation, EnterError, Netns};
use sounding_experiment::plan::Run;
use sounding_modem::Place;
use sounding_units::{HostInstant, Rate};
use thiserror::Error;

pub use probe::{Probe, Probed, Probing};

use crate::emulate::{EmulateError, Emulated, Ended, Settings, Users};
use crate::flow::{Ends, FlowError};
use crate::uml::{Guest, GuestError, Image, ip};
use bridge::ModemBridge;

/// The guest's device towards the modem.
pub const WAN: &str = "vec0";
/// The guest's device through which what arrives by [`WAN`] passes.
pub const INGRESS: &str = "ifb0";

const WAN_GUEST: Ipv4Addr = Ipv4Addr::new(10, 2, 0, 2);
const WAN_HOST: Ipv4Addr = Ipv4Addr::new(10, 2, 0, 1);
const LAN_GUEST: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 1);

/// Hosts of the router's network.
pub const HOSTS: u8 = 3;

/// Addresses of the far end that answer pings, besides its own.
pub const REFLECTORS: u8 = 6;

/// Why a router does not run.
#[derive(Debug, Error)]
pub enum RouterError {
    /// The guest.
    #[error(transparent)]
    Guest(#[from] GuestError),
    /// The cell.
    #[error(transparent)]
    Emulate(#[from] EmulateError),
    /// A namespace.
    #[error(transparent)]
    Enter(#[from] EnterError),
    /// A flow or a probe.
    #[error(transparent)]
    Flow(#[from] FlowError),
    /// A step failed.
    #[error("cannot {doing}: {source}")]
    System {
        /// The step.
        doing: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
    /// The plan's first device has no modem.
    #[error("the plan's first device has no modem: give it `modem = {{}}`")]
    NoModem,
}

/// A router that runs. Dropping it ends it and removes all of it.
#[derive(Debug)]
pub struct Router {
    // In the order in which they end.
    guest: Guest,
    bridge: ModemBridge,
    lan: Netns,
    emulated: Emulated,
}

impl Router {
    /// Boots the router, and then starts the plan's cell. The far end answers pings, or not.
    pub fn start(run: &Run, image: &Image, answers_pings: bool) -> Result<Self, RouterError> {
        let system = |doing| move |source| RouterError::System { doing, source };
        let lan = Netns::new().map_err(system("make a namespace"))?;
        // First, because it takes seconds, and the network's time begins with the cell.
        let guest = Guest::start(image, &[WAN_GUEST, LAN_GUEST], WAN_HOST)?;
        let settings = Settings {
            users: Users::Guest,
            place: Place::Tcp(0),
            sysctls: vec![
                ("net.ipv4.ip_forward".into(), "1".into()),
                ("net.ipv4.icmp_echo_ignore_all".into(), u8::from(!answers_pings).to_string()),
            ],
            ..Settings::flows("")
        };
        let emulated = Emulated::start(run, &settings)?;
        let near = emulated.emulation().near();
        guest.attach(0, near, "wan", &[WAN_HOST])?;
        let hosts: Vec<Ipv4Addr> = (0..HOSTS).map(host).collect();
        guest.attach(1, &lan, "lan", &hosts)?;
        lan.enter(|| ip(&format!("route add default via {LAN_GUEST}")))??;
        near.enter(|| ip(&format!("route add {LAN_GUEST}/32 via {WAN_GUEST}")))??;
        near.enter(|| ip(&format!("route add 10.3.0.0/24 via {WAN_GUEST}")))??;
        let reflect = || reflectors().try_for_each(|at| ip(&format!("address add {at}/32 dev lo")));
        emulated.emulation().far().enter(reflect)??;
        let modem = emulated.modems().first().and_then(|modem| address_of(&modem.source));
        let modem = modem.ok_or(RouterError::NoModem)?;
        let bridge = ModemBridge::start(near, WAN_HOST, modem)?;
        Ok(Self { guest, bridge, lan, emulated })
    }

    /// The router's own kernel.
    pub fn guest(&self) -> &Guest {
        &self.guest
    }

    /// The network between the modem and the far end.
    pub fn emulation(&self) -> &Emulation {
        self.emulated.emulation()
    }

    /// The start of the network's time.
    pub fn started(&self) -> HostInstant {
        self.emulation().started()
    }

    /// The modem as a source for a reader in the guest.
    pub fn modem(&self) -> String {
        format!("tcp:{}", self.bridge.address())
    }

    /// From a host of the router's network to the far end.
    pub fn ends(&self, number: u8) -> Ends<'_> {
        let far = (self.emulation().far(), self.emulation().far_address());
        Ends { near: (&self.lan, host(number % HOSTS)), far }
    }

    /// Puts CAKE on both directions, upwards first, with these rates and intervals (`rtt`). It
    /// counts IP bytes, as estimates do.
    pub fn shape(&self, ways: [(Rate, Duration); 2]) -> Result<(), RouterError> {
        let [up, down] = ways.map(|(rate, interval)| {
            format!(
                "bandwidth {}bit overhead 0 rtt {}us",
                rate.bits_per_sec(),
                interval.as_micros()
            )
        });
        self.guest.run(&format!(
            "set -e
            tc qdisc replace dev {WAN} root cake {up}
            ip link set {INGRESS} up
            tc qdisc replace dev {INGRESS} root cake {down} ingress
            tc qdisc add dev {WAN} handle ffff: ingress
            tc filter add dev {WAN} parent ffff: protocol all matchall action mirred egress redirect dev {INGRESS}"
        ))?;
        Ok(())
    }

    /// Ends it.
    pub fn stop(self) -> Result<Ended, RouterError> {
        let Self { guest, bridge, lan, emulated } = self;
        drop((guest, bridge, lan));
        Ok(emulated.stop()?)
    }
}

/// Addresses of the far end for pings.
pub fn reflectors() -> impl Iterator<Item = Ipv4Addr> {
    (1..=REFLECTORS).map(|number| Ipv4Addr::new(10, 9, 0, number))
}

fn host(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 3, 0, 2 + number)
}

fn address_of(source: &str) -> Option<SocketAddrV4> {
    source.strip_prefix("tcp:")?.parse().ok()
}
