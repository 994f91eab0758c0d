use std::collections::VecDeque;
use std::time::Duration;

use sounding_cc::Controller;
use sounding_estimate::DelayUpdate;
use sounding_kpi::Direction;
use sounding_units::{Bytes, HostInstant};

/// Events that are kept for connections that read seldom; of more, the oldest are dropped. As many
/// as a controller keeps.
const KEPT: usize = sounding_estimate::delay::Events::<()>::MOST;
/// Packets of the host that wait for the modem's reader.
const ENTERED: usize = 4096;
/// A connection that read nothing for so long receives only what is new.
const OLD: Duration = Duration::from_secs(2);

/// The delays of a device's radio, for the connections over it.
#[derive(Debug, Default)]
pub(super) struct Delays {
    state: Option<State>,
    /// The number of the event that comes next, since the handle was made.
    next: u64,
    entered: VecDeque<(HostInstant, Bytes)>,
}

#[derive(Debug)]
struct State {
    /// With all events that are kept.
    known: DelayUpdate,
    /// They are a peer's, on the peer's clock, and of what is sent to it.
    of_peer: bool,
}

impl State {
    /// The same with the events that a reader which has seen those before `from` has not.
    fn since(&self, from: u64, next: u64) -> DelayUpdate {
        let unseen = usize::try_from(next.saturating_sub(from)).unwrap_or(usize::MAX);
        let seen = self.known.events.len().saturating_sub(unseen);
        self.known.with_events(self.known.events[seen..].to_vec())
    }
}

impl Delays {
    pub(super) fn set(&mut self, news: &DelayUpdate, of_peer: bool) {
        let before = self.state.take().filter(|state| state.of_peer == of_peer);
        let mut events = before.map(|state| state.known.events).unwrap_or_default();
        events.extend_from_slice(&news.events);
        self.next += news.events.len() as u64;
        events.drain(..events.len().saturating_sub(KEPT));
        self.state = Some(State { known: news.with_events(events), of_peer });
    }

    pub(super) fn withdraw(&mut self) {
        self.state = None;
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

    /// What is known of this device's own modem, with events from that number on, and the number of
    /// the next.
    pub(super) fn since(&self, number: u64) -> Option<(DelayUpdate, u64)> {
        let state = self.state.as_ref().filter(|state| !state.of_peer)?;
        Some((state.since(number, self.next), self.next))
    }
}

/// One connection's place in the events.
#[derive(Debug, Default)]
pub(super) struct Place {
    next: u64,
    /// What is new, and whether it is a peer's.
    news: Option<(DelayUpdate, bool)>,
}

impl Place {
    /// Copies what is new.
    pub(super) fn read(&mut self, delays: &Delays, now: HostInstant) {
        self.news = delays.state.as_ref().map(|state| {
            let mut news = state.since(self.next, delays.next);
            news.events.retain(|event| state.of_peer || now - event.to < OLD);
            (news, state.of_peer)
        });
        self.next = delays.next;
    }

    /// Passes it to the controller. `offset` leads from the peer's clock to this host's, in
    /// nanoseconds: without it a peer's events mean nothing here.
    pub(super) fn tell(
        &mut self,
        now: HostInstant,
        offset: Option<i128>,
        controller: &mut dyn Controller,
    ) {
        let (data, delays) = match (self.news.take(), offset) {
            (None, _) | (Some((_, true)), None) => return,
            (Some((news, false)), _) => (Direction::Uplink, news),
            (Some((news, true)), Some(offset)) => {
                let here = |at: HostInstant| {
                    let nanos = i128::from(at.as_nanos()) + offset;
                    HostInstant::from_nanos(u64::try_from(nanos).unwrap_or(0))
                };
                (Direction::Downlink, news.on_clock(here))
            }
        };
        controller.handle_delays(now, data, &delays);
    }
}
