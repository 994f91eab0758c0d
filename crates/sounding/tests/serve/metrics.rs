//! `/metrics` and `/status.json` of a live daemon.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value as Json;
use sounding_testdata::{Need, skip};

use crate::rig::Rig;

/// The program that checks metrics, where `scripts/setup promtool` unpacks it.
fn promtool() -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent()?;
    let program = target.join("promtool/usr/bin/promtool");
    if !program.is_file() {
        skip(Need::Promtool, "promtool is absent: scripts/setup promtool unpacks it");
        return None;
    }
    Some(program)
}

/// The metrics of a daemon whose modem plays.
fn scraped() -> String {
    let mut rig = Rig::new("", "");
    rig.play(3, |rig| {
        thread::sleep(Duration::from_millis(2500));
        rig.get("/metrics")
    })
}

#[test]
fn promtool_finds_no_fault_in_the_metrics_of_a_live_daemon() {
    let Some(promtool) = promtool() else { return };
    let text = scraped();
    let mut check = Command::new(promtool)
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    check.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = check.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success() && said.is_empty(), "{}", String::from_utf8_lossy(&said));
}

#[test]
fn metrics_have_what_the_modem_does_and_no_identity() {
    let text = scraped();
    let value = |row: &str| {
        let line = text.lines().find(|line| line.starts_with(row));
        let value = line.and_then(|line| line.rsplit(' ').next());
        value.and_then(|value| value.parse::<f64>().ok())
    };
    let labels = "{modem=\"modem\",direction=\"uplink\"}";
    assert!(value(&format!("sounding_advice_bytes_per_second{labels}")) > Some(10_000.0), "{text}");
    assert!(value(&format!("sounding_granted_bytes_per_second{labels}")) > Some(0.0), "{text}");
    assert!(value(&format!("sounding_feed_lines_total{labels}")) > Some(20.0), "{text}");
    assert!(value("sounding_modem_records_total{modem=\"modem\"}") > Some(20.0), "{text}");
    assert_eq!(value("sounding_lost_news_total"), Some(0.0));
    // No shaper, no sniffer: no value, and not zero.
    for unknown in ["sounding_shaper_bytes_per_second{", "sounding_cell_users{"] {
        assert_eq!(value(unknown), None);
    }
    for identity in ["pci", "imsi", "imei", "cell_id", "tac=", "plmn", "rnti"] {
        assert!(!text.to_lowercase().contains(identity), "{identity}");
    }
}

#[test]
fn every_query_of_the_dashboard_names_metrics_of_a_live_daemon() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist/grafana/sounding.json");
    let board: Json = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let mut queries = Vec::new();
    find(&board, &mut queries);
    assert!(queries.len() > 8, "{queries:?}");
    let text = scraped();
    for query in queries {
        let mut names = query
            .split(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_'))
            .filter(|word| word.starts_with("sounding_"))
            .peekable();
        assert!(names.peek().is_some(), "{query} names none");
        for name in names {
            assert!(text.contains(&format!("# TYPE {name} ")), "{query}: {name} is no metric");
        }
    }
}

/// The queries anywhere in a dashboard.
fn find(json: &Json, queries: &mut Vec<String>) {
    match json {
        Json::Object(members) => {
            for (name, member) in members {
                match (&name[..], member) {
                    // A variable that chooses a data source names its kind.
                    ("expr", Json::String(query)) => queries.push(query.clone()),
                    ("query", Json::String(query)) if query != "prometheus" => {
                        queries.push(query.clone());
                    }
                    _ => find(member, queries),
                }
            }
        }
        Json::Array(items) => items.iter().for_each(|item| find(item, queries)),
        _ => {}
    }
}
