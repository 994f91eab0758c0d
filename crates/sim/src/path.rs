use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_trace::Schedule;
use sounding_units::{Bytes, HostInstant};

use crate::link::{Departure, Drop};
use crate::losses::Gate;
use crate::soonest::soonest;
use crate::{Backlog, Carried, Link, LinkEvent, Losses, Lost, Output, Pipe, QueueLimit};

/// One direction: a link and a propagation delay.
#[derive(Clone, Debug, PartialEq)]
pub struct PathConfig {
    /// The link's rate over time.
    pub schedule: Schedule,
    /// Propagation delay, one way.
    pub delay: Duration,
    /// The queue in front of the link.
    pub queue: QueueLimit,
    /// Whether a trace is played once instead of over and over.
    pub once: bool,
    /// Which packets are lost at the entry.
    pub losses: Losses,
    /// The seed of the losses, and of a queue's random drops.
    pub seed: u64,
}

impl PathConfig {
    /// This link, without delay and losses, with an infinite queue, its trace repeated.
    pub fn new(schedule: impl Into<Schedule>) -> Self {
        Self {
            schedule: schedule.into(),
            delay: Duration::ZERO,
            queue: QueueLimit::INFINITE,
            once: false,
            losses: Losses::None,
            seed: 0,
        }
    }
}

/// Sets the seed of a queue's drops apart from that of the losses before it.
const DROPS: u64 = 0x5155_4555_4544_524F;

/// The order of the two stages.
///
/// `mm-delay D mm-link UP DOWN` puts the link next to the application: the uplink is link then
/// delay, the downlink delay then link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The uplink of a device behind the link.
    LinkThenDelay,
    /// Its downlink.
    DelayThenLink,
}

/// A [`Link`] and a delay, one after the other. Losses come before both.
#[derive(Debug)]
pub struct Path<P> {
    /// `None` if none is lost.
    gate: Option<Gate>,
    link: Link<Inside<P>>,
    delay: Duration,
    order: Order,
    /// From the link to the end. Used so often that it is kept as a number.
    after_link_nanos: u64,
    /// Packets on the way to the link. Packets on the way from the link are among the link's
    /// departures.
    travelling: VecDeque<Travelling<P>>,
    /// Packets that have left, and drops, in order.
    outputs: VecDeque<Output<P>>,
    backlog: Backlog,
    /// The latest time it has seen.
    now: HostInstant,
}

#[derive(Debug)]
struct Inside<P> {
    payload: P,
    entered: HostInstant,
}

#[derive(Debug)]
struct Travelling<P> {
    inside: Inside<P>,
    size: Bytes,
    /// When it is through the delay.
    until: HostInstant,
}

impl<P> Path<P> {
    /// A path whose link starts its schedule at `origin`.
    pub fn new(config: &PathConfig, order: Order, origin: HostInstant) -> Self {
        let after_link = match order {
            Order::LinkThenDelay => config.delay,
            Order::DelayThenLink => Duration::ZERO,
        };
        Self {
            gate: Gate::new(config.losses, config.seed, origin),
            link: Link::new(&config.schedule, config.queue, origin)
                .once(config.once)
                .seeded(config.seed ^ DROPS),
            delay: config.delay,
            order,
            after_link_nanos: u64::try_from(after_link.as_nanos()).unwrap_or(u64::MAX),
            travelling: VecDeque::new(),
            outputs: VecDeque::new(),
            backlog: Backlog::default(),
            now: HostInstant::default(),
        }
    }

    /// The same path, but its link keeps events for [`Pipe::drain_events`].
    #[must_use]
    pub fn logged(mut self) -> Self {
        self.link = self.link.logged();
        self
    }

    /// The queue in front of the link, as the link counts it.
    pub fn queue(&self) -> Backlog {
        self.link.queue()
    }

    /// Records that the link has advanced to `now`.
    #[inline]
    fn come_to(&mut self, now: HostInstant) {
        if self.link.has_drops() {
            self.take_drops();
        }
        self.now = self.now.max(now);
    }

    /// Moves the link's drops to the outputs, each after those that left before.
    fn take_drops(&mut self) {
        while let Some(Drop { payload: inside, size, at, .. }) = self.link.poll_drop() {
            let Inside { payload, entered } = inside;
            self.lose(Lost { payload, size, entered, dropped: at });
        }
    }

    fn lose(&mut self, lost: Lost<P>) {
        let before = lost.dropped.saturating_before(Duration::from_nanos(1));
        while let Some(out) = self.poll_carried(self.now.max(before)) {
            self.outputs.push_back(out);
        }
        self.outputs.push_back(Output::Lost(lost));
    }

    /// When a packet leaves the path that departed from the link at `at`.
    #[inline]
    fn exit(&self, at: HostInstant) -> HostInstant {
        HostInstant::from_nanos(at.as_nanos().saturating_add(self.after_link_nanos))
    }

    /// The next packet that has left by then.
    #[inline]
    fn poll_carried(&mut self, by: HostInstant) -> Option<Output<P>> {
        let exits = self.exit(self.link.next_departure()?);
        if exits > by {
            return None;
        }
        let Departure { payload: inside, size, arrival, at } = self.link.poll_departure()?;
        Some(Output::Carried(Carried {
            payload: inside.payload,
            size,
            entered: inside.entered,
            joined: arrival,
            left: at,
            exits,
        }))
    }
}

impl<P> Pipe<P> for Path<P> {
    #[inline]
    fn handle_packet(&mut self, now: HostInstant, size: Bytes, payload: P) {
        self.backlog.packets += 1;
        self.backlog.bytes += size;
        if self.gate.as_mut().is_some_and(|gate| gate.loses(now)) {
            self.handle_time(now);
            return self.lose(Lost { payload, size, entered: now, dropped: now });
        }
        let inside = Inside { payload, entered: now };
        match self.order {
            Order::LinkThenDelay => {
                self.link.handle_packet(now, size, inside);
                self.come_to(now);
            }
            Order::DelayThenLink => {
                let until = now + self.delay;
                self.travelling.push_back(Travelling { inside, size, until });
                self.handle_time(now);
            }
        }
    }

    #[inline]
    fn handle_time(&mut self, now: HostInstant) {
        // Each joins the link at the moment it was through the delay, however late this call is.
        while let Some(out) = self.travelling.pop_front_if(|packet| packet.until <= now) {
            self.link.handle_packet(out.until, out.size, out.inside);
        }
        self.link.handle_time(now);
        self.come_to(now);
    }

    #[inline]
    fn poll_output(&mut self) -> Option<Output<P>> {
        let output = match self.outputs.pop_front() {
            Some(output) => output,
            None => self.poll_carried(self.now)?,
        };
        let (Output::Carried(Carried { size, .. }) | Output::Lost(Lost { size, .. })) = &output;
        self.backlog.packets -= 1;
        self.backlog.bytes = self.backlog.bytes - *size;
        Some(output)
    }

    #[inline]
    fn wakeup(&self) -> Option<HostInstant> {
        // Only outputs need a wakeup. Events inside get their correct times, however late they are
        // computed.
        let travelling = self.link.next_departure().and_then(|first| {
            let is_out = |at: HostInstant| self.exit(at) <= self.now;
            if is_out(first) { self.link.first_departure(|at| !is_out(at)) } else { Some(first) }
        });
        let departure = travelling.or_else(|| self.link.wakeup());
        let joining = || {
            let front = self.travelling.front()?;
            Some(self.link.no_departure_before(front.until, front.size))
        };
        let out = departure.map(|departure| self.exit(departure)).or_else(joining);
        // Even an empty path has the end of its trace as a wakeup.
        soonest([out, self.link.end()])
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn drain_events(&mut self, into: &mut Vec<LinkEvent>) {
        self.link.drain_events(into);
    }

    fn is_finished(&self, now: HostInstant) -> bool {
        let _ = now;
        self.link.is_finished()
    }
}
