use alloc::collections::{BTreeMap, VecDeque};
use core::time::Duration;

use sounding_units::{Bytes, HostInstant, Rate};

use super::cobalt::{Aims, Cobalt};

/// The least that a shaper's queue holds: 4 MiB (cake_reconfigure of Linux).
const ROOM: Bytes = Bytes::new(4 << 20);

/// A packet that waits in a shaper.
#[derive(Debug)]
pub(super) struct Item<P> {
    pub(super) payload: P,
    pub(super) size: Bytes,
    pub(super) at: HostInstant,
}

/// Queues by flow with CAKE's `besteffort` and `flows`: deficit round robin in which flows that
/// queue nothing come first (DRR++, RFC 8290 §3), and COBALT in each.
#[derive(Debug)]
pub(super) struct FairQueue<P> {
    flows: BTreeMap<u32, FlowQueue<P>>,
    /// Flows that had nothing in the queue when their packet came.
    sparse: VecDeque<u32>,
    bulk: VecDeque<u32>,
    pub(super) packets: u64,
    pub(super) bytes: Bytes,
    interval: Duration,
    aims: Aims,
    quantum: i64,
}

#[derive(Debug)]
struct FlowQueue<P> {
    items: VecDeque<Item<P>>,
    bytes: Bytes,
    deficit: i64,
    is_listed: bool,
    cobalt: Cobalt,
}

impl<P> FairQueue<P> {
    pub(super) fn new(rate: Rate, interval: Duration) -> Self {
        Self {
            flows: BTreeMap::new(),
            sparse: VecDeque::new(),
            bulk: VecDeque::new(),
            packets: 0,
            bytes: Bytes::ZERO,
            interval,
            aims: Aims::of(rate, interval),
            quantum: quantum(rate),
        }
    }

    pub(super) fn set_rate(&mut self, rate: Rate) {
        (self.aims, self.quantum) = (Aims::of(rate, self.interval), quantum(rate));
    }

    /// Adds a packet of a flow. Packets that must go, the oldest of the longest queue, are passed
    /// to `dropped`.
    pub(super) fn push(&mut self, flow: u32, item: Item<P>, mut dropped: impl FnMut(Item<P>)) {
        let quantum = self.quantum;
        let queue = self.flows.entry(flow).or_insert_with(|| FlowQueue {
            items: VecDeque::new(),
            bytes: Bytes::ZERO,
            deficit: 0,
            is_listed: false,
            cobalt: Cobalt::default(),
        });
        self.packets += 1;
        self.bytes += item.size;
        queue.bytes += item.size;
        queue.items.push_back(item);
        if !queue.is_listed {
            queue.is_listed = true;
            queue.deficit = quantum;
            self.sparse.push_back(flow);
        }
        while self.bytes > ROOM {
            let longest = self.flows.iter().max_by_key(|(_, queue)| queue.bytes);
            let longest = longest.map(|(flow, _)| *flow);
            match longest.and_then(|flow| self.pop_of(flow)) {
                Some(item) => dropped(item),
                None => break,
            }
        }
    }

    fn pop_of(&mut self, flow: u32) -> Option<Item<P>> {
        let queue = self.flows.get_mut(&flow)?;
        let item = queue.items.pop_front()?;
        queue.bytes = queue.bytes - item.size;
        self.bytes = self.bytes - item.size;
        self.packets -= 1;
        Some(item)
    }

    /// The next packet to leave. Packets that queue management drops before it go to `dropped`.
    pub(super) fn pop(
        &mut self,
        now: HostInstant,
        mut dropped: impl FnMut(Item<P>),
    ) -> Option<Item<P>> {
        loop {
            let (is_sparse, flow) = match self.sparse.front() {
                Some(flow) => (true, *flow),
                None => (false, *self.bulk.front()?),
            };
            let list = if is_sparse { &mut self.sparse } else { &mut self.bulk };
            let queue = self.flows.get_mut(&flow)?;
            if queue.deficit <= 0 {
                queue.deficit += self.quantum;
                list.pop_front();
                self.bulk.push_back(flow);
                continue;
            }
            let Some(item) = self.pop_of(flow) else {
                let aims = self.aims;
                let list = if is_sparse { &mut self.sparse } else { &mut self.bulk };
                list.pop_front();
                let queue = self.flows.get_mut(&flow)?;
                queue.cobalt.handle_empty(now, &aims);
                queue.is_listed = false;
                continue;
            };
            let queue = self.flows.get_mut(&flow)?;
            let waited: Duration = now - item.at;
            // The last packet of a queue is never dropped.
            if queue.cobalt.drops(now, waited, &self.aims) && !queue.items.is_empty() {
                dropped(item);
                continue;
            }
            queue.deficit -= item.size.count() as i64;
            return Some(item);
        }
    }
}

/// Between 300 and 1,514 bytes, by the rate (cake_set_rate of Linux).
fn quantum(rate: Rate) -> i64 {
    (rate.bytes_per_sec() >> 12).clamp(300, 1_514) as i64
}
