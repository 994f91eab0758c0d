//! A router's shaper in virtual time: its queue, the rule of its rate, and a network behind it.

mod cobalt;
mod fair;
mod governor;
mod shaped;

use alloc::collections::VecDeque;
use core::time::Duration;

use sounding_shape::Queue;
use sounding_units::{Bytes, HostInstant, Rate};

use fair::{FairQueue, Item};
pub use governor::{Governor, Naive, Scheduled};
pub use shaped::{Behind, Keyed, Shaped, ShapedBy, Shown};

/// How a shaper's queue is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// CAKE: queues by flow, and COBALT in each.
    Cake {
        /// Its `rtt`.
        interval: Duration,
    },
    /// HTB over a queue in order of arrival of so many packets.
    Fifo {
        /// The most packets: 1,000 is a device's usual `txqueuelen`.
        packets: u64,
    },
}

impl Discipline {
    /// CAKE as `tc` makes it (tc-cake(8): `rtt 100ms`).
    pub const CAKE: Self = Self::Cake { interval: Duration::from_millis(100) };
}

/// A shaper: a queue that is served at a rate.
///
/// The rate is a virtual clock as CAKE's: the next packet leaves when the last one would have been
/// sent, and an idle shaper keeps no credit.
#[derive(Debug)]
struct Shaper<P> {
    queue: Kind<P>,
    rate: Rate,
    /// When the next packet may leave.
    next: HostInstant,
    sent: Bytes,
}

#[derive(Debug)]
enum Kind<P> {
    Fair(FairQueue<P>),
    Fifo { items: VecDeque<Item<P>>, bytes: Bytes, most: u64 },
}

impl<P> Shaper<P> {
    fn new(discipline: Discipline, rate: Rate) -> Self {
        let queue = match discipline {
            Discipline::Cake { interval } => Kind::Fair(FairQueue::new(rate, interval)),
            Discipline::Fifo { packets } => {
                Kind::Fifo { items: VecDeque::new(), bytes: Bytes::ZERO, most: packets }
            }
        };
        Self { queue, rate, next: HostInstant::default(), sent: Bytes::ZERO }
    }

    fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
        if let Kind::Fair(queue) = &mut self.queue {
            queue.set_rate(rate);
        }
    }

    fn queue(&self) -> Queue {
        let (packets, waiting) = match &self.queue {
            Kind::Fair(queue) => (queue.packets, queue.bytes),
            Kind::Fifo { items, bytes, .. } => (items.len() as u64, *bytes),
        };
        Queue { packets, waiting, sent: self.sent }
    }

    fn is_empty(&self) -> bool {
        self.queue().packets == 0
    }

    fn push(&mut self, flow: u32, item: Item<P>, mut dropped: impl FnMut(Item<P>)) {
        if self.is_empty() {
            self.next = self.next.max(item.at);
        }
        match &mut self.queue {
            Kind::Fair(queue) => queue.push(flow, item, dropped),
            Kind::Fifo { items, most, .. } if items.len() as u64 >= *most => dropped(item),
            Kind::Fifo { items, bytes, .. } => {
                *bytes += item.size;
                items.push_back(item);
            }
        }
    }

    /// Lets packets through whose time has come.
    fn serve(
        &mut self,
        now: HostInstant,
        mut dropped: impl FnMut(HostInstant, Item<P>),
        mut passed: impl FnMut(HostInstant, Item<P>),
    ) {
        while self.wakeup().is_some_and(|at| at <= now) {
            let at = self.next;
            let item = match &mut self.queue {
                Kind::Fair(queue) => queue.pop(at, |item| dropped(at, item)),
                Kind::Fifo { items, bytes, .. } => {
                    let item = items.pop_front();
                    *bytes = *bytes - item.as_ref().map_or(Bytes::ZERO, |item| item.size);
                    item
                }
            };
            let Some(item) = item else { break };
            self.sent += item.size;
            if let Some(time) = item.size.time_at(self.rate) {
                self.next = at + time;
            }
            passed(at, item);
        }
    }

    /// When the next packet leaves; `None` while nothing waits, or nothing may leave.
    fn wakeup(&self) -> Option<HostInstant> {
        (!self.is_empty() && self.rate > Rate::ZERO).then_some(self.next)
    }
}
