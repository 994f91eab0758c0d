use core::fmt::Debug;
use core::time::Duration;

use sounding_estimate::{DelayUpdate, Direction, LinkEstimate};
use sounding_units::{Bytes, HostInstant, Rate};

use crate::sharing::Part;

/// One flow's congestion control: events go in, a window and a pacing rate come out.
///
/// The transport calls the `handle_*` methods in order of time and reads [`cwnd`](Self::cwnd) and
/// [`pacing_rate`](Self::pacing_rate) after each. Upon an acknowledgement it first reports every
/// packet that it delivers, then every one that it shows to be lost, then the acknowledgement as a
/// whole. Most controllers need only the last. All bytes are payload, and so are the rates, except
/// that of a [`LinkEstimate`]. No memory is allocated after construction.
pub trait Controller: Debug + Send {
    /// A packet of `size` left.
    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        let _ = (sent, size);
    }

    /// One packet was delivered: for controllers that account for each, such as by monitor
    /// intervals.
    fn handle_delivered(&mut self, delivered: &Delivered) {
        let _ = delivered;
    }

    /// An acknowledgement arrived that delivers new data.
    fn handle_ack(&mut self, ack: &Ack);

    /// One packet counts as lost.
    fn handle_loss(&mut self, loss: &Loss);

    /// The retransmission timer fired: everything in flight counts as lost.
    fn handle_timeout(&mut self, now: HostInstant);

    /// The timeout was a mistake: the packets were only late (RFC 3522, RFC 5682).
    fn handle_spurious_timeout(&mut self, now: HostInstant) {
        let _ = now;
    }

    /// An estimate from the modem was published; `flows` active flows share the link, this one
    /// included.
    ///
    /// A publisher that lives calls this every few milliseconds, with an estimate that is not
    /// usable where it knows none.
    fn handle_estimate(&mut self, now: HostInstant, estimate: &LinkEstimate, flows: u32) {
        let _ = (now, estimate, flows);
    }

    /// The same of a link at the other end, as the device there reports it. It may lie: `Trusting`
    /// of `sounding-laws` limits what reaches the controller behind it.
    fn handle_report(&mut self, now: HostInstant, report: &LinkEstimate, flows: u32) {
        self.handle_estimate(now, report, flows);
    }

    /// This flow's part of its device's link changed; the default is that it is alone. Comes before
    /// the estimate that it belongs to.
    fn handle_part(&mut self, now: HostInstant, part: Part) {
        let _ = (now, part);
    }

    /// Delays that the radio itself made were reported by the modem; they are of the past. Comes
    /// every few milliseconds while a publisher lives, also without an event. `data` is the
    /// direction of the flow's data. In the uplink the sender is the device, and its clock is
    /// that of the events.
    fn handle_delays(&mut self, now: HostInstant, data: Direction, delays: &DelayUpdate) {
        let _ = (now, data, delays);
    }

    /// What an earlier acknowledgement said of the path's delay was wrong. Only controllers that
    /// keep delays for longer than a round need it, such as in the minimum of a window.
    fn handle_revision(&mut self, revision: &Revision) {
        let _ = revision;
    }

    /// Time has reached the [`wakeup`](Self::wakeup).
    fn handle_time(&mut self, now: HostInstant) {
        let _ = now;
    }

    /// When to call [`handle_time`](Self::handle_time), if there is no other event before.
    fn wakeup(&self) -> Option<HostInstant> {
        None
    }

    /// No packet leaves before this time, whatever the window: new data and repairs wait. `None`
    /// for no such time.
    fn not_before(&self) -> Option<HostInstant> {
        None
    }

    /// Limit on the bytes in flight. If no packet is in flight, one may leave, whatever its size.
    fn cwnd(&self) -> Bytes;

    /// The rate at which packets may leave; `None` for as fast as the window allows.
    fn pacing_rate(&self) -> Option<Rate>;

    /// The state of its machine in a word or two, for tables and logs.
    fn state(&self) -> &'static str;
}

/// A correction of delays that a controller has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revision {
    /// The RTT of the acknowledgement that arrived at `seen_at` was not `before` but `after`.
    Sample {
        /// When this became known.
        now: HostInstant,
        /// When the acknowledgement arrived.
        seen_at: HostInstant,
        /// The RTT that the controller received with it.
        before: Duration,
        /// The RTT without what the radio added.
        after: Duration,
    },
    /// From now on RTTs include the radio's delay, or no longer include it. This is the smallest
    /// one on the new scale.
    Rebase {
        /// When.
        now: HostInstant,
        /// The smallest RTT of the last ten seconds.
        least: Duration,
    },
}

/// The known state of a flow when its controller is made, after the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// When.
    pub now: HostInstant,
    /// Payload of a full segment.
    pub mss: Bytes,
    /// Bytes of IP and transport headers in each packet.
    pub headers: Bytes,
    /// The handshake's RTT, if it measured one.
    pub rtt: Option<Duration>,
    /// For controllers that need random numbers.
    pub seed: u64,
    /// Whether the stack sends at the controller's pacing rate. If not, its window alone limits it.
    pub paced: bool,
}

impl Start {
    /// A flow over TCP with timestamps in IPv4 packets of 1500 bytes.
    pub fn tcp(now: HostInstant, rtt: Option<Duration>, seed: u64) -> Self {
        Self { now, mss: Bytes::new(1448), headers: Bytes::new(52), rtt, seed, paced: true }
    }

    /// Ten segments (RFC 6928 §2).
    pub fn initial_cwnd(&self) -> Bytes {
        self.segments(10)
    }

    /// The bytes of `count` full segments.
    pub fn segments(&self, count: u64) -> Bytes {
        Bytes::new(self.mss.count().saturating_mul(count))
    }
}

/// The flow's state when a packet left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Departure {
    /// When it left.
    pub at: HostInstant,
    /// Bytes delivered by then, since the flow began.
    pub delivered: Bytes,
    /// When the newest of that was.
    pub delivered_at: HostInstant,
    /// When the packet left whose delivery that was: the beginning of the interval over which
    /// sending is measured.
    pub first_sent_at: HostInstant,
    /// Bytes lost by then.
    pub lost: Bytes,
    /// Bytes in flight, this packet included.
    pub in_flight: Bytes,
    /// The application, not the window, decided how much was sent.
    pub app_limited: bool,
}

/// A packet that was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// When the acknowledgement arrived.
    pub now: HostInstant,
    /// Its payload.
    pub size: Bytes,
    /// The packet; if it was sent more than once, as it left last.
    pub sent: Departure,
}

/// An acknowledgement and what follows from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// When it arrived.
    pub now: HostInstant,
    /// Bytes that it newly delivers, cumulatively or selectively.
    pub acked: Bytes,
    /// Bytes that it shows to be lost.
    pub newly_lost: Bytes,
    /// RTT of the newest packet it delivers; `None` if that was sent more than once and it is
    /// unknown which copy arrived.
    pub rtt: Option<Duration>,
    /// The same packet's one-way delay, measured with two clocks whose difference is unknown: only
    /// its changes are meaningful. `None` if the transport does not report it.
    pub one_way: Option<Duration>,
    /// The receiver's time stamp; `None` if the transport has none.
    pub stamp: Option<Stamp>,
    /// The path's delivery rate over about the last round; `None` if no interval was long enough.
    pub rate: Option<Rate>,
    /// Delivered since the flow began, this included.
    pub delivered: Bytes,
    /// Lost since the flow began, this included.
    pub lost: Bytes,
    /// In flight before it.
    pub prior_in_flight: Bytes,
    /// In flight after it.
    pub in_flight: Bytes,
    /// The part of `acked` with a congestion mark (RFC 3168).
    pub ce: Bytes,
    /// The window is what kept the sender from sending more.
    pub cwnd_limited: bool,
    /// Whether earlier losses are still being repaired, this acknowledgement taken in.
    pub recovery: Recovery,
    /// The newest packet it delivers.
    pub sent: Departure,
}

/// A receiver's time stamp: its clock when it sent the acknowledgement (RFC 7323, `TSval`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// In ticks from an unknown beginning; it wraps.
    pub value: u32,
    /// The length of a tick.
    pub tick: Duration,
}

/// Whether losses are being repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// All that was in flight when the last loss was found has been delivered.
    #[default]
    None,
    /// Later packets showed that packets were lost.
    Fast,
    /// The retransmission timer fired.
    Timeout,
}

/// A packet that counts as lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// When that was found.
    pub now: HostInstant,
    /// Its payload.
    pub size: Bytes,
    /// In flight without it.
    pub in_flight: Bytes,
    /// The packet.
    pub sent: Departure,
    /// It is the first since the last recovery ended. A window is cut once for it.
    pub begins_recovery: bool,
}
