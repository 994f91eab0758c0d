//! Long bursts: packets that are due at the same time, written together.
//!
//! A kernel takes 2 us or more to receive a packet. A repetition of RLC can release all packets of
//! 60 ms of a fast cell: more than a thousand are then due at once. Written one by one, the last
//! would be late by milliseconds. So above some number they are held back in batches, and
//! consecutive packets of a flow become one superpacket.

use std::io::IoSlice;
use std::iter;
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::sys::uio::writev;
use sounding_sim::Carried;
use sounding_units::HostInstant;

use crate::Slot;
use crate::gso::{Kind, Run};

/// Packets of one moment that are written one by one before any is held back: as many as a slot
/// brings, in cells of up to 600 Mbit/s. Only a repetition lets go of more
/// (docs/results/emulator.md).
pub(crate) const ONE_BY_ONE: u64 = 64;

/// Packets that are held back at most: three superpackets of 1500 bytes per packet.
const BATCH: usize = 128;

/// Packets of one way, due at one moment, that are held back.
#[derive(Default)]
pub(crate) struct Burst {
    /// Their direction, and when they are due.
    of: Option<(usize, HostInstant)>,
    held: Vec<Carried<Slot>>,
    groups: Groups,
}

impl Burst {
    /// Whether those held back have to go before this one may be held back too.
    pub(crate) fn ends_before(&self, way: usize, due: HostInstant) -> bool {
        self.held.len() >= BATCH || self.of.is_some_and(|of| of != (way, due))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Holds a packet back.
    pub(crate) fn hold(&mut self, way: usize, carried: Carried<Slot>) {
        self.of = Some((way, carried.exits));
        self.held.push(carried);
    }

    /// Groups the packets that are written together. Returns their direction; `None` without
    /// packets.
    pub(crate) fn arrange<'a>(&mut self, packet: impl Fn(Slot) -> &'a [u8]) -> Option<usize> {
        let (way, _) = self.of?;
        self.groups.arrange(self.held.len(), |place| packet(self.held[place].payload));
        Some(way)
    }

    /// The groups that are written at once, in order: a superpacket (if any), and its packets.
    pub(crate) fn groups(
        &self,
    ) -> impl Iterator<Item = (Option<&Run>, impl Iterator<Item = Carried<Slot>> + Clone)> {
        self.groups.groups.iter().map(|group| {
            let packets = self.groups.places(group).map(|place| self.held[place]);
            (group.run.as_ref().filter(|run| run.count() > 1), packets)
        })
    }

    /// They are written.
    pub(crate) fn clear(&mut self) {
        self.of = None;
        self.held.clear();
    }
}

/// Writes a superpacket to a TUN device; `packets` are its segments, each as it came.
pub(crate) fn write_together<'a>(
    tun: impl AsFd,
    run: &Run,
    mut packets: impl Iterator<Item = &'a [u8]>,
) -> Result<(), Errno> {
    let Some(opening) = packets.next() else { return Ok(()) };
    let headers = run.headers(opening);
    let mut pieces = [IoSlice::new(&[]); 1 + BATCH];
    let payloads = iter::once(opening).chain(packets).map(|packet| run.payload_of(packet));
    let mut count = 0;
    for (to, from) in pieces.iter_mut().zip(iter::once(headers.bytes()).chain(payloads)) {
        *to = IoSlice::new(from);
        count += 1;
    }
    writev(tun, &pieces[..count]).map(|_| ())
}

/// The groups of a batch's packets that are written together.
///
/// Packets of a flow keep their order, and a packet that may belong to any flow keeps its place
/// among all. Between flows the order may change within a batch, as it does if a driver receives
/// with GRO.
#[derive(Default)]
struct Groups {
    groups: Vec<Group>,
    /// The next packet of the same group, for each packet.
    next: Vec<Option<usize>>,
    /// The groups that may grow, one for each flow.
    open: Vec<usize>,
}

struct Group {
    /// `None` for a packet that must be written unchanged.
    run: Option<Run>,
    first: usize,
    last: usize,
}

impl Groups {
    fn arrange<'a>(&mut self, count: usize, packet: impl Fn(usize) -> &'a [u8]) {
        let Self { groups, next, open } = self;
        groups.clear();
        open.clear();
        next.clear();
        next.resize(count, None);
        for place in 0..count {
            let bytes = packet(place);
            let alone = |run| Group { run, first: place, last: place };
            let segment = match Kind::of(bytes) {
                Kind::Segment(segment) => segment,
                Kind::Whole(flow) => {
                    let is_of = |group: &Group| group.run.as_ref().map(Run::flow) == flow;
                    open.retain(|&index| flow.is_some() && !is_of(&groups[index]));
                    groups.push(alone(None));
                    continue;
                }
            };
            let of_flow = |&index: &usize| {
                groups[index].run.as_ref().is_some_and(|run| run.flow() == segment.flow)
            };
            let known = open.iter().position(of_flow);
            if let Some(group) = known.map(|at| &mut groups[open[at]])
                && let Some(run) = &mut group.run
                && run.append(packet(group.first), bytes, &segment)
            {
                next[group.last] = Some(place);
                group.last = place;
                continue;
            }
            // The flow continues in another superpacket: later packets must not overtake this one.
            match known {
                Some(at) => open[at] = groups.len(),
                None => open.push(groups.len()),
            }
            groups.push(alone(Some(Run::new(segment))));
        }
    }

    /// The indexes of a group's packets in the batch.
    fn places(&self, group: &Group) -> impl Iterator<Item = usize> + Clone {
        iter::successors(Some(group.first), |&place| self.next[place])
    }
}

#[cfg(test)]
mod tests;
