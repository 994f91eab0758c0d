use alloc::boxed::Box;
use alloc::vec::Vec;

use sounding_units::{Bytes, HostInstant};

use crate::LinkEvent;

/// One direction of a network: packets enter, and leave later or are lost.
///
/// The driver calls [`handle_packet`](Self::handle_packet) for each packet in order of time and
/// [`handle_time`](Self::handle_time) when [`wakeup`](Self::wakeup) is due; after either it polls
/// [`poll_output`](Self::poll_output) until it is empty. A late call does not change the outputs:
/// every output has the time at which it was due.
pub trait Pipe<P> {
    /// A packet of `size` bytes of IP enters at `now`.
    fn handle_packet(&mut self, now: HostInstant, size: Bytes, payload: P);

    /// Time has reached `now`.
    fn handle_time(&mut self, now: HostInstant);

    /// The next packet that left or was lost; each packet that entered is returned here exactly
    /// once.
    fn poll_output(&mut self) -> Option<Output<P>>;

    /// Time of the next event, if no packet enters before; `None` if the pipe is empty or stopped.
    fn wakeup(&self) -> Option<HostInstant>;

    /// The packets inside: those that entered and were not polled as an output.
    fn backlog(&self) -> Backlog;

    /// Moves the bottleneck's events since the last call to the end of `into`; none unless logging
    /// is on.
    fn drain_events(&mut self, into: &mut Vec<LinkEvent>) {
        let _ = into;
    }

    /// Whether the link has used up a trace that is not repeated.
    fn is_finished(&self, now: HostInstant) -> bool {
        let _ = now;
        false
    }
}

/// Pipes of several kinds in one network.
impl<P, Q: Pipe<P> + ?Sized> Pipe<P> for Box<Q> {
    fn handle_packet(&mut self, now: HostInstant, size: Bytes, payload: P) {
        (**self).handle_packet(now, size, payload);
    }

    fn handle_time(&mut self, now: HostInstant) {
        (**self).handle_time(now);
    }

    fn poll_output(&mut self) -> Option<Output<P>> {
        (**self).poll_output()
    }

    fn wakeup(&self) -> Option<HostInstant> {
        (**self).wakeup()
    }

    fn backlog(&self) -> Backlog {
        (**self).backlog()
    }

    fn drain_events(&mut self, into: &mut Vec<LinkEvent>) {
        (**self).drain_events(into);
    }

    fn is_finished(&self, now: HostInstant) -> bool {
        (**self).is_finished(now)
    }
}

/// Packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Number of packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: Bytes,
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output<P> {
    /// It arrived at the other end.
    Carried(Carried<P>),
    /// A full queue dropped it.
    Lost(Lost<P>),
}

/// A packet that left a pipe, with its times inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried<P> {
    /// The driver's payload.
    pub payload: P,
    /// Bytes of IP.
    pub size: Bytes,
    /// When it entered the pipe.
    pub entered: HostInstant,
    /// When it joined the bottleneck's queue.
    pub joined: HostInstant,
    /// When the bottleneck had carried its last byte.
    pub left: HostInstant,
    /// When it leaves the pipe.
    pub exits: HostInstant,
}

/// A packet that a full queue dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost<P> {
    /// The driver's payload.
    pub payload: P,
    /// Bytes of IP.
    pub size: Bytes,
    /// When it entered the pipe.
    pub entered: HostInstant,
    /// When it was dropped.
    pub dropped: HostInstant,
}

impl<P> Output<P> {
    /// The same packet with another payload.
    pub fn map<Q>(self, to: impl FnOnce(P) -> Q) -> Output<Q> {
        match self {
            Self::Carried(out) => Output::Carried(out.map(to)),
            Self::Lost(out) => Output::Lost(out.map(to)),
        }
    }
}

impl<P> Carried<P> {
    /// The same packet with another payload.
    pub fn map<Q>(self, to: impl FnOnce(P) -> Q) -> Carried<Q> {
        let Self { payload, size, entered, joined, left, exits } = self;
        Carried { payload: to(payload), size, entered, joined, left, exits }
    }
}

impl<P> Lost<P> {
    /// The same packet with another payload.
    pub fn map<Q>(self, to: impl FnOnce(P) -> Q) -> Lost<Q> {
        let Self { payload, size, entered, dropped } = self;
        Lost { payload: to(payload), size, entered, dropped }
    }
}
