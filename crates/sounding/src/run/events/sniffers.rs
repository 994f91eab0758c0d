//! What becomes of sniffers.

use serde_json::{Value as Json, json};
use sounding_modem::{SnifferSource, SnifferStatus};
use sounding_units::HostInstant;

use super::Events;
use crate::skipped::counted;

/// A sniffer that is received from now on, or is not any more.
pub(in crate::run) struct SnifferChange<'a> {
    pub(in crate::run) sniffer: &'a SnifferSource,
    pub(in crate::run) heard: bool,
    pub(in crate::run) why_not: Option<&'a str>,
    /// Whether people are to know, too.
    pub(in crate::run) says: bool,
}

impl Events {
    /// A sniffer is received from here on, or is not; `why_not` says what is known of that.
    pub(in crate::run) fn sniffer(&mut self, now: HostInstant, change: &SnifferChange<'_>) {
        let SnifferChange { sniffer, heard, why_not, says } = change;
        let event = json!({
            "event": "sniffer",
            "at_ns": now.as_nanos(),
            "sniffer": sniffer.to_string(),
            "state": if *heard { "heard" } else { "silent" },
            "reason": why_not,
        });
        self.say(&event, || {
            let why = why_not.map_or(String::new(), |why| format!(" ({why})"));
            says.then(|| match heard {
                true => format!(
                    "{sniffer} is heard: estimates have a share of what is idle in its cell"
                ),
                false => format!(
                    "{sniffer} is silent{why}: estimates are the modem's own until it is heard"
                ),
            })
        });
    }

    /// Some of what a sniffer writes is left out.
    pub(in crate::run) fn sniffer_bad(
        &mut self,
        now: HostInstant,
        sniffer: &SnifferSource,
        status: &SnifferStatus,
    ) {
        let SnifferStatus { counts, bad, dropped, foreign, of_one_user, .. } = status;
        let mut event = sniffer_counts(sniffer, status);
        event["event"] = "sniffer_bad".into();
        event["at_ns"] = now.as_nanos().into();
        event["reason"] = bad.clone().into();
        self.say(&event, || {
            let mut parts = Vec::new();
            if counts.bad > 0 {
                let unit = counted(counts.bad, "line or datagram", "lines or datagrams");
                parts.push(format!("{unit} left out; {}", bad.as_deref().unwrap_or_default()));
            }
            if *dropped > 0 {
                parts.push(format!("{dropped} messages came too fast and were dropped"));
            }
            if *foreign > 0 {
                parts.push(format!(
                    "{foreign} datagrams left out: another user had a socket on its port; --sniffer-user names whom to believe"
                ));
            }
            if *of_one_user > 0 {
                parts.push(format!(
                    "{of_one_user} messages are about one user and have no resource blocks: it has to send whole cells"
                ));
            }
            Some(format!("{sniffer}: {}", parts.join("; ")))
        });
    }
}

/// What was met of each, as last words.
pub(super) fn counts(sniffed: &[(SnifferSource, SnifferStatus)]) -> Vec<Json> {
    sniffed.iter().map(|(sniffer, status)| sniffer_counts(sniffer, status)).collect()
}

pub(super) fn sentences(sniffed: &[(SnifferSource, SnifferStatus)]) -> String {
    let sentence = |(sniffer, status): &(SnifferSource, SnifferStatus)| {
        let messages = counted(status.counts.messages, "message", "messages");
        format!("; {sniffer}: {messages}, {} bad", status.counts.bad)
    };
    sniffed.iter().map(sentence).collect()
}

fn sniffer_counts(sniffer: &SnifferSource, status: &SnifferStatus) -> Json {
    json!({
        "sniffer": sniffer.to_string(),
        "messages": status.counts.messages,
        "bad": status.counts.bad,
        "dropped": status.dropped,
        "foreign": status.foreign,
        "of_one_user": status.of_one_user,
    })
}
