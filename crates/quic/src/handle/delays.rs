use std::collections::VecDeque;
use std::time::Duration;

use sounding_cc::{Controller, RanDelays};
use sounding_estimate::RanDelay;
use sounding_kpi::Direction;
use sounding_units::{Bytes, HostInstant};

/// Events that are kept for connections that read seldom; of more, the oldest are dropped. As many as a controller keeps.
const KEPT: usize = 512;
/// Packets of the host that wait for the modem's reader.
const ENTERED: usize = 4096;
/// A connection that read nothing for so long receives only what is new.
const OLD: Duration = Duration::from_secs(2);

/// What a modem shows of the delays that its radio made: the news of a reader of it, or of a peer's report.
#[derive(Clone, Copy, Debug, Default)]
pub struct DelayNews<'a> {
    /// New events. One of the same direction, kind and begin replaces an earlier one.
    pub events: &'a [RanDelay],
    /// Up to when all events of the uplink are known, on the events' clock; `None` if nothing is.
    pub up_until: Option<HostInstant>,
    /// The same of the downlink.
    pub down_until: Option<HostInstant>,
    /// When the modem's newest record came, on this host's clock.
    pub heard_at: HostInstant,
}

/// The delays of a device's radio, for the connections over it.
#[derive(Debug, Default)]
pub(super) struct Delays {
    events: VecDeque<RanDelay>,
    /// The number of the event that comes next, since the handle was made.
    next: u64,
    state: Option<State>,
    entered: VecDeque<(HostInstant, Bytes)>,
}

#[derive(Clone, Copy, Debug)]
struct State {
    up_until: Option<HostInstant>,
    down_until: Option<HostInstant>,
    heard_at: HostInstant,
    /// They are a peer's, on the peer's clock, and of what is sent to it.
    of_peer: bool,
}

impl Delays {
    pub(super) fn set(&mut self, news: &DelayNews<'_>, of_peer: bool) {
        if self.state.is_some_and(|state| state.of_peer != of_peer) {
            self.events.clear();
        }
        for event in news.events {
            if self.events.len() == KEPT {
                self.events.pop_front();
            }
            self.events.push_back(*event);
            self.next += 1;
        }
        let &DelayNews { up_until, down_until, heard_at, .. } = news;
        self.state = Some(State { up_until, down_until, heard_at, of_peer });
    }

    pub(super) fn withdraw(&mut self) {
        self.state = None;
        self.events.clear();
    }

    pub(super) fn handle_entered(&mut self, now: HostInstant, size: Bytes) {
        if self.entered.len() == ENTERED {
            self.entered.pop_front();
        }
        self.entered.push_back((now, size));
    }

    pub(super) fn take_entered(&mut self) -> VecDeque<(HostInstant, Bytes)> {
        std::mem::take(&mut self.entered)
    }

    /// Events of this device's own modem from that number on, the number of the next, and what is known of all.
    pub(super) fn since(&self, number: u64) -> Option<Own> {
        let State { up_until, down_until, heard_at, of_peer } = self.state?;
        if of_peer {
            return None;
        }
        let unseen = usize::try_from(self.next.saturating_sub(number)).unwrap_or(usize::MAX);
        let from = self.events.len().saturating_sub(unseen);
        let events = self.events.iter().skip(from).copied().collect();
        Some(Own { events, next: self.next, up_until, down_until, heard_at })
    }
}

/// What is known of the delays of this device's own modem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Own {
    pub(crate) events: Vec<RanDelay>,
    pub(crate) next: u64,
    pub(crate) up_until: Option<HostInstant>,
    pub(crate) down_until: Option<HostInstant>,
    pub(crate) heard_at: HostInstant,
}

/// One connection's place in the events.
#[derive(Debug, Default)]
pub(super) struct Place {
    next: u64,
    news: Vec<RanDelay>,
    state: Option<State>,
}

impl Place {
    /// Copies what is new.
    pub(super) fn read(&mut self, delays: &Delays, now: HostInstant) {
        self.news.clear();
        self.state = delays.state;
        let unseen = usize::try_from(delays.next - self.next).unwrap_or(usize::MAX);
        self.next = delays.next;
        let from = delays.events.len().saturating_sub(unseen);
        let is_peers = self.state.is_some_and(|state| state.of_peer);
        let is_new = |event: &&RanDelay| is_peers || now - event.to < OLD;
        self.news.extend(delays.events.iter().skip(from).filter(is_new));
    }

    /// Passes it to the controller. `offset` leads from the peer's clock to this host's, in nanoseconds: without it a peer's
    /// events mean nothing here.
    pub(super) fn tell(
        &mut self,
        now: HostInstant,
        offset: Option<i128>,
        controller: &mut dyn Controller,
    ) {
        let Some(State { up_until, down_until, heard_at, of_peer }) = self.state else { return };
        let (data, offset) = match (of_peer, offset) {
            (true, None) => return,
            (true, Some(offset)) => (Direction::Downlink, offset),
            (false, _) => (Direction::Uplink, 0),
        };
        let here = |at: HostInstant| {
            HostInstant::from_nanos(u64::try_from(i128::from(at.as_nanos()) + offset).unwrap_or(0))
        };
        for event in &mut self.news {
            (event.from, event.to) = (here(event.from), here(event.to));
        }
        controller.handle_delays(&RanDelays {
            now,
            data,
            events: &self.news,
            up_until: up_until.map(here),
            down_until: down_until.map(here),
            age: now - heard_at,
        });
    }
}
