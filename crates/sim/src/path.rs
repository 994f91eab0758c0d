use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_trace::Schedule;
use sounding_units::{Bytes, HostInstant};

use crate::link::{Departure, Drop};
use crate::{Backlog, Carried, Link, LinkEvent, Lost, Output, Pipe, QueueLimit};

/// One direction: a link and a propagation delay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathConfig {
    /// What the link carries when.
    pub schedule: Schedule,
    /// Propagation delay, one way.
    pub delay: Duration,
    /// The queue in front of the link.
    pub queue: QueueLimit,
    /// Whether a trace is played once instead of over and over.
    pub once: bool,
}

impl PathConfig {
    /// This link, without delay, with an infinite queue, its trace repeated.
    pub fn new(schedule: impl Into<Schedule>) -> Self {
        Self {
            schedule: schedule.into(),
            delay: Duration::ZERO,
            queue: QueueLimit::INFINITE,
            once: false,
        }
    }
}

/// Which of the two stages a packet meets first.
///
/// `mm-delay D mm-link UP DOWN` puts the link next to the application: the uplink is link then delay, the downlink
/// delay then link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The uplink of a device behind the link.
    LinkThenDelay,
    /// Its downlink.
    DelayThenLink,
}

/// A [`Link`] and a delay, one after the other.
#[derive(Debug)]
pub struct Path<P> {
    link: Link<Inside<P>>,
    delay: Duration,
    order: Order,
    /// On its way: towards the link or away from it.
    travelling: VecDeque<Travelling<P>>,
    outputs: VecDeque<Output<P>>,
    backlog: Backlog,
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
    joined: HostInstant,
    left: HostInstant,
    /// When it is through the delay.
    until: HostInstant,
}

impl<P> Path<P> {
    /// A path whose link starts its schedule at `origin`.
    pub fn new(config: &PathConfig, order: Order, origin: HostInstant) -> Self {
        Self {
            link: Link::new(&config.schedule, config.queue, origin).once(config.once),
            delay: config.delay,
            order,
            travelling: VecDeque::new(),
            outputs: VecDeque::new(),
            backlog: Backlog::default(),
        }
    }

    /// The same path, but its link keeps what happens for [`Pipe::drain_events`].
    #[must_use]
    pub fn logged(mut self) -> Self {
        self.link = self.link.logged();
        self
    }

    /// What waits in front of the link, as the link counts it.
    pub fn queue(&self) -> Backlog {
        self.link.queue()
    }

    fn leave_link(&mut self) {
        while let Some(Drop { payload: inside, size, at, .. }) = self.link.poll_drop() {
            self.outputs.push_back(Output::Lost(Lost {
                payload: inside.payload,
                size,
                entered: inside.entered,
                dropped: at,
            }));
        }
        while let Some(Departure { payload: inside, size, arrival, at }) =
            self.link.poll_departure()
        {
            match self.order {
                Order::LinkThenDelay => self.travelling.push_back(Travelling {
                    inside,
                    size,
                    joined: arrival,
                    left: at,
                    until: at + self.delay,
                }),
                Order::DelayThenLink => self.outputs.push_back(Output::Carried(Carried {
                    payload: inside.payload,
                    size,
                    entered: inside.entered,
                    joined: arrival,
                    left: at,
                    exits: at,
                })),
            }
        }
    }

    /// What is through the delay by `now` comes out.
    fn come_out(&mut self, now: HostInstant) {
        while let Some(out) = self.arrived_by(now) {
            self.outputs.push_back(Output::Carried(Carried {
                payload: out.inside.payload,
                size: out.size,
                entered: out.inside.entered,
                joined: out.joined,
                left: out.left,
                exits: out.until,
            }));
        }
    }

    /// Takes what is through the delay by `now`, oldest first.
    fn arrived_by(&mut self, now: HostInstant) -> Option<Travelling<P>> {
        self.travelling.pop_front_if(|travelling| travelling.until <= now)
    }
}

impl<P> Pipe<P> for Path<P> {
    fn handle_packet(&mut self, now: HostInstant, size: Bytes, payload: P) {
        self.backlog.packets += 1;
        self.backlog.bytes += size;
        let inside = Inside { payload, entered: now };
        match self.order {
            Order::LinkThenDelay => {
                self.link.handle_packet(now, size, inside);
                self.leave_link();
                self.come_out(now);
            }
            Order::DelayThenLink => {
                let until = now + self.delay;
                let packet = Travelling { inside, size, joined: now, left: now, until };
                self.travelling.push_back(packet);
                self.handle_time(now);
            }
        }
    }

    fn handle_time(&mut self, now: HostInstant) {
        match self.order {
            Order::LinkThenDelay => {
                self.link.handle_time(now);
                self.leave_link();
                self.come_out(now);
            }
            Order::DelayThenLink => {
                // Each joins the link at the moment it was through the delay, however late this call is.
                while let Some(out) = self.arrived_by(now) {
                    self.link.handle_packet(out.until, out.size, out.inside);
                }
                self.link.handle_time(now);
                self.leave_link();
            }
        }
    }

    fn poll_output(&mut self) -> Option<Output<P>> {
        let output = self.outputs.pop_front()?;
        let (Output::Carried(Carried { size, .. }) | Output::Lost(Lost { size, .. })) = &output;
        self.backlog.packets -= 1;
        self.backlog.bytes = self.backlog.bytes - *size;
        Some(output)
    }

    fn wakeup(&self) -> Option<HostInstant> {
        // Only what comes out is worth waking up for: what happens inside happens at its own time, however late it is
        // computed.
        let front = self.travelling.front();
        let out = match self.order {
            Order::LinkThenDelay => {
                let next = || self.link.wakeup().map(|departure| departure + self.delay);
                front.map(|front| front.until).or_else(next)
            }
            Order::DelayThenLink => {
                let joining =
                    || front.map(|front| self.link.no_departure_before(front.until, front.size));
                self.link.wakeup().or_else(joining)
            }
        };
        // Nothing may be inside, and still somebody waits for the end of the trace.
        [out, self.link.end()].into_iter().flatten().min()
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
