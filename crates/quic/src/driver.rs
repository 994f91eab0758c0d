//! Turns a QUIC stack's calls into those of a [`Controller`].
//!
//! quinn reports less than a [`Controller`] needs, noq a little more. The missing parts are
//! derived:
//!
//! | a controller needs | quinn | noq |
//! |---|---|---|
//! | each packet that leaves | groups of packets that leave at the same time, including packets that only acknowledge | each packet, without those that only acknowledge |
//! | which packet was delivered | the time at which it left: packets of a group cannot be distinguished | the same |
//! | which packets were lost | their bytes in total, and when the newest of them left: counted as full segments that all left then | each |
//! | losses with the acknowledgement that shows them | reported after it: they count with the next | the same |
//! | marks (ECN) | only that there were some: counted as one segment with the next acknowledgement | the same |
//! | RTT | the time since the newest packet of the acknowledgement left, including the peer's acknowledgement delay | the same |
//! | what kept the sender | at an acknowledgement, whether the application had nothing to send: else it was the window, which the stack's pacer spreads | the same; of a controller with a rate only if the window was full, or blocked |
//! | timeouts | persistent congestion (RFC 9002 §7.6) | the same, and that losses were none |
//! | the one-way delay | nothing, but while the receiver's datagrams come ([`Driver::timed`]) | the same |
//! | the receiver's clock | the same; otherwise the arrival of the acknowledgement stands for it, in ticks of 1 ms | the same |
//! | timers | none: due actions happen with the next packet sent or acknowledged | the same |
//! | silences | none: the window is closed down to two segments, or entirely if the application wakes the connection ([`Driver::waking`]) | the same |
//!
//! A packet that only acknowledges counts as in flight for quinn, and is never acknowledged itself.
//! It is removed with the next acknowledgement, or after a second without events.
//!
//! Recovery is RFC 9002's: it ends with the first acknowledgement of a packet that left after it
//! began (§7.3.2). All byte counts are UDP payload, as in a stack's window.

use std::time::Duration;

use sounding_baselines::Maker;
use sounding_cc::part::DeliveryRate;
use sounding_cc::{Ack, Controller, Delivered, Departure, Stamp, Start};
use sounding_laws::trust::Trusting;
use sounding_units::{Bytes, HostInstant, Rate};

use crate::flights::Flights;
use crate::handle::HandleReader;
use crate::{EstimateHandle, PeerTimes};

mod claims;
mod held;
mod limits;
mod losses;
mod repair;
mod silence;

use claims::Claims;
use held::Held;
use repair::Repair;
use silence::Silence;
pub use silence::Wake;

/// A stack's window above this would switch pacing off (quinn's pacer stops at 4 GiB).
const MAX_WINDOW: u64 = 1 << 30;

/// No radio carries more: 100 Gbit/s.
const MAX_RATE: u64 = sounding_estimate::MAX_RATE.bytes_per_sec();

/// After this time without an event no packet is in flight. If one waited for an acknowledgement,
/// the stack would have sent a probe (RFC 9002 §6.2). Chosen: longer than the probe timeout of any
/// path over a radio.
const QUIET: Duration = Duration::from_secs(1);

/// One connection: its controller, and events that the controller has not received yet.
#[derive(Debug)]
pub struct Driver {
    make: Remake,
    controller: Box<dyn Controller>,
    start: Start,
    /// Whether its start time is known. A path that follows another starts with its first event.
    begun: bool,
    reader: HandleReader,
    flights: Flights,
    rate: DeliveryRate,
    /// The latest time so far: a controller's time never goes back.
    now: HostInstant,
    /// When something was last sent, acknowledged or lost.
    active_at: HostInstant,
    mtu: Bytes,
    in_flight: Bytes,
    /// The lowest packet number that left.
    lowest: Option<u64>,
    least_rtt: Option<Duration>,
    /// The acknowledgement that is being reported.
    batch: Option<Batch>,
    repair: Repair,
    /// Lost bytes since the last acknowledgement.
    lost: Bytes,
    marked: Bytes,
    window_blocked: bool,
    claims: Claims,
    silence: Silence,
    held: Option<Held>,
}

struct Remake(Maker);

impl std::fmt::Debug for Remake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Remake")
    }
}

#[derive(Clone, Copy, Debug)]
struct Batch {
    prior_in_flight: Bytes,
    acked: Bytes,
    newest: HostInstant,
}

/// A controller that doubts what its peer reports.
fn doubting(make: &Maker, start: &Start) -> Box<dyn Controller> {
    Box::new(Trusting::new(start, make(start)))
}

impl Driver {
    /// A connection that begins, with a controller from `make`.
    pub fn new(make: &Maker, start: Start, handle: &EstimateHandle) -> Self {
        Self {
            make: Remake(make.clone()),
            controller: doubting(make, &start),
            start,
            begun: true,
            reader: HandleReader::new(handle, start.now),
            flights: Flights::default(),
            rate: DeliveryRate::default(),
            now: start.now,
            active_at: start.now,
            mtu: start.mss,
            in_flight: Bytes::ZERO,
            lowest: None,
            least_rtt: start.rtt,
            batch: None,
            repair: Repair::None,
            lost: Bytes::ZERO,
            marked: Bytes::ZERO,
            window_blocked: false,
            claims: Claims::default(),
            silence: Silence::default(),
            held: None,
        }
    }

    /// With a receiver that says when packets arrived. While its datagrams come, the controller
    /// receives the receiver's stamps, in ticks of 1 ms, and one-way delays. Its
    /// acknowledgements wait for them, 50 ms at most.
    #[must_use]
    pub fn timed(self, times: PeerTimes) -> Self {
        Self { held: Some(Held::new(times)), ..self }
    }

    /// With an application that wakes the connection at the end of each silence, so that nothing
    /// leaves during one.
    #[must_use]
    pub fn waking(self, wake: Wake) -> Self {
        Self { silence: Silence::waking(wake), ..self }
    }

    /// For a stack whose pacer uses the window alone and ignores the controller's rate. The
    /// controller begins again.
    #[must_use]
    pub fn without_pacing_rates(mut self) -> Self {
        self.start.paced = false;
        self.controller = doubting(&self.make.0, &self.start);
        self
    }

    /// The same flow on a new path, which starts with the first event there. Only the smallest RTT
    /// so far is kept. A [`Controller`] cannot be copied, and its state may be wrong for the
    /// new path. The old path does not count among the flows of the link until it has another
    /// event.
    pub fn renewed(&mut self) -> Self {
        self.reader.leave();
        let start = Start { now: self.now, rtt: self.least_rtt, ..self.start };
        Self {
            mtu: self.mtu,
            begun: false,
            silence: self.silence.renewed(),
            held: self.held.as_ref().map(Held::renewed),
            ..Self::new(&self.make.0, start, self.reader.handle())
        }
    }

    /// Whether a packet sent at that time took this path. Earlier packets took the previous path,
    /// and stacks report both alike.
    pub fn is_own(&self, left: HostInstant) -> bool {
        self.begun && left >= self.start.now
    }

    /// A path that follows another starts with its first event, not when the other ended.
    fn begin(&mut self, now: HostInstant) {
        if !self.begun && now > self.start.now {
            self.start.now = now;
            self.controller = doubting(&self.make.0, &self.start);
        }
        self.begun = true;
    }

    /// `size` bytes left in packets up to this number.
    pub fn handle_sent(&mut self, now: HostInstant, size: Bytes, last: u64) {
        self.begin(now);
        if now - self.active_at > QUIET {
            self.in_flight = Bytes::ZERO;
        }
        self.active_at = self.active_at.max(now);
        self.in_flight += size;
        self.lowest = Some(self.lowest.map_or(last, |lowest| lowest.min(last)));
        // Smaller packets may only acknowledge, and some stacks report those too: a connection that
        // only receives has no claim.
        if size + size > self.mtu {
            let full = self.is_full(self.in_flight);
            self.claims.handle_sent(full);
        }
        self.handle_time(now);
        let packets = size.count().div_ceil(self.mtu.count()).max(1);
        let headers = Bytes::new(packets.saturating_mul(self.start.headers.count()));
        self.reader.handle_entered(self.now, size + headers);
        let departure = self.rate.handle_sent(self.now, size, self.in_flight);
        self.flights.push(now, last, departure);
        self.controller.handle_sent(&departure, size);
    }

    /// A packet that left at `left` was delivered.
    pub fn handle_acked(&mut self, now: HostInstant, left: HostInstant, size: Bytes) {
        self.handle_acked_number(now, left, size, None);
    }

    /// The same, in a stack that names the packet.
    pub fn handle_acked_number(
        &mut self,
        now: HostInstant,
        left: HostInstant,
        size: Bytes,
        number: Option<u64>,
    ) {
        self.handle_time(now);
        if !self.is_own(left) {
            return;
        }
        self.active_at = self.now;
        let sent = self.departure(self.flights.at(left).map(|flight| flight.departure));
        let batch = self.batch.get_or_insert(Batch {
            prior_in_flight: self.in_flight,
            acked: Bytes::ZERO,
            newest: left,
        });
        batch.acked += size;
        batch.newest = batch.newest.max(left);
        self.in_flight = self.in_flight.saturating_sub(size);
        self.rate.handle_delivered(self.now, size, &sent);
        match &mut self.held {
            Some(held) => held.handle_acked(left, size, sent, number, &self.flights),
            None => self.controller.handle_delivered(&Delivered { now: self.now, size, sent }),
        }
    }

    /// The whole acknowledgement has been reported; `in_flight` is the stack's own count of bytes
    /// in flight.
    pub fn handle_acks_end(&mut self, now: HostInstant, in_flight: Bytes, app_limited: bool) {
        self.in_flight = in_flight;
        let Some(batch) = self.batch.take() else { return self.handle_time(now) };
        let rtt = Some(now - batch.newest).filter(|rtt| !rtt.is_zero());
        self.least_rtt = [self.least_rtt, rtt].into_iter().flatten().min();
        let Some((sent, rate)) = self.rate.finish(self.now, self.least_rtt) else {
            if let Some(held) = &mut self.held {
                held.drop_ack(self.now, self.controller.as_mut());
            }
            return;
        };
        if app_limited && !self.is_full(in_flight) {
            self.rate.handle_app_limited(in_flight);
        }
        if !self.repair.covers(batch.newest) {
            self.repair = Repair::None;
        }
        let delivered = rate.map(|rate| self.with_headers(rate));
        self.claims.handle_ack(in_flight, app_limited, delivered);
        self.handle_time(now);
        let ack = Ack {
            stamp: Some(self.arrival()),
            now: self.now,
            acked: batch.acked,
            newly_lost: std::mem::take(&mut self.lost),
            rtt,
            one_way: None,
            rate,
            delivered: self.rate.delivered(),
            lost: self.rate.lost(),
            prior_in_flight: batch.prior_in_flight,
            in_flight,
            ce: std::mem::take(&mut self.marked),
            cwnd_limited: self.is_window_limited(app_limited, batch.prior_in_flight),
            recovery: self.repair.recovery(),
            sent,
        };
        match &mut self.held {
            Some(held) => held.handle_ack(self.now, ack, self.controller.as_mut()),
            None => self.controller.handle_ack(&ack),
        }
        self.flights.forget(batch.newest);
    }

    /// Whether the window kept the sender from sending more. A window that a stack's own pacer
    /// spreads counts as used (RFC 9002 §7.8). If a controller's rate is applied, that rate is
    /// the limit until the window is full.
    fn is_window_limited(&mut self, app_limited: bool, prior_in_flight: Bytes) -> bool {
        let blocked = std::mem::take(&mut self.window_blocked);
        if !self.start.paced || self.controller.pacing_rate().is_none() {
            return !app_limited;
        }
        blocked || !app_limited && self.is_full(prior_in_flight)
    }

    /// Whether so much in flight leaves no room for a segment.
    fn is_full(&self, in_flight: Bytes) -> bool {
        in_flight + self.mtu > Bytes::new(self.window())
    }

    /// The rate of IP packets that carries this rate of payload.
    fn with_headers(&self, rate: Rate) -> Rate {
        let mss = self.mtu.count().max(1);
        let all = mss + self.start.headers.count();
        Rate::from_bytes_per_sec(rate.bytes_per_sec().min(MAX_RATE) * all / mss)
    }

    /// The window blocks the next packet.
    pub fn handle_window_blocked(&mut self) {
        self.window_blocked = true;
    }

    /// An unknown number of packets arrived with congestion marks (RFC 3168).
    pub fn handle_marked(&mut self) {
        self.marked += self.mtu;
    }

    /// Persistent congestion (RFC 9002 §7.6): no packet of a long enough time arrived.
    pub fn handle_persistent_congestion(&mut self, now: HostInstant) {
        self.handle_time(now);
        self.repair = Repair::Timeout { since: self.now };
        if let Some(held) = &mut self.held {
            held.flush(self.now, self.controller.as_mut());
        }
        self.controller.handle_timeout(self.now);
    }

    /// A packet that counted as lost arrived.
    pub fn handle_spurious(&mut self) {
        if let Repair::Timeout { .. } = self.repair {
            self.repair = Repair::None;
            self.controller.handle_spurious_timeout(self.now);
        }
    }

    /// The new maximum length of a UDP payload. The controller's segment size stays as at its
    /// start: it is the controller's unit, not the path's.
    pub fn handle_mtu(&mut self, mtu: u16) {
        self.mtu = Bytes::new(u64::from(mtu).max(1));
    }

    /// Advances the time: runs due actions, and reads the estimate.
    fn handle_time(&mut self, now: HostInstant) {
        self.begin(now);
        self.now = self.now.max(now);
        // Before what is due: these acknowledgements are of before.
        if let Some(held) = &mut self.held {
            held.handle_time(self.now, self.controller.as_mut());
        }
        if self.controller.wakeup().is_some_and(|at| at <= self.now) {
            self.controller.handle_time(self.now);
        }
        let offset = self.held.as_ref().and_then(Held::offset);
        self.reader.read(self.now, self.claims.claim(), offset, self.controller.as_mut());
    }

    /// The departure of a packet. For an unknown packet it is one that gives no rate.
    fn departure(&self, known: Option<Departure>) -> Departure {
        known.unwrap_or(Departure {
            at: self.now,
            delivered: self.rate.delivered(),
            delivered_at: self.now,
            first_sent_at: self.now,
            lost: self.rate.lost(),
            in_flight: self.in_flight,
            app_limited: true,
        })
    }

    /// No stack says when its peer received a packet. So the clock of the acknowledgement's arrival
    /// stands for the receiver's: it has the delays of the way back too.
    fn arrival(&self) -> Stamp {
        // It wraps, as a receiver's does.
        let millis = (self.now.as_nanos() / 1_000_000) as u32;
        Stamp { value: millis, tick: Duration::from_millis(1) }
    }

    /// The state of the controller in a word or two.
    pub fn state(&self) -> &'static str {
        self.controller.state()
    }
}

#[cfg(test)]
mod tests;
