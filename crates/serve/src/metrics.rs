//! `/metrics`, as Prometheus reads it: base units, few label values, no identities.

use std::fmt::Write as _;
use std::time::Duration;

use sounding_feed::{Cause, Line};
use sounding_units::HostInstant;

use crate::history::{BOUNDS, STATES};
use crate::news::{Radio, RadioSide};
use crate::store::{Series, Shaper, Store};

/// What the server counts about itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Own {
    pub(crate) up: Duration,
    pub(crate) clients: usize,
    pub(crate) requests: u64,
    pub(crate) refused: u64,
    pub(crate) lost: u64,
}

/// The reasons of a shaper's decisions, so that each has a row from the start.
const REASONS: [&str; 8] =
    ["base", "capacity", "probing", "demand", "backlog", "silence", "handover", "idle"];

/// The page at this time. A line's rates count until they are too old, also where no line follows.
pub(crate) fn metrics(store: &Store, own: Own, now: HostInstant) -> String {
    let mut page = Page::default();
    of_server(&mut page, own);
    of_lines(&mut page, store, now);
    of_radios(&mut page, store);
    of_shapers(&mut page, store);
    page.family("sounding_events_total", "counter", "Events of the daemon by their kind.");
    for (kind, count) in &store.kinds {
        page.row("sounding_events_total", &[("event", kind)], Some(*count as f64));
    }
    page.0
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    /// A row, if its value is known.
    fn row(&mut self, name: &str, labels: &[(&str, &str)], value: Option<f64>) {
        let Some(value) = value.filter(|value| value.is_finite()) else { return };
        self.0 += name;
        for (at, (label, text)) in labels.iter().enumerate() {
            self.0.push(if at == 0 { '{' } else { ',' });
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.0, "{label}=\"{text}\"");
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{end} {value}");
    }
}

fn of_server(page: &mut Page, own: Own) {
    let version = [("version", env!("CARGO_PKG_VERSION"))];
    page.family("sounding_build_info", "gauge", "The program's version; always 1.");
    page.row("sounding_build_info", &version, Some(1.0));
    for (name, kind, help, value) in [
        ("sounding_up_seconds", "gauge", "Time since the server began.", own.up.as_secs_f64()),
        ("sounding_http_clients", "gauge", "Clients that are connected.", own.clients as f64),
        ("sounding_http_requests_total", "counter", "Requests.", own.requests as f64),
        (
            "sounding_http_refused_total",
            "counter",
            "Requests that were not served, and clients for which there was no room.",
            own.refused as f64,
        ),
        (
            "sounding_lost_news_total",
            "counter",
            "News that the server's thread was too slow for. Senders' feed loses none by it.",
            own.lost as f64,
        ),
    ] {
        page.family(name, kind, help);
        page.row(name, &[], Some(value));
    }
}

type OfLine = (&'static str, &'static str, fn(&Line, HostInstant) -> Option<f64>);

/// Gauges of a line. Rates are in bytes, the base unit.
const OF_LINE: [OfLine; 6] = [
    ("sounding_advice_bytes_per_second", "What a live sender should take now.", |line, now| {
        Some(valid(line, now)?.advice_bits_per_sec? as f64 / 8.0)
    }),
    ("sounding_granted_bytes_per_second", "The rate that the radio granted.", |line, now| {
        Some(valid(line, now)?.rate_bits_per_sec? as f64 / 8.0)
    }),
    (
        "sounding_estimate_age_seconds",
        "Time since the newest record behind the rate came.",
        |line, now| Some(line.age_ms_at(now)? / 1e3),
    ),
    (
        "sounding_estimate_valid_seconds",
        "The age up to which the rate and the advice may be used.",
        |line, _| Some(line.valid_for_ms / 1e3),
    ),
    ("sounding_modem_backlog_bytes", "What waits in the modem.", |line, now| {
        Some(valid(line, now)?.backlog_bytes? as f64)
    }),
    ("sounding_cell_users", "Users of the cell with data, by a sniffer.", |line, now| {
        valid(line, now)?.users.map(f64::from)
    }),
];

/// A line whose rates count at this time.
fn valid(line: &Line, now: HostInstant) -> Option<&Line> {
    Some(line).filter(|line| line.is_valid(now))
}

fn of_lines(page: &mut Page, store: &Store, now: HostInstant) {
    for (name, help, of) in OF_LINE {
        page.family(name, "gauge", help);
        for ((modem, direction), Series { newest, .. }) in &store.series {
            page.row(name, &[("modem", modem), ("direction", direction)], of(newest, now));
        }
    }
    let name = "sounding_feed_lines_total";
    page.family(name, "counter", "Lines of the rate feed.");
    for ((modem, direction), Series { lines, .. }) in &store.series {
        page.row(name, &[("modem", modem), ("direction", direction)], Some(*lines as f64));
    }
    one_of(page, store, "sounding_link_state", "state", &STATES, |line| line.state.as_deref());
    one_of(page, store, "sounding_rate_bound", "bound", &BOUNDS, |line| line.bound.as_deref());
    one_of(page, store, "sounding_advice_cause", "cause", &Cause::ALL.map(Cause::name), |line| {
        line.advice_cause.as_deref()
    });
}

/// A row for each word; the one that holds is 1. None where that is unknown.
fn one_of(
    page: &mut Page,
    store: &Store,
    name: &str,
    label: &str,
    all: &[&str],
    of: fn(&Line) -> Option<&str>,
) {
    page.family(name, "gauge", "1 for the word that holds now, 0 for the others.");
    for ((modem, direction), Series { newest, .. }) in &store.series {
        let Some(now) = of(newest) else { continue };
        for word in all {
            let labels = [("modem", &modem[..]), ("direction", direction), (label, word)];
            page.row(name, &labels, Some(f64::from(u8::from(*word == now))));
        }
    }
}

type OfRadio = (&'static str, &'static str, &'static str, fn(&Radio) -> Option<f64>);

const OF_RADIO: [OfRadio; 5] = [
    ("sounding_modem_records_total", "counter", "Log records that came of the modem.", |radio| {
        Some(radio.records as f64)
    }),
    ("sounding_signal_rsrp_dbm", "gauge", "Power of the serving cell's signal.", |radio| {
        radio.rsrp_dbm
    }),
    ("sounding_signal_rsrq_db", "gauge", "Quality of the serving cell's signal.", |radio| {
        radio.rsrq_db
    }),
    ("sounding_signal_sinr_db", "gauge", "Signal to interference and noise.", |radio| {
        radio.sinr_db
    }),
    ("sounding_channel_quality", "gauge", "CQI that the device reports, 0 to 15.", |radio| {
        radio.cqi
    }),
];

type OfSide = (&'static str, &'static str, fn(&RadioSide) -> u64);

const OF_SIDE: [OfSide; 3] = [
    ("sounding_resource_blocks_total", "Resource blocks of the radio that were used.", |side| {
        side.resource_blocks
    }),
    ("sounding_transport_blocks_total", "Blocks that were sent or received.", |side| side.blocks),
    (
        "sounding_retransmitted_blocks_total",
        "Of these: sent again in the uplink, failed in the downlink.",
        |side| side.retransmitted,
    ),
];

fn of_radios(page: &mut Page, store: &Store) {
    let radios = || {
        let modems = store.modems.iter();
        modems.filter_map(|modem| Some((&modem.name[..], store.radios.get(&modem.place)?)))
    };
    for (name, kind, help, of) in OF_RADIO {
        page.family(name, kind, help);
        radios().for_each(|(modem, radio)| page.row(name, &[("modem", modem)], of(radio)));
    }
    for (name, help, of) in OF_SIDE {
        page.family(name, "counter", help);
        for (modem, radio) in radios() {
            for (direction, side) in [("uplink", &radio.uplink), ("downlink", &radio.downlink)] {
                let labels = [("modem", modem), ("direction", direction)];
                page.row(name, &labels, side.as_ref().map(|side| of(side) as f64));
            }
        }
    }
    let name = "sounding_network_bytes_total";
    page.family(name, "counter", "Bytes that the modem's network devices carried.");
    for modem in &store.modems {
        let Some(carried) = store.counters.of(modem.place) else { continue };
        for (direction, bytes) in ["uplink", "downlink"].into_iter().zip(carried.bytes) {
            let labels = [("modem", &modem.name[..]), ("direction", direction)];
            page.row(name, &labels, Some(bytes as f64));
        }
    }
}

type OfShaper = (&'static str, &'static str, &'static str, fn(&Shaper) -> Option<f64>);

const OF_SHAPER: [OfShaper; 3] = [
    ("sounding_shaper_bytes_per_second", "gauge", "The rate that was set last.", |shaper| {
        Some(shaper.last.rate_bits_per_sec as f64 / 8.0)
    }),
    ("sounding_shaper_waiting_bytes", "gauge", "What waited at the last decision.", |shaper| {
        shaper.last.waiting_bytes.map(|bytes| bytes as f64)
    }),
    ("sounding_shaper_sent_bytes_total", "counter", "What left the shaper.", |shaper| {
        shaper.last.sent_bytes.map(|bytes| bytes as f64)
    }),
];

fn of_shapers(page: &mut Page, store: &Store) {
    for (name, kind, help, of) in OF_SHAPER {
        page.family(name, kind, help);
        for ((modem, direction), shaper) in &store.shapers {
            page.row(name, &[("modem", modem), ("direction", direction)], of(shaper));
        }
    }
    let name = "sounding_shaper_decisions_total";
    page.family(name, "counter", "Decisions about a shaper's rate by their reason.");
    for ((modem, direction), shaper) in &store.shapers {
        for reason in REASONS {
            let labels = [("modem", &modem[..]), ("direction", direction), ("reason", reason)];
            let count = shaper.reasons.get(reason).copied().unwrap_or_default();
            page.row(name, &labels, Some(count as f64));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::history::tests::line;
    use crate::news::{Modem, News};

    #[test]
    fn what_is_unknown_has_no_row_and_never_zero() {
        let mut store = Store::default();
        let mut said = line(1, 5);
        said.rate_bits_per_sec = None;
        let now = HostInstant::from_nanos(said.made_at_ns);
        store.handle(News::Line(Arc::new(said), Arc::from(&b""[..])));
        let text = metrics(&store, Own::default(), now);
        assert!(text.contains("# TYPE sounding_granted_bytes_per_second gauge\n"), "{text}");
        assert!(!text.contains("\nsounding_granted_bytes_per_second"), "{text}");
        let state = "sounding_link_state{modem=\"wan\",direction=\"uplink\",state=\"active\"} 1\n";
        assert!(text.contains(state), "{text}");
        assert!(!text.contains("sounding_signal_rsrp_dbm{"), "{text}");
    }

    #[test]
    fn a_line_that_no_other_follows_grows_old_and_its_rates_end() {
        let mut store = Store::default();
        let mut said = line(1, 5);
        (said.age_ms, said.valid_for_ms) = (Some(20.0), 200.0);
        let made = HostInstant::from_nanos(said.made_at_ns);
        store.handle(News::Line(Arc::new(said), Arc::from(&b""[..])));
        let at = |ms| metrics(&store, Own::default(), made + Duration::from_millis(ms));
        let age = "sounding_estimate_age_seconds{modem=\"wan\",direction=\"uplink\"} ";
        let rate = "\nsounding_granted_bytes_per_second{";
        assert!(at(180).contains(&format!("{age}0.2\n")) && at(180).contains(rate), "{}", at(180));
        assert!(
            at(1980).contains(&format!("{age}2\n")) && !at(1980).contains(rate),
            "{}",
            at(1980)
        );
    }

    #[test]
    fn a_daemon_with_four_modems_has_a_page_below_64_kib() {
        let mut store = Store::default();
        let side = Some(RadioSide { resource_blocks: u64::MAX, blocks: 1, retransmitted: 0 });
        for place in 0..4 {
            let name = format!("modem-of-15-ch{place}");
            let modem = |place| Modem {
                place,
                name: format!("modem-of-15-ch{place}"),
                devices: Vec::new(),
            };
            store.handle(News::Modems((0..4).map(modem).collect()));
            let radio = Radio { place, rsrp_dbm: Some(-100.0), ..Radio::default() };
            store.handle(News::Radio(Radio { uplink: side, downlink: side, ..radio }));
            for direction in ["uplink", "downlink"] {
                let mut said = line(1, 5);
                (said.modem, said.direction) = (name.clone(), direction.into());
                said.advice_cause = Some("climbing".into());
                store.handle(News::Line(Arc::new(said), Arc::from(&b""[..])));
            }
        }
        let text = metrics(&store, Own::default(), HostInstant::default());
        assert!(
            text.contains("sounding_resource_blocks_total{modem=\"modem-of-15-ch3\""),
            "{text}"
        );
        assert!(text.len() < 32 * 1024, "{}", text.len());
    }
}
