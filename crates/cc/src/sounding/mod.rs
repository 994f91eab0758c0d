//! The project's own controller: all that the modem says, and what acknowledgements show beside it.
//!
//! A base station grants what is asked for. While more waits at the radio than it grants, the grants are what the radio has,
//! and the window is what the link holds at this rate: the RTT without queue, and as much room as it takes that something is
//! left waiting. While they are only what was asked for they are a floor, and the window grows above it
//! until the modem tells of a backlog or every packet of a round is late. A queue that stands although the radio has nothing
//! waiting stands elsewhere: then, and while the modem says nothing that may be used, a stock algorithm drives.

mod path;
mod room;
mod window;

use core::time::Duration;

use sounding_link::{Bound, LinkEstimate, State as Link};
use sounding_units::{Bytes, HostInstant, Rate};

use crate::bbr::Bbr;
use crate::sharing::Part;
use crate::{Ack, Controller, Departure, Loss, Recovery, Start};
use path::{PathRtt, Seen};
use room::Room;
use window::Window;

/// The longest silence of a publisher that lives: six of its heartbeats, as the law's own
/// ([`Knobs::max_silence`](crate::biscay::Knobs)).
const SILENCE: Duration = Duration::from_millis(60);
/// A capacity that was known so long ago says what a probe begins with; one that is older is probed as one that nobody
/// knows. Chosen: with 300 ms a link that fades is probed too hard each time it comes back.
const KNOWN_FOR: Duration = Duration::from_secs(1);
/// Rounds of a queue that the radio does not have until it is asked whose it is. Chosen, as the law's narrow rounds.
const SUSPECT_ROUNDS: u32 = 3;
/// Rounds of a lowered window until the answer: one to drain into it, one to see what came of it.
const ASK_ROUNDS: u32 = 2;
/// The radio is the bottleneck again once it has had a backlog for so many RTTs: a burst of the stock algorithm's probing
/// is over after one.
const BACK_AFTER_RTTS: u32 = 2;
/// Window after a timeout: RFC 6928's IW10.
const RESTART: u64 = 10;

/// Where the bottleneck is believed to be, and what is done.
///
/// ```text
///             an estimate                 more waits than is granted
///   Unheard ──────────────▶ Climbing ─────────────────────────────▶ Full
///      ▲                     │ ▲  ▲       all asked for is granted    │
///      │ silence, none      │ │  └───────────────────────────────────┘
///      └── from any ──  queue │ │ a round without     3 rounds      no shorter: the path is longer
///                            ▼ │                ┌──────────▶ Asking ──────────▶ Climbing
///                           Held ───────────────┘               │ shorter
///   Away: from any, on the way to another cell                  ▼
///   Full ◀───── a backlog at the radio for two RTTs ──────── Elsewhere
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Unheard,
    Full,
    /// Growth in a round, in 64ths of what is acknowledged.
    Climbing {
        step: u64,
    },
    Held {
        rounds: u32,
    },
    Away,
    /// With less than before, to see whether the RTT shrinks.
    Asking {
        rounds: u32,
        rtt: Duration,
    },
    Elsewhere {
        backlog_since: Option<HostInstant>,
    },
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Sounding {
    shadow: Bbr,
    state: State,
    path: PathRtt,
    room: Room,
    window: Window,
    part: Part,
    /// What the radio last had for the whole device, IP, and when that was.
    capacity: Option<(Rate, HostInstant)>,
    heard_at: HostInstant,
    silence: Duration,
}

impl Sounding {
    /// A flow without any estimate.
    pub fn new(start: &Start) -> Self {
        Self::heard_every(start, Duration::ZERO)
    }

    /// The same where estimates come so rarely: silence begins so much later.
    pub fn heard_every(start: &Start, every: Duration) -> Self {
        Self {
            shadow: Bbr::new(start),
            state: State::Unheard,
            path: PathRtt::new(start.now, start.rtt),
            room: Room::new(),
            window: Window::new(start),
            part: Part::default(),
            capacity: None,
            heard_at: start.now,
            silence: SILENCE + every,
        }
    }

    const fn drives(&self) -> bool {
        !matches!(self.state, State::Unheard | State::Elsewhere { .. })
    }

    fn is_capacity_known(&self, now: HostInstant) -> bool {
        self.capacity.is_some_and(|(_, at)| now - at <= KNOWN_FOR)
    }

    fn climb(&mut self, now: HostInstant) {
        let known = self.is_capacity_known(now);
        let step = if known { self.room.first_step() } else { window::MOST_STEP };
        self.state = State::Climbing { step };
    }

    /// A modem that has gone quiet is not obeyed any longer.
    fn listen(&mut self, now: HostInstant) {
        if now - self.heard_at > self.silence && self.state != State::Unheard {
            self.state = State::Unheard;
        }
    }

    fn handle_round(&mut self, ack: &Ack, seen: Seen) {
        let queues = seen.queue.is_some_and(|queue| queue >= path::QUEUE);
        let stops = queues || ack.recovery == Recovery::Fast || ack.ce > Bytes::ZERO;
        let used = self.window.is_used(ack);
        self.state = match self.state {
            State::Climbing { .. } if stops => {
                self.window.without_queue(&self.path, seen.queue);
                State::Held { rounds: 0 }
            }
            State::Climbing { step } if used => {
                self.window.grow(ack.acked, step);
                let faster = if seen.over { step * 2 } else { step };
                State::Climbing { step: faster.min(window::MOST_STEP) }
            }
            State::Held { .. } if seen.over && !stops => {
                State::Climbing { step: self.room.first_step() }
            }
            State::Held { rounds } if seen.over && rounds + 1 >= SUSPECT_ROUNDS && used => {
                self.window.ask();
                State::Asking { rounds: 0, rtt: self.path.smallest() }
            }
            State::Held { rounds } if seen.over => {
                self.window.without_queue(&self.path, seen.queue);
                State::Held { rounds: rounds + 1 }
            }
            State::Asking { rounds, rtt } if seen.over && rounds + 1 >= ASK_ROUNDS => {
                self.answer(ack.now, rtt)
            }
            State::Asking { rounds, rtt } if seen.over => State::Asking { rounds: rounds + 1, rtt },
            state => state,
        };
    }

    /// A queue gets shorter by a smaller window, a path does not.
    fn answer(&mut self, now: HostInstant, asked: Duration) -> State {
        let found = self.path.smallest();
        if found * 10 <= asked * 9 {
            self.shadow.cap_bandwidth(self.window.over(found));
            self.shadow.doubt_rtt_min(now);
            return State::Elsewhere { backlog_since: None };
        }
        self.path.handle_longer(now, found);
        State::Climbing { step: self.room.first_step() }
    }

    fn handle_usable(&mut self, now: HostInstant, estimate: &LinkEstimate) {
        let Some(least) = self.path.least() else { return };
        let share = self.part.of(estimate.rate);
        if self.is_capacity_known(now) {
            self.room.handle_bound(estimate.bound, now - self.heard_at);
        }
        self.state = match (estimate.bound, self.state) {
            (Bound::Capacity, State::Elsewhere { backlog_since }) => {
                let since = backlog_since.unwrap_or(now);
                if now - since < least * BACK_AFTER_RTTS {
                    self.state = State::Elsewhere { backlog_since: Some(since) };
                    return;
                }
                State::Full
            }
            (Bound::Served, State::Elsewhere { .. }) => State::Elsewhere { backlog_since: None },
            (Bound::Capacity, _) => State::Full,
            (Bound::Served, State::Unheard) => {
                self.window.begin(share, &self.path, &self.room, self.shadow.cwnd());
                self.climb(now);
                self.state
            }
            (Bound::Served, State::Full | State::Away) => {
                self.climb(now);
                self.state
            }
            (Bound::Served, state) => state,
        };
        match self.state {
            State::Full => {
                self.capacity = Some((estimate.rate, now));
                self.room.handle_capacity(estimate.rate);
                self.window.fill(share, &self.path, &self.room);
            }
            State::Climbing { .. } | State::Held { .. } => {
                self.window.at_least(share, &self.path, &self.room);
            }
            _ => {}
        }
    }
}

impl Controller for Sounding {
    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        self.shadow.handle_sent(sent, size);
        self.listen(sent.at);
    }

    fn handle_ack(&mut self, ack: &Ack) {
        self.shadow.handle_ack(ack);
        self.listen(ack.now);
        if self.drives() {
            // The window leaves hardly any queue, so the minimum of the stock algorithm is fresh.
            self.shadow.confirm_rtt_min(ack.now);
        }
        let seen = self.path.handle_ack(ack);
        self.window.handle_ack(ack);
        if seen.over
            && let Some((rate, _)) = self.capacity
        {
            let share = self.part.of(rate);
            self.window.handle_rivals(ack, share, &self.path, self.part.is_shared());
        }
        self.handle_round(ack, seen);
    }

    fn handle_loss(&mut self, loss: &Loss) {
        self.shadow.handle_loss(loss);
    }

    fn handle_timeout(&mut self, now: HostInstant) {
        self.shadow.handle_timeout(now);
        self.window.restart(RESTART);
    }

    fn handle_spurious_timeout(&mut self, now: HostInstant) {
        self.shadow.handle_spurious_timeout(now);
        self.window.handle_undone();
    }

    fn handle_part(&mut self, now: HostInstant, part: Part) {
        if let Some((rate, _)) = self.capacity
            && part != self.part
        {
            self.window.rescale(self.part.of(rate), part.of(rate));
        }
        self.part = part;
        let _ = now;
    }

    fn handle_estimate(&mut self, now: HostInstant, estimate: &LinkEstimate, _flows: u32) {
        if estimate.state == Link::Handover {
            // What was known of the last cell is not true of the next, and what is under way is enough to meet it with.
            if self.drives() {
                (self.state, self.capacity) = (State::Away, None);
                self.room.forget();
            }
        } else if estimate.is_usable() {
            self.handle_usable(now, estimate);
        } else if estimate.state != Link::Idle {
            self.state = State::Unheard;
        } else if self.state == State::Full {
            self.climb(now);
        }
        self.heard_at = now;
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.shadow.handle_time(now);
    }

    fn wakeup(&self) -> Option<HostInstant> {
        self.shadow.wakeup()
    }

    fn cwnd(&self) -> Bytes {
        if self.drives() { self.window.cwnd() } else { self.shadow.cwnd().max(self.window.floor()) }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let least = self.path.least().filter(|_| self.drives());
        least.map_or_else(|| self.shadow.pacing_rate(), |least| Some(self.window.pacing(least)))
    }

    fn state(&self) -> &'static str {
        match self.state {
            State::Unheard => "unheard",
            State::Full => "full",
            State::Climbing { .. } => "probing",
            State::Held { .. } => "probing, held",
            State::Away => "handover",
            State::Asking { .. } => "asking",
            State::Elsewhere { .. } => "elsewhere",
        }
    }
}
