use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sounding_cc::Controller;
use sounding_cc::sharing::{Claim, Part, Pool, WEIGHT};
use sounding_estimate::DelayUpdate;
use sounding_link::{LinkEstimate, Source, State};
use sounding_units::{Bytes, HostInstant, Rate};

mod delays;

use delays::{Delays, Place};

/// What one device's link carries, for every connection over it. Clones are the same handle.
///
/// Set it from any thread, as often as there is a new estimate. A connection reads it with the next
/// packet that it sends or that is acknowledged; a silent connection is not woken.
#[derive(Clone, Debug, Default)]
pub struct EstimateHandle(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// Counts what was said, so that a connection sees without a lock that there is nothing new.
    version: AtomicU64,
    /// A modem's reader wants to know what the host hands to the modem.
    wants_entered: AtomicBool,
    link: Mutex<Link>,
}

#[derive(Debug, Default)]
struct Link {
    said: Option<Said>,
    members: Vec<Member>,
    next: u64,
    delays: Delays,
}

#[derive(Clone, Copy, Debug)]
struct Said {
    estimate: LinkEstimate,
    at: HostInstant,
    withdrawn: bool,
    /// A peer reported it.
    of_peer: bool,
}

#[derive(Debug)]
struct Member {
    id: u64,
    claim: Claim,
    active_at: HostInstant,
    state: &'static str,
    /// Its connection goes on by another path.
    left: bool,
}

/// A connection over the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Flow {
    /// What it claims of the link.
    pub claim: Claim,
    /// The state of its controller in a word or two.
    pub state: &'static str,
}

/// A connection that has shown nothing for so long does not share the link (interpretation 7 of
/// BISCAY: flows are counted by what they do, not by being open).
const ACTIVE_FOR: Duration = Duration::from_secs(1);

/// An estimate further ahead was not stamped by this machine's clock.
const MAX_LEAD: Duration = Duration::from_secs(1);

/// How often a connection receives an estimate again, as a daemon does for flows of the kernel.
const TELL_EVERY: Duration = Duration::from_millis(5);

impl EstimateHandle {
    /// A handle without an estimate.
    pub fn new() -> Self {
        Self::default()
    }

    /// The link carries this, as was known at `at` by CLOCK_MONOTONIC
    /// ([`sounding_host::monotonic_now`]).
    ///
    /// If several callers set one handle, the latest knowledge counts: an estimate that was known
    /// later, and is still valid, stays.
    pub fn set(&self, estimate: LinkEstimate, at: HostInstant) {
        self.set_said(Said { estimate, at, withdrawn: false, of_peer: false });
    }

    /// The same as a peer reports it, which may lie.
    pub(crate) fn set_report(&self, report: LinkEstimate, at: HostInstant) {
        self.set_said(Said { estimate: report, at, withdrawn: false, of_peer: true });
    }

    fn set_said(&self, new: Said) {
        self.say(|link| {
            let stays = link.said.is_some_and(|held| held.outdates(new));
            if !stays {
                link.said = Some(new);
            }
        });
    }

    /// What this device's modem shows of the delays that its radio made, for controllers that do
    /// not take them for a queue, such as `copa-gandalf`. Call it every few milliseconds, also
    /// without an event: a modem without a record for 100 ms counts as silent.
    pub fn set_delays(&self, news: &DelayUpdate) {
        self.say(|link| link.delays.set(news, false));
    }

    /// The same of a peer's modem, with events on the peer's clock.
    pub(crate) fn set_peer_delays(&self, news: &DelayUpdate) {
        self.say(|link| link.delays.set(news, true));
    }

    /// The delays of this device's own modem, from that number on.
    pub(crate) fn own_delays(&self, number: u64) -> Option<(DelayUpdate, u64)> {
        self.0.lock().delays.since(number)
    }

    /// From now on the packets of all connections are kept for
    /// [`take_entered`](Self::take_entered).
    pub fn want_entered(&self) {
        self.0.wants_entered.store(true, Ordering::Relaxed);
    }

    /// The IP packets that the connections handed to the modem since the last call, in order of
    /// time: for `Sounder::handle_entered`, which knows the wait for grants of each then. Of
    /// more than 4096 the oldest are missing.
    pub fn take_entered(&self) -> impl Iterator<Item = (HostInstant, Bytes)> + use<> {
        self.0.lock().delays.take_entered().into_iter()
    }

    /// The estimate and the delays are no longer used, however young they are.
    pub fn withdraw(&self) {
        self.say(|link| {
            link.delays.withdraw();
            if let Some(said) = &mut link.said {
                said.withdrawn = true;
            }
        });
    }

    fn say(&self, change: impl FnOnce(&mut Link)) {
        change(&mut self.0.lock());
        self.0.version.fetch_add(1, Ordering::Release);
    }

    /// What the link carries, with its age as of now; `None` if it was never set. Past its validity
    /// it is [`State::Stale`].
    pub fn estimate(&self, now: HostInstant) -> Option<LinkEstimate> {
        self.0.lock().said.map(|said| said.aged(now))
    }

    /// The connections over the link, as they were a few milliseconds ago: each by the path that it
    /// takes now.
    pub fn flows(&self) -> Vec<Flow> {
        let link = self.0.lock();
        link.members
            .iter()
            .filter(|member| !member.left)
            .map(|member| Flow { claim: member.claim, state: member.state })
            .collect()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Link> {
        // No operation under the lock can leave it in an inconsistent state.
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Said {
    fn known_at(self) -> HostInstant {
        self.at.saturating_before(self.estimate.age)
    }

    /// Whether it is still valid when the other arrives, and was known later.
    fn outdates(self, other: Self) -> bool {
        self.known_at() > other.known_at() && self.aged(other.at).is_usable()
    }

    fn aged(self, now: HostInstant) -> LinkEstimate {
        let age = self.estimate.age.saturating_add(now - self.at);
        let aged = self.estimate.with_age(age);
        if self.withdrawn || age > aged.valid_for || self.at - now > MAX_LEAD {
            return aged.with_state(State::Stale).with_source(Source::None);
        }
        aged
    }
}

/// One connection's ear.
#[derive(Debug)]
pub(crate) struct HandleReader {
    handle: EstimateHandle,
    id: u64,
    version: u64,
    told_at: HostInstant,
    part: Part,
    /// As the others see it: a flow with nothing to send gives its part back at once.
    idle: bool,
    left: bool,
    place: Place,
}

impl HandleReader {
    pub(crate) fn new(handle: &EstimateHandle, now: HostInstant) -> Self {
        let mut link = handle.0.lock();
        let id = link.next;
        link.next += 1;
        link.members.push(Member {
            id,
            claim: Claim::Idle,
            active_at: now,
            state: "new",
            left: false,
        });
        drop(link);
        let handle = handle.clone();
        let part = Part::default();
        let place = Place::default();
        Self { handle, id, version: 0, told_at: now, part, idle: true, left: false, place }
    }

    pub(crate) fn handle(&self) -> &EstimateHandle {
        &self.handle
    }

    /// Its connection goes on by another path: it counts for nothing, until it listens again.
    pub(crate) fn leave(&mut self) {
        self.left = true;
        let mut link = self.handle.0.lock();
        if let Some(member) = link.members.iter_mut().find(|member| member.id == self.id) {
            member.claim = Claim::Idle;
            member.left = true;
        }
    }

    /// Passes an estimate to the controller if it is new, if the last one was some time ago, or if
    /// its flow has begun or ceased to claim something; `claim` is its current claim. Delays
    /// too; `offset` leads from the peer's clock to this host's, in nanoseconds, if it is
    /// known.
    pub(crate) fn read(
        &mut self,
        now: HostInstant,
        claim: Claim,
        offset: Option<i128>,
        controller: &mut dyn Controller,
    ) {
        let version = self.handle.0.version.load(Ordering::Acquire);
        let idle = claim == Claim::Idle;
        let known = version == self.version && idle == self.idle && !self.left;
        if known && now - self.told_at < TELL_EVERY {
            return;
        }
        self.version = version;
        self.idle = idle;
        self.left = false;
        self.told_at = now;
        let mut link = self.handle.0.lock();
        let mut pool = Pool::default();
        let mut flows = 0;
        for member in &mut link.members {
            let asks = member.id == self.id;
            if asks {
                member.state = controller.state();
                member.left = false;
                member.claim = claim;
                member.active_at = if idle { member.active_at } else { now };
            } else if member.claim == Claim::Idle || now - member.active_at > ACTIVE_FOR {
                continue;
            }
            // A caller that `asks` may be about to send all it can, and gets the part that it would
            // have then, whatever its claim.
            pool.add(if asks { Claim::Hungry } else { member.claim }, WEIGHT);
            // Division by their number would give away a part that a new flow does not use yet.
            flows += u32::from(asks || member.claim != Claim::Limited(Rate::ZERO));
        }
        let said = link.said.map(|said| (said.aged(now), said.of_peer));
        self.place.read(&link.delays, now);
        drop(link);
        let part = pool.part(WEIGHT);
        if part != self.part {
            self.part = part;
            controller.handle_part(now, part);
        }
        match said {
            Some((report, true)) => controller.handle_report(now, &report, flows),
            Some((estimate, false)) => controller.handle_estimate(now, &estimate, flows),
            None => {}
        }
        self.place.tell(now, offset, controller);
    }

    /// A packet leaves this host.
    pub(crate) fn handle_entered(&self, now: HostInstant, size: Bytes) {
        if self.handle.0.wants_entered.load(Ordering::Relaxed) {
            self.handle.0.lock().delays.handle_entered(now, size);
        }
    }
}

impl Drop for HandleReader {
    fn drop(&mut self) {
        self.handle.0.lock().members.retain(|member| member.id != self.id);
    }
}

#[cfg(test)]
mod tests;
