//! `/status.json` and the pieces of `/history.json`.

use std::time::Duration;

use serde_json::{Map, Value as Json, json};
use sounding_host::monotonic_now;

use crate::history::{Span, words};
use crate::news::Event;
use crate::store::{Key, Series, Store};

/// The version of both. Fields are only added to a version.
const VERSION: u32 = 1;

/// All that is new.
pub(crate) fn status(store: &Store, up: Duration) -> Json {
    let mut names: Vec<&str> = store.modems.iter().map(|modem| &modem.name[..]).collect();
    // Lines may come before the list of modems.
    names.extend(store.series.keys().map(|(modem, _)| &modem[..]));
    names.sort_unstable();
    names.dedup();
    json!({
        "version": VERSION,
        "program": env!("CARGO_PKG_VERSION"),
        "now_ns": monotonic_now().as_nanos(),
        "up_s": up.as_secs(),
        "modems": names.iter().map(|name| modem(store, name)).collect::<Vec<_>>(),
        "events": store.events.iter().rev().map(event).collect::<Vec<_>>(),
    })
}

fn modem(store: &Store, name: &str) -> Json {
    let mut said = json!({ "name": name });
    let known = store.modems.iter().find(|modem| modem.name == name);
    if let Some(known) = known {
        said["devices"] = known.devices.clone().into();
        if let Some(radio) = store.radios.get(&known.place) {
            said["radio"] = serde_json::to_value(radio).unwrap_or_default();
        }
        if let Some(carried) = store.counters.of(known.place) {
            let [uplink, downlink] = carried.bytes;
            said["carried"] = json!({ "uplink_bytes": uplink, "downlink_bytes": downlink });
        }
    }
    let own = store.series.iter().filter(|((modem, _), _)| modem == name);
    said["directions"] = own.map(|(key, series)| direction(store, key, series)).collect();
    said
}

fn direction(store: &Store, key: &Key, series: &Series) -> Json {
    let mut said = json!({ "direction": key.1, "line": &*series.newest });
    if let Some(shaper) = store.shapers.get(key) {
        let last = &shaper.last;
        let mut of = Map::new();
        of.insert("set_at_ns".into(), last.at.as_nanos().into());
        of.insert("rate_bits_per_sec".into(), last.rate_bits_per_sec.into());
        of.insert("reason".into(), last.reason.clone().into());
        for (name, bytes) in
            [("waiting_bytes", last.waiting_bytes), ("sent_bytes", last.sent_bytes)]
        {
            bytes.map(|bytes| of.insert(name.into(), bytes.into()));
        }
        said["shaper"] = of.into();
    }
    said
}

fn event(event: &Event) -> Json {
    let said: Json = serde_json::from_str(&event.text).unwrap_or_default();
    let mut of = json!({ "at_ns": event.at.as_nanos(), "event": said });
    if let Some(modem) = &event.modem {
        of["modem"] = modem.clone().into();
    }
    of
}

/// The beginning of `/history.json`, before its series.
pub(crate) fn history_begins(span: Span) -> String {
    let head = json!({
        "version": VERSION,
        "span": span.name(),
        "step_ms": span.step_ms(),
        "now_ms": monotonic_now().as_nanos() / 1_000_000,
        "words": words(),
    });
    let mut text = head.to_string();
    text.pop();
    text + ",\"series\":["
}

/// Its series after the one of this key, and that one's key. A client that is slow may get a series
/// that is newer than the one before.
pub(crate) fn history_goes_on(
    store: &Store,
    span: Span,
    after: Option<&Key>,
) -> Option<(Key, String)> {
    let mut later = store.series.iter().filter(|(key, _)| after.is_none_or(|after| *key > after));
    let (key, series) = later.next()?;
    let mut said = series.ring(span).columns();
    (said["modem"], said["direction"]) = (key.0.clone().into(), key.1.clone().into());
    let comma = if after.is_some() { "," } else { "" };
    Some((key.clone(), format!("{comma}{said}")))
}
