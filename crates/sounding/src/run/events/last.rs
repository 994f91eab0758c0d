//! The last words.

use serde_json::{Value as Json, json};
use sounding_bpf::PeerCounts;
use sounding_diag::LogCode;
use sounding_link::Counts;
use sounding_modem::{SnifferSource, SnifferStatus};

use super::{Events, line, sniffers};
use crate::session_report;
use crate::skipped::{self, counted, left};

/// What outputs leave to be said at the daemon's end.
#[derive(Debug, Default)]
pub(in crate::run) struct LastWords {
    /// What peers said and no law believed, if peers were heard.
    pub(in crate::run) disbelieved: Option<PeerCounts>,
    /// Events and sentences of single outputs.
    pub(in crate::run) said: Vec<(Json, String)>,
}

impl LastWords {
    /// And those of other outputs.
    pub(in crate::run) fn join(&mut self, other: Self) {
        self.said.extend(other.said);
        if let Some(counts) = other.disbelieved {
            self.disbelieve(counts);
        }
    }

    pub(in crate::run) fn say(&mut self, (event, sentence): (Json, String)) {
        self.said.push((event, sentence));
    }

    pub(in crate::run) fn disbelieve(&mut self, counts: PeerCounts) {
        let all = self.disbelieved.get_or_insert_default();
        all.forged += counts.forged;
        all.unreadable += counts.unreadable;
        all.limited += counts.limited;
        all.overstated += counts.overstated;
    }
}

/// What was read of a modem.
pub(in crate::run) struct Account {
    /// Its name.
    pub(in crate::run) modem: String,
    pub(in crate::run) counts: Counts,
    /// Codes that the budget has switched off.
    pub(in crate::run) switched_off: Vec<LogCode>,
    pub(in crate::run) sniffed: Vec<(SnifferSource, SnifferStatus)>,
}

impl Events {
    /// The last events. Waits a moment for a reader that is behind.
    pub(in crate::run) fn done(mut self, read: &[Account], last: LastWords) {
        for (event, sentence) in last.said {
            self.say(&event, || Some(sentence).filter(|sentence| !sentence.is_empty()));
        }
        let peers = last.disbelieved;
        let mut event = json!({
            "event": "done",
            "late_heartbeats": self.all_late(),
            "events_dropped": self.outbox.dropped(),
            "peers": peers.map(disbelief),
        });
        match read {
            [] => {}
            [only] => only.fill(&mut event),
            all => {
                let of = |account: &Account| {
                    let mut modem = json!({ "modem": account.modem });
                    account.fill(&mut modem);
                    modem
                };
                event["modems"] = all.iter().map(of).collect();
            }
        }
        let line = line(self.form, &event, None, || self.sentence(read, peers));
        self.outbox.finish(line.unwrap_or_default());
    }

    fn sentence(&self, read: &[Account], peers: Option<PeerCounts>) -> Option<String> {
        if read.is_empty() {
            return peers.map(disbelieved);
        }
        let of = |account: &Account| match read.len() {
            1 => account.sentence(),
            _ => format!("{}: {}", account.modem, account.sentence()),
        };
        let modems: Vec<String> = read.iter().map(of).collect();
        let sniffed: String = read.iter().map(|read| sniffers::sentences(&read.sniffed)).collect();
        let peers = peers.map(|counts| format!("; {}", disbelieved(counts)));
        Some(format!(
            "{}; {}; {} dropped{}{sniffed}",
            modems.join("; "),
            counted(self.all_late(), "late heartbeat", "late heartbeats"),
            counted(self.outbox.dropped(), "message", "messages"),
            peers.unwrap_or_default(),
        ))
    }
}

impl Account {
    /// Enters what was read into an event.
    fn fill(&self, event: &mut Json) {
        let Self { counts, switched_off, sniffed, .. } = self;
        let stream = &counts.stream;
        let more = json!({
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
            "sniffers": sniffers::counts(sniffed),
        });
        if let (Json::Object(event), Json::Object(more)) = (event, more) {
            event.extend(more);
        }
    }

    fn sentence(&self) -> String {
        let stream = &self.counts.stream;
        format!(
            "{}, {} read for KPIs, {}; {}",
            counted(stream.logs, "record", "records"),
            self.counts.records.read(),
            left(&self.counts.records),
            skipped::damage(stream),
        )
    }
}

pub(super) fn disbelief(counts: PeerCounts) -> Json {
    json!({
        "segments_forged": counts.forged,
        "segments_unreadable": counts.unreadable,
        "connections_limited": counts.limited,
        "connections_overstated": counts.overstated,
    })
}

pub(super) fn disbelieved(counts: PeerCounts) -> String {
    format!(
        "not believed of what peers said: {} that TCP drops, {} of a later version, {} over the limit, \
         {} over three times what was delivered",
        counted(counts.forged, "segment", "segments"),
        counted(counts.unreadable, "segment", "segments"),
        counted(counts.limited, "connection", "connections"),
        counted(counts.overstated, "connection", "connections")
    )
}
