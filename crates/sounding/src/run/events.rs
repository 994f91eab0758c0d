mod rates;
mod sniffers;
mod subordinates;

use std::io;
use std::time::Duration;

use serde_json::{Value as Json, json};
use sounding_bpf::{PeerCounts, PeerReport, Signal, Transition, Walked};
use sounding_diag::LogCode;
use sounding_diag::session::Event;
use sounding_link::{Counts, LinkEstimate};
use sounding_modem::{SnifferSource, SnifferStatus, Source};
use sounding_units::{HostInstant, Rate};

use super::event_queue::Outbox;
use crate::cli_types;
use crate::session_report;
use crate::skipped::{self, counted, left};
pub(super) use sniffers::SnifferChange;
pub(super) use subordinates::Subids;

/// The daemon's reports: JSON lines for programs on standard output, or sentences for people on standard error.
///
/// Saying something never waits: see [`Outbox`].
pub(crate) struct Events {
    json: bool,
    fallback: &'static str,
    outbox: Outbox,
    late: Late,
    overstated: Untold,
    disbelieved: Untold,
}

/// Late heartbeats, and those that no line has reported yet.
#[derive(Debug, Default)]
struct Late {
    count: u64,
    untold: u64,
    told: HostInstant,
}

/// A sentence on late heartbeats, or on peers' reports, at most this often; the JSON events include every one.
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
    /// `fallback` is what flows go on as without the modem.
    pub(crate) fn new(json: bool, fallback: &'static str) -> io::Result<Self> {
        let outbox = if json { Outbox::new(io::stdout()) } else { Outbox::new(io::stderr()) }?;
        Ok(Self {
            json,
            fallback,
            outbox,
            late: Late::default(),
            overstated: Untold::default(),
            disbelieved: Untold::default(),
        })
    }

    fn say(&mut self, event: &Json, sentence: impl FnOnce() -> Option<String>) {
        if let Some(line) = line(self.json, event, sentence) {
            self.outbox.say(line);
        }
    }

    pub(crate) fn ready(&mut self, name: &str, device: &Source) {
        self.say(&json!({ "event": "ready", "name": name, "device": device.to_string() }), || {
            Some(format!("{name} is in the kernel, reading {device}; Ctrl-C ends it"))
        });
    }

    /// A server without a modem is ready.
    pub(crate) fn serving(&mut self, name: &str) {
        self.say(&json!({ "event": "ready", "name": name }), || {
            Some(format!("{name} is in the kernel, hearing its peers; Ctrl-C ends it"))
        });
    }

    /// An algorithm that needs no modem has none.
    pub(crate) fn serving_alone(&mut self, name: &str) {
        self.say(&json!({ "event": "ready", "name": name }), || {
            Some(format!("{name} is in the kernel, without a modem; Ctrl-C ends it"))
        });
    }

    /// So many connections began under the algorithm, and those that go on keep it.
    pub(crate) fn connections(&mut self, begun: u64) {
        self.say(&json!({ "event": "connections", "connections": begun }), || {
            Some(format!("{begun} connections began under it; those that go on keep it"))
        });
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

    /// What a device says is not borne out by what arrives there.
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
        let mut event = disbelief(counts);
        event["event"] = "disbelieved".into();
        event["at_ns"] = now.as_nanos().into();
        let due = self.disbelieved.add(now);
        self.say(&event, || due.map(|_| disbelieved(counts)));
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
        let stock = self.fallback;
        self.say(&json!({ "event": "slept", "slept_s": slept.as_secs_f64() }), || {
            Some(format!(
                "this machine slept for {:.0} s: flows go on as {stock} until the modem is heard again",
                slept.as_secs_f64()
            ))
        });
    }

    /// The port closed, and is left alone for so long.
    pub(crate) fn closed(&mut self, device: &Source, wait: Duration) {
        let stock = self.fallback;
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let event =
            json!({ "event": "closed", "device": device.to_string(), "left_alone_ms": wait_ms });
        self.say(&event, || {
            let mut text = format!("{device} closed: flows go on as {stock} until it is back");
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

    /// `sniffed` says how long ago a sniffer of its cell was received. Only programs read estimates.
    pub(crate) fn estimate(
        &mut self,
        now: HostInstant,
        estimate: &LinkEstimate,
        sniffed: impl FnOnce() -> Option<Duration>,
    ) {
        if !self.json {
            return;
        }
        let mut event = session_report::estimate(estimate);
        event["sniffer_age_us"] = session_report::micros(sniffed());
        event["event"] = "estimate".into();
        event["at_ns"] = now.as_nanos().into();
        self.say(&event, || None);
    }

    pub(crate) fn transition(&mut self, transition: &Transition) {
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
        let stock = self.fallback;
        self.say(&event, || {
            tell.then(|| {
                format!(
                    "the daemon itself was held up for {} ms (late {untold} times since last said): \
                     flows take 60 ms of that for a dead daemon and go on as {stock} for a while; is this machine overloaded?",
                    gap.as_millis()
                )
            })
        });
    }

    /// The last words of a server without a modem.
    pub(crate) fn served(self, counts: PeerCounts) {
        let event = json!({ "event": "done", "peers": disbelief(counts) });
        let line = line(self.json, &event, || Some(disbelieved(counts)));
        self.outbox.finish(line.unwrap_or_default());
    }

    /// The last event. Waits a moment for a reader that is behind. `peers` is set in a daemon that uses their reports.
    pub(crate) fn done(
        self,
        counts: &Counts,
        switched_off: &[LogCode],
        peers: Option<PeerCounts>,
        sniffed: Vec<(SnifferSource, SnifferStatus)>,
    ) {
        let stream = &counts.stream;
        let (late, dropped) = (self.late.count, self.outbox.dropped());
        let event = json!({
            "event": "done",
            "bytes": stream.frames.bytes,
            "frames": stream.frames.good,
            "corrupt_frames": stream.damaged(),
            "padding_bytes": stream.frames.padding,
            "records": stream.logs,
            "read": counts.records.read(),
            "unsupported": counts.records.unsupported,
            "corrupt_records": counts.records.corrupt,
            "partly_read_records": counts.records.partly,
            "longer_records": counts.records.longer,
            "untimed_records": counts.untimed,
            "misdated_records": counts.misdated,
            "kpis": counts.kpis,
            "codes_switched_off": session_report::names(switched_off),
            "late_heartbeats": late,
            "events_dropped": dropped,
            "peers": peers.map(disbelief),
            "sniffers": sniffers::counts(&sniffed),
        });
        let line = line(self.json, &event, || {
            let peers = peers.map(|counts| format!("; {}", disbelieved(counts)));
            Some(format!(
                "{}, {} read for KPIs, {}; {}; {}; {} dropped{}{}",
                counted(stream.logs, "record", "records"),
                counts.records.read(),
                left(&counts.records),
                skipped::damage(stream),
                counted(late, "late heartbeat", "late heartbeats"),
                counted(dropped, "message", "messages"),
                peers.unwrap_or_default(),
                sniffers::sentences(&sniffed)
            ))
        });
        self.outbox.finish(line.unwrap_or_default());
    }
}

fn line(json: bool, event: &Json, sentence: impl FnOnce() -> Option<String>) -> Option<String> {
    if json {
        Some(event.to_string())
    } else {
        sentence().map(|sentence| format!("sounding: {sentence}"))
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

fn disbelief(counts: PeerCounts) -> Json {
    json!({
        "segments_forged": counts.forged,
        "segments_unreadable": counts.unreadable,
        "connections_limited": counts.limited,
        "connections_overstated": counts.overstated,
    })
}

fn disbelieved(counts: PeerCounts) -> String {
    format!(
        "not believed of what peers said: {} that TCP drops, {} of a later version, {} over the limit, \
         {} over three times what was delivered",
        counted(counts.forged, "segment", "segments"),
        counted(counts.unreadable, "segment", "segments"),
        counted(counts.limited, "connection", "connections"),
        counted(counts.overstated, "connection", "connections")
    )
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
