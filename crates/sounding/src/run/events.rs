use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value as Json, json};
use sounding_bpf::Transition;
use sounding_link::{Counts, LinkEstimate};
use sounding_units::HostInstant;

/// What the daemon says: JSON lines for programs on standard output, or sentences for people on standard error.
pub(crate) struct Events {
    json: bool,
}

impl Events {
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    fn say(&self, event: &Json, sentence: impl FnOnce() -> Option<String>) {
        if self.json {
            // A reader that is gone is no reason to leave the flows alone.
            let _ = writeln!(io::stdout().lock(), "{event}");
        } else if let Some(sentence) = sentence() {
            eprintln!("sounding: {sentence}");
        }
    }

    pub(crate) fn ready(&self, name: &str, device: &Path) {
        let device = device.display();
        self.say(&json!({ "event": "ready", "name": name, "device": device.to_string() }), || {
            Some(format!("{name} is in the kernel, reading {device}; Ctrl-C ends it"))
        });
    }

    pub(crate) fn closed(&self, device: &Path) {
        let device = device.display();
        self.say(&json!({ "event": "closed", "device": device.to_string() }), || {
            Some(format!("{device} closed: flows go on as BBR until it is back"))
        });
    }

    pub(crate) fn reopened(&self, device: &Path) {
        let device = device.display();
        self.say(&json!({ "event": "reopened", "device": device.to_string() }), || {
            Some(format!("{device} is back"))
        });
    }

    pub(crate) fn mute(&self, device: &Path, bytes: u64) {
        let device = device.display();
        let event = json!({ "event": "mute", "device": device.to_string(), "bytes": bytes });
        self.say(&event, || {
            Some(format!(
                "{device}: {bytes} bytes and no Diag frame among them: is it the modem's Diag port, and is logging on?"
            ))
        });
    }

    pub(crate) fn estimate(&self, now: HostInstant, estimate: &LinkEstimate) {
        let event = json!({
            "event": "estimate",
            "at_ns": now.as_nanos(),
            "rate_bits_per_sec": estimate.rate.bits_per_sec(),
            "bound": estimate.bound.to_string(),
            "state": estimate.state.to_string(),
            "age_us": u64::try_from(estimate.age.as_micros()).unwrap_or(u64::MAX),
            "backlog_bytes": estimate.backlog.map(sounding_units::Bytes::count),
        });
        self.say(&event, || None);
    }

    pub(crate) fn transition(&self, transition: &Transition) {
        let event = json!({
            "event": "transition",
            "at_ns": transition.at.as_nanos(),
            "from": word(transition.from),
            "to": word(transition.to),
            "reason": word(transition.reason),
            "local_port": transition.local_port,
            "remote_port": transition.remote_port,
        });
        self.say(&event, || {
            Some(format!(
                "flow {} to {}: {} to {}, {}",
                transition.local_port,
                transition.remote_port,
                word(transition.from),
                word(transition.to),
                word(transition.reason)
            ))
        });
    }

    pub(crate) fn done(&self, counts: &Counts) {
        let stream = &counts.stream;
        let event = json!({
            "event": "done",
            "bytes": stream.frames.bytes,
            "frames": stream.frames.good,
            "corrupt_frames": stream.frames.bad + stream.bad_packets,
            "records": stream.logs,
            "read": counts.read,
            "unsupported": counts.unsupported,
            "corrupt_records": counts.corrupt,
            "kpis": counts.kpis,
        });
        self.say(&event, || {
            Some(format!(
                "{} records, {} read for KPIs, {} of versions nobody has described, {} corrupt; {} corrupt frames",
                stream.logs,
                counts.read,
                counts.unsupported,
                counts.corrupt,
                stream.frames.bad + stream.bad_packets
            ))
        });
    }
}

/// The name of a state or a reason as people and programs read it.
fn word(name: impl std::fmt::Debug) -> String {
    format!("{name:?}").to_lowercase()
}
