//! The last words.

use serde_json::{Value as Json, json};
use sounding_bpf::PeerCounts;

use super::{Events, line, sniffers};
use crate::run::modem::Modem;
use crate::run::output::LastWords;
use crate::session_report;
use crate::skipped::{self, counted, left};

impl Events {
    /// The last events. Waits a moment for a reader that is behind.
    pub(in crate::run) fn done(mut self, modem: Option<&Modem>, last: LastWords) {
        for (event, sentence) in last.said {
            self.say(&event, || Some(sentence).filter(|sentence| !sentence.is_empty()));
        }
        let peers = last.disbelieved;
        let event = self.account(modem, peers);
        let line = line(self.json, &event, || self.sentence(modem, peers));
        self.outbox.finish(line.unwrap_or_default());
    }

    fn account(&self, modem: Option<&Modem>, peers: Option<PeerCounts>) -> Json {
        let mut event = json!({
            "event": "done",
            "late_heartbeats": self.late.count,
            "events_dropped": self.outbox.dropped(),
            "peers": peers.map(disbelief),
        });
        let Some(modem) = modem else { return event };
        let counts = modem.counts();
        let stream = &counts.stream;
        let read = json!({
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
            "codes_switched_off": session_report::names(&modem.switched_off()),
            "sniffers": sniffers::counts(&modem.sniffed()),
        });
        if let (Json::Object(event), Json::Object(read)) = (&mut event, read) {
            event.extend(read);
        }
        event
    }

    fn sentence(&self, modem: Option<&Modem>, peers: Option<PeerCounts>) -> Option<String> {
        let Some(modem) = modem else { return peers.map(disbelieved) };
        let counts = modem.counts();
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
            sniffers::sentences(&modem.sniffed())
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
