//! The rate feed: lines for live senders on a UNIX socket.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use miette::{IntoDiagnostic, Result, WrapErr};
use sounding_board::Place;
use sounding_feed::{Adviser, DelayQueue, Delays, Flows, Line, Publisher, Tuning};
use sounding_kpi::Direction;
use sounding_link::{Config as Link, DelayUpdate, RanDelay};
use sounding_serve::News;
use sounding_units::HostInstant;

use crate::run::events::Events;
use crate::run::news;
use crate::run::output::{Estimates, Needs, Output, Section};

/// The shortest time between two lines of a direction, and the longest.
const SOONEST: Duration = Duration::from_millis(20);
pub(super) const LATEST: Duration = Duration::from_millis(100);

/// A line has the flows this often.
const FLOWS_EVERY: Duration = Duration::from_secs(1);

/// `[feed]` with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::run) struct FeedPlan {
    /// The name of the socket.
    pub(in crate::run) name: String,
    /// The socket's mode.
    pub(in crate::run) mode: u32,
    /// Its group, if it is not that of the folder or the daemon.
    pub(in crate::run) group: Option<u32>,
    /// Whether lines have the radio's own delays.
    pub(in crate::run) delays: bool,
}

/// The lines of one modem in it.
#[derive(Clone, Debug)]
pub(in crate::run) struct FeedSection {
    /// The socket; none where only [serve] has the lines.
    pub(in crate::run) plan: Option<FeedPlan>,
    pub(in crate::run) modem: String,
}

/// A socket, which all modems of the daemon share. No write to it waits.
type Shared = Arc<Mutex<Publisher>>;

/// The sockets of this process that exist, each as planned.
static OPEN: Mutex<Vec<(FeedPlan, Weak<Mutex<Publisher>>)>> = Mutex::new(Vec::new());

/// Both, seen from the device.
const WAYS: [Direction; 2] = [Direction::Uplink, Direction::Downlink];

fn link(way: Direction) -> Link {
    Link::new(way).over(Some(Tuning::of(way).span))
}

impl FeedPlan {
    /// Its socket: one that another modem's lines have made, or a new one.
    fn socket(&self) -> Result<Shared> {
        let mut open = locked(&OPEN);
        open.retain(|(_, socket)| socket.strong_count() > 0);
        let made = open.iter().find(|(plan, _)| plan == self);
        if let Some(socket) = made.and_then(|(_, socket)| socket.upgrade()) {
            return Ok(socket);
        }
        let path = Place::to_publish(&self.name).into_diagnostic()?.feed();
        let socket = Arc::new(Mutex::new(self.publisher(&path)?));
        open.push((self.clone(), Arc::downgrade(&socket)));
        Ok(socket)
    }

    fn publisher(&self, path: &Path) -> Result<Publisher> {
        if let Some(folder) = path.parent() {
            sounding_host::files::make_folder(folder)
                .into_diagnostic()
                .wrap_err_with(|| format!("cannot make {}", folder.display()))?;
        }
        Publisher::new(path, self.mode, self.group, LATEST).into_diagnostic()
    }
}

/// A thread that panics with it leaves it whole: its changes are single calls.
fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Section for FeedSection {
    fn name(&self) -> String {
        match &self.plan {
            Some(plan) => format!("feed {}", plan.name),
            None => "lines".into(),
        }
    }

    fn needs(&self) -> Needs {
        let mut codes: Vec<_> = WAYS.iter().flat_map(|way| sounding_kpi::codes(*way)).collect();
        let delays = self.plan.as_ref().is_some_and(|plan| plan.delays);
        if delays {
            codes.extend(sounding_kpi::rlc_codes());
        }
        let codes = codes.into_iter().copied().collect();
        Needs { estimates: WAYS.map(link).to_vec(), delays, codes }
    }

    fn start(&self) -> Result<Box<dyn Output>> {
        let socket = self.plan.as_ref().map(FeedPlan::socket).transpose()?;
        let sides = WAYS.map(Side::new);
        let wants_delays = self.plan.as_ref().is_some_and(|plan| plan.delays);
        let (modem, flows) = (self.modem.clone(), Due::default());
        Ok(Box::new(FeedOutput { modem, socket, sides, flows, wants_delays }))
    }
}

struct FeedOutput {
    modem: String,
    socket: Option<Shared>,
    sides: [Side; 2],
    flows: Due,
    /// Another output of the modem may be why there are any.
    wants_delays: bool,
}

/// The flows of the laws, for the next line of the uplink.
#[derive(Default)]
struct Due {
    looked: HostInstant,
    flows: Option<Flows>,
}

/// One direction's lines.
struct Side {
    link: Link,
    adviser: Adviser,
    /// The newest line that was given, and when.
    last: Option<(HostInstant, Line)>,
    number: u64,
    /// For the next lines, where the section asks for delays.
    delays: DelayQueue,
}

impl Side {
    fn new(way: Direction) -> Self {
        let (adviser, delays) = (Adviser::new(way), DelayQueue::default());
        Self { link: link(way), adviser, last: None, number: 0, delays }
    }

    /// The line of this moment, if one is due.
    fn poll(&mut self, now: HostInstant, modem: &str, estimates: &Estimates) -> Option<Line> {
        let estimate = estimates.of(&self.link)?;
        self.adviser.handle_estimate(now, estimate);
        let since = self.last.as_ref().map_or(Duration::MAX, |(at, _)| now - *at);
        if since < SOONEST {
            return None;
        }
        let line = Line::of(self.number + 1, modem, now, estimate);
        let line = line.advising(self.adviser.advice());
        let says_as = |(_, last): &(HostInstant, Line)| line.says_as(last);
        let is_old = self.last.as_ref().is_some_and(says_as) && self.delays.is_empty();
        if since < LATEST && is_old {
            return None;
        }
        self.number += 1;
        self.last = Some((now, line.clone()));
        Some(line)
    }
}

/// Gives a line to all who read it, with one text. Only the socket's readers learn of flows and
/// delays: they are on this machine.
fn give(socket: Option<&Shared>, line: Line, flows: Option<Flows>, delays: Option<Delays>) {
    if socket.is_none() && !news::are_wanted() {
        return;
    }
    let text = line.text();
    if let Some(socket) = socket {
        let has_more = flows.is_some() || delays.is_some();
        let more = || line.clone().with_flows(flows).with_delays(delays).text();
        locked(socket).publish_text(has_more.then(more).as_ref().unwrap_or(&text));
    }
    news::tell(|| News::Line(Arc::new(line), text));
}

impl Output for FeedOutput {
    fn handle_delays(&mut self, update: &DelayUpdate) -> Result<()> {
        if !self.wants_delays {
            return Ok(());
        }
        for side in &mut self.sides {
            let own = |event: &&RanDelay| event.direction == side.link.direction;
            update.events.iter().filter(own).for_each(|event| side.delays.handle_event(event));
        }
        Ok(())
    }

    fn publish(&mut self, now: HostInstant, estimates: &Estimates) {
        let Self { modem, socket, sides, flows, .. } = self;
        for side in sides {
            if let Some(line) = side.poll(now, modem, estimates) {
                let is_uplink = line.way() == Some(Direction::Uplink);
                let flows = if is_uplink { flows.flows.take() } else { None };
                give(socket.as_ref(), line, flows, side.delays.poll());
            }
        }
    }

    fn attend(&mut self, now: HostInstant, events: &mut Events) -> Result<()> {
        if let Some(socket) = &self.socket {
            locked(socket).attend();
            if now - self.flows.looked >= FLOWS_EVERY {
                let flows = events.flows().map(|seen| seen.listed);
                self.flows = Due { looked: now, flows };
            }
        }
        Ok(())
    }

    fn forget(&mut self) {
        for side in &mut self.sides {
            side.adviser.handle_disconnect();
        }
    }
}

#[cfg(test)]
mod tests {
    use sounding_link::{Bound, LinkEstimate};
    use sounding_units::Rate;

    use super::*;

    #[test]
    fn lines_come_on_change_and_at_least_every_tenth_of_a_second() {
        let mut side = Side::new(Direction::Uplink);
        let mut said = Vec::new();
        for ms in (0..500_u64).step_by(10) {
            let now = HostInstant::from_nanos(ms * 1_000_000);
            // It changes once, after 255 ms.
            let rate = Rate::from_bits_per_sec(if ms < 255 { 0 } else { 900_000 });
            let estimate = LinkEstimate::new(Direction::Uplink, rate, Bound::Capacity);
            let estimates = Estimates::new(std::iter::once((side.link, estimate)));
            said.extend(side.poll(now, "wan", &estimates).map(|line| (ms, line.number)));
        }
        let times: Vec<u64> = said.iter().map(|(ms, _)| *ms).collect();
        assert_eq!(times, [0, 100, 200, 260, 360, 460]);
        assert_eq!(said.last().map(|(_, number)| *number), Some(6));
    }
}
