//! What the server knows: the newest of everything, and a bounded past.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use sounding_feed::Line;

use crate::carried::Counters;
use crate::history::{Ring, Span};
use crate::news::{Event, Modem, News, Radio, Shaped};

/// Events that are kept, each of so many bytes at most.
const EVENTS: usize = 32;
const EVENT_BYTES: usize = 1024;

/// Modems' directions at most. A daemon has four modems.
const SERIES: usize = 16;

/// A modem's name, and a direction's.
pub(crate) type Key = (String, String);

#[derive(Debug, Default)]
pub(crate) struct Store {
    pub(crate) series: BTreeMap<Key, Series>,
    pub(crate) modems: Vec<Modem>,
    pub(crate) radios: BTreeMap<usize, Radio>,
    pub(crate) shapers: BTreeMap<Key, Shaper>,
    pub(crate) events: VecDeque<Event>,
    /// Events of each kind.
    pub(crate) kinds: BTreeMap<String, u64>,
    pub(crate) counters: Counters,
}

/// The lines of a modem's direction.
#[derive(Debug)]
pub(crate) struct Series {
    pub(crate) newest: Arc<Line>,
    pub(crate) lines: u64,
    minute: Ring,
    hour: Ring,
}

impl Series {
    pub(crate) const fn ring(&self, span: Span) -> &Ring {
        match span {
            Span::Minute => &self.minute,
            Span::Hour => &self.hour,
        }
    }
}

/// A shaper, by the last decision about it.
#[derive(Debug)]
pub(crate) struct Shaper {
    pub(crate) last: Shaped,
    /// Decisions by their reasons.
    pub(crate) reasons: BTreeMap<String, u64>,
}

impl Store {
    pub(crate) fn handle(&mut self, news: News) {
        match news {
            News::Line(line, _) => self.handle_line(line),
            News::Modems(modems) => self.handle_modems(modems),
            News::Radio(radio) => {
                self.radios.insert(radio.place, radio);
            }
            News::Shaped(shaped) => self.handle_shaped(shaped),
            News::Event(event) => self.handle_event(event),
        }
    }

    pub(crate) fn attend(&mut self, now: Instant) {
        let modems = self.modems.iter().map(|modem| (modem.place, &modem.devices[..]));
        self.counters.attend(now, modems);
    }

    /// The place of a modem, if it is read.
    pub(crate) fn place_of(&self, modem: &str) -> Option<usize> {
        self.modems.iter().find(|known| known.name == modem).map(|known| known.place)
    }

    fn handle_line(&mut self, line: Arc<Line>) {
        let key = (line.modem.clone(), line.direction.clone());
        let set = self.shapers.get(&key).map(|shaper| shaper.last.rate_bits_per_sec);
        let carried = self.place_of(&line.modem).and_then(|place| self.counters.of(place));
        let way = usize::from(line.direction != "uplink");
        let sent = carried.and_then(|carried| carried.bits_per_sec[way]);
        if self.series.len() >= SERIES && !self.series.contains_key(&key) {
            return;
        }
        let series = self.series.entry(key).or_insert_with(|| Series {
            newest: Arc::clone(&line),
            lines: 0,
            minute: Ring::new(Span::Minute),
            hour: Ring::new(Span::Hour),
        });
        series.lines += 1;
        for ring in [&mut series.minute, &mut series.hour] {
            ring.push(&line, set, sent);
        }
        series.newest = line;
    }

    fn handle_modems(&mut self, modems: Vec<Modem>) {
        let is_read = |name: &str| modems.iter().any(|modem| modem.name == name);
        self.series.retain(|(modem, _), _| is_read(modem));
        self.shapers.retain(|(modem, _), _| is_read(modem));
        self.radios.retain(|place, _| modems.iter().any(|modem| modem.place == *place));
        self.modems = modems;
    }

    fn handle_shaped(&mut self, shaped: Shaped) {
        let key = (shaped.modem.clone(), shaped.direction.to_owned());
        let before = self.shapers.get(&key).map(|shaper| &shaper.last.reason);
        if before != Some(&shaped.reason) {
            let Shaped { modem, direction, at, rate_bits_per_sec, reason, .. } = &shaped;
            let number = self.series.get(&key).map(|series| series.newest.number);
            let text = serde_json::json!({
                "event": "shaped",
                "direction": direction,
                "rate_bits_per_sec": rate_bits_per_sec,
                "reason": reason,
                "number": number,
            });
            let (kind, text) = ("shaped".into(), text.to_string());
            self.keep(Event { kind, at: *at, modem: Some(modem.clone()), text });
        }
        let reasons = self.shapers.remove(&key).map(|shaper| shaper.reasons);
        let mut reasons = reasons.unwrap_or_default();
        *reasons.entry(shaped.reason.clone()).or_default() += 1;
        self.shapers.insert(key, Shaper { last: shaped, reasons });
    }

    fn handle_event(&mut self, event: Event) {
        *self.kinds.entry(event.kind.clone()).or_default() += 1;
        self.keep(event);
    }

    fn keep(&mut self, event: Event) {
        if event.text.len() > EVENT_BYTES {
            return;
        }
        if self.events.len() == EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}

#[cfg(test)]
mod tests {
    use sounding_units::HostInstant;

    use super::*;
    use crate::history::tests::line;

    #[test]
    fn a_change_of_the_reason_becomes_an_event_with_the_number_of_its_line() {
        let mut store = Store::default();
        store.handle(News::Line(Arc::new(line(7, 5)), Arc::from(&b""[..])));
        for reason in ["base", "base", "capacity"] {
            store.handle(News::Shaped(Shaped {
                modem: "wan".into(),
                direction: "uplink",
                at: HostInstant::default(),
                rate_bits_per_sec: 5,
                reason: reason.into(),
                waiting_bytes: None,
                sent_bytes: None,
            }));
        }
        assert_eq!(store.events.len(), 2);
        assert!(store.events[1].text.contains("\"number\":7"), "{:?}", store.events);
        let shaper = store.shapers.values().next().unwrap();
        assert_eq!(shaper.reasons["base"], 2);
        // A modem that is gone leaves nothing.
        store.handle(News::Modems(Vec::new()));
        assert!(store.series.is_empty() && store.shapers.is_empty());
    }

    #[test]
    fn events_are_few_and_short() {
        let mut store = Store::default();
        for long in [10, 10_000] {
            for _ in 0..100 {
                let text = "x".repeat(long);
                let at = HostInstant::default();
                store.handle(News::Event(Event { kind: "late".into(), at, modem: None, text }));
            }
        }
        assert_eq!((store.events.len(), store.kinds["late"]), (EVENTS, 200));
        assert!(store.events.iter().all(|event| event.text.len() == 10));
    }
}
