//! A controller that is a Python object.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyType;
use sounding_cc as cc;
use sounding_cc::sharing;
use sounding_kpi::Direction;
use sounding_link::{LinkEstimate, Source};
use sounding_units::{Bytes, HostInstant, Rate};

use crate::events::{
    Ack, DelayUpdate, Delivered, Departure, Estimate, Loss, Part, Revision, Start, word,
};

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
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    sent: bool,
    delivered: bool,
    estimate: bool,
    report: bool,
    part: bool,
    delays: bool,
    revision: bool,
    wakeup: bool,
    not_before: bool,
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
            report: is("handle_report")?,
            part: is("handle_part")?,
            delays: is("handle_delays")?,
            revision: is("handle_revision")?,
            wakeup: is("wakeup")?,
            not_before: is("not_before")?,
            pacing_rate: is("pacing_rate")?,
            state: is("state")?,
        })
    }
}

/// What a class asks of a modem: the radio's delays, or reports of a receiver by a method.
pub(crate) fn needs(
    class: &Bound<'_, PyType>,
    base: &Bound<'_, PyType>,
) -> PyResult<Option<cc::Needs>> {
    let method: Option<String> = match class.getattr_opt("reported")? {
        Some(method) => method.extract()?,
        None => None,
    };
    let delays = Written::of(class, base)?.delays;
    let Some(method) = method else { return Ok(delays.then_some(cc::Needs::DELAYS)) };
    let methods = || Source::ALL.iter().filter(|source| **source != Source::None);
    let Some(known) = methods().find(|source| source.to_string() == method) else {
        let names: Vec<_> = methods().map(ToString::to_string).collect();
        let text = format!("`reported` is one of {}, not {method:?}", names.join(", "));
        return Err(PyValueError::new_err(text));
    };
    let mut needs = cc::Needs::ESTIMATES.reported(*known);
    needs.delays = delays;
    Ok(Some(needs))
}

/// A controller whose decisions a Python object makes. Its answers are read after each event and
/// kept.
#[derive(Debug)]
pub(crate) struct PythonController {
    /// `None` where there is no object because its class raised.
    object: Option<Py<PyAny>>,
    written: Written,
    trouble: Trouble,
    answers: Answers,
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
        let mut made = Self {
            object: None,
            written: Written::default(),
            trouble,
            answers: Answers {
                cwnd: start.initial_cwnd(),
                pacing_rate: None,
                wakeup: None,
                not_before: None,
                state: "",
            },
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
            Ok(answers) => self.answers = answers,
            Err(error) => self.trouble.raise(error),
        }
    }
}

/// An object's answers.
#[derive(Clone, Copy, Debug)]
struct Answers {
    cwnd: Bytes,
    pacing_rate: Option<Rate>,
    wakeup: Option<HostInstant>,
    not_before: Option<HostInstant>,
    state: &'static str,
}

impl Answers {
    fn of(py: Python<'_>, object: &Bound<'_, PyAny>, written: Written) -> PyResult<Self> {
        let cwnd = object.call_method0(intern!(py, "cwnd"))?.extract().map(Bytes::new)?;
        let mut answers =
            Self { cwnd, pacing_rate: None, wakeup: None, not_before: None, state: "" };
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
        if written.not_before {
            let at: Option<u64> = object.call_method0(intern!(py, "not_before"))?.extract()?;
            answers.not_before = at.map(HostInstant::from_nanos);
        }
        if written.state {
            answers.state = kept(&object.call_method0(intern!(py, "state"))?.extract::<String>()?);
        }
        Ok(answers)
    }
}

/// Most words for states; each stays for as long as the program runs.
const MAX_WORDS: usize = 256;

fn kept(text: &str) -> &'static str {
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
                let told = Delivered::new(py, delivered)?;
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
            object.call_method1(intern!(py, "handle_loss"), (Loss::new(py, loss)?,)).map(drop)
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

    fn handle_report(&mut self, now: HostInstant, report: &LinkEstimate, flows: u32) {
        if !self.written.report {
            return self.handle_estimate(now, report, flows);
        }
        let told = Estimate::from(report);
        self.tell(|py, object| {
            let name = intern!(py, "handle_report");
            object.call_method1(name, (now.as_nanos(), told, flows)).map(drop)
        });
    }

    fn handle_part(&mut self, now: HostInstant, part: sharing::Part) {
        if self.written.part {
            self.tell(|py, object| {
                let name = intern!(py, "handle_part");
                object.call_method1(name, (now.as_nanos(), Part(part))).map(drop)
            });
        }
    }

    fn handle_delays(
        &mut self,
        now: HostInstant,
        data: Direction,
        delays: &sounding_link::DelayUpdate,
    ) {
        if self.written.delays {
            self.tell(|py, object| {
                let name = intern!(py, "handle_delays");
                let told = DelayUpdate::new(py, delays)?;
                object.call_method1(name, (now.as_nanos(), word(data), told)).map(drop)
            });
        }
    }

    fn handle_revision(&mut self, revision: &cc::Revision) {
        if self.written.revision {
            let told = Revision::from(revision);
            self.tell(|py, object| {
                object.call_method1(intern!(py, "handle_revision"), (told,)).map(drop)
            });
        }
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.tell(|py, object| {
            object.call_method1(intern!(py, "handle_time"), (now.as_nanos(),)).map(drop)
        });
        // It would be woken at this moment for ever.
        if let Some(at) = self.answers.wakeup.filter(|&at| at <= now) {
            let (at, now) = (at.as_nanos(), now.as_nanos());
            let text =
                format!("wakeup() is {at} after handle_time({now}): it has to be later, or None");
            self.trouble.raise(PyValueError::new_err(text));
            self.answers.wakeup = None;
        }
    }

    fn wakeup(&self) -> Option<HostInstant> {
        self.answers.wakeup
    }

    fn not_before(&self) -> Option<HostInstant> {
        self.answers.not_before
    }

    fn cwnd(&self) -> Bytes {
        self.answers.cwnd
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.answers.pacing_rate
    }

    fn state(&self) -> &'static str {
        self.answers.state
    }
}
