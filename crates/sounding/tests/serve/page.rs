//! The page in a real browser: its figures are those of the feed's line of the same number.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value as Json, json};
use sounding_feed::{Line, Reader};

use crate::browser::Browser;
use crate::rig::Rig;

/// What is shown of a line: in a card's figures, and in its table of lines.
const SHOWN: &str = "[...document.querySelectorAll('[data-direction]')].flatMap((card) => \
    [card, ...card.querySelectorAll('tr[data-number]')].map((one) => ({ \
        direction: card.dataset.direction, modem: card.dataset.modem, number: Number(one.dataset.number), \
        fields: Object.fromEntries([...(one === card ? card.querySelector('dl') : one) \
            .querySelectorAll('[data-field]')].map((field) => [field.dataset.field, field.textContent])) })))";

/// What the browser loaded for the page, but for the feed, in bytes; and how long that took, in ms.
const WEIGHT: &str = "['navigation', 'resource'].flatMap((kind) => performance.getEntriesByType(kind)) \
    .reduce((sum, one) => sum + one.transferSize, 0)";
const LOADED: &str = "performance.getEntriesByType('navigation')[0].loadEventEnd";

const UNKNOWN: &str = "unknown";

/// The first number in a text, and the rest; `None` if it is unknown.
fn number(text: &str) -> Option<f64> {
    if text == UNKNOWN {
        return None;
    }
    text.split([' ', ',']).next()?.parse().ok()
}

fn is_near(shown: &str, value: Option<f64>, half_a_step: f64) -> bool {
    match (number(shown), value) {
        (None, None) => true,
        (Some(shown), Some(value)) => (shown - value).abs() <= half_a_step * 1.01,
        _ => false,
    }
}

/// Fails where a figure is not that of the line.
fn assert_shows(fields: &Json, line: &Line) {
    let of = |name: &str| fields[name].as_str().unwrap_or_else(|| panic!("no {name}: {fields}"));
    let rate = |rate: Option<u64>| rate.map(|rate| rate as f64 / 1e6);
    let said = format!("{fields} of {line:?}");
    assert!(is_near(of("advice"), rate(line.advice_bits_per_sec), 0.005), "{said}");
    assert!(is_near(of("rate"), rate(line.rate_bits_per_sec), 0.005), "{said}");
    assert!(is_near(of("backlog"), line.backlog_bytes.map(|bytes| bytes as f64), 0.0), "{said}");
    assert!(is_near(of("age"), line.age_ms, 0.05), "{said}");
    assert!(is_near(of("users"), line.users.map(f64::from), 0.0), "{said}");
    assert_eq!(of("state"), line.state.as_deref().unwrap_or(UNKNOWN), "{said}");
    let ends = |name: &str, word: &Option<String>| {
        word.as_ref().is_none_or(|word| of(name).ends_with(&format!(", {word}")))
    };
    assert!(ends("advice", &line.advice_cause) && ends("rate", &line.bound), "{said}");
}

#[test]
fn figures_on_the_page_are_those_of_the_line_of_the_same_number() {
    let Some(mut browser) = Browser::start() else { return };
    let mut rig = Rig::usual();
    let lines: Arc<Mutex<BTreeMap<(String, u64), Line>>> = Arc::default();
    let into = Arc::clone(&lines);
    let reader = Reader::open(&rig.socket()).unwrap();
    thread::spawn(move || {
        for line in reader.map_while(Result::ok) {
            into.lock().unwrap().insert((line.direction.clone(), line.number), line);
        }
    });
    let url = format!("http://{}/?token={}", rig.address, rig.token());
    let shown: Vec<Json> = rig.play(8, |_| {
        browser.order("Page.navigate", json!({ "url": url }));
        browser.wait_for("document.querySelectorAll('[data-number]').length >= 2");
        browser
            .value("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
        let look = |browser: &mut Browser| {
            thread::sleep(Duration::from_millis(400));
            browser.value(SHOWN).as_array().unwrap().clone()
        };
        (0..8).flat_map(|_| look(&mut browser)).collect()
    });
    // Lines that the page showed came over the socket too.
    thread::sleep(Duration::from_millis(300));
    let lines = lines.lock().unwrap();
    let mut known = 0;
    for one in &shown {
        let direction = one["direction"].as_str().unwrap().to_owned();
        let number = one["number"].as_u64().unwrap();
        let line = lines.get(&(direction, number));
        let line = line.unwrap_or_else(|| panic!("no line of this number: {one}"));
        assert_shows(&one["fields"], line);
        known += usize::from(line.rate_bits_per_sec.is_some());
    }
    assert!(shown.len() > 100 && known > 20, "{known} of {} have a rate", shown.len());
    assert_eq!(browser.value("location.search"), "", "the token is out of the address");
    let [bytes, ms] = [WEIGHT, LOADED].map(|of| browser.value(of).as_f64().unwrap());
    assert!(bytes > 10_000.0 && bytes < 60_000.0, "{bytes} bytes");
    // The first time includes the start of the browser's process for the site.
    browser.order("Page.reload", json!({}));
    browser.wait_for("performance.getEntriesByType('navigation')[0].type === 'reload'");
    browser.wait_for("document.querySelectorAll('[data-number]').length >= 2");
    let again = browser.value(LOADED).as_f64().unwrap();
    println!(
        "the page weighs {bytes} bytes and was there after {ms:.0} ms, then after {again:.0} ms"
    );
    // After the records nothing is known, and the page says so.
    browser.wait_for(
        "[...document.querySelectorAll('[data-field=rate]')].every((one) => one.textContent === 'unknown')",
    );
    assert_eq!(browser.console, Vec::<String>::new());
}

#[test]
fn the_page_fits_a_phone_has_an_hour_and_says_when_the_daemon_died() {
    let Some(mut browser) = Browser::start() else { return };
    let mut rig = Rig::usual();
    let phone = json!({ "width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": true });
    browser.order("Emulation.setDeviceMetricsOverride", phone);
    let dark = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
    browser.order("Emulation.setEmulatedMedia", dark);
    let url = format!("http://{}/?token={}", rig.address, rig.token());
    rig.play(4, |_| {
        browser.order("Page.navigate", json!({ "url": url }));
        browser.wait_for("document.querySelectorAll('[data-number]').length >= 2");
        thread::sleep(Duration::from_millis(2500));
        save(&mut browser, "page-phone-dark");
    });
    assert_eq!(browser.value("document.documentElement.scrollWidth <= innerWidth"), true);
    let back = browser.value("getComputedStyle(document.body).backgroundColor");
    assert_eq!(back, "rgb(17, 20, 23)", "it is dark");
    browser.value("document.querySelector('[data-span=hour]').click()");
    browser.wait_for("[...cards.values()].every((card) => card.points.length > 0)");
    assert_eq!(browser.console, Vec::<String>::new());
    rig.daemon.0.kill().unwrap();
    browser.wait_for("document.getElementById('feed').textContent.startsWith('no line for')");
}

/// Keeps a picture for people.
fn save(browser: &mut Browser, name: &str) {
    use std::io::Write as _;
    let picture = browser.order("Page.captureScreenshot", json!({ "format": "png" }));
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png.base64"));
    let mut file = std::fs::File::create(path).unwrap();
    file.write_all(picture["data"].as_str().unwrap().as_bytes()).unwrap();
}
