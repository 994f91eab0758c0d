//! What the router's hosts send and fetch in virtual time: as in the rig.

use std::time::Duration;

use sounding_baselines::by_name;
use sounding_sim::Port;
use sounding_sim::world::{Flow, Traffic};
use sounding_units::{Bytes, HostInstant, Rate};

use super::super::case::{LEAD, Load};
use super::super::load::{CALL, CALL_PACKET, OBJECT, OBJECTS, READING, STEADY};

/// A hundred small packets a second, as `ping` sends them.
const PROBE: (Rate, Bytes) = (Rate::from_bits_per_sec(67_200), Bytes::new(84));

/// The flows of a run.
#[derive(Debug)]
pub(super) struct Flows {
    /// Their throughput counts.
    pub counted: Vec<Flow>,
    /// Its delays count.
    pub probe: Flow,
    /// Whatever else there is.
    pub others: Vec<Flow>,
}

impl Flows {
    /// Of a load whose bulk enters here.
    pub(super) fn of(load: Load, port: Port, lasts: Duration) -> Self {
        let at = HostInstant::default() + LEAD + load.idle(lasts);
        let flow = |port| {
            let cubic = by_name("cubic").unwrap_or_else(|| unreachable!("it is in the registry"));
            Flow::bulk(port, cubic).begins(at)
        };
        let counted = match load {
            Load::Bulk(hosts) => (0..hosts).map(|_| flow(port)).collect(),
            Load::Steady => vec![flow(port).sends(Traffic::Steady(STEADY))],
            Load::Burst | Load::BothWays | Load::CallAndPages => vec![flow(port)],
        };
        let call =
            |port| Flow::datagrams(port, CALL).sized(Bytes::new(CALL_PACKET.into())).begins(at);
        let others = match load {
            Load::BothWays => vec![flow(port.reverse())],
            Load::CallAndPages => {
                let size = Bytes::new(OBJECT.count() * OBJECTS as u64);
                let pages = Traffic::Responses { size, think: READING };
                vec![flow(port.reverse()).sends(pages), call(port), call(port.reverse())]
            }
            _ => Vec::new(),
        };
        let probe = Flow::datagrams(port, PROBE.0).sized(PROBE.1).begins(at);
        Self { counted, probe, others }
    }
}
