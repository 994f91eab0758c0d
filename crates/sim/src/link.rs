//! One bottleneck: a queue and what empties it.
//!
//! With a trace, the link follows mahimahi's `mm-link` to the byte. Time is counted in whole
//! milliseconds. Each opportunity carries 1504 bytes, and a packet costs its bytes of IP plus 4. An
//! opportunity may finish a packet that an earlier one began, and begin others; its unused rest is
//! lost. Before a packet joins the queue, every opportunity up to and including the millisecond of
//! its arrival is used up. A packet is therefore never carried in its own millisecond. At its end
//! the trace restarts at the time of its last line.
//!
//! With rate steps, a packet departs when the rate has carried its bytes of IP, to the nanosecond.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use sounding_trace::Schedule;
use sounding_units::{Bytes, HostInstant};

use crate::opportunity::{OPPORTUNITY, TUN_HEADER, TraceCursor};
use crate::queue::{Queue, Waiting};
use crate::rate_server::RateServer;
use crate::{Backlog, LinkEvent, QueueLimit};

/// A bottleneck that packets wait in front of.
///
/// `arrived = departed + dropped + inside` holds at every moment, in packets and in bytes.
#[derive(Debug)]
pub struct Link<P> {
    server: Server,
    queue: Queue<P>,
    in_service: Option<InService<P>>,
    overhead: Bytes,
    departures: VecDeque<Departure<P>>,
    drops: VecDeque<Drop<P>>,
    /// Events for a log; `None` without a log.
    events: Option<Vec<LinkEvent>>,
    /// The latest time this link has seen; an earlier one does not set it back.
    now: HostInstant,
}

#[derive(Debug)]
enum Server {
    Opportunities(TraceCursor),
    Rate(RateServer),
}

#[derive(Debug)]
struct InService<P> {
    packet: Waiting<P>,
    progress: Progress,
}

#[derive(Clone, Copy, Debug)]
enum Progress {
    /// Bytes that later opportunities still have to carry.
    Left(Bytes),
    /// When the rate will have carried it; `None` if it never will.
    Until(Option<HostInstant>),
}

/// A packet that the link has carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure<P> {
    /// The driver's payload.
    pub payload: P,
    /// Bytes of IP.
    pub size: Bytes,
    /// When it arrived.
    pub arrival: HostInstant,
    /// When its last byte was carried.
    pub at: HostInstant,
}

/// A packet that found no place, or had to make place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drop<P> {
    /// The driver's payload.
    pub payload: P,
    /// Bytes of IP.
    pub size: Bytes,
    /// When it arrived.
    pub arrival: HostInstant,
    /// When it was dropped.
    pub at: HostInstant,
}

impl<P> Link<P> {
    /// A link that follows `schedule` from `origin` on.
    pub fn new(schedule: &Schedule, limit: QueueLimit, origin: HostInstant) -> Self {
        match schedule {
            Schedule::Trace(trace) => {
                let cursor = TraceCursor::new(trace.clone(), origin);
                Self::with(Server::Opportunities(cursor), TUN_HEADER, limit, origin)
            }
            Schedule::Steps(steps) => {
                let server = RateServer::new(steps.clone(), origin);
                Self::with(Server::Rate(server), Bytes::ZERO, limit, origin)
            }
        }
    }

    fn with(server: Server, overhead: Bytes, limit: QueueLimit, origin: HostInstant) -> Self {
        Self {
            server,
            queue: Queue::new(limit),
            in_service: None,
            overhead,
            departures: VecDeque::new(),
            drops: VecDeque::new(),
            events: None,
            now: origin,
        }
    }

    /// The same link, but random drops of its queue come from this seed.
    #[must_use]
    pub fn seeded(mut self, seed: u64) -> Self {
        self.queue.seed(seed);
        self
    }

    /// The same link, but a trace is played once and not repeated.
    #[must_use]
    pub fn once(mut self, once: bool) -> Self {
        if let Server::Opportunities(cursor) = &mut self.server {
            cursor.set_once(once);
        }
        self
    }

    /// The same link, but the first lap of a trace begins `millis` after the link's clock shows
    /// zero.
    ///
    /// mahimahi's logs call this the base timestamp.
    #[must_use]
    pub fn based_at(mut self, millis: u64) -> Self {
        if let Server::Opportunities(cursor) = &mut self.server {
            cursor.set_base(millis);
        }
        self
    }

    /// The same link, but it keeps events for [`drain_events`](Self::drain_events).
    #[must_use]
    pub fn logged(mut self) -> Self {
        self.events = Some(Vec::new());
        self
    }

    /// A packet of `size` bytes of IP arrives. Packets that were due before depart first.
    pub fn handle_packet(&mut self, now: HostInstant, size: Bytes, payload: P) {
        self.handle_time(now);
        let now = self.now;
        self.log(LinkEvent::Arrived { at: now, size });
        let packet = Waiting { payload, cost: size + self.overhead, arrival: now };
        if self.in_service.is_none() && self.queue.would_hold_alone(packet.cost) {
            // At a rate of zero no wakeup is needed.
            if let Server::Rate(server) = &mut self.server {
                let until = server.serve(now, packet.cost);
                self.in_service = Some(InService { packet, progress: Progress::Until(until) });
                return;
            }
        }
        let Self { queue, drops, events, overhead, .. } = self;
        queue.push(packet, note_drops(now, *overhead, drops, events));
        if let Server::Rate(_) = self.server {
            self.begin_service(now);
        }
    }

    /// Time has reached `now`: everything due by then departs.
    #[inline]
    pub fn handle_time(&mut self, now: HostInstant) {
        self.now = self.now.max(now);
        match self.server {
            Server::Opportunities(_) => self.use_opportunities(),
            Server::Rate(_) => {
                if self.wakeup().is_some_and(|at| at <= self.now) {
                    self.flow();
                }
            }
        }
    }

    /// Whether there is a drop to be polled.
    #[inline]
    pub(crate) fn has_drops(&self) -> bool {
        !self.drops.is_empty()
    }

    /// When the next packet departed that is to be polled.
    #[inline]
    pub(crate) fn next_departure(&self) -> Option<HostInstant> {
        self.departures.front().map(|departure| departure.at)
    }

    /// The departure time of the first packet that is not polled yet and whose departure is
    /// `wanted`; all later ones are `wanted` too.
    pub(crate) fn first_departure(
        &self,
        wanted: impl Fn(HostInstant) -> bool,
    ) -> Option<HostInstant> {
        let at = self.departures.partition_point(|departure| !wanted(departure.at));
        self.departures.get(at).map(|departure| departure.at)
    }

    /// The next packet that departed.
    pub fn poll_departure(&mut self) -> Option<Departure<P>> {
        self.departures.pop_front()
    }

    /// The next packet that was dropped.
    pub fn poll_drop(&mut self) -> Option<Drop<P>> {
        self.drops.pop_front()
    }

    /// Appends the events since the last call to `into`; there are none unless the link is
    /// [`logged`](Self::logged).
    pub fn drain_events(&mut self, into: &mut Vec<LinkEvent>) {
        if let Some(events) = &mut self.events {
            into.append(events);
        }
    }

    /// The next time at which a packet may depart; `None` without a packet, or if none will ever
    /// depart.
    #[inline]
    pub fn wakeup(&self) -> Option<HostInstant> {
        match (&self.server, &self.in_service) {
            (Server::Opportunities(cursor), in_service) => {
                (in_service.is_some() || !self.queue.is_empty()).then(|| cursor.next()).flatten()
            }
            (Server::Rate(_), Some(InService { progress: Progress::Until(at), .. })) => *at,
            (Server::Rate(_), _) => None,
        }
    }

    /// The queue, in bytes as the link counts them, without the packet in service.
    pub fn queue(&self) -> Backlog {
        self.queue.backlog()
    }

    /// Everything inside, in bytes of IP: the queue, the packet in service and the outputs that are
    /// not polled yet.
    pub fn backlog(&self) -> Backlog {
        let queue = self.queue.backlog();
        let overhead = Bytes::new(self.overhead.count() * queue.packets);
        let mut inside = Backlog { packets: queue.packets, bytes: queue.bytes - overhead };
        let in_service = self.in_service.iter().map(|held| held.packet.cost - self.overhead);
        let departed = self.departures.iter().map(|departure| departure.size);
        let dropped = self.drops.iter().map(|drop| drop.size);
        for size in in_service.chain(departed).chain(dropped) {
            inside.packets += 1;
            inside.bytes += size;
        }
        inside
    }

    /// A moment before which a packet of `size` that finds the link idle when it arrives at
    /// `arrival` does not depart.
    pub fn no_departure_before(&self, arrival: HostInstant, size: Bytes) -> HostInstant {
        match &self.server {
            Server::Opportunities(cursor) => cursor.first_after(arrival),
            Server::Rate(server) => server.no_end_before(arrival, size),
        }
    }

    /// The end of a trace that is not repeated; `None` if it has ended, or if there is no such
    /// trace.
    pub fn end(&self) -> Option<HostInstant> {
        match &self.server {
            Server::Opportunities(cursor) => cursor.end(),
            Server::Rate(_) => None,
        }
    }

    /// Whether a trace that is not repeated is used up.
    pub fn is_finished(&self) -> bool {
        matches!(&self.server, Server::Opportunities(cursor) if cursor.next().is_none())
    }

    fn use_opportunities(&mut self) {
        let now = self.now;
        let Self { queue, in_service, drops, events, overhead, departures, .. } = self;
        let Server::Opportunities(cursor) = &mut self.server else { return };
        while in_service.is_some() || !queue.is_empty() {
            let Some(at) = cursor.next().filter(|&at| at <= now) else { return };
            cursor.take();
            let mut room = OPPORTUNITY;
            while room > Bytes::ZERO {
                let begun = in_service.take();
                let fresh = || {
                    let packet = queue.pop(at, note_drops(at, *overhead, drops, events))?;
                    Some(InService { progress: Progress::Left(packet.cost), packet })
                };
                let Some(held) = begun.or_else(fresh) else { break };
                let Progress::Left(left) = held.progress else { break };
                let moved = left.min(room);
                room = room - moved;
                if moved < left {
                    *in_service =
                        Some(InService { progress: Progress::Left(left - moved), ..held });
                    break;
                }
                let departure = Departure {
                    payload: held.packet.payload,
                    size: held.packet.cost - *overhead,
                    arrival: held.packet.arrival,
                    at,
                };
                if let Some(events) = events {
                    events.push(LinkEvent::Departed {
                        at,
                        arrival: departure.arrival,
                        size: departure.size,
                        opportunities: cursor.used(),
                    });
                }
                departures.push_back(departure);
            }
        }
        cursor.skip_to(now);
    }

    fn flow(&mut self) {
        while let Some(InService { progress: Progress::Until(Some(at)), .. }) = self.in_service {
            if at > self.now {
                return;
            }
            let Some(held) = self.in_service.take() else { return };
            let departure = Departure {
                payload: held.packet.payload,
                size: held.packet.cost - self.overhead,
                arrival: held.packet.arrival,
                at,
            };
            self.log(LinkEvent::Departed {
                at,
                arrival: departure.arrival,
                size: departure.size,
                opportunities: 0,
            });
            self.departures.push_back(departure);
            self.begin_service(at);
        }
    }

    fn begin_service(&mut self, start: HostInstant) {
        if self.in_service.is_some() {
            return;
        }
        let Self { queue, drops, events, overhead, .. } = self;
        let next = queue.pop(start, note_drops(start, *overhead, drops, events));
        if let (Server::Rate(server), Some(packet)) = (&mut self.server, next) {
            let until = server.serve(start, packet.cost);
            self.in_service = Some(InService { packet, progress: Progress::Until(until) });
        }
    }

    fn log(&mut self, event: LinkEvent) {
        if let Some(events) = &mut self.events {
            events.push(event);
        }
    }
}

/// Takes packets that the queue drops at this moment.
fn note_drops<P>(
    at: HostInstant,
    overhead: Bytes,
    drops: &mut VecDeque<Drop<P>>,
    events: &mut Option<Vec<LinkEvent>>,
) -> impl FnMut(Waiting<P>) {
    move |packet| {
        let Waiting { payload, cost, arrival } = packet;
        let size = cost - overhead;
        if let Some(events) = events {
            events.push(LinkEvent::Dropped { at, size });
        }
        drops.push_back(Drop { payload, size, arrival, at });
    }
}
