//! `sounding lab report` as a user and a browser meet it.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn sounding(arguments: &[&str]) -> Output {
    let program = assert_cmd::cargo::cargo_bin!("sounding");
    Command::new(program).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn succeeds(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The report of an example, cut short.
fn reported(folder: &Path) -> PathBuf {
    let plan = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/plans/biscay.toml");
    let (results, report) = (folder.join("results"), folder.join("report"));
    let sim = ["sim", text(&plan), "--out", text(&results), "--series", "100ms"];
    let short = ["--set", "duration=3s", "--set", "warmup=1s", "--set", "seeds=[1, 2]"];
    // Three flows, so that there is something to share.
    let more = ["--set", "flows.upload.count=3"];
    succeeds(&sounding(&[&sim[..], &short, &more].concat()));
    succeeds(&sounding(&["lab", "report", text(&results), "--out", text(&report)]));
    report
}

#[test]
fn a_plan_becomes_a_page_a_table_and_every_figure_three_times() {
    let folder = tempfile::tempdir().unwrap();
    let report = reported(folder.path());
    let html = fs::read_to_string(report.join("report.html")).unwrap();
    for outside in ["src=", "href=", "url(", "@import", "http:", "https:"] {
        assert!(!html.contains(outside), "{outside}");
    }
    let markdown = fs::read_to_string(report.join("report.md")).unwrap();
    assert!(markdown.contains("| lte · still | biscay | 2 |"), "{markdown}");
    let mut figures = 0;
    for line in markdown.lines().filter(|line| line.starts_with("![")) {
        let (_, name) = line.rsplit_once("](figures/").unwrap();
        let name = name.strip_suffix(".svg)").unwrap();
        for (ending, begins) in [("svg", &b"<svg"[..]), ("png", b"\x89PNG"), ("parquet", b"PAR1")] {
            let bytes = fs::read(report.join(format!("figures/{name}.{ending}"))).unwrap();
            assert!(bytes.starts_with(begins), "{name}.{ending}");
        }
        figures += 1;
    }
    // Planes, distributions, bars, four scenarios over time and how they share.
    assert!(figures >= 16, "{figures}");
}

#[test]
fn what_is_no_folder_of_results_is_refused_with_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("report");
    let output = sounding(&["lab", "report", text(folder.path()), "--out", text(&out)]);
    assert!(!output.status.success());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("result.json"), "{error}");
    assert!(!out.exists());
}

/// What a browser says of a page in a frame of this width.
struct Seen {
    /// Pixels by which the page is wider than the frame.
    overflow: i64,
    /// Drawings that are shown.
    drawings: i64,
    /// What stands on the console.
    console: Vec<String>,
}

/// Shows a page to Chromium, which has no windows narrower than 500 pixels: hence a frame. The page is a copy that tells
/// the frame's page how wide it has become.
fn seen(chromium: &Path, report: &Path, folder: &Path, width: u32) -> Seen {
    let html = fs::read_to_string(report.join("report.html")).unwrap();
    let tell = "<script>addEventListener('load', () => {
        const drawings = [...document.querySelectorAll('.drawing')].filter((one) => one.clientWidth > 0).length;
        parent.postMessage(`${document.documentElement.scrollWidth - innerWidth} ${drawings}`, '*');
    });</script></body>";
    fs::write(folder.join("copy.html"), html.replace("</body>", tell)).unwrap();
    let frame = format!(
        "<!doctype html><body style='margin:0'><iframe src='copy.html' style='border:0;width:{width}px;height:6000px'>\
         </iframe><p id='told'></p><script>addEventListener('message', (event) => {{
         document.getElementById('told').textContent = event.data; }});</script>"
    );
    let page = folder.join("frame.html");
    fs::write(&page, frame).unwrap();
    let picture = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("report-{width}.png"));
    let run = |last: &str| {
        let profile = format!("--user-data-dir={}", folder.join("profile").display());
        let size = format!("--window-size={},6000", width.max(500));
        // Its sandbox does not work for root, and the page is ours.
        let flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", &size];
        let quiet =
            ["--no-first-run", "--disable-background-networking", "--enable-logging=stderr"];
        let mut command = Command::new(chromium);
        command.args(flags).args(quiet).args([&profile, "--virtual-time-budget=5000", last]);
        command.arg(format!("file://{}", page.display())).stdin(Stdio::null()).output().unwrap()
    };
    let output = run("--dump-dom");
    succeeds(&run(&format!("--screenshot={}", picture.display())));
    let (dom, log) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let told = dom.split("<p id=\"told\">").nth(1).and_then(|rest| rest.split('<').next());
    let numbers: Vec<i64> =
        told.unwrap_or_default().split(' ').filter_map(|number| number.parse().ok()).collect();
    let [overflow, drawings] = numbers[..] else { panic!("the page told nothing: {dom}\n{log}") };
    let console = log.lines().filter(|line| line.contains("CONSOLE")).map(Into::into).collect();
    Seen { overflow, drawings, console }
}

fn chromium() -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut all =
        std::env::split_paths(&paths).flat_map(|folder| names.map(|name| folder.join(name)));
    all.find(|path| path.is_file())
}

#[test]
fn a_browser_shows_the_page_on_a_desk_and_on_a_phone_without_a_word_on_its_console() {
    let Some(chromium) = chromium() else {
        eprintln!("skipped: no chromium on this machine; apt-get install chromium");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let report = reported(folder.path());
    let html = fs::read_to_string(report.join("report.html")).unwrap();
    let figures = html.matches("class=\"drawing wide\"").count() as i64;
    for width in [1280, 390] {
        let seen = seen(&chromium, &report, folder.path(), width);
        assert_eq!(seen.overflow, 0, "at {width} pixels");
        // One of the two widths of each figure.
        assert_eq!(seen.drawings, figures, "at {width} pixels");
        assert!(seen.console.is_empty(), "{:?}", seen.console);
    }
}
