//! A page of the results of a small plan.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use sounding_experiment::plan::{Run, Text};
use sounding_experiment::provenance::Begun;
use sounding_experiment::simulate::{About, Files, Keep, Output, Place, all, json, parquet};

use super::*;
use crate::{Cell, Figure, Kind};

const PLAN: &str = r#"
about = "three flows that share"
duration = "6s"
warmup = "1s"
seeds = [1, 2, 3]

[[links]]
up = "0s 12Mbit, 3s 6Mbit"
down = "20Mbit"
delay = "20ms"
queue = "100kB"

[[flows]]
direction = "up"
count = 3
stagger = "500ms"

[sweep]
"flows.0.controller" = ["cubic", "bbr"]
"links.0.delay" = ["20ms", "40ms"]
"#;

struct Folder(PathBuf);

impl Files for Folder {
    fn create(&mut self, name: &str) -> io::Result<Output> {
        Ok(Box::new(File::create(self.0.join(name))?))
    }
}

impl Place for Folder {
    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

/// Makes the plan's runs into a folder.
fn made(folder: &Path, keep: &Keep) {
    made_of(PLAN, folder, keep);
}

fn made_of(plan: &str, folder: &Path, keep: &Keep) {
    let text = Text::new("plan.toml", plan, PathBuf::new());
    let (runs, about) = (text.runs().expect("a plan"), About::new(&text));
    let open = |run: &Run| -> io::Result<Box<dyn Place>> {
        let folder = folder.join(format!("run-{:04}", run.number));
        fs::create_dir_all(&folder)?;
        Ok(Box::new(Folder(folder)))
    };
    let stop = AtomicBool::new(false);
    let finished = all(&runs, keep, &about, 1, &stop, &open, &mut |_| {}).expect("no error");
    let table = File::create(folder.join("flows.parquet")).expect("a file");
    parquet(&about, &finished, Box::new(table)).expect("room");
    fs::write(folder.join("result.json"), json(&about, &finished).expect("JSON")).expect("room");
}

const SERIES: Keep = Keep {
    series: Some(Duration::from_millis(100)),
    packets: false,
    captures: false,
    traces: false,
    truth: false,
    sniffer: false,
};

fn paged(folders: &[&Path]) -> crate::Page {
    let results: Vec<Findings> =
        folders.iter().map(|folder| Findings::read(folder).expect("results")).collect();
    page(&results, &Options::default(), &Begun::now().end()).expect("a page")
}

#[test]
fn a_page_has_planes_distributions_series_and_fairness_each_with_its_origin() {
    let folder = tempfile::tempdir().expect("a folder");
    made(folder.path(), &SERIES);
    let page = paged(&[folder.path()]);
    assert_eq!(page.title, "three flows that share");
    let figures: Vec<&Figure> = page.figures().collect();
    let names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
    for name in ["summary", "plane", "plane-2", "delay-cdf", "time-1", "time-2", "fairness"] {
        assert!(names.contains(&name), "{name} of {names:?}");
    }
    for figure in &figures {
        assert_eq!(figure.origin.seeds, "1–3");
        assert!(!figure.origin.commit.is_empty() && !figure.origin.command.is_empty());
    }
    let Kind::Series(series) =
        &figures[names.iter().position(|n| *n == "time-1").expect("it")].kind
    else {
        panic!("no series")
    };
    let shade = series.panels[0].shade.as_ref().expect("links are given");
    let at = |second: usize| shade.steps[10 * second + 5].1;
    assert!((at(1) - 12.0).abs() < 0.5 && (at(4) - 6.0).abs() < 0.5, "{shade:?}");
}

#[test]
fn a_flow_together_with_its_like_fills_the_link_of_the_plan() {
    let folder = tempfile::tempdir().expect("a folder");
    made(folder.path(), &SERIES);
    let results = Findings::read(folder.path()).expect("results");
    let runs = summary::runs(results.flows.iter().filter(|flow| flow.name == "cubic"));
    assert_eq!(runs.len(), 6);
    // 12 Mbit/s for two of the five seconds that are measured, then 6.
    let offered = (2.0 * 12.0 + 3.0 * 6.0) / 5.0;
    for run in runs {
        let carried = run.throughput.expect("it is known");
        assert!(carried > 0.8 * offered && carried <= 1.01 * offered, "{carried} of {offered}");
    }
}

#[test]
fn without_series_there_is_what_whole_runs_tell() {
    let folder = tempfile::tempdir().expect("a folder");
    made(folder.path(), &Keep::default());
    let page = paged(&[folder.path()]);
    let names: Vec<&str> = page.figures().map(|figure| figure.name.as_str()).collect();
    let planes = ["plane-runs", "plane-runs-1", "plane-runs-2"];
    let rest = ["throughput-bars", "delay-bars", "course"];
    assert_eq!(names, [&["summary"], &planes[..], &rest].concat());
}

/// One flow alone on its link, the same with the oracle, and a flow of requests and answers.
const BESIDE_ORACLE: &str = r#"
duration = "12s"
seeds = [1, 2]

[[links]]
up = "20Mbit"
down = "12Mbit"
delay = "20ms"

[[flows]]
name = "bulk"
direction = "down"

[[flows]]
name = "answers"
direction = "up"
controller = "bbr"
traffic = { kind = "responses", size = "20kB", think = "500ms" }

[sweep]
"flows.bulk.controller" = ["cubic", "oracle"]
"links.0.down" = ["12Mbit", "6Mbit"]
"#;

/// The cells of a table's column by the words before it.
fn column(table: &crate::Table, head: &str) -> Vec<(String, f64)> {
    let at = table.columns.iter().position(|column| column == head);
    let at = at.unwrap_or_else(|| panic!("{head} of {:?}", table.columns));
    let named = |row: &Vec<Cell>| match (&row[table.named], &row[at]) {
        (Cell::Text(name), Cell::Number(value, _)) => Some((name.clone(), *value)),
        _ => None,
    };
    table.rows.iter().filter_map(named).collect()
}

#[test]
fn a_page_has_the_distance_to_the_oracle_on_both_axes_and_flows_over_time() {
    let folder = tempfile::tempdir().expect("a folder");
    made_of(BESIDE_ORACLE, folder.path(), &Keep::default());
    let page = paged(&[folder.path()]);
    let figure = |name: &str| page.figures().find(|f| f.name == name).map(|f| &f.kind);
    for name in ["oracle", "oracle-1", "oracle-2"] {
        let Some(Kind::Plane(plane)) = figure(name) else { panic!("no plane {name}") };
        let names: Vec<&str> = plane.marks.iter().map(|mark| mark.name.as_str()).collect();
        assert_eq!(names, ["cubic", "oracle"]);
        let [cubic, oracle] = [0, 1].map(|at| (plane.marks[at].x.middle, plane.marks[at].y.middle));
        assert_eq!(oracle, (1.0, 100.0));
        // The queue has no end.
        assert!(cubic.0 > 100.0 && (90.0..=101.0).contains(&cubic.1), "{cubic:?}");
    }
    let Some(Kind::Table(summary)) = figure("summary") else { panic!("no table") };
    let over = column(summary, "over oracle p95 ms");
    assert_eq!(over.len(), 4);
    assert!(over.iter().all(|(name, ms)| (name == "oracle") == (*ms == 0.0)), "{over:?}");
    let Some(Kind::Table(course)) = figure("course") else { panic!("no table") };
    let after = column(course, "after s");
    assert!(after.len() == 4 && after.iter().all(|(_, s)| (0.0..7.0).contains(s)), "{after:?}");
    let stalled = column(course, "stalled s");
    assert!(stalled.iter().all(|(_, s)| *s < 0.5), "{stalled:?}");
    let completion = column(course, "completion p50 s");
    assert!(!completion.is_empty() && completion.iter().all(|(name, _)| name == "bbr"));
    assert!(!course.columns.iter().any(|head| head.starts_with("Jain")), "one flow only");
}

#[test]
fn scenarios_that_belong_together_are_shown_together() {
    let folder = tempfile::tempdir().expect("a folder");
    made(folder.path(), &Keep::default());
    let groups = r#"{"20ms": "all of them", "40ms": "all of them"}"#;
    fs::write(folder.path().join(GROUPS), groups).expect("room");
    let page = paged(&[folder.path()]);
    assert_eq!(page.subtitle, "12 runs, 2 controllers, 2 scenarios in 1 group, seed 1–3.");
    let names: Vec<&str> = page.figures().map(|figure| figure.name.as_str()).collect();
    assert_eq!(names, ["summary", "plane-runs", "course"]);
    fs::write(folder.path().join(GROUPS), "[]").expect("room");
    let error = Findings::read(folder.path()).expect_err("no groups").to_string();
    assert!(error.contains("groups.json is not what"), "{error}");
}

#[test]
fn the_same_runs_in_two_folders_are_distinguished_by_the_folders_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let [before, after] = ["before", "after"].map(|name| folder.path().join(name));
    for folder in [&before, &after] {
        fs::create_dir(folder).expect("room");
        made(folder, &Keep::default());
    }
    let page = paged(&[&before, &after]);
    let names = page.figures().next().expect("the table").names();
    assert_eq!(names, ["cubic (before)", "bbr (before)", "cubic (after)", "bbr (after)"]);
}

#[test]
fn a_folder_that_is_none_is_refused_with_its_file_and_what_is_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |why: &str| {
        let error = Findings::read(folder.path()).expect_err("no results").to_string();
        assert!(error.contains(why), "{error}");
    };
    refused("has no result.json");
    fs::write(folder.path().join("result.json"), "{").expect("room");
    refused("result.json is not what");
    fs::write(folder.path().join("result.json"), r#"{"plan": "", "runs": []}"#).expect("room");
    refused("has no flows.parquet");
    fs::write(folder.path().join("flows.parquet"), "no table").expect("room");
    refused("flows.parquet is not what");
    let empty = File::create(folder.path().join("flows.parquet")).expect("a file");
    let columns = [("run", sounding_export::figures::Kind::Int)];
    sounding_export::figures::Figures::new(empty, &columns, &[])
        .expect("room")
        .finish()
        .expect("room");
    refused("has no flow with a controller");
}
