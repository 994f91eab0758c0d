use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use libbpf_rs::{MapCore, MapFlags, MapHandle};
use sounding_estimate::wire::RadioDelay;
use sounding_laws::copa_gandalf::{CopaPhase, CorrectedBy};

use crate::intf::{WirePeer, read};
use crate::inventory::{Object, held_by};
use crate::skel_copa::types;

/// One flow under an instance, as of its last acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopaFlow {
    /// What its window does.
    pub phase: CopaPhase,
    /// Segments.
    pub cwnd: u32,
    /// Which side says what the radio added, while RTTs are without it.
    pub corrected_by: Option<CorrectedBy>,
    /// How often that changed.
    pub switches: u32,
    /// A device at the other end is not believed: the smallest RTT of ten seconds rose.
    pub is_doubted: bool,
    /// RTTs whose radio delay became known later.
    pub corrections: u32,
    /// Acknowledgements so far.
    pub acks: u64,
    /// The smallest RTT that Copa was shown in the last ten seconds.
    pub least: Option<Duration>,
    /// The RTT that does not drain.
    pub standing: Option<Duration>,
    /// The smallest RTT that was measured in the last ten seconds.
    pub least_measured: Option<Duration>,
}

/// Flows under an instance of another process, which may end meanwhile.
pub struct CopaFlows {
    flows: MapHandle,
    /// What devices at the other ends say.
    peers: Option<MapHandle>,
}

impl CopaFlows {
    /// Those of the process with this number; `None` if it has no instance.
    pub fn of(process: u32) -> Option<Self> {
        let maps = held_by(process).into_iter().filter_map(|object| match object {
            Object::Map(number) => MapHandle::from_map_id(number).ok(),
            Object::Program(_) | Object::Link(_) => None,
        });
        let (mut flows, mut peers) = (None, None);
        for map in maps {
            match map.name().to_str() {
                Some("copa_flows") => flows = Some(map),
                Some("peers") => peers = Some(map),
                _ => {}
            }
        }
        flows.map(|flows| Self { flows, peers })
    }

    /// The state of one of this process's sockets; `None` if it does not run under that instance.
    pub fn flow(&self, socket: impl AsFd) -> Option<CopaFlow> {
        let key = socket.as_fd().as_raw_fd().to_ne_bytes();
        CopaFlow::read(&self.flows.lookup(&key, MapFlags::ANY).ok()??)
    }

    /// What the device at the other end of one of this process's sockets last said that its radio
    /// adds; `None` if it has said nothing.
    pub fn said(&self, socket: impl AsFd) -> Option<RadioDelay> {
        let key = socket.as_fd().as_raw_fd().to_ne_bytes();
        let value = self.peers.as_ref()?.lookup(&key, MapFlags::ANY).ok()??;
        // The codes are 16 bits of an option.
        read::<WirePeer>(&value)
            .filter(|peer| peer.heard > 0)
            .map(|peer| RadioDelay::of_code(peer.delays as u16))
    }
}

impl CopaFlow {
    /// `None` if the value is another version's.
    pub(crate) fn read(value: &[u8]) -> Option<Self> {
        if value.len() != size_of::<types::copa_flow>() {
            return None;
        }
        // SAFETY: the type is plain numbers, for which any bytes are valid, and the length is
        // right.
        let wire: types::copa_flow =
            unsafe { value.as_ptr().cast::<types::copa_flow>().read_unaligned() };
        let law = &wire.law;
        let best = |filter: &types::windowed| {
            (filter.at_ns[0] > 0).then(|| Duration::from_micros(filter.best[0]))
        };
        Some(Self {
            phase: *CopaPhase::ALL.get(law.copa.phase as usize)?,
            cwnd: u32::try_from(law.copa.cwnd >> 16).unwrap_or(u32::MAX),
            corrected_by: match law.is_active {
                1 => Some(CorrectedBy::Modem),
                2 => Some(CorrectedBy::Peer),
                _ => None,
            },
            switches: law.switches,
            is_doubted: law.doubted_until_ns > 0,
            corrections: law.corrections,
            acks: wire.acks,
            least: best(&law.copa.least),
            standing: best(&law.copa.standing),
            least_measured: best(&law.least_raw),
        })
    }
}
