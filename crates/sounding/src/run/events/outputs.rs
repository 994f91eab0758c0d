//! What becomes of outputs.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use miette::Report;
use serde_json::{Value as Json, json};
use sounding_bpf::{ArrivalsCounts, BackgroundCounts};
use sounding_modem::Source;

use super::Events;
use crate::screen;

impl Events {
    /// What is known is shown at this address, to those who have the token of this file.
    pub(in crate::run) fn serving(&mut self, address: SocketAddr, token: Option<&Path>) {
        let path = token.map(|token| token.display().to_string());
        let event = json!({ "event": "serving", "address": address.to_string(), "token": path });
        self.say(&event, || {
            let who = match token {
                Some(token) => format!("with the token in {}", screen::path(token)),
                None => "to everyone who reaches it".into(),
            };
            Some(format!("http://{address}/ shows the link, {who}"))
        });
    }

    /// The daemon is ready: these congestion controls are wanted, and these outputs run.
    pub(in crate::run) fn ready(
        &mut self,
        algorithms: &[String],
        outputs: &[String],
        modems: &[(&str, &Source)],
    ) {
        let mut event = json!({ "event": "ready", "outputs": outputs });
        let is_algorithm = |name: &&String| algorithms.contains(name);
        let named: Vec<&str> = outputs.iter().filter(is_algorithm).map(String::as_str).collect();
        if let Some(first) = named.first().copied().or(outputs.first().map(String::as_str)) {
            event["name"] = first.into();
        }
        match modems {
            [] => {}
            [(_, device)] => event["device"] = device.to_string().into(),
            all => {
                let all = all
                    .iter()
                    .map(|(name, device)| json!({ "modem": name, "device": device.to_string() }));
                event["modems"] = all.collect();
            }
        }
        let others = outputs.iter().filter(|name| !is_algorithm(name));
        let others: Vec<&str> = others.map(String::as_str).collect();
        self.say(&event, || {
            let mut parts = Vec::new();
            match &named[..] {
                [] => {}
                [one] => parts.push(format!("{one} is in the kernel")),
                all => parts.push(format!("{} are in the kernel", all.join(", "))),
            }
            if !others.is_empty() {
                parts.push(format!("{} started", others.join(", ")));
            }
            let reading = |(name, device): &(&str, &Source)| match modems.len() {
                1 => device.to_string(),
                _ => format!("{name} at {device}"),
            };
            let reading: Vec<String> = modems.iter().map(reading).collect();
            parts.push(match &reading[..] {
                [] => "without a modem".into(),
                all => format!("reading {}", all.join(", ")),
            });
            Some(format!("{}; Ctrl-C ends it", parts.join(", ")))
        });
    }

    /// An output failed, and is tried again after this wait. The others go on.
    pub(in crate::run) fn output_failed(&mut self, name: &str, failure: &Report, wait: Duration) {
        let reason = reason(failure);
        let help = failure.help().map(|help| help.to_string());
        let event = json!({
            "event": "output_failed",
            "output": name,
            "reason": reason,
            "help": help,
            "tried_again_ms": u64::try_from(wait.as_millis()).ok(),
        });
        self.say(&event, || {
            let help = help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
            Some(format!(
                "{name} does not run: {reason}{help}; it is tried again, and the others go on"
            ))
        });
    }

    /// An output that had failed runs.
    pub(in crate::run) fn output_started(&mut self, name: &str) {
        self.say(&json!({ "event": "output_started", "output": name }), || {
            Some(format!("{name} runs now"))
        });
    }

    /// So many connections began under an algorithm, and those that go on keep it.
    pub(in crate::run) fn connections(begun: u64) -> (Json, String) {
        let event = json!({ "event": "connections", "connections": begun });
        (event, format!("{begun} connections began under it; those that go on keep it"))
    }

    /// What became of connections under `background`.
    #[cfg(feature = "kernel")]
    pub(in crate::run) fn background(counts: &BackgroundCounts) -> (Json, String) {
        let event = json!({
            "event": "ended",
            "connections": counts.flows,
            "by_delay": counts.by_delay,
            "without_memory": counts.without_memory,
            "chosen": counts.chosen,
            "refused": counts.refused,
        });
        let begun =
            format!("{} connections were background; those that go on stay so", counts.flows);
        let notes = crate::background::notes(counts);
        (event, [begun].into_iter().chain(notes).collect::<Vec<_>>().join("; "))
    }

    /// What became of packets of media.
    pub(in crate::run) fn arrivals(
        device: &str,
        counts: ArrivalsCounts,
        account: String,
    ) -> (Json, String) {
        let ArrivalsCounts { packets, corrected, unstamped, unnoted } = counts;
        let event = json!({
            "event": "arrivals",
            "interface": device,
            "packets": packets,
            "corrected": corrected,
            "unstamped": unstamped,
            "unnoted": unnoted,
        });
        (event, account)
    }
}

/// The reason with what lies behind it.
pub(super) fn reason(failure: &Report) -> String {
    let chain: Vec<String> = failure.chain().map(ToString::to_string).collect();
    chain.join(": ")
}
