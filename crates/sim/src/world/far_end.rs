//! The additional delay between a network and a flow's far end.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_units::{Bytes, HostInstant};

use super::segment::Segment;
use super::{FlowId, Port};
use crate::{Carried, Lost};

/// Packets on that way, of all flows.
#[derive(Debug, Default)]
pub(super) struct FarEnds {
    /// One way, for each flow; flows beyond the end have none.
    delays: Vec<Duration>,
    /// By the time of their arrival and the order of their departure.
    underway: BTreeMap<(HostInstant, u64), Travel>,
    count: u64,
}

/// A packet on its way.
#[derive(Debug)]
pub(super) enum Travel {
    /// From the far end to the network.
    In(Port, Bytes, Segment),
    /// From the network to the far end.
    Out(Carried<Segment>),
}

impl FarEnds {
    pub(super) fn set(&mut self, flow: FlowId, delay: Duration) {
        let flow = flow.0 as usize;
        if self.delays.len() <= flow {
            self.delays.resize(flow + 1, Duration::ZERO);
        }
        self.delays[flow] = delay;
    }

    /// One way, if it takes any time.
    #[inline]
    pub(super) fn of(&self, flow: FlowId) -> Option<Duration> {
        self.delays.get(flow.0 as usize).copied().filter(|delay| !delay.is_zero())
    }

    /// A packet sets out that arrives at `at`.
    pub(super) fn send(&mut self, at: HostInstant, travel: Travel) {
        self.underway.insert((at, self.count), travel);
        self.count += 1;
    }

    /// The next one that has arrived by `now`.
    pub(super) fn poll(&mut self, now: HostInstant) -> Option<Travel> {
        let (_, travel) =
            self.underway.first_entry().filter(|next| next.key().0 <= now)?.remove_entry();
        Some(travel)
    }

    #[inline]
    pub(super) fn wakeup(&self) -> Option<HostInstant> {
        self.underway.first_key_value().map(|(&(at, _), _)| at)
    }

    /// A packet that came through, as its flow sees it: the way in is a part of its way.
    pub(super) fn carried(delay: Duration, out: Carried<Segment>) -> Carried<Segment> {
        Carried { entered: out.entered.saturating_before(delay), ..out }
    }

    /// The same for a lost packet.
    pub(super) fn lost(delay: Duration, out: Lost<Segment>) -> Lost<Segment> {
        Lost { entered: out.entered.saturating_before(delay), ..out }
    }
}
