//! What a controller in Python receives: the types of the trait's methods.

use std::time::Duration;

use pyo3::prelude::*;
use sounding_cc as cc;
use sounding_cc::sharing;
use sounding_kpi::Direction;
use sounding_link::LinkEstimate;
use sounding_units::{Bytes, HostInstant, Rate};

pub(crate) fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// `uplink` or `downlink`.
pub(crate) fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Uplink => "uplink",
        Direction::Downlink => "downlink",
    }
}

/// The known state of a flow when its controller is made.
#[pyclass(frozen, get_all, module = "sounding")]
pub(crate) struct Start {
    now_ns: u64,
    mss_bytes: u64,
    headers_bytes: u64,
    rtt_ns: Option<u64>,
    seed: u64,
    paced: bool,
    initial_cwnd_bytes: u64,
}

impl From<&cc::Start> for Start {
    fn from(start: &cc::Start) -> Self {
        Self {
            now_ns: start.now.as_nanos(),
            mss_bytes: start.mss.count(),
            headers_bytes: start.headers.count(),
            rtt_ns: start.rtt.map(nanos),
            seed: start.seed,
            paced: start.paced,
            initial_cwnd_bytes: start.initial_cwnd().count(),
        }
    }
}

/// The flow as it was when a packet left.
#[pyclass(frozen, get_all, module = "sounding")]
pub(crate) struct Departure {
    at_ns: u64,
    delivered_bytes: u64,
    delivered_at_ns: u64,
    first_sent_at_ns: u64,
    lost_bytes: u64,
    in_flight_bytes: u64,
    app_limited: bool,
}

impl From<&cc::Departure> for Departure {
    fn from(sent: &cc::Departure) -> Self {
        Self {
            at_ns: sent.at.as_nanos(),
            delivered_bytes: sent.delivered.count(),
            delivered_at_ns: sent.delivered_at.as_nanos(),
            first_sent_at_ns: sent.first_sent_at.as_nanos(),
            lost_bytes: sent.lost.count(),
            in_flight_bytes: sent.in_flight.count(),
            app_limited: sent.app_limited,
        }
    }
}

/// A packet that was delivered.
#[pyclass(frozen, get_all, module = "sounding")]
pub(crate) struct Delivered {
    now_ns: u64,
    size_bytes: u64,
    sent: Py<Departure>,
}

impl Delivered {
    pub(crate) fn new(py: Python<'_>, delivered: &cc::Delivered) -> PyResult<Self> {
        Ok(Self {
            now_ns: delivered.now.as_nanos(),
            size_bytes: delivered.size.count(),
            sent: Py::new(py, Departure::from(&delivered.sent))?,
        })
    }
}

/// A receiver's time stamp.
#[pyclass(frozen, get_all, module = "sounding")]
pub(crate) struct Stamp {
    value: u32,
    tick_ns: u64,
}

impl From<cc::Stamp> for Stamp {
    fn from(stamp: cc::Stamp) -> Self {
        Self { value: stamp.value, tick_ns: nanos(stamp.tick) }
    }
}

/// An acknowledgement and what follows from it.
#[pyclass(frozen, get_all, module = "sounding")]
pub(crate) struct Ack {
    now_ns: u64,
    acked_bytes: u64,
    newly_lost_bytes: u64,
    rtt_ns: Option<u64>,
    one_way_ns: Option<u64>,
    stamp: Option<Py<Stamp>>,
    rate_bits_per_sec: Option<u64>,
    delivered_bytes: u64,
    lost_bytes: u64,
    prior_in_flight_bytes: u64,
    in_flight_bytes: u64,
    ce_bytes: u64,
    cwnd_limited: bool,
    recovery: Option<&'static str>,
    sent: Py<Departure>,
}

impl Ack {
    pub(crate) fn new(py: Python<'_>, ack: &cc::Ack) -> PyResult<Self> {
        Ok(Self {
            now_ns: ack.now.as_nanos(),
            acked_bytes: ack.acked.count(),
            newly_lost_bytes: ack.newly_lost.count(),
            rtt_ns: ack.rtt.map(nanos),
            one_way_ns: ack.one_way.map(nanos),
            stamp: ack.stamp.map(|stamp| Py::new(py, Stamp::from(stamp))).transpose()?,
            rate_bits_per_sec: ack.rate.map(Rate::bits_per_sec),
            delivered_bytes: ack.delivered.count(),
            lost_bytes: ack.lost.count(),
            prior_in_flight_bytes: ack.prior_in_flight.count(),
            in_flight_bytes: ack.in_flight.count(),
            ce_bytes: ack.ce.count(),
            cwnd_limited: ack.cwnd_limited,
            recovery: match ack.recovery {
                cc::Recovery::None => None,
                cc::Recovery::Fast => Some("fast"),
                cc::Recovery::Timeout => Some("timeout"),
            },
            sent: Py::new(py, Departure::from(&ack.sent))?,
        })
    }
}

/// A packet that is taken for lost.
#[pyclass(frozen, get_all, module = "sounding")]
pub(crate) struct Loss {
    now_ns: u64,
    size_bytes: u64,
    in_flight_bytes: u64,
    sent: Py<Departure>,
    begins_recovery: bool,
}

impl Loss {
    pub(crate) fn new(py: Python<'_>, loss: &cc::Loss) -> PyResult<Self> {
        Ok(Self {
            now_ns: loss.now.as_nanos(),
            size_bytes: loss.size.count(),
            in_flight_bytes: loss.in_flight.count(),
            sent: Py::new(py, Departure::from(&loss.sent))?,
            begins_recovery: loss.begins_recovery,
        })
    }
}

/// The modem's estimate of the link.
#[pyclass(frozen, get_all, module = "sounding")]
pub(crate) struct Estimate {
    direction: &'static str,
    rate_bits_per_sec: u64,
    bound: String,
    age_ns: u64,
    valid_for_ns: u64,
    backlog_bytes: Option<u64>,
    state: String,
    source: String,
    is_usable: bool,
    fair_share_bits_per_sec: Option<u64>,
    users: Option<u32>,
    carriers: Option<u32>,
    own_blocks: Option<u16>,
    cell_bits_per_sec: Option<u64>,
    cell_own_blocks: Option<u16>,
    cell_idle_blocks: Option<u16>,
    radio: Option<String>,
}

impl From<&LinkEstimate> for Estimate {
    fn from(estimate: &LinkEstimate) -> Self {
        let (fair, cell) = (estimate.known_fair(), estimate.known_cell());
        Self {
            direction: word(estimate.direction),
            rate_bits_per_sec: estimate.rate.bits_per_sec(),
            bound: estimate.bound.to_string(),
            age_ns: nanos(estimate.age),
            valid_for_ns: nanos(estimate.valid_for),
            backlog_bytes: estimate.backlog.map(Bytes::count),
            state: estimate.state.to_string(),
            source: estimate.source.to_string(),
            is_usable: estimate.is_usable(),
            fair_share_bits_per_sec: fair.map(|fair| fair.rate.bits_per_sec()),
            users: fair.map(|fair| fair.users),
            carriers: fair.map(|fair| fair.carriers),
            own_blocks: estimate.known_own_blocks(),
            cell_bits_per_sec: cell.map(|cell| cell.rate.bits_per_sec()),
            cell_own_blocks: cell.map(|cell| cell.own),
            cell_idle_blocks: cell.map(|cell| cell.idle),
            radio: estimate.radio.map(|radio| radio.to_string()),
        }
    }
}

/// A flow's part of its device's link.
#[pyclass(frozen, module = "sounding")]
pub(crate) struct Part(pub(crate) sharing::Part);

#[pymethods]
impl Part {
    /// The part of a link of this rate.
    fn of(&self, link_bits_per_sec: u64) -> u64 {
        self.0.of(Rate::from_bits_per_sec(link_bits_per_sec)).bits_per_sec()
    }

    /// Its weight among all members with a claim; 1024 is a whole link.
    #[getter]
    fn fraction(&self) -> u64 {
        self.0.fraction()
    }
}

/// A delay that the radio itself made.
#[pyclass(frozen, get_all, module = "sounding")]
pub(crate) struct RanDelay {
    direction: &'static str,
    from_ns: u64,
    to_ns: u64,
    amount_ns: u64,
    kind: String,
    age_ns: u64,
    confidence: String,
}

impl From<&sounding_link::RanDelay> for RanDelay {
    fn from(event: &sounding_link::RanDelay) -> Self {
        Self {
            direction: word(event.direction),
            from_ns: event.from.as_nanos(),
            to_ns: event.to.as_nanos(),
            amount_ns: nanos(event.amount),
            kind: event.kind.to_string(),
            age_ns: nanos(event.age),
            confidence: event.confidence.to_string(),
        }
    }
}

/// What a modem newly shows of the delays that its radio made.
#[pyclass(frozen, get_all, module = "sounding")]
pub(crate) struct DelayUpdate {
    events: Vec<Py<RanDelay>>,
    up_until_ns: Option<u64>,
    down_until_ns: Option<u64>,
    heard_at_ns: u64,
    report_interval_ns: Option<u64>,
}

impl DelayUpdate {
    pub(crate) fn new(py: Python<'_>, update: &sounding_link::DelayUpdate) -> PyResult<Self> {
        let events = update.events.iter().map(|event| Py::new(py, RanDelay::from(event)));
        Ok(Self {
            events: events.collect::<PyResult<_>>()?,
            up_until_ns: update.up_until.map(HostInstant::as_nanos),
            down_until_ns: update.down_until.map(HostInstant::as_nanos),
            heard_at_ns: update.heard_at.as_nanos(),
            report_interval_ns: update.report_interval.map(nanos),
        })
    }
}

/// A correction of delays that a controller has seen.
#[pyclass(frozen, module = "sounding")]
pub(crate) enum Revision {
    /// The RTT of an earlier acknowledgement was another.
    Sample { now_ns: u64, seen_at_ns: u64, before_ns: u64, after_ns: u64 },
    /// From now on RTTs are on another scale, whose least is this.
    Rebase { now_ns: u64, least_ns: u64 },
}

impl From<&cc::Revision> for Revision {
    fn from(revision: &cc::Revision) -> Self {
        match *revision {
            cc::Revision::Sample { now, seen_at, before, after } => Self::Sample {
                now_ns: now.as_nanos(),
                seen_at_ns: seen_at.as_nanos(),
                before_ns: nanos(before),
                after_ns: nanos(after),
            },
            cc::Revision::Rebase { now, least } => {
                Self::Rebase { now_ns: now.as_nanos(), least_ns: nanos(least) }
            }
        }
    }
}
