//! `sounding lab report` as a user and a browser meet it.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

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

/// A browser's view of a page in a frame of some width.
struct Seen {
    /// What `probe.js` did and found.
    told: Value,
    /// What stands on the console.
    console: Vec<String>,
}

/// Shows a page to Chromium, which has no windows narrower than 500 pixels: hence a frame. The page
/// is a copy with a script that reports its findings to the frame's page.
fn seen(chromium: &Path, report: &Path, folder: &Path, width: u32) -> Seen {
    let html = fs::read_to_string(report.join("report.html")).unwrap();
    // The policy of the page lets its own script run, and of the copy this one too.
    let probe = format!("<script nonce=\"probe\">{}</script></body>", include_str!("probe.js"));
    let copy = html.replace("</body>", &probe).replace("script-src ", "script-src 'nonce-probe' ");
    assert!(copy.contains("'nonce-probe'"), "the page has a policy");
    fs::write(folder.join("copy.html"), copy).unwrap();
    let frame = format!(
        "<!doctype html><meta charset='utf-8'><body style='margin:0'>\
         <iframe src='copy.html' style='border:0;width:{width}px;height:6000px'></iframe><p id='told'></p>\
         <script>addEventListener('message', (event) => {{
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
    let told = dom.split("<p id=\"told\">").nth(1).and_then(|rest| rest.split("</p>").next());
    let told = told.unwrap_or_default().replace("&lt;", "<").replace("&gt;", ">");
    let told = serde_json::from_str(&told.replace("&amp;", "&"))
        .unwrap_or_else(|error| panic!("the page told nothing: {error}\n{told}\n{log}"));
    let console = log.lines().filter(|line| line.contains("CONSOLE")).map(Into::into).collect();
    Seen { told, console }
}

fn chromium() -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut all =
        std::env::split_paths(&paths).flat_map(|folder| names.map(|name| folder.join(name)));
    all.find(|path| path.is_file())
}

#[test]
fn a_browser_shows_the_page_on_a_desk_and_on_a_phone_with_an_empty_console() {
    let Some(chromium) = chromium() else {
        return sounding_testdata::skip(
            sounding_testdata::Need::Tools,
            "no chromium on this machine: apt-get install chromium",
        );
    };
    let folder = tempfile::tempdir().unwrap();
    let report = reported(folder.path());
    let html = fs::read_to_string(report.join("report.html")).unwrap();
    let figures = html.matches("class=\"drawing wide\"").count() as i64;
    for width in [1280, 390] {
        let Seen { told, console } = seen(&chromium, &report, folder.path(), width);
        assert!(console.is_empty(), "at {width} pixels: {console:?}");
        assert_eq!(told["overflow"], 0, "at {width} pixels");
        // One of the two widths of each figure.
        assert_eq!(told["drawings"], figures, "at {width} pixels");
        assert_is_read(&told);
        assert_stands_alone(&told["alone"]);
        assert_comes_closer(&told["time"]);
    }
}

/// The lines of what is shown beside a pointer.
fn lines(shown: &Value) -> Vec<&str> {
    let lines = shown.as_array().unwrap_or_else(|| panic!("nothing is shown: {shown}"));
    lines.iter().map(|line| line.as_str().unwrap()).collect()
}

/// Whether a line has this number, in four digits, or says that it is unknown.
fn holds(line: &str, value: &Value) -> bool {
    let Some(value) = value.as_f64() else { return line.ends_with('–') };
    let mut numbers = line.split([' ', ',']).filter_map(|word| word.parse::<f64>().ok());
    numbers.any(|number| (number - value).abs() <= 1e-3 * value.abs())
}

/// A pointer reads of each kind of figure what is in its data.
fn assert_is_read(told: &Value) {
    let distribution = &told["height"];
    let read = lines(&distribution["read"][0]);
    assert_eq!(read[0], "50 % of bins: at most");
    let curves = distribution["values"]["panels"][0]["lines"].as_array().unwrap();
    assert_eq!(read.len(), 1 + curves.len());
    for (line, curve) in read[1..].iter().zip(curves) {
        let percents = curve["y"].as_array().unwrap();
        let half = percents.iter().position(|percent| percent.as_f64().unwrap() >= 50.0).unwrap();
        assert!(line.starts_with(curve["name"].as_str().unwrap()), "{line}");
        assert!(holds(line, &curve["x"][half]), "{line}: {}", curve["x"][half]);
    }
    for kind in ["mark", "bar"] {
        let marks = told[kind]["values"]["panels"][0]["marks"].as_array().unwrap();
        assert!(marks.len() > 2);
        for (mark, read) in marks.iter().zip(told[kind]["read"].as_array().unwrap()) {
            let read = lines(read);
            assert_eq!(read[0], mark["name"]);
            let value = read.iter().find(|line| line.contains("throughput (Mbit/s): "));
            assert!(holds(value.unwrap(), &mark["at"][1]), "{read:?}: {}", mark["at"]);
        }
    }
}

/// A click on a name leaves it alone, and another shows all again: rules change under the page's
/// own policy.
fn assert_stands_alone(alone: &Value) {
    let count = |name: &str| alone[name].as_u64().unwrap();
    // Some are drawn faint.
    assert_eq!(count("before"), count("after"), "{alone}");
    assert!(count("before") < count("clicked") && count("clicked") < count("all"), "{alone}");
}

/// Time is read by pointer and keys, comes closer by the wheel, by a key and by a button, and is
/// all there again.
fn assert_comes_closer(time: &Value) {
    let panel = &time["values"]["panels"][0];
    let ends = panel["x"]["range"].as_array().unwrap();
    let middle = (ends[0].as_f64().unwrap() + ends[1].as_f64().unwrap()) / 2.0;
    let hovered = lines(&time["hovered"]);
    let moment: f64 = hovered[0].strip_suffix(" s").unwrap().parse().unwrap();
    assert!((moment - middle).abs() <= 0.1, "{hovered:?}, {middle}");
    for (at, shown) in [(0, &time["first"]), (1, &time["second"])] {
        let (read, first) = (lines(shown), &panel["lines"][0]);
        assert!(holds(read[0], &first["x"][at]) && holds(read[1], &first["y"][at]), "{read:?}");
    }
    let below = &time["values"]["panels"][1]["lines"][0];
    assert!(holds(lines(&time["below"])[1], &below["y"][1]), "{}", time["below"]);
    assert!(time["escaped"].is_null());
    let [whole, closer, dragged] = ["whole", "closer", "dragged"].map(|name| ticks(&time[name]));
    assert_eq!(ticks(&time["scrolledOver"]), whole, "who only scrolls over it is held up");
    let span = |ticks: &[f64]| ticks[ticks.len() - 1] - ticks[0];
    assert!(span(&closer) < 0.5 * span(&whole), "{closer:?} of {whole:?}");
    assert!(dragged[0] > closer[0], "{dragged:?} is not after {closer:?}");
    assert!(span(&ticks(&time["pressed"])) < span(&whole));
    for name in ["again", "released"] {
        assert_eq!(ticks(&time[name]), whole, "{name}");
    }
}

fn ticks(texts: &Value) -> Vec<f64> {
    lines(texts).iter().map(|text| text.parse().unwrap()).collect()
}
