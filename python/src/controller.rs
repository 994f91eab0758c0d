//! A controller that is a Python object, and what it receives.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyType;
use sounding_cc as cc;
use sounding_link::LinkEstimate;
use sounding_units::{Bytes, HostInstant, Rate};

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// The known state of a flow when its controller is made.
#[pyclass(frozen, get_all, module = "sounding")]
pub(crate) struct Start {
    now_ns: u64,
    mss_bytes: u64,
    headers_bytes: u64,
    rtt_ns: Option<u64>,
    seed: u64,
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

/// An acknowledgement and what follows from it.
#[pyclass(frozen, get_all, module = "sounding")]
pub(crate) struct Ack {
    now_ns: u64,
    acked_bytes: u64,
    newly_lost_bytes: u64,
    rtt_ns: Option<u64>,
    one_way_ns: Option<u64>,
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
    fn new(py: Python<'_>, ack: &cc::Ack) -> PyResult<Self> {
        Ok(Self {
            now_ns: ack.now.as_nanos(),
            acked_bytes: ack.acked.count(),
            newly_lost_bytes: ack.newly_lost.count(),
            rtt_ns: ack.rtt.map(nanos),
            one_way_ns: ack.one_way.map(nanos),
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
}

impl From<&LinkEstimate> for Estimate {
    fn from(estimate: &LinkEstimate) -> Self {
        let fair = estimate.known_fair();
        Self {
            direction: match estimate.direction {
                sounding_kpi::Direction::Uplink => "uplink",
                sounding_kpi::Direction::Downlink => "downlink",
            },
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
        }
    }
}

/// What Python raised first, which ends everything.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trouble {
    raised: Arc<Mutex<Option<PyErr>>>,
    stop: Arc<AtomicBool>,
}

impl Trouble {
    /// Ends everything with this.
    pub(crate) fn raise(&self, error: PyErr) {
        lock(&self.raised).get_or_insert(error);
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Rises when everything has to end.
    pub(crate) fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    /// What it was.
    pub(crate) fn take(&self) -> Option<PyErr> {
        lock(&self.raised).take()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Which of the methods that need not be written are: no other is called.
#[derive(Clone, Copy, Debug)]
struct Written {
    sent: bool,
    delivered: bool,
    estimate: bool,
    wakeup: bool,
    pacing_rate: bool,
    state: bool,
}

impl Written {
    fn of(class: &Bound<'_, PyType>, base: &Bound<'_, PyType>) -> PyResult<Self> {
        let is = |name: &str| match class.getattr_opt(name)? {
            Some(own) => Ok::<bool, PyErr>(!own.is(&base.getattr(name)?)),
            None => Ok(false),
        };
        Ok(Self {
            sent: is("handle_sent")?,
            delivered: is("handle_delivered")?,
            estimate: is("handle_estimate")?,
            wakeup: is("wakeup")?,
            pacing_rate: is("pacing_rate")?,
            state: is("state")?,
        })
    }
}

/// A controller whose decisions a Python object makes. Its answers are read after each event and
/// kept.
#[derive(Debug)]
pub(crate) struct PythonController {
    /// `None` where there is no object because its class raised.
    object: Option<Py<PyAny>>,
    written: Written,
    trouble: Trouble,
    cwnd: Bytes,
    pacing_rate: Option<Rate>,
    wakeup: Option<HostInstant>,
    state: &'static str,
}

impl PythonController {
    /// Makes an object of the class for a flow.
    pub(crate) fn new(
        py: Python<'_>,
        class: &Py<PyType>,
        base: &Py<PyType>,
        start: &cc::Start,
        trouble: Trouble,
    ) -> Self {
        let nothing = Written {
            sent: false,
            delivered: false,
            estimate: false,
            wakeup: false,
            pacing_rate: false,
            state: false,
        };
        let mut made = Self {
            object: None,
            written: nothing,
            trouble,
            cwnd: start.initial_cwnd(),
            pacing_rate: None,
            wakeup: None,
            state: "",
        };
        let object = class.bind(py).call1((Start::from(start),));
        match object
            .and_then(|object| Ok((Written::of(&object.get_type(), base.bind(py))?, object)))
        {
            Ok((written, object)) => {
                (made.written, made.object) = (written, Some(object.unbind()));
                made.tell(|_, _| Ok(()));
            }
            Err(error) => made.trouble.raise(error),
        }
        made
    }

    /// Calls the object, then reads its answers. An exception ends everything, and the object is
    /// not called again.
    fn tell(&mut self, call: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<()>) {
        if self.trouble.stop.load(Ordering::Relaxed) {
            return;
        }
        let Some(object) = &self.object else { return };
        let answers = Python::attach(|py| {
            let object = object.bind(py);
            call(py, object)?;
            Answers::of(py, object, self.written)
        });
        match answers {
            Ok(answers) => {
                (self.cwnd, self.pacing_rate) = (answers.cwnd, answers.pacing_rate);
                (self.wakeup, self.state) = (answers.wakeup, answers.state);
            }
            Err(error) => self.trouble.raise(error),
        }
    }
}

/// An object's answers.
struct Answers {
    cwnd: Bytes,
    pacing_rate: Option<Rate>,
    wakeup: Option<HostInstant>,
    state: &'static str,
}

impl Answers {
    fn of(py: Python<'_>, object: &Bound<'_, PyAny>, written: Written) -> PyResult<Self> {
        let cwnd = object.call_method0(intern!(py, "cwnd"))?.extract().map(Bytes::new)?;
        let mut answers = Self { cwnd, pacing_rate: None, wakeup: None, state: "" };
        if written.pacing_rate {
            let rate: Option<u64> = object.call_method0(intern!(py, "pacing_rate"))?.extract()?;
            if rate == Some(0) {
                let text = "pacing_rate() is above zero, or None for as fast as the window allows";
                return Err(PyValueError::new_err(text));
            }
            answers.pacing_rate = rate.map(Rate::from_bits_per_sec);
        }
        if written.wakeup {
            let at: Option<u64> = object.call_method0(intern!(py, "wakeup"))?.extract()?;
            answers.wakeup = at.map(HostInstant::from_nanos);
        }
        if written.state {
            answers.state = word(&object.call_method0(intern!(py, "state"))?.extract::<String>()?);
        }
        Ok(answers)
    }
}

/// Most words for states; each stays for as long as the program runs.
const MAX_WORDS: usize = 256;

fn word(text: &str) -> &'static str {
    static WORDS: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());
    let mut words = lock(&WORDS);
    if let Some(word) = words.iter().find(|word| **word == text) {
        return word;
    }
    if words.len() == MAX_WORDS {
        return "other";
    }
    let word: &'static str = Box::leak(text.to_owned().into_boxed_str());
    words.push(word);
    word
}

impl cc::Controller for PythonController {
    fn handle_sent(&mut self, sent: &cc::Departure, size: Bytes) {
        if self.written.sent {
            let sent = Departure::from(sent);
            self.tell(|py, object| {
                object.call_method1(intern!(py, "handle_sent"), (sent, size.count())).map(drop)
            });
        }
    }

    fn handle_delivered(&mut self, delivered: &cc::Delivered) {
        if self.written.delivered {
            self.tell(|py, object| {
                let told = Delivered {
                    now_ns: delivered.now.as_nanos(),
                    size_bytes: delivered.size.count(),
                    sent: Py::new(py, Departure::from(&delivered.sent))?,
                };
                object.call_method1(intern!(py, "handle_delivered"), (told,)).map(drop)
            });
        }
    }

    fn handle_ack(&mut self, ack: &cc::Ack) {
        self.tell(|py, object| {
            object.call_method1(intern!(py, "handle_ack"), (Ack::new(py, ack)?,)).map(drop)
        });
    }

    fn handle_loss(&mut self, loss: &cc::Loss) {
        self.tell(|py, object| {
            let told = Loss {
                now_ns: loss.now.as_nanos(),
                size_bytes: loss.size.count(),
                in_flight_bytes: loss.in_flight.count(),
                sent: Py::new(py, Departure::from(&loss.sent))?,
                begins_recovery: loss.begins_recovery,
            };
            object.call_method1(intern!(py, "handle_loss"), (told,)).map(drop)
        });
    }

    fn handle_timeout(&mut self, now: HostInstant) {
        self.tell(|py, object| {
            object.call_method1(intern!(py, "handle_timeout"), (now.as_nanos(),)).map(drop)
        });
    }

    fn handle_spurious_timeout(&mut self, now: HostInstant) {
        self.tell(|py, object| {
            object.call_method1(intern!(py, "handle_spurious_timeout"), (now.as_nanos(),)).map(drop)
        });
    }

    fn handle_estimate(&mut self, now: HostInstant, estimate: &LinkEstimate, flows: u32) {
        if self.written.estimate {
            let told = Estimate::from(estimate);
            self.tell(|py, object| {
                let name = intern!(py, "handle_estimate");
                object.call_method1(name, (now.as_nanos(), told, flows)).map(drop)
            });
        }
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.tell(|py, object| {
            object.call_method1(intern!(py, "handle_time"), (now.as_nanos(),)).map(drop)
        });
        // It would be woken at this moment for ever.
        if let Some(at) = self.wakeup.filter(|&at| at <= now) {
            let (at, now) = (at.as_nanos(), now.as_nanos());
            let text =
                format!("wakeup() is {at} after handle_time({now}): it has to be later, or None");
            self.trouble.raise(PyValueError::new_err(text));
            self.wakeup = None;
        }
    }

    fn wakeup(&self) -> Option<HostInstant> {
        self.wakeup
    }

    fn cwnd(&self) -> Bytes {
        self.cwnd
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing_rate
    }

    fn state(&self) -> &'static str {
        self.state
    }
}
