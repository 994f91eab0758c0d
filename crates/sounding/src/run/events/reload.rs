//! What becomes of a new configuration.

use std::path::Path;

use miette::Report;
use serde_json::json;

use super::Events;
use crate::screen;

/// What a new configuration starts and ends, by name.
#[derive(Debug, Default)]
pub(in crate::run) struct Changes {
    pub(in crate::run) started: Vec<String>,
    pub(in crate::run) ended: Vec<String>,
}

impl Events {
    /// The configuration was read again, and this is new in it.
    pub(in crate::run) fn reloaded(&mut self, file: &Path, changes: &Changes) {
        let Changes { started, ended } = changes;
        let event = json!({
            "event": "reloaded",
            "file": file,
            "started": started,
            "ended": ended,
        });
        self.say(&event, || {
            let part = |names: &[String], verb: &str| match names {
                [] => String::new(),
                all => format!("; {verb}: {}", all.join(", ")),
            };
            let (ended, started) = (part(ended, "ended"), part(started, "started"));
            let rest =
                if ended.is_empty() && started.is_empty() { "nothing" } else { "nothing else" };
            Some(format!("{} was read again{ended}{started}; {rest} changes", screen::path(file)))
        });
    }

    /// It has an error, and nothing changes.
    pub(in crate::run) fn not_reloaded(&mut self, file: &Path, line: Option<usize>, why: &str) {
        let help = "correct the file, try it with --check-config, and send SIGHUP again";
        let event = json!({
            "event": "not_reloaded",
            "file": file,
            "line": line,
            "reason": why,
            "help": help,
        });
        self.say(&event, || {
            let line = line.map_or(String::new(), |line| format!(", line {line}"));
            let file = screen::path(file);
            Some(format!("{file}{line}: nothing changes, all goes on as before: {why} ({help})"))
        });
    }

    /// A modem of a new configuration does not start, or one of an old one did not end in order.
    pub(in crate::run) fn modem_failed(&mut self, modem: &str, why: &Report) {
        let reason = super::outputs::reason(why);
        let help = "correct the file and send SIGHUP again";
        let event =
            json!({ "event": "modem_failed", "modem": modem, "reason": reason, "help": help });
        self.say(&event, || Some(format!("modem {modem}: {reason} ({help})")));
    }

    /// Processors wake as before.
    pub(in crate::run) fn not_awake(&mut self, why: &Report) {
        let reason = super::outputs::reason(why);
        let event = json!({ "event": "cpu_latency", "reason": reason });
        self.say(&event, || Some(format!("modem.cpu_latency stays as it was: {reason}")));
    }
}
