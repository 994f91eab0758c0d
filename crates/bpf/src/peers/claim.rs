use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use sounding_estimate::wire::RadioDelay;
use sounding_estimate::{Bound, FairShare, State};
use sounding_units::{HostInstant, Rate};

use crate::intf::{WireClaim, WirePeer, WirePeerReport};
use crate::reports::{PeerClaim, PeerReport, ReportCause};

/// `enum claim_known` of intf.h.
const KNOWS_RATE: u32 = 1;
const KNOWS_STATE: u32 = 2;

impl From<WireClaim> for PeerClaim {
    fn from(wire: WireClaim) -> Self {
        let states = wire.known & KNOWS_STATE != 0;
        let count = |count: u32| Some(count).filter(|count| states && *count > 0);
        let fair = Some(wire.fair).filter(|fair| states && *fair > 0);
        Self {
            rate: (wire.known & KNOWS_RATE != 0).then(|| Rate::from_bytes_per_sec(wire.claimed)),
            bound: if wire.bound == 0 { Bound::Floor } else { Bound::Capacity },
            fair: fair.map(Rate::from_bytes_per_sec),
            users: count(wire.users),
            carriers: count(wire.carriers),
            state: State::ALL.get(wire.state as usize).copied().filter(|_| states),
            age: Duration::from_millis(wire.age_ms.into()),
        }
    }
}

/// What is kept of a connection's peer. Read without a lock: fields may be one segment apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// When its last option arrived.
    pub heard_at: HostInstant,
    /// Options so far.
    pub heard: u64,
    /// What they say.
    pub claim: PeerClaim,
    /// The part of the rate that was believed at the last acknowledgement.
    pub believed: Rate,
    /// The part of the fair share that was believed then, if there is one.
    pub fair: Option<FairShare>,
    /// What its last whole option said that its radio adds to packets.
    pub delay: RadioDelay,
}

impl Peer {
    /// `None` of one that has not said anything.
    pub(super) fn read(wire: WirePeer) -> Option<Self> {
        let claim = PeerClaim::from(wire.claim);
        let rate = Rate::from_bytes_per_sec(wire.believed_fair);
        let share = |_| Some(FairShare::new(rate, claim.users?, claim.carriers?));
        (wire.heard > 0).then(|| Self {
            heard_at: HostInstant::from_nanos(wire.heard_at_ns),
            heard: wire.heard,
            claim,
            believed: Rate::from_bytes_per_sec(wire.believed),
            fair: claim.fair.and_then(share),
            // 16 bits of an option.
            delay: RadioDelay::of_code(wire.delays as u16),
        })
    }
}

impl PeerReport {
    /// `None` of a cause or an address that this version does not know.
    pub(super) fn read(wire: WirePeerReport) -> Option<Self> {
        let address = match i32::try_from(wire.family).ok()? {
            libc::AF_INET => IpAddr::from(Ipv4Addr::from(wire.remote.first_chunk::<4>().copied()?)),
            libc::AF_INET6 => Ipv6Addr::from(wire.remote).to_canonical(),
            _ => return None,
        };
        Some(Self {
            at: HostInstant::from_nanos(wire.at_ns),
            cause: match wire.cause {
                0 => ReportCause::First,
                1 => ReportCause::Overstated,
                _ => return None,
            },
            local_port: u16::try_from(wire.local_port).ok()?,
            remote: SocketAddr::new(address, u16::try_from(wire.remote_port).ok()?),
            claim: wire.claim.into(),
            delivered: Rate::from_bytes_per_sec(wire.delivered_bytes_per_sec),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim() -> WireClaim {
        WireClaim {
            claimed: 125_000_000,
            rate: 2_500_000,
            fair: 1_250_000,
            known: KNOWS_RATE | KNOWS_STATE,
            bound: 1,
            state: 3,
            users: 4,
            carriers: 2,
            age_ms: 32,
        }
    }

    #[test]
    fn a_claim_is_what_was_said_before_any_limit() {
        let claim = PeerClaim::from(claim());
        assert_eq!(claim.rate, Some(Rate::from_bits_per_sec(1_000_000_000)));
        assert_eq!(claim.fair, Some(Rate::from_bits_per_sec(10_000_000)));
        assert_eq!((claim.users, claim.carriers), (Some(4), Some(2)));
        assert_eq!((claim.state, claim.bound), (Some(State::Silent), Bound::Capacity));
        assert_eq!(claim.age, Duration::from_millis(32));
    }

    #[test]
    fn what_a_peer_does_not_say_is_unknown() {
        let rate_alone = PeerClaim::from(WireClaim { known: KNOWS_RATE, ..claim() });
        assert_eq!((rate_alone.fair, rate_alone.users), (None, None));
        assert_eq!((rate_alone.carriers, rate_alone.state), (None, None));
        let no_rate = PeerClaim::from(WireClaim { known: KNOWS_STATE, claimed: 0, ..claim() });
        assert_eq!(no_rate.rate, None);
        let zeros = WireClaim { fair: 0, users: 0, carriers: 0, ..claim() };
        let zeros = PeerClaim::from(zeros);
        assert_eq!((zeros.fair, zeros.users, zeros.carriers), (None, None, None));
        // That a link carries nothing may be known.
        let nothing = PeerClaim::from(WireClaim { known: KNOWS_RATE, claimed: 0, ..claim() });
        assert_eq!(nothing.rate, Some(Rate::ZERO));
    }

    #[test]
    fn a_fair_share_is_believed_where_all_of_it_is_said() {
        let wire =
            WirePeer { claim: claim(), heard: 1, believed_fair: 125_000, ..WirePeer::default() };
        let rate = Rate::from_bits_per_sec(1_000_000);
        let fair = FairShare::new(rate, 4, 2);
        assert_eq!(Peer::read(wire).expect("it spoke").fair, Some(fair));
        let claim = WireClaim { users: 0, ..claim() };
        assert_eq!(Peer::read(WirePeer { claim, ..wire }).expect("it spoke").fair, None);
        assert_eq!(Peer::read(WirePeer { heard: 0, ..wire }), None);
    }

    #[test]
    fn a_report_has_the_address_of_its_family() {
        let wire = WirePeerReport {
            at_ns: 7,
            delivered_bytes_per_sec: 2_500_000,
            claim: claim(),
            cause: 1,
            family: libc::AF_INET as u32,
            local_port: 5201,
            remote_port: 40_000,
            remote: [10, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        };
        let told = PeerReport::read(wire).expect("of IPv4");
        assert_eq!(told.remote.to_string(), "10.0.0.9:40000");
        assert_eq!((told.at.as_nanos(), told.local_port), (7, 5201));
        assert_eq!(told.cause, ReportCause::Overstated);
        assert_eq!(told.claim.rate, Some(Rate::from_bits_per_sec(1_000_000_000)));
        let mut remote = [0; 16];
        remote[15] = 1;
        let six = WirePeerReport { family: libc::AF_INET6 as u32, remote, ..wire };
        assert_eq!(PeerReport::read(six).expect("of IPv6").remote.to_string(), "[::1]:40000");
        let odd = WirePeerReport { family: 1, ..wire };
        assert_eq!(PeerReport::read(odd), None);
        let odd = WirePeerReport { remote_port: 70_000, ..wire };
        assert_eq!(PeerReport::read(odd), None);
        let odd = WirePeerReport { cause: 9, ..wire };
        assert_eq!(PeerReport::read(odd), None);
    }
}
