//! The picture at the head of a page of results has the page's own numbers.
//!
//! `SOUNDING_DRAW=1 cargo test --workspace --test headlines` draws them again.

use std::fs;
use std::path::Path;

use sounding_lab::paper::Headline;

/// The most bytes of a picture.
const MOST: usize = 60_000;

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results");

fn is_drawn(name: &str, draw: impl Fn(&str) -> Headline<'_>) {
    let page = fs::read_to_string(Path::new(DOCS).join(format!("{name}.md"))).expect("a page");
    let svg = draw(&page).svg().expect("its numbers");
    assert!(svg.len() <= MOST, "{} bytes", svg.len());
    let path = format!("pictures/{name}.svg");
    assert!(page.contains(&format!("]({path})")), "{name}.md does not show {path}");
    let file = Path::new(DOCS).join(path);
    if std::env::var_os("SOUNDING_DRAW").is_some() {
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(&file, &svg).expect("written");
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        kept == svg,
        "{} is not of the page's numbers; see the top of this test",
        file.display()
    );
}

#[test]
fn pbe_cc_beside_bbr() {
    is_drawn("pbe-cc", |page| Headline {
        page,
        section: "A slack of 75 ms",
        title: "PBE-CC beside BBR at 40 places",
        quantity: "PBE-CC's throughput over BBR's, and BBR's delays over PBE-CC's",
        rows: &[("the 40 places, busy", "busy cells"), ("the 40 places, idle", "idle cells")],
        columns: &["throughput", "p95 delay", "mean delay"],
    });
}

#[test]
fn what_background_flows_leave_to_the_foreground() {
    is_drawn("legilimens", |page| Headline {
        page,
        section: "A hundred devices (Fig. 12)",
        title: "Foreground throughput beside background downloads at 80 % load",
        quantity: "% of that beside ideal priority",
        rows: &[
            ("80 %, cubic", "CUBIC"),
            ("80 %, lp", "TCP-LP"),
            ("80 %, ledbat", "LEDBAT"),
            ("80 %, ledbat++", "LEDBAT++"),
            ("80 %, legilimens-published", "Legilimens"),
            ("80 %, background", "background"),
        ],
        columns: &["of ideal %", "background of ideal %"],
    });
}
