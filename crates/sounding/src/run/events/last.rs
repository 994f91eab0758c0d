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
    pub(in crate::run) counts: Counts,
    /// Codes that the budget has switched off.
    pub(in crate::run) switched_off: Vec<LogCode>,
    pub(in crate::run) sniffed: Vec<(SnifferSource, SnifferStatus)>,
}

impl Events {
    /// The last events. Waits a moment for a reader that is behind.
    pub(in crate::run) fn done(mut self, read: Option<&Account>, last: LastWords) {
        for (event, sentence) in last.said {
            self.say(&event, || Some(sentence).filter(|sentence| !sentence.is_empty()));
        }
        let peers = last.disbelieved;
        let event = self.account(read, peers);
        let line = line(self.json, &event, || self.sentence(read, peers));
        self.outbox.finish(line.unwrap_or_default());
    }

    fn account(&self, read: Option<&Account>, peers: Option<PeerCounts>) -> Json {
        let mut event = json!({
            "event": "done",
            "late_heartbeats": self.late.count,
            "events_dropped": self.outbox.dropped(),
            "peers": peers.map(disbelief),
        });
        let Some(Account { counts, switched_off, sniffed }) = read else { return event };
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
        if let (Json::Object(event), Json::Object(more)) = (&mut event, more) {
            event.extend(more);
        }
        event
    }

    fn sentence(&self, read: Option<&Account>, peers: Option<PeerCounts>) -> Option<String> {
        let Some(Account { counts, sniffed, .. }) = read else { return peers.map(disbelieved) };
        let peers = peers.map(|counts| format!("; {}", disbelieved(counts)));
        let stream = &counts.stream;
        Some(format!(
            "{}, {} read for KPIs, {}; {}; {}; {} dropped{}{}",
            counted(stream.logs, "record", "records"),
            counts.records.read(),
            left(&counts.records),
            skipped::damage(stream),
            counted(self.late.count, "late heartbeat", "late heartbeats"),
            counted(self.outbox.dropped(), "message", "messages"),
            peers.unwrap_or_default(),
            sniffers::sentences(sniffed)
        ))
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
