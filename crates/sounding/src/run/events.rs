mod form;
mod journal;
mod last;
mod modems;
mod outputs;
mod rates;
mod reload;
mod shape;
mod sniffers;
mod standing;
mod subordinates;

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value as Json, json};
use sounding_bpf::{PeerCounts, PeerReport, Signal, Transition, Walked};
use sounding_diag::session::Event;
use sounding_link::LinkEstimate;
use sounding_modem::Source;
use sounding_units::{HostInstant, Rate};

use super::event_queue::Outbox;
use super::news;
use crate::cli_types;
use crate::session_report;
use form::{Form, line};
pub(super) use last::{Account, LastWords};
use modems::Common;
pub(super) use reload::Changes;
pub(super) use shape::ShapeNews;
pub(super) use sniffers::SnifferChange;
pub(super) use subordinates::Subids;

/// The daemon's reports: JSON lines for programs on standard output, or sentences for people on
/// standard error.
///
/// Saying something never waits: see [`Outbox`].
pub(crate) struct Events {
    form: Form,
    common: Arc<Common>,
    /// The modem that these are about, if they are about one.
    modem: Option<String>,
    outbox: Outbox,
    late: Late,
    overstated: Untold,
    disbelieved: Untold,
    beside: Untold,
    /// What is said once while the daemon runs.
    said: BTreeSet<String>,
}

/// Late heartbeats, and those that no line has reported yet.
#[derive(Debug, Default)]
struct Late {
    count: u64,
    untold: u64,
    told: HostInstant,
}

/// A sentence on late heartbeats, or on peers' reports, at most this often; the JSON events include
/// every one.
const SENTENCE_EVERY: Duration = Duration::from_secs(10);

/// What no line has reported yet, so that peers cannot fill a log.
#[derive(Debug, Default)]
struct Untold {
    count: u64,
    told: Option<HostInstant>,
}

impl Untold {
    /// One more; if a sentence is due, of how many.
    fn add(&mut self, now: HostInstant) -> Option<u64> {
        self.count += 1;
        if self.told.is_some_and(|told| now - told < SENTENCE_EVERY) {
            return None;
        }
        self.told = Some(now);
        Some(std::mem::take(&mut self.count))
    }
}

/// Waits that people notice.
const WAIT_TOLD: Duration = Duration::from_millis(500);

impl Events {
    pub(crate) fn new(json: bool) -> io::Result<Self> {
        let journal = if json { None } else { journal::Journal::behind_stderr() };
        let (form, outbox) = match journal {
            Some(journal) => (Form::Journal, Outbox::new(journal)?),
            None if json => (Form::Json, Outbox::new(io::stdout())?),
            None => (Form::Sentences, Outbox::new(io::stderr())?),
        };
        Ok(Self {
            form,
            common: Arc::default(),
            modem: None,
            outbox,
            late: Late::default(),
            overstated: Untold::default(),
            disbelieved: Untold::default(),
            beside: Untold::default(),
            said: BTreeSet::new(),
        })
    }

    /// What happens without the modem.
    fn stock(&self) -> String {
        match &self.common.fallback()[..] {
            "" => "nothing is known of the link".into(),
            stock => format!("flows go on as {stock}"),
        }
    }

    fn say(&mut self, event: &Json, sentence: impl FnOnce() -> Option<String>) {
        news::tell_event(self.modem.as_deref(), event);
        let modem = self.modem.as_deref().filter(|_| self.common.are_several());
        if let Some(line) = line(self.form, event, modem, sentence) {
            self.outbox.say(line);
        }
    }

    /// The same for an event that does not repeat.
    fn say_once(&mut self, event: &Json, sentence: impl FnOnce() -> Option<String>) {
        if self.said.insert(event.to_string()) {
            self.say(event, sentence);
        }
    }

    pub(crate) fn peers(&mut self, adopted: Walked) {
        let Walked { reached, refused } = adopted;
        let event = json!({ "event": "peers", "adopted": reached, "refused": refused });
        self.say(&event, || {
            Some(format!("peers are heard, by {reached} open connections too{}", but(refused)))
        });
    }

    /// The first that a connection's device says. Each download is one: people are not told.
    pub(crate) fn peer(&mut self, report: &PeerReport) {
        self.say(&reported("peer", report), || None);
    }

    /// A device reports more than arrives there.
    pub(crate) fn overstated(&mut self, report: &PeerReport) {
        let PeerReport { at, local_port, remote, delivered, .. } = *report;
        let mut event = reported("overstated", report);
        event["delivered_bits_per_sec"] = delivered.bits_per_sec().into();
        let due = self.overstated.add(at);
        self.say(&event, || {
            due.map(|count| {
                let claimed = report.claim.rate.unwrap_or_default();
                let one = format!(
                    "flow {local_port} to {remote}: the device claims {claimed}, and {delivered} is the most that was \
                     delivered in ten round trips: no more than three times that is believed"
                );
                if count > 1 { format!("{one}; {} more since last said", count - 1) } else { one }
            })
        });
    }

    /// More of what peers said was not believed.
    pub(crate) fn disbelieved(&mut self, now: HostInstant, counts: PeerCounts) {
        let mut event = last::disbelief(counts);
        event["event"] = "disbelieved".into();
        event["at_ns"] = now.as_nanos().into();
        let due = self.disbelieved.add(now);
        self.say(&event, || due.map(|_| last::disbelieved(counts)));
    }

    pub(crate) fn downlink(&mut self, signal: Signal, adopted: Walked) {
        let Walked { reached, refused } = adopted;
        let event = json!({
            "event": "downlink",
            "signal": word(signal),
            "adopted": reached,
            "refused": refused,
        });
        self.say(&event, || {
            Some(format!(
                "senders are limited to what the downlink carries, those of {reached} open connections too{}",
                but(refused)
            ))
        });
    }

    pub(crate) fn no_priority(&mut self, refused: &io::Error) {
        self.say(&json!({ "event": "no_priority", "reason": refused.to_string() }), || {
            Some(cli_types::no_priority(refused))
        });
    }

    /// No network device was named: the modem's own are these, or none is known.
    pub(crate) fn interfaces(&mut self, found: &[String]) {
        self.say(&json!({ "event": "interfaces", "interfaces": found }), || {
            Some(match found {
                [] => "no network device of the modem is known: all but loopback are taken for the modem's; --interface names it"
                    .into(),
                _ => format!(
                    "flows that leave by {} are the modem's, and no others: found by its port; --interface names others",
                    found.join(", ")
                ),
            })
        });
    }

    /// Other flows that leave by a network device are counted from here on, or are not.
    pub(crate) fn counting(&mut self, interface: &str, why_not: Option<&io::Error>) {
        let reason = why_not.map(ToString::to_string);
        let event = json!({
            "event": if reason.is_none() { "counting" } else { "not_counting" },
            "interface": interface,
            "reason": reason,
        });
        self.say(&event, || {
            Some(match &reason {
                None => format!("flows that leave by {interface} share the link"),
                Some(why) => format!(
                    "{interface}: {why}: of the flows that leave by it only those of this algorithm are counted; looked for again"
                ),
            })
        });
    }

    /// The machine woke up: the knowledge of the link is outdated.
    pub(crate) fn slept(&mut self, slept: Duration) {
        let stock = self.stock();
        self.say(&json!({ "event": "slept", "slept_s": slept.as_secs_f64() }), || {
            Some(format!(
                "this machine slept for {:.0} s: {stock} until the modem is heard again",
                slept.as_secs_f64()
            ))
        });
    }

    /// The port closed, and is left alone for so long.
    pub(crate) fn closed(&mut self, device: &Source, wait: Duration) {
        let stock = self.stock();
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let event =
            json!({ "event": "closed", "device": device.to_string(), "left_alone_ms": wait_ms });
        self.say(&event, || {
            let mut text = format!("{device} closed: {stock} until it is back");
            if wait >= WAIT_TOLD {
                text += &format!(
                    "; it closes at once, and is tried again in {:.1} s",
                    wait.as_secs_f64()
                );
            }
            Some(text)
        });
    }

    pub(crate) fn reopened(&mut self, device: &Source) {
        self.say(&json!({ "event": "reopened", "device": device.to_string() }), || {
            Some(format!("{device} is back"))
        });
    }

    pub(crate) fn mute(&mut self, device: &Source, bytes: u64) {
        let event = json!({ "event": "mute", "device": device.to_string(), "bytes": bytes });
        self.say(&event, || {
            Some(format!(
                "{device}: {bytes} bytes and no Diag frame among them: is it the modem's Diag port, and is logging on?"
            ))
        });
    }

    pub(crate) fn session(&mut self, event: &Event) {
        self.say(&session_report::json(event), || Some(session_report::sentence(event)));
    }

    /// An estimate over this span of time. `sniffed` says how long ago a sniffer of its cell was
    /// received. Only programs read estimates.
    pub(crate) fn estimate(
        &mut self,
        now: HostInstant,
        span: Duration,
        estimate: &LinkEstimate,
        sniffed: impl FnOnce() -> Option<Duration>,
    ) {
        if self.form != Form::Json {
            return;
        }
        let mut event = session_report::estimate(estimate);
        event["sniffer_age_us"] = session_report::micros(sniffed());
        event["span_us"] = session_report::micros(Some(span));
        event["event"] = "estimate".into();
        event["at_ns"] = now.as_nanos().into();
        self.say(&event, || None);
    }

    pub(crate) fn transition(&mut self, transition: &Transition) {
        self.common.flows.handle_transition(transition);
        self.modem = transition.modem.and_then(|place| self.common.modem_at(place));
        let event = json!({
            "event": "transition",
            "at_ns": transition.at.as_nanos(),
            "from": transition.from.name(),
            "to": transition.to.name(),
            "reason": word(transition.reason),
            "local_port": transition.local_port,
            "remote_port": transition.remote_port,
        });
        self.say(&event, || {
            Some(format!(
                "flow {} to {}: {} to {}, {}",
                transition.local_port,
                transition.remote_port,
                transition.from.name(),
                transition.to.name(),
                word(transition.reason)
            ))
        });
        self.modem = None;
    }

    /// The daemon's own heartbeat came `gap` after the one before, at `now`.
    pub(crate) fn late(&mut self, now: HostInstant, gap: Duration) {
        let gap_us = u64::try_from(gap.as_micros()).unwrap_or(u64::MAX);
        let event = json!({ "event": "late", "at_ns": now.as_nanos(), "gap_us": gap_us });
        self.late.count += 1;
        self.late.untold += 1;
        let first = self.late.count == 1;
        let tell = first || now - self.late.told >= SENTENCE_EVERY;
        let untold = self.late.untold;
        if tell {
            self.late.told = now;
            self.late.untold = 0;
        }
        let stock = self.stock();
        self.say(&event, || {
            tell.then(|| {
                format!(
                    "the daemon itself was held up for {} ms (late {untold} times since last said): \
                     flows take 60 ms of that for a dead daemon: {stock} for a while; is this machine overloaded?",
                    gap.as_millis()
                )
            })
        });
    }
}

/// What a peer says, as an event: what it does not say is null.
fn reported(name: &str, report: &PeerReport) -> Json {
    let claim = &report.claim;
    json!({
        "event": name,
        "at_ns": report.at.as_nanos(),
        "local_port": report.local_port,
        "remote": report.remote.to_string(),
        "claimed_bits_per_sec": claim.rate.map(Rate::bits_per_sec),
        "bound": claim.bound.to_string(),
        "state": claim.state.map(|state| state.to_string()),
        "age_us": u64::try_from(claim.age.as_micros()).ok(),
        "fair_share_bits_per_sec": claim.fair.map(Rate::bits_per_sec),
        "users": claim.users,
        "carriers": claim.carriers,
    })
}

/// Connections that could not be taken on.
fn but(refused: u64) -> String {
    if refused == 0 {
        return String::new();
    }
    format!("; {refused} are left as they are: this kernel takes on only those that begin")
}

/// The name of a state or a reason as people and programs read it.
fn word(name: impl std::fmt::Debug) -> String {
    format!("{name:?}").to_lowercase()
}
